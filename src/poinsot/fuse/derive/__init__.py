"""Automatic differentiation of graphs, in forward and reverse mode, and of kernels."""
