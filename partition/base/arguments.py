"""Readers of arguments that a program gives to csaw's functions: each takes the argument's name and its value, and
returns what the function works with.

A function declares the readers of its arguments in a table, see :func:`csaw.partition.base.python_names.in_python`.
OptionError names the argument, what is expected, and the beginning of what was found: nothing is guessed, so that no
text counts as true and no fraction as the integer below it.
"""

import inspect
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from csaw.partition.base.quoting import meant, quoted
from csaw.partition.errors import OptionError

if TYPE_CHECKING:
    import numpy as np

T = TypeVar("T")
Reader: TypeAlias = Callable[[str, object], T]
"""Takes the name and the value of an argument, and returns what the function works with."""
LARGEST, MOST_REAL = 2**63 - 1, sys.float_info.max
BYTES = bytes | bytearray | memoryview  # of which libraries make numbers that nobody has meant
MOST_BYTES, MOST_NAME = 4095, 255  # of a path, and of a name in it


def refused(name: str, expected: str, value: object, advice: str = "") -> OptionError:
    """The error about an argument."""
    return OptionError(f"{name}: expected {expected}, found {quoted(value)}{advice}")


def unboxed(value: object) -> object:
    """A number or a text of NumPy or PyTorch, without dimensions, as one of Python's own; anything else as it is."""
    kind = getattr(getattr(value, "dtype", None), "kind", "i")  # types of PyTorch say none
    is_one = getattr(value, "ndim", None) == 0 and hasattr(value, "dtype") and not hasattr(value, "mask")
    if not is_one or kind not in "biufU" or not hasattr(value, "item"):
        return value
    try:
        return value.item()
    except Exception:  # noqa: BLE001 - of whatever library the object is of
        return value


def maybe(reader: Reader[T]) -> Reader[T | None]:
    """A reader that also takes None."""

    def read(name: str, value: object) -> T | None:
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


def whole(low: int = 0, high: int = LARGEST) -> Reader[int]:
    """A reader of integers in a range."""
    limits = f" from {low} " + ("on" if high == LARGEST else f"to {high}") if low > -LARGEST else ""

    def read(name: str, value: object) -> int:
        found = unboxed(value)
        is_time = hasattr(found, "dtype")
        number = int(found) if isinstance(found, Integral) and not isinstance(found, bool) and not is_time else None
        if number is None or not low <= number <= high:
            beyond = number is not None and high == LARGEST and number > high
            raise refused(name, f"an integer{limits}" + ", at most 2^63 - 1" * beyond, value)
        return number

    return read


def real(name: str, value: object) -> float:
    """A finite number."""
    found = unboxed(value)
    is_number = isinstance(found, Real) and not isinstance(found, bool) and not hasattr(found, "dtype")
    if not isinstance(found, Real) or not is_number or not found <= MOST_REAL or found < -MOST_REAL:
        raise refused(name, "a finite number", value)
    return float(found)


def text(name: str, value: object) -> str:
    """A text."""
    if not isinstance(value, str):
        raise refused(name, "a text", value)
    return value


def texts(name: str, value: object) -> tuple[str, ...]:
    """A list of texts."""
    if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
        raise refused(name, "a list of texts", value)
    return tuple(value)


def one_of(*words: str) -> Reader[str]:
    """A reader of one of some words."""

    def read(name: str, value: object) -> str:
        if not isinstance(value, str) or value not in words:
            near = meant(value, words) if isinstance(value, str) and len(value) <= MOST_NAME else ""
            raise refused(name, f"one of {', '.join(words)}", value, near)
        return value

    return read


def path(what: str) -> Reader[Path]:
    """A reader of the path of ``what``, such as a graph store."""

    def read(name: str, value: object) -> Path:
        if not isinstance(value, str | os.PathLike):
            raise refused(name, f"the path of {what}", value)
        return Path(named(name, value))

    return read


def named(name: str, value: str | os.PathLike[str]) -> str:
    """A path, or what may be one, as text; OptionError for a text that no file can be called."""
    try:
        found = os.fspath(value)
    except Exception as error:  # a class of anybody's may fail in any way
        raise refused(name, "a path", value, f"; its __fspath__ ended in {type(error).__name__}") from error
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
    """A graph as a path, a name or an object; objects are looked at later."""
    return named(name, value) if isinstance(value, str | os.PathLike) else value


def function(*arguments: str) -> Reader[Callable[..., object]]:
    """A reader of functions that are called with so many arguments, of these names."""
    said = f"a function of ({', '.join(arguments)})"

    def read(name: str, value: object) -> Callable[..., object]:
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


