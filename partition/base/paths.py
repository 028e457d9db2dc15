"""Paths that a program gives."""

import os
from pathlib import Path

from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError


def path_of(given: object, what: str) -> Path:
    """The path ``given`` of ``what``, such as a graph store. OptionError for what is no path."""
    if not isinstance(given, str | os.PathLike):
        raise OptionError(f"path: expected the path of {what}, found {quoted(given)}")
    return Path(given)
