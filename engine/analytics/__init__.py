"""The wing of csaw evaluate: measures, what computes them on CPUs, GPUs and clusters, and evaluation.

Sampling imports none of it.
"""
