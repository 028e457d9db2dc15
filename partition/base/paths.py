"""Paths that a program gives."""

import os
from pathlib import Path

from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError


def path_of(given: object, what: str, argument: str = "path") -> Path:
    """The path ``given`` of ``what``, such as a graph store. OptionError, with the ``argument``, for what is none."""
    if not isinstance(given, str | os.PathLike):
        raise OptionError(f"{argument}: expected the path of {what}, found {quoted(given)}")
    return Path(given)
