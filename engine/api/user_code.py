"""Calls of what a user has written: whatever it raises is an error of its own, named in one line."""

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from csaw.partition.errors import CsawError, OptionError

SHIPPED = "csaw.engine.algorithms."
OURS = f"{Path(__file__).resolve().parents[2]}{os.sep}"  # where csaw's own code lies


def is_own(kind: type) -> bool:
    """Whether an algorithm is not one of those that csaw ships, as it ships them."""
    return not kind.__module__.startswith(SHIPPED)


@contextmanager
def users_code(what: str) -> Iterator[None]:
    """Raise OptionError about ``what`` when the body raises anything or asks Python to exit.

    The body runs code of the user's.
    """
    try:
        yield
    except CsawError as error:
        if str(error).startswith("line "):  # it names its place already
            raise
        raise OptionError(f"{what} {_line_of(error)}{error}") from error
    except (Exception, SystemExit) as error:
        said = f": {error}" if str(error) else ""
        raise OptionError(f"{what} {_line_of(error)}{type(error).__name__}{said}") from error


def _line_of(error: BaseException) -> str:
    """The last line of the user's file that led to an error, to begin its message with."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        foreign = (
            frame.filename.startswith(("<", OURS, sys.prefix, sys.base_prefix)) or "site-packages" in frame.filename
        )
        if not foreign and not str(Path(frame.filename).resolve()).startswith(OURS):
            return f"line {frame.lineno} of {Path(frame.filename).name}: "
    return ""
