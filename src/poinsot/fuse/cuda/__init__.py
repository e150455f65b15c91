"""Graphs to CUDA C++, and kernels on the GPU."""
