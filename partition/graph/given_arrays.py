"""Arrays that a program passes, as equal NumPy arrays; a conversion that would lose something is an error."""

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from decimal import Decimal
from numbers import Real

import numpy as np
from numpy.typing import DTypeLike

from csaw.partition.base.arguments import BYTES
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import BudgetError, CsawError, OptionError, StoreError

# The numbers that are weights of edges: 0, and what float32 holds as a positive number.

FLOAT32_END = 2.0**128 - 2.0**103  # numbers below this round to a finite float32
FLOAT32_NOTHING = 2.0**-150  # positive numbers up to this round to 0 in float32
LEAST_DOUBLE = 5e-324
"""Stands for a positive number that no double holds, and is refused as that would be."""


def are_weights(values: np.ndarray | float) -> np.ndarray:
    """Whether each number of an array, or a single one, is a weight."""
    low, high = (
        np.float64(FLOAT32_NOTHING),
        np.float64(FLOAT32_END),
    )  # which NumPy does not round to the type of the values
    return np.asarray((values == 0) | ((values > low) & (values < high)), np.bool_)


# Arrays that a program gives.

WORDS = str | bytes
DENSE = "torch.strided"  # the layout of PyTorch's dense tensors


@contextmanager
def foreign(what: str) -> Iterator[None]:
    """Reads an object of another library, whose own code may raise anything: that becomes an OptionError that names
    ``what`` is read, and a lack of memory a BudgetError.
    """
    try:
        yield
    except CsawError:
        raise
    except MemoryError as error:
        raise BudgetError(f"{what}: it takes more memory than is free; expected a graph that fits: {error}") from error
    except Exception as error:
        said = f"{type(error).__name__}: {error}".splitlines()[0]
        raise OptionError(
            f"{what}: expected an object as created by its library, found one that cannot be read ({said[:200]}); "
            "create it again"
        ) from error


def array_of(what: str, given: object, dtype: DTypeLike | None = None) -> np.ndarray:
    """Read an object as an array, as NumPy does or a library that knows it.

    OptionError for masked entries, for bytes, and for what cannot be read.
    """
    with foreign(what):
        if hasattr(given, "detach"):  # of a tensor that gradients follow, or on a GPU
            if (layout := str(getattr(given, "layout", DENSE))) != DENSE:
                raise OptionError(f"{what}: expected a dense tensor, found a sparse one ({layout}); make it dense")
            given = given.detach().cpu().numpy()
        refuse_masked(what, given)
        if isinstance(given, BYTES):
            raise OptionError(f"{what}: expected an array of numbers, found {type(given).__name__}")
        return np.asarray(given, dtype)


def refuse_masked(what: str, given: object) -> None:
    """OptionError where NumPy masks an entry of an array: its value means nothing."""
    if isinstance(given, np.ma.MaskedArray) and (masked := int(np.ma.getmaskarray(given).sum())):
        raise OptionError(
            f"{what}: expected a value at each place, found {masked:,} of {given.size:,} masked; leave "
            "these rows out, or fill them"
        )


def column_of(what: str, given: object) -> np.ndarray:
    """Read a column of values as they are, [n]: NumPy would make strings of a mixture of Python's own values, and take
    tuples apart.
    """
    if hasattr(given, "__array__"):
        return array_of(what, given)
    if isinstance(given, WORDS | Mapping | AbstractSet) or not isinstance(given, Iterable):
        raise OptionError(f"{what}: expected a column of values, found {quoted(given)} ({type(given).__name__})")
    with foreign(what):
        values = list(given)
    if all(type(one) is int for one in values):
        try:
            return np.array(values, np.int64)
        except OverflowError:
            pass
    out = np.empty(len(values), object)
    for place, value in enumerate(values):
        out[place] = value
    return out


def integers_of(what: str, given: object) -> np.ndarray:
    """Integers [n]. OptionError for truths, complex numbers and numbers with a point, which are no places."""
    held = array_of(what, given)
    if held.size == 0 and held.ndim == 1:
        return held.astype(np.int64)
    if held.ndim != 1 or held.dtype.kind not in "iu":
        raise OptionError(
            f"{what}: expected an array of integers, [n], found {_kind(held)} of the shape {list(held.shape)}"
        )
    return held


def weights_of(what: str, given: object, edges: int) -> np.ndarray:
    """float32 [edges], without a copy where they are.

    OptionError for what is no number for each edge; StoreError for numbers that are no weights.
    """
    held = array_of(what, given)
    if held.dtype.kind == "O" and held.ndim == 1:
        held = np.array([_number(what, one) for one in held.tolist()], np.float64)
    elif held.dtype.kind in "SUT":
        try:
            held = held.astype(np.float64)
        except ValueError:  # of which this names the first
            held = np.array([_number(what, one) for one in held.ravel().tolist()], np.float64).reshape(held.shape)
    if held.dtype.kind not in "biuf":
        raise OptionError(f"{what}: expected a number for each edge, found {_kind(held)}")
    if held.shape != (edges,):
        raise OptionError(f"{what}: expected a number for each of {edges:,} edges, found the shape {held.shape}")
    wrong = np.flatnonzero(~are_weights(held))
    if wrong.size:
        raise StoreError(
            f"{what}: expected finite numbers of at least 0, found {wrong.size:,} others, the first of them "
            f"{held[wrong[0]]} at position {wrong[0]:,}; float32 holds positive ones from 1e-45 to 3.4e38"
        )
    found = np.ascontiguousarray(held, np.float32)
    return np.abs(found) if np.signbit(found).any() else found  # of -0 the sign goes


def _number(what: str, value: object) -> float:
    """A weight among values of any type."""
    if isinstance(value, Real | Decimal | np.bool_ | str | bytes):
        try:
            number = float(value)
        except OverflowError:
            return float("inf")
        except ValueError as error:
            raise OptionError(f"{what}: expected a number for each edge, found {quoted(value)}") from error
        return LEAST_DOUBLE if number == 0 and value != 0 and not isinstance(value, WORDS) else number
    raise OptionError(f"{what}: expected a number for each edge, found {quoted(value)} ({type(value).__name__})")


def _kind(held: np.ndarray) -> str:
    names = {
        "b": "truths",
        "c": "complex numbers",
        "f": "numbers with a point",
        "m": "spans of time",
        "M": "times",
        "O": "objects",
    }
    return names.get(held.dtype.kind, str(held.dtype))
