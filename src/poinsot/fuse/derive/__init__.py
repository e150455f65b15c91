"""Derivatives of graphs, forward and reverse, and of kernels."""
