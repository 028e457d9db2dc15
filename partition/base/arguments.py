"""Readers of arguments that a program gives to csaw's functions: each takes the argument's name and its value, and
returns what the function works with.

A function declares the readers of its arguments in a table, see :func:`csaw.partition.base.python_names.in_python`.
OptionError names the argument, what is expected, and the beginning of what was found: nothing is guessed, so that no
text counts as true and no fraction as the integer below it.
"""

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from csaw.partition.base.quoting import meant, quoted
from csaw.partition.errors import OptionError

Reader = Callable[[str, Any], Any]
LARGEST = 2**63 - 1
MOST_BYTES, MOST_NAME = 4095, 255  # of a path, and of a name in it


def refused(name: str, expected: str, value: object, advice: str = "") -> OptionError:
    """The error about an argument."""
    return OptionError(f"{name}: expected {expected}, found {quoted(value)}{advice}")


def unboxed(value: Any) -> Any:
    """A number or a text of NumPy or PyTorch, without dimensions, as one of Python's own; anything else as it is."""
    kind = getattr(getattr(value, "dtype", None), "kind", "i")  # types of PyTorch say none
    is_one = getattr(value, "ndim", None) == 0 and hasattr(value, "dtype") and not hasattr(value, "mask")
    if not is_one or kind not in "biufU":
        return value
    try:
        return value.item()
    except (RuntimeError, ValueError, TypeError):  # of tensors without data
        return value


def maybe(reader: Reader) -> Reader:
    """A reader that also takes None."""

    def read(name: str, value: object) -> object:
        if value is None:
            return None
        try:
            return reader(name, value)
        except OptionError as error:
            said = str(error)
            raise OptionError(said.replace(", found ", ", or None, found ", 1)) from error

    return read


def flag(name: str, value: object) -> bool:
    """A truth: True or False, or 1 or 0. Texts are none: "no" would be true."""
    found = unboxed(value)
    if not isinstance(found, int) or found not in (0, 1):
        raise refused(name, "True or False", value)
    return bool(found)


def whole(low: int = 0, high: int = LARGEST) -> Reader:
    """A reader of integers in a range."""
    limits = f"from {low} " + ("on" if high == LARGEST else f"to {high}")

    def read(name: str, value: object) -> int:
        found = unboxed(value)
        if isinstance(found, bool) or not isinstance(found, Integral) or not low <= int(found) <= high:
            beyond = isinstance(found, Integral) and high == LARGEST and int(found) > high
            raise refused(name, f"an integer {limits}" + ", at most 2^63 - 1" * beyond, value)
        return int(found)

    return read


def real(name: str, value: object) -> float:
    """A finite number."""
    found = unboxed(value)
    if isinstance(found, bool) or not isinstance(found, Real) or not abs(float(found)) < float("inf"):
        raise refused(name, "a finite number", value)
    return float(found)


def text(name: str, value: object) -> str:
    """A text."""
    if not isinstance(value, str):
        raise refused(name, "a text", value)
    return value


def one_of(*words: str) -> Reader:
    """A reader of one of some words."""

    def read(name: str, value: object) -> str:
        if not isinstance(value, str) or value not in words:
            near = meant(value, words) if isinstance(value, str) and len(value) <= MOST_NAME else ""
            raise refused(name, f"one of {', '.join(words)}", value, near)
        return value

    return read


def path(what: str) -> Reader:
    """A reader of the path of ``what``, such as a graph store."""

    def read(name: str, value: object) -> Path:
        if not isinstance(value, str | os.PathLike):
            raise refused(name, f"the path of {what}", value)
        return Path(named(name, value))

    return read


def named(name: str, value: str | os.PathLike[str]) -> str:
    """A path, or what may be one, as text; OptionError for a text that no file can be called."""
    found = os.fspath(value)
    if not isinstance(found, str):
        raise refused(name, "a path of text", value, "; os.fsdecode makes one of bytes")
    try:
        data = os.fsencode(found)
    except UnicodeEncodeError:
        raise refused(name, "a path of characters that names of files may have", found) from None
    if not data or b"\0" in data:
        raise refused(name, "a path, without the character of number 0", found)
    if len(data) > MOST_BYTES or max(map(len, data.split(b"/"))) > MOST_NAME:
        raise refused(name, f"a path of at most {MOST_BYTES} bytes, with names of at most {MOST_NAME}", found)
    return found


def graph(name: str, value: object) -> object:
    """What may be a graph: a path or a name as text, or an object, which is looked at later."""
    return named(name, value) if isinstance(value, str | os.PathLike) else value


def function(*arguments: str) -> Reader:
    """A reader of functions that are called with so many arguments, of these names."""
    said = f"a function of ({', '.join(arguments)})"

    def read(name: str, value: object) -> object:
        if not callable(value):
            raise refused(name, said, value)
        try:
            inspect.signature(value).bind(*arguments)
        except TypeError:
            raise refused(name, said, value) from None
        except ValueError:  # one of C, which does not say what it takes
            return value
        return value

    return read


def progress(*arguments: str) -> Reader:
    """A reader of the wish for progress: True, False, or a function of ``arguments``."""
    called = function(*arguments)

    def read(name: str, value: object) -> object:
        try:
            return called(name, value) if callable(value) and not isinstance(value, type) else flag(name, value)
        except OptionError:
            said = f", or a function of ({', '.join(arguments)})" if arguments else ""
            raise refused(name, f"True, False{said}" if said else "True or False", value) from None

    return read


def mapping(what: str) -> Reader:
    """A reader of a dict, by texts, of ``what``."""

    def read(name: str, value: object) -> object:
        if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
            raise refused(name, f"a dict of {what} by name", value)
        return value

    return read


def integers(what: str) -> Reader:
    """A reader of a list of integers, ``what``: an array, a tuple or another sequence of them."""

    def read(name: str, value: Any) -> tuple[int, ...]:
        is_list = isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray | memoryview)
        is_array = getattr(value, "ndim", None) == 1 and hasattr(value, "tolist") and not hasattr(value, "mask")
        found: list[Any] = list(map(unboxed, value.tolist() if is_array else value)) if is_list or is_array else [value]
        if not all(isinstance(one, Integral) and not isinstance(one, bool) for one in found):
            raise refused(name, f"a list of integers, {what}", value)
        return tuple(int(one) for one in found)

    return read


def span(name: str, value: object) -> tuple[int, int]:
    """Two integers, the first number and the one after the last."""
    found = integers("the first number and the one after the last")(name, value)
    if len(found) != 2:
        raise refused(name, "two integers, the first number and the one after the last", value)
    return found[0], found[1]
