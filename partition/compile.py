"""``njit`` and ``prange`` with machine code cached in the user's cache folder, never in site-packages."""

import fcntl
import os
from functools import partial
from pathlib import Path
from typing import Any

import numba
from numba import prange
from numba.core.caching import IndexDataCacheFile

__all__ = ["cache_dir", "inner", "njit", "prange"]


def cache_dir() -> Path:
    """The folder for everything that csaw can make again: ``$CSAW_CACHE_DIR`` or ``~/.cache/csaw``."""
    return Path(os.environ.get("CSAW_CACHE_DIR") or Path.home() / ".cache" / "csaw")


numba.config.CACHE_DIR = str(cache_dir() / "numba")  # type: ignore[attr-defined]  # before the first @njit: a locator is chosen when it decorates
njit: Any = partial(numba.njit, cache=True)
inner: Any = partial(
    njit, no_cpython_wrapper=True, no_cfunc_wrapper=True
)  # for compiled callers alone: what Python would call is not made


class _LockedCacheFile(IndexDataCacheFile):
    """A cache file that one process saves at a time: two that compile a function for different types would give their code the same file name."""

    def save(self, key: Any, data: Any) -> None:
        with open(self._index_path + ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            super().save(key, data)


numba.core.caching.IndexDataCacheFile = _LockedCacheFile  # type: ignore[misc]
