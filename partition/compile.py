"""``njit`` and ``prange`` with machine code cached in the user's cache folder, never in site-packages."""

import fcntl
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numba
from numba import prange
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.runtime import rtsys

__all__ = ["cache_dir", "inner", "njit", "prange"]


def cache_dir() -> Path:
    """The folder for everything that csaw can make again: ``$CSAW_CACHE_DIR`` or ``~/.cache/csaw``."""
    return Path(os.environ.get("CSAW_CACHE_DIR") or Path.home() / ".cache" / "csaw")


numba.config.CACHE_DIR = str(cache_dir() / "numba")  # type: ignore[attr-defined]  # before the first @njit: a locator is chosen when it decorates


class _LockedCacheFile(IndexDataCacheFile):
    """A cache file that one process saves at a time: two that compile a function for different types would give their code the same file name."""

    def save(self, key: Any, data: Any) -> None:
        with open(self._index_path + ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            super().save(key, data)


class _Cache(FunctionCache):
    """A function's machine code on disk.

    Code that is there loads without the registries of Numba's compiler, which import SciPy's linear algebra among other things and took a third of
    the time of a small run. Numba loads them itself before it compiles.
    """

    def __init__(self, function: Callable) -> None:
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = _LockedCacheFile(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)


def njit(function: Callable | None = None, **options: Any) -> Any:
    """``numba.njit`` with the machine code kept on disk: ``@njit`` or ``@njit(nogil=True)``."""
    if function is None:
        return partial(njit, **options)
    dispatcher = numba.njit(**options)(function)
    dispatcher._cache = _Cache(function)
    return dispatcher


# For compiled callers alone: what Python would call is not made.
inner: Any = partial(njit, no_cpython_wrapper=True, no_cfunc_wrapper=True)
