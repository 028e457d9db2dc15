"""Computations of measures on the CPU, as computations.py lists them, and the networks that they read."""
