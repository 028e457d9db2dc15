"""Computations of measures on GPUs, as engine/analytics/computations.py lists them, and the networks that they read."""
