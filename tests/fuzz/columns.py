"""Columns of ids and of weights in the types of NumPy, pandas, polars and Arrow, each with what it says as values of
Python's own, and whether it can be read.
"""

import decimal
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np

from fuzz.grammar import MAY, MUST, NEVER

WORDS = [
    "ann",
    "bob",
    "n\u00e9e",
    "",
    " a",
    "a ",
    "a\nb",
    "x\0y",
    "z\0",
    "1",
    "01",
    "nan",
    "None",
    "\udcff",
    "source",
    "w" * 300,
    "\u5317",
]
WEIGHTS = [0.0, 0.25, 0.5, 1.0, 2.0, 3.0, 40.0, 1024.0]


@dataclass
class Column:
    """``held`` says ``values``; the ``verdict`` is whether a graph of it must, may or must never be read; ``told``
    names what is odd.
    """

    values: list[Any]
    held: Any
    verdict: str = MUST
    told: str = "usual"


def draw_ids(random: Random) -> list[Any]:
    """Some ids of one kind, among which edges have their ends."""
    kind = random.choice(["small", "small", "signed", "wide", "words", "words"])
    one: Callable[[], Any] = {
        "small": lambda: random.randrange(9),
        "signed": lambda: random.choice([random.randrange(-9, 9), random.randrange(-(1 << 63), 1 << 63)]),
        "wide": lambda: random.randrange(1 << 64),
        "words": lambda: random.choice(WORDS),
    }[kind]
    return [one() for _ in range(random.randrange(2, 9))]


def usual(random: Random, values: list[Any]) -> Column:
    """The values as a list, or as an array in a type that holds them, whatever its order of
    bytes, strides and flags.
    """
    if isinstance(values[0], str):
        forms = [
            list,
            lambda v: np.array(v, object),
            *([] if any(one.endswith("\0") for one in values) else [np.array]),
        ]
        return Column(values, random.choice(forms)(values))
    if isinstance(values[0], float):
        forms = [
            list,
            np.array,
            lambda v: np.array(v, ">f4"),
            lambda v: np.array(v, np.longdouble),
            lambda v: np.array(v, np.float16),
            lambda v: list(map(decimal.Decimal, v)),
            lambda v: np.array(v, object),
            lambda v: list(map(Fraction, v)),
        ]
        return Column(values, random.choice(forms)(values))
    kinds = [kind for kind in ("i1", "u1", "<i4", ">i8", "<i8", "<u8", ">u8") if _holds(kind, values)]
    array = np.array(values, random.choice([*kinds, object]))
    odd = random.choice(["list", "array", "strided", "reversed", "read-only", "unmasked"])
    if odd == "list":
        return Column(values, values)
    array = np.repeat(array, 2)[::2] if odd == "strided" else array[::-1].copy()[::-1] if odd == "reversed" else array
    array.flags.writeable = odd != "read-only"
    return Column(values, np.ma.array(array) if odd == "unmasked" else array, MUST, f"{odd} {array.dtype}")


def _holds(kind: str, values: list[int]) -> bool:
    limits = np.iinfo(kind)
    return all(limits.min <= one <= limits.max for one in values)


def spoilt_ids(random: Random, values: list[Any]) -> Column:
    """A column that has no id at some place, or something that is none."""
    at, size = random.randrange(len(values)), len(values)

    def put(other: Any) -> list[Any]:
        return [other if k == at else one for k, one in enumerate(values)]

    spoilers: dict[str, Callable[[], Any]] = {
        "None": lambda: put(None),
        "nan": lambda: put(float("nan")),
        "True": lambda: put(True),
        "10**400": lambda: put(10**400),
        "a tuple": lambda: put((1, 2)),
        "complex": lambda: np.array(range(size), complex),
        "truths": lambda: np.zeros(size, bool),
        "times": lambda: np.arange(size).astype("M8[ns]"),
        "spans": lambda: np.arange(size).astype("m8[ns]"),
        "bytes": lambda: np.array([b"a"] * size),
        "a half": lambda: np.arange(size) + 0.5,
        "infinite": lambda: np.full(size, np.inf),
        "records": lambda: np.zeros(size, [("a", int), ("b", int)]),
        "masked": lambda: np.ma.array(np.arange(size), mask=[k == at for k in range(size)]),
        "[n, 1]": lambda: np.zeros((size, 1), int),
        "no axis": lambda: np.array(5),
        "a number": lambda: 5,
        "a word": lambda: "a" * size,
        "a dict": lambda: dict.fromkeys(range(size)),
        "a set": lambda: set(range(size)),
        "jagged": lambda: [[1]] * (size - 1) + [[1, 2]],
        "shorter": lambda: values[:-1],
        "mixed": lambda: put("x" if isinstance(values[0], int) else 3) if size > 1 else put(None),
    }
    told = random.choice(list(spoilers))
    return Column(values, spoilers[told](), NEVER, told)


