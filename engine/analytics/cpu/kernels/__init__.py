"""What Numba compiles for measures."""
