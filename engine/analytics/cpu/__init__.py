"""Computations of measures on the CPU, as analytics/computations.py lists them, and the networks that they read."""
