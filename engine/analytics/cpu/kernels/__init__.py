"""Kernels of measures, which Numba compiles."""
