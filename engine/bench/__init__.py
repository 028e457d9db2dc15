"""Benchmarks: csaw's rates on this machine compared with the machine's limits, with suites, plots and comparisons."""

from pathlib import Path

KERNELS = Path(__file__).with_name("kernels")
"""CUDA C++ files that only benchmarks run."""
