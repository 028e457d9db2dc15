"""Values of odd types for options that are given in Python."""

import datetime
import decimal
import fractions
from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy.sparse


class Strange:
    """An object whose every question ends in an error of its own."""

    def __repr__(self) -> str:
        raise ZeroDivisionError

    def __eq__(self, other: object) -> bool:
        raise ZeroDivisionError

    __hash__ = None  # type: ignore[assignment]


def odd_values() -> list[Any]:
    """Values that hardly any option has room for."""
    found: list[Any] = [
        b"1",
        b"x",
        None,
        1 + 2j,
        np.complex64(1),
        10**400,
        -(10**400),
        float("nan"),
        float("inf"),
        "x",
        "",
        "\0",
        "\udcff",
        "1_0",
        [],
        (),
        [1],
        [1, 2],
        [[1]],
        {},
        {1: 2},
        {1},
        np.array([1, 2]),
        np.array([[1]]),
        np.array(2),
        np.array([2]),
        np.float32(0.5),
        np.int8(2),
        np.bool_(True),
        True,
        decimal.Decimal("1.5"),
        fractions.Fraction(1, 3),
        object(),
        print,
        int,
        datetime.datetime(2020, 1, 1),
        np.datetime64(5, "ns"),
        slice(1),
        range(2),
        memoryview(b"12"),
        bytearray(b"1"),
        np.ma.masked,
        np.ma.array([1, 2], mask=[1, 0]),
        iter([1]),
        Ellipsis,
        NotImplemented,
        -1,
        0,
        2**64,
        1.5,
        np.array(["1"]),
        np.array("1"),
        scipy.sparse.eye(2),
        Strange(),
        np.zeros(2, [("a", int)]),
        np.array([1, None], object),
    ]
    if find_spec("pandas"):
        import pandas

        found += [
            pandas.Series([1, 2]),
            pandas.Series([2]),
            pandas.NA,
            pandas.DataFrame({"a": [1]}),
            pandas.Timestamp("2020"),
        ]
    if find_spec("polars"):
        import polars

        found += [polars.Series([1, 2]), polars.DataFrame({"a": [1]}), polars.col("a")]
    if find_spec("pyarrow"):
        import pyarrow

        found += [pyarrow.array([1]), pyarrow.scalar(1)]
    if find_spec("torch"):
        import torch

        found += [torch.tensor([1, 2]), torch.tensor(1), torch.tensor(0.5), torch.eye(2).to_sparse()]
    return found