def spoilt_weights(random: Random, values: list[float]) -> Column:
    """A column that has something at a place, or everywhere, that is no weight."""
    at, size = random.randrange(len(values)), len(values)
    worse: list[Any] = [
        -1.0,
        float("nan"),
        float("inf"),
        1e39,
        1e-46,
        5e-324,
        None,
        "x",
        1j,
        10**400,
        object(),
        decimal.Decimal("1e-400"),
        Fraction(1, 10**400),
        (1,),
        b"?",
    ]
    other = random.choice(worse)
    spoilers: dict[str, Callable[[], Any]] = {
        repr(other)[:40]: lambda: [other if k == at else one for k, one in enumerate(values)],
        "complex": lambda: np.array(values) + 0j,
        "masked": lambda: np.ma.array(values, mask=[k == at for k in range(size)]),
        "times": lambda: np.arange(size).astype("M8[s]"),
        "[n, 1]": lambda: np.ones((size, 1)),
        "longer": lambda: [*values, 1.0],
        "records": lambda: np.zeros(size, [("a", float)]),
        "long double": lambda: np.full(size, np.longdouble("1e-4000")),
    }
    told = random.choice([next(iter(spoilers)), *spoilers])
    return Column(values, spoilers[told](), NEVER, told)


def pandas_column(random: Random, values: list[Any]) -> Column:
    import pandas

    words = isinstance(values[0], str)
    values = [one.replace("\udcff", "?") for one in values] if words else values  # which no UTF-8 holds
    kinds = (
        ["string", "category", object]
        if words
        else ["category", object]
        if isinstance(values[0], int)
        else ["Float64", "float32", object]
    )
    if isinstance(values[0], int):
        kinds += ["Int64"] if _holds("i8", values) else ["UInt64"] if _holds("u8", values) else []
    kind = random.choice(kinds)
    if random.random() < 0.75:
        return Column(values, pandas.Series(values, dtype=kind), MUST, f"pandas {kind}")
    worse = [
        pandas.Series([None, *values[1:]], dtype=kind),
        pandas.Series(pandas.date_range("2020", periods=len(values))),
        pandas.Series([pandas.Period("2020")] * len(values)),
        pandas.Series([[1]] * len(values)),
        pandas.Series([1j] * len(values)),
    ]
    return Column(values, random.choice(worse), NEVER, f"pandas {kind}, spoilt")


def polars_column(random: Random, values: list[Any]) -> Column:
    import polars

    words = isinstance(values[0], str)
    values = [one.replace("\udcff", "?") for one in values] if words else values  # which no UTF-8 holds
    kinds = (
        [polars.String, polars.Categorical]
        if words
        else [polars.Float64, polars.Float32]
        if isinstance(values[0], float)
        else []
    )
    if isinstance(values[0], int):
        kinds += [
            kind
            for kind, name in ((polars.Int8, "i1"), (polars.Int64, "i8"), (polars.UInt64, "u8"))
            if _holds(name, values)
        ]
    if not kinds:
        values = list(map(str, values))
        return Column(values, values, MAY, "numbers that polars and Arrow cannot hold")
    kind = random.choice(kinds)
    if random.random() < 0.75:
        return Column(values, polars.Series(values, dtype=kind), MUST, f"polars {kind}")
    size = len(values)
    worse = [
        polars.Series([None, *values[1:]], dtype=kind),
        polars.Series([[1]] * size),
        polars.Series([{"a": 1}] * size),
        polars.Series([object()] * size, dtype=polars.Object),
        polars.Series(np.arange(size).astype("M8[ns]")),
    ]
    return Column(values, random.choice(worse), NEVER, f"polars {kind}, spoilt")


def arrow_column(random: Random, values: list[Any]) -> Column:
    import pyarrow as pa

    words = isinstance(values[0], str)
    values = [one.replace("\udcff", "?") for one in values] if words else values  # which no UTF-8 holds
    kinds = (
        [pa.string(), pa.large_string()]
        if words
        else [pa.float64(), pa.float32()]
        if isinstance(values[0], float)
        else []
    )
    if isinstance(values[0], int):
        kinds += [
            kind for kind, name in ((pa.int8(), "i1"), (pa.int64(), "i8"), (pa.uint64(), "u8")) if _holds(name, values)
        ]
    if not kinds:
        values = list(map(str, values))
        return Column(values, values, MAY, "numbers that Arrow cannot hold")
    kind, size = random.choice(kinds), len(values)
    held = pa.array(values, kind)
    if random.random() < 0.75:
        return Column(values, held.dictionary_encode() if random.random() < 0.3 else held, MUST, f"Arrow {kind}")
    worse = [
        pa.array([None, *values[1:]], kind),
        pa.array([[1]] * size),
        pa.array([{"a": 1}] * size),
        pa.array(np.arange(size).astype("M8[ns]")),
        pa.nulls(size),
        pa.array([b"a"] * size),
    ]
    return Column(values, random.choice(worse), NEVER, f"Arrow {kind}, spoilt")
