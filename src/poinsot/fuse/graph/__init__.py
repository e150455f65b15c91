"""The intermediate form: a scalar graph, its operations, and the rules that simplify it."""
