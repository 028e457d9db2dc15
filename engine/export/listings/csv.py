"""CSV: a header with the names of the columns, and a row in a line."""

from collections.abc import Callable
from typing import IO

from csaw.engine.export.graph_rows import Listed
from csaw.engine.export.tables import csv_words, packed, write_rows

SUFFIXES = (".csv", ".csv.gz")


def write(listed: Listed, file: IO[bytes], name: str, update: Callable[[int], None]) -> None:
    with packed(file, name) as out:
        out.write(",".join(column.name for column in listed.columns).encode() + b"\n")
        write_rows(listed, out, update, b",", csv_words(listed.words))
