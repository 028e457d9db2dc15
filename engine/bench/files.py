"""Output files of a run, which may replace files of an earlier run and nothing else."""

import json
from pathlib import Path

from csaw.engine.bench.bench_row import Row
from csaw.partition.arrays.replace import check_result, names_author, new_result
from csaw.partition.base.plain_data import json_value
from csaw.partition.errors import FormatError

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
    from csaw.engine.bench.baseline import read

    try:
        with path.open("rb") as file:
            return file.read(len(ROWS)) == ROWS and bool(read(path))
    except (FormatError, RecursionError):
        return False
