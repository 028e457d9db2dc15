"""The settings of Numba in the environment that csaw's kernels cannot be compiled with."""

import os

from csaw.partition.errors import OptionError

DISABLED, THREADS = "NUMBA_DISABLE_JIT", "NUMBA_NUM_THREADS"


def refuse_settings() -> None:
    """OptionError for a variable of the environment with which Numba compiles nothing, or fails when it is imported."""
    if os.environ.get(DISABLED, "0") not in ("", "0"):
        raise OptionError(f"{DISABLED}: expected 0, because csaw compiles its kernels; unset it")
    threads = os.environ.get(THREADS)
    if threads is not None and not (threads.isdecimal() and int(threads) > 0):
        raise OptionError(f"{THREADS}: expected a number of threads of at least 1, found {threads[:40]!r}; unset it")
