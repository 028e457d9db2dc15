"""Benchmarks: how fast csaw is on this machine, beside the limits of the machine itself; suites of works, plots, comparisons."""

from pathlib import Path

KERNELS = Path(__file__).with_name("kernels")
"""CUDA C++ files that only benchmarks run."""
