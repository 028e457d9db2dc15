"""Errors about a hook name the line of the user's file."""

import ast
from collections.abc import Callable
from pathlib import Path
from types import CodeType

from csaw.partition.errors import OptionError


class HookError(OptionError):
    """An error about a node of a hook's text; ``line`` counts from where the text begins."""

    def __init__(self, node: ast.AST, said: str) -> None:
        super().__init__(said)
        self.line: int = getattr(node, "lineno", 1)


class PlacedError(OptionError):
    """An error that names its line already."""


WRITTEN: dict[str, type] = {}
"""The classes that a program has given, by the files that they were written out to."""


def code_of(function: Callable) -> CodeType | None:
    """The code of a function where the user has written it; None where it has none."""
    code: CodeType | None = getattr(function, "__code__", None)
    if code is None or code.co_filename not in WRITTEN:
        return code
    return getattr(getattr(WRITTEN[code.co_filename], code.co_name, None), "__code__", code)


def placed(error: OptionError, function: Callable) -> OptionError:
    """The error with the file and the line of ``function`` that it is about, where that is in a file."""
    code = code_of(function)
    if isinstance(error, PlacedError) or code is None or hasattr(function, "csaw_source"):
        return error
    line = code.co_firstlineno - 1 + (error.line if isinstance(error, HookError) else 1)
    return PlacedError(f"line {line} of {Path(code.co_filename).name}: {error}")
