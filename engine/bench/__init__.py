"""How fast csaw is here, against what this machine can do: suites of works, the limits measured beside them, plots, comparisons."""

from pathlib import Path

KERNELS = Path(__file__).with_name("kernels")
"""CUDA C++ that benchmarks alone run."""
