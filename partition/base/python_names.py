"""The words of errors for callers in Python: messages name options as the command line has them."""

import re
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from functools import wraps
from types import MappingProxyType
from typing import ParamSpec, TypeVar

from csaw.partition.base.cached_names import in_words
from csaw.partition.errors import CsawError

P = ParamSpec("P")
R = TypeVar("R")
COMMAND_LINE: ContextVar[bool] = ContextVar("command_line", default=False)
"""Whether the command line runs, whose words stay as they are."""
CLAUSE = re.compile(r"(?<=[;:,]) ")
COMMAND = re.compile(r"\bcsaw [a-z]+\b")
OPTION = re.compile(r"((?:pass|with) )?(?<![\w-])--([a-z][a-z0-9-]*)(?: (none)\b|[ =]([\w.:]+)(?=[,;:)]|$))?")
DIRECTIONS = {"directed": True, "undirected": False}
SWITCHES = ("induced", "overwrite", "resume", "virtual")


def in_python(**renamed: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function that Python calls: its errors name options as keywords, ``walk_length`` for --walk-length.

    ``renamed``: the names that this function has for options, where they differ: ``seeds_per_batch="batch_size"``.
    Commands that a message tells the reader to run stay as they are.
    """

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def called(*args: P.args, **options: P.kwargs) -> R:
            try:
                return function(*args, **options)
            except CsawError as error:
                if not COMMAND_LINE.get() and len(error.args) == 1:
                    error.args = (as_keywords(in_words(error), renamed),)
                raise

        return called

    return decorated


def of_caller(message: str, renamed: Mapping[str, str] = MappingProxyType({})) -> str:
    """The message as the command line has it, or, for callers in Python, with options as keywords."""
    return message if COMMAND_LINE.get() else as_keywords(message, renamed)


def as_keywords(message: str, renamed: Mapping[str, str]) -> str:
    """The message with options as keywords, apart from clauses that have a command."""

    def keyword(found: re.Match[str]) -> str:
        asked, option, none, value = found.groups()
        before, name = asked or "", option.replace("-", "_")
        if name in DIRECTIONS:
            return f"{before}directed={DIRECTIONS[name]}" + (f" {value}" if value else "")
        name = renamed.get(name, name)
        if none:
            return f"{before}{name}=None"
        if asked and not value and name in SWITCHES:
            return f"{before}{name}=True"
        if asked and value:
            return f"{before}{name}={value if value.isdecimal() else repr(value)}"
        return f"{before}{name}" + (f" {value}" if value else "")

    clauses = CLAUSE.split(message)
    return " ".join(one if COMMAND.search(one) else OPTION.sub(keyword, one) for one in clauses)
