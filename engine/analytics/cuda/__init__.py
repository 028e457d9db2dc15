"""Computations of measures on a GPU, a file each; engine/analytics/cpu has their twins."""
