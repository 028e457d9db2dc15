"""Computations of measures on GPUs, as computations.py lists them, and the networks that they read."""
