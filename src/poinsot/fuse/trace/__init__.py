"""Tracing: NumPy code runs once on traced arrays, and its operations become a graph."""