def progress(*arguments: str) -> Reader[bool | Callable[..., object]]:
    """A reader of the wish for progress: True, False, or a function of ``arguments``."""
    called = function(*arguments)

    def read(name: str, value: object) -> bool | Callable[..., object]:
        try:
            return called(name, value) if callable(value) and not isinstance(value, type) else flag(name, value)
        except OptionError:
            said = f", or a function of ({', '.join(arguments)})" if arguments else ""
            raise refused(name, f"True, False{said}" if said else "True or False", value) from None

    return read


def simple(name: str, value: object) -> object:
    """Pass a value that is checked later, such as a word or a number: anything that can be compared with a text, as an
    array cannot.
    """
    if isinstance(value, BYTES) or not isinstance(value == "", bool):
        raise refused(name, "a text or a number", value)
    return value


def amount(name: str, value: object) -> object:
    """A number, or a text such as 10%."""
    if not isinstance(unboxed(value), str | int | float) or isinstance(value, bool):
        raise refused(name, "a number, or a text such as '10%'", value)
    return value


def columns(name: str, value: object) -> object:
    """Columns of edges: texts, or arrays by name."""
    if not isinstance(value, str | list | tuple | Mapping):
        raise refused(name, "a list of names, or a dict of arrays by name", value)
    return value


def instance(kind: type[T], said: str) -> Reader[T]:
    """A reader of objects of one type, which ``said`` describes."""

    def read(name: str, value: object) -> T:
        if not isinstance(value, kind):
            raise refused(name, said, value)
        return value

    return read


def size(name: str, value: object) -> tuple[float, float]:
    """A width and a height."""
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise refused(name, "a width and a height, two numbers", value)
    return real(name, value[0]), real(name, value[1])


def mapping(what: str) -> Reader[Mapping[str, object]]:
    """A reader of a dict, by texts, of ``what``."""

    def read(name: str, value: object) -> Mapping[str, object]:
        if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
            raise refused(name, f"a dict of {what} by name", value)
        return value

    return read


def integer(name: str, value: object) -> int:
    """An integer of any sign that int64 holds."""
    return whole(-LARGEST - 1)(name, value)


def is_misread(value: object) -> bool:
    """Whether libraries make other numbers of this than it holds, as of bytes and of masked arrays."""
    import numpy as np

    is_masked = isinstance(value, np.ma.MaskedArray) and bool(np.ma.getmaskarray(value).any())
    return is_masked or isinstance(value, BYTES)


def ids(name: str, value: object) -> "np.ndarray":
    """An array of integers, of any shape: of NumPy, PyTorch or other libraries, or lists of integers."""
    import numpy as np

    expected = "integers"
    if is_misread(value) or isinstance(value, str):
        raise refused(name, expected, value)
    try:
        held = np.asarray(value)
    except Exception as error:
        raise refused(name, expected, value) from error
    if held.dtype.kind not in "iu" and held.size:
        raise refused(name, expected, value)
    return held if held.size or held.dtype.kind in "iu" else held.astype(np.int64)


def vertices(name: str, value: object) -> "np.ndarray | list[object]":
    """Ids of vertices: an array of integers, or a list of integers and texts."""
    if isinstance(value, list | tuple) and all(isinstance(one, str) or isinstance(unboxed(one), int) for one in value):
        return [unboxed(one) for one in value]
    if getattr(getattr(value, "dtype", None), "kind", "") in ("O", "U") and hasattr(value, "tolist"):
        return vertices(name, value.tolist())
    return ids(name, value)


def of_each(read: Reader[T]) -> Reader[T | dict[object, T]]:
    """A reader of a value, or of a mapping with one for each of its keys."""

    def read_all(name: str, value: object) -> T | dict[object, T]:
        if not isinstance(value, Mapping):
            return read(name, value)
        return {key: read(f"{name}[{quoted(key)}]", one) for key, one in value.items()}

    return read_all


def integers(what: str) -> Reader[tuple[int, ...]]:
    """A reader of a list of integers, ``what``: an array, a tuple or another sequence of them."""

    def read(name: str, value: object) -> tuple[int, ...]:
        found: Iterable[object] = (value,)
        if getattr(value, "ndim", None) == 1 and hasattr(value, "tolist") and not is_misread(value):
            found = value.tolist()
        elif isinstance(value, Sequence) and not isinstance(value, str | BYTES):
            found = value
        numbers = list(map(unboxed, found))
        integral = [int(one) for one in numbers if isinstance(one, Integral) and not isinstance(one, bool)]
        if len(integral) < len(numbers):
            raise refused(name, f"a list of integers, {what}", value)
        return tuple(integral)

    return read


def span(name: str, value: object) -> tuple[int, int]:
    """Two integers, the first number and the one after the last, or text of them such as 0:1000."""
    if isinstance(value, str) and re.fullmatch(r"[0-9]+:[0-9]+", value):
        value = tuple(map(int, value.split(":")))
    found = integers("the first number and the one after the last")(name, value)
    if len(found) != 2:
        raise refused(name, "two integers, the first number and the one after the last", value)
    return found[0], found[1]
