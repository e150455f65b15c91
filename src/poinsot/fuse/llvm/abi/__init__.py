"""The loop that NumPy calls: arguments in any layout to vectors, and results back."""
