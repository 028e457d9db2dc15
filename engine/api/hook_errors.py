"""Errors about what a user has written: of a hook they name the line, of a call whatever it raises."""

import ast
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType

from csaw.partition.errors import CsawError, OptionError

# Errors about a hook name the line of the user's file.


class HookError(OptionError):
    """An error about a node of a hook's text; ``line`` counts from where the text begins."""

    def __init__(self, node: ast.AST, said: str) -> None:
        super().__init__(said)
        self.line: int = getattr(node, "lineno", 1)


class PlacedError(OptionError):
    """An error that names its line already."""


WRITTEN: dict[str, type] = {}
"""The classes that a program has given, by the files that they were written out to."""


def code_of(function: object) -> CodeType | None:
    """The code of a function where the user has written it; None where it has none."""
    code: CodeType | None = getattr(function, "__code__", None)
    if code is None or code.co_filename not in WRITTEN:
        return code
    return getattr(getattr(WRITTEN[code.co_filename], code.co_name, None), "__code__", code)


def placed(error: OptionError, function: object) -> OptionError:
    """The error with the file and the line of ``function`` that it is about, where that is in a file."""
    code = code_of(function)
    if isinstance(error, PlacedError) or code is None or hasattr(function, "csaw_source"):
        return error
    line = code.co_firstlineno - 1 + (error.line if isinstance(error, HookError) else 1)
    return PlacedError(f"line {line} of {Path(code.co_filename).name}: {error}")


# Calls of what a user has written: whatever it raises is an error of its own, named in one line.

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
