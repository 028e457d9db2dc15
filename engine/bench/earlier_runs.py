"""Files of a run, which may replace those of an earlier run and nothing else, and comparison with an earlier run: the
figures that are slower or faster beyond the noise of both runs.
"""

import json
from pathlib import Path
from typing import NamedTuple

from csaw.engine.bench.bench_row import MACHINE, Row, key, measured, spread
from csaw.partition.arrays.replace import check_result, names_author, new_result
from csaw.partition.base.plain_data import json_value
from csaw.partition.base.quoting import short
from csaw.partition.errors import FormatError

MARGIN = 0.05  # relative difference of two runs when nothing changed


class Change(NamedTuple):
    """A figure that is in both runs. It has changed if the gap between their spreads exceeds the noise."""

    name: str
    before: Row
    now: Row

    @property
    def noise(self) -> float:
        """The widest gap that is still noise: half the wider spread, and at least the margin.

        Few repeats show only part of the spread. Beside other work it may exceed the rate itself.
        """
        return max(MARGIN, *((row["fastest"] - row["slowest"]) / row["rate"] / 2 for row in (self.before, self.now)))

    @property
    def slower(self) -> bool:
        return self.now["fastest"] * (1 + self.noise) < self.before["slowest"]

    @property
    def faster(self) -> bool:
        return self.before["fastest"] * (1 + self.noise) < self.now["slowest"]


def read(file: str | Path) -> list[Row]:
    """Read the bench rows that ``--export-json`` wrote."""
    try:
        rows = json.loads(Path(file).read_text())
        if isinstance(rows, list) and all(isinstance(row, dict) and "suite" in row for row in rows):
            return rows
    except ValueError:
        pass
    raise FormatError(f"{file}: expected the JSON of csaw bench --export-json, found something else")


def compare(before: list[Row], now: list[Row]) -> list[Change]:
    """Every figure that both runs have, in the order of the later run."""
    earlier = {key(row): row for row in measured(before)}
    return [
        Change(", ".join(filter(None, key(row))), earlier[key(row)], row)
        for row in measured(now)
        if key(row) in earlier
    ]


def told(before: list[Row], now: list[Row], changes: list[Change]) -> str:
    """A text about the changes beyond noise, the largest slowdown first."""
    was, is_ = (next((row.get("device") for row in rows if "device" in row), "") for rows in (before, now))
    lines = [f"the baseline is of another device: {was}, this is {is_}"] if was != is_ else []
    ordered = sorted(changes, key=_ratio)
    lines += [f"slower: {_line(c)}" for c in ordered if c.slower] + [
        f"faster: {_line(c)}" for c in reversed(ordered) if c.faster
    ]
    if any(c.slower and c.now["suite"] == MACHINE for c in changes):
        lines.append("what this machine can do is slower too: it is busy, or not the same machine")
    counted = f"{sum(c.slower for c in changes)} slower, {sum(c.faster for c in changes)} faster"
    return "\n".join([*lines, f"{counted} of {len(changes)} figures that both runs have"])


def _ratio(change: Change) -> float:
    return change.now["rate"] / change.before["rate"]


def _line(change: Change) -> str:
    now, before = (f"{short(row['rate'], row['unit'])} ({spread(row)})" for row in (change.now, change.before))
    return f"{change.name}: {now}, was {before}, {100 * _ratio(change):.0f} %"


AUTHOR = "csaw bench"  # in the metadata of a plot
ROWS = b"[\n {\n"  # the first bytes of JSON written by csaw bench


def check_rows(path: Path) -> None:
    """StoreError unless ``path`` is free or holds rows of an earlier run."""
    check_result(path, _holds_rows, "JSON of csaw bench")


def check_plot(path: Path) -> None:
    """StoreError unless ``path`` is free or holds a plot of an earlier run."""
    check_result(path, lambda file: names_author(file, AUTHOR), "a plot of csaw bench")


def write_rows(rows: list[Row], path: Path) -> None:
    """Write rows as JSON, whole or not at all. Raises StoreError as :func:`check_rows`."""
    check_rows(path)
    with new_result(path) as file:
        file.write(f"{json.dumps(rows, indent=1, default=json_value)}\n".encode())


def _holds_rows(path: Path) -> bool:

    try:
        with path.open("rb") as file:
            return file.read(len(ROWS)) == ROWS and bool(read(path))
    except (FormatError, RecursionError):
        return False
