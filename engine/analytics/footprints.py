"""The memory that measures need, and the works that they are made of.

Each device declares its works, without their kernels: WORKS in cpu/footprints.py and in cuda/footprints.py.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from csaw.engine.plan.footprint import Footprint

Bytes: TypeAlias = Callable[[Any, Footprint], int]
"""Returns bytes of memory, by the network of a work and by what the measure keeps, which is part of them."""


class Work(NamedTuple):
    """The memory of a work that needs more than what is kept and two rows.

    suffices: bytes that are enough for certain. whole: bytes from which on all rows that it reads are in memory, for
    works that can read blocks. all_rows: whether it is refused if memory does not hold all rows. more: what it takes
    in addition to all rows, for works on a GPU that need them.
    """

    suffices: Bytes
    whole: Bytes | None = None
    all_rows: bool = False
    more: Footprint | None = None


class Enough(NamedTuple):
    """Memory that is enough for a measure for certain: ``bytes()``.

    ``has_rows``: whether these bytes include all rows that the measure reads.
    """

    bytes: Callable[[], int]
    has_rows: bool = False

    def __call__(self) -> int:
        return self.bytes()
