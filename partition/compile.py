"""``njit`` and ``prange`` with machine code cached in the user's cache folder, never in site-packages."""

import os
from functools import partial
from pathlib import Path
from typing import Any

import numba
from numba import prange

__all__ = ["cache_dir", "njit", "prange"]


def cache_dir() -> Path:
    """Where csaw keeps what can be made again: ``$CSAW_CACHE_DIR`` or ``~/.cache/csaw``."""
    return Path(os.environ.get("CSAW_CACHE_DIR") or Path.home() / ".cache" / "csaw")


numba.config.CACHE_DIR = str(cache_dir() / "numba")  # type: ignore[attr-defined]  # before the first @njit: a locator is chosen when it decorates
njit: Any = partial(numba.njit, cache=True)
