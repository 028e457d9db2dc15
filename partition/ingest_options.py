"""How an edge list or a table is read: checked once, for the command line and Python alike."""

from dataclasses import dataclass

import numpy as np

from csaw.partition.columns import FLAGS, Wishes, wish_of
from csaw.partition.csr import FIRST, KEEP, SUM
from csaw.partition.errors import BudgetError, OptionError
from csaw.partition.shown import quoted

MOST_THREADS = 4096
POLICIES = {"keep": KEEP, "first": FIRST, "error": KEEP, "sum": SUM}
CHOICES = {
    "ids": ("auto", "int", "string"),
    "duplicates": tuple(POLICIES),
    "self_loops": ("keep", "drop"),
    "on_error": ("stop", "skip"),
    "balance": ("edges", "vertices"),
    "compression": (None, "lz4"),
}


@dataclass(frozen=True)
class IngestOptions:
    """How to read; the defaults do what a SNAP user expects."""

    directed: bool | None = None  # None: by the header, else directed
    ids: str = "auto"  # auto | int | string
    weight_column: str | int = (
        "auto"  # auto (named so by the header; without one, the third of three) | none | a name | N, counted from 1
    )
    duplicates: str = "first"  # keep | first | sum | error
    self_loops: str = "keep"  # keep | drop
    on_error: str = "stop"  # stop | skip
    partitions: int | None = None
    partition_bytes: int | None = None
    balance: str = "edges"  # edges | vertices
    compression: str | None = None  # None | lz4
    memory: int | None = None  # bytes; None: a quarter of the machine
    overwrite: bool = False
    source_column: str | int | None = None  # a name, or a number from 1; None: by the header, else 1
    target_column: str | int | None = None  # the same, else 2
    skip_lines: int = 0  # of text, before anything is read: a first line "vertices edges"
    threads: int | None = None  # None: all processors

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise OptionError(
                    f"--{name.replace('_', '-')}: expected {', '.join(map(str, choices))}, found {getattr(self, name)!r}"
                )
        _ = self.wishes  # which refuses what no column is called
        _check_whole("--skip-lines", self.skip_lines, "at least 0", 0)
        for flag, value, said in (
            ("--partition-size", self.partition_bytes, "at least 1 byte"),
            ("--partitions", self.partitions, "at least 1"),
            ("--memory", self.memory, "at least 16MiB"),
            ("--threads", self.threads, "at least 1"),
        ):
            if value is not None:
                _check_whole(flag, value, said, 1)
        if self.threads is not None and self.threads > MOST_THREADS:
            raise OptionError(f"--threads: expected at most {MOST_THREADS}, found {self.threads}")
        if self.memory is not None and self.memory < 16 << 20:
            raise BudgetError(f"--memory: expected at least 16MiB, found {self.memory:,} bytes")

    @property
    def wishes(self) -> Wishes:
        """The columns that are asked for."""
        given = (self.source_column, self.target_column, self.weight_column)
        source, target, weight = (wish_of(flag, wish) for flag, wish in zip(FLAGS, given, strict=True))
        return Wishes(source, target, weight or "none")


def _check_whole(flag: str, value: object, expected: str, least: int) -> None:
    """OptionError unless ``value`` is an integer, ``least`` or more."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise OptionError(f"{flag}: expected an integer, {expected}, found {quoted(value)}")
    if value < least:
        raise OptionError(f"{flag}: expected {expected}, found {quoted(value)}")
