"""Computations of measures on the CPU, a file each; engine/analytics/cuda has their twins."""
