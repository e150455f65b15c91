"""Graphs to machine code for processors: text of LLVM, compiled in memory, called by NumPy."""
