"""Time stepping: the schemes of the texts, and better ones."""
