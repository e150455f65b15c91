"""NumPy code run once on traced arrays: what it does becomes a graph."""
