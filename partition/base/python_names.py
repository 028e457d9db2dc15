"""The boundary of functions that Python calls: a table reads their arguments, and errors name these as Python does.

Messages from below name options as the command line has them.
"""

import inspect
import re
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from functools import wraps
from pathlib import Path
from types import MappingProxyType
from typing import ParamSpec, TypeVar

from csaw.partition.base.arguments import Reader
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import CsawError, OptionError, StoreError

# The names that users gave to graphs whose stores are in csaw's cache, for errors and other words about these.

NAMES: dict[str, str] = {}
"""By the path of a store."""


def noted(store: Path, name: str) -> Path:
    """The path ``store``, which errors and warnings call ``name`` from now on."""
    NAMES[str(store.absolute())] = NAMES[str(store)] = name
    return store


def in_words(error: CsawError) -> str:
    """The message of an error, with graphs in the cache as the user named them. Those about files keep their paths."""
    return str(error) if isinstance(error, StoreError) else with_names(str(error))


def with_names(text: str) -> str:
    """A text with graphs in the cache as the user named them."""
    for path, name in NAMES.items():
        text = text.replace(path, name)
    return text


# The boundary of functions that Python calls.

P = ParamSpec("P")
R = TypeVar("R")
COMMAND_LINE: ContextVar[bool] = ContextVar("command_line", default=False)
"""Whether the command line runs, whose words stay as they are."""
CLAUSE = re.compile(r"(?<=[;:,]) ")
COMMAND = re.compile(r"\bcsaw [a-z]+\b")
OPTION = re.compile(r"((?:pass|with) )?(?<![\w-])--([a-z][a-z0-9-]*)(?: (none)\b|[ =]([\w.:]+)(?=[,;:)]|$))?")
DIRECTIONS = {"directed": True, "undirected": False}
SWITCHES = ("induced", "overwrite", "resume", "virtual")


def reading(readers: Mapping[str, Reader[object]]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function that Python calls: ``readers`` read its arguments, by their names, before it sees them."""

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        names = list(inspect.signature(function).parameters)

        def read(name: str, value: object) -> object:
            if name not in readers:
                return value
            try:
                return readers[name](name, value)
            except CsawError:
                raise
            except Exception as error:  # of an object that fails at what every reader asks
                raise OptionError(
                    f"{name}: expected another object, found {quoted(value)}, which cannot be read "
                    f"({type(error).__name__})"
                ) from error

        @wraps(function)
        def called(*args: P.args, **options: P.kwargs) -> R:
            given = [read(name, value) for name, value in zip(names, args, strict=False)] + list(args[len(names) :])
            return function(*given, **{name: read(name, value) for name, value in options.items()})  # type: ignore[arg-type]

        return called

    return decorated


def in_python(
    readers: Mapping[str, Reader[object]] = MappingProxyType({}), **renamed: str
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function that Python calls: ``readers`` as for :func:`reading`, and errors name options as keywords,
    ``walk_length`` for --walk-length.

    ``renamed``: the names that this function has for options, where they differ: ``seeds_per_batch="batch_size"``.
    Commands that a message tells the reader to run stay as they are.
    """

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        read = reading(readers)(function)

        @wraps(function)
        def called(*args: P.args, **options: P.kwargs) -> R:
            try:
                return read(*args, **options)
            except CsawError as error:
                if not COMMAND_LINE.get() and len(error.args) == 1:
                    error.args = (as_keywords(in_words(error), renamed),)
                raise

        return called

    return decorated


def kept(path: str | Path) -> Path:
    """A path that is read again later, which a program may do from another folder, and a command does not."""
    return Path(path) if COMMAND_LINE.get() else Path(path).absolute()


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
