"""Text: one row per line, cells separated by tabs, below a header that names them."""

from collections.abc import Callable
from typing import IO

from csaw.engine.export.graph_rows import Listed
from csaw.engine.export.tables import packed, plain_words, write_rows
from csaw.partition.base.version import VERSION

SUFFIXES = (".txt", ".txt.gz")


def write(listed: Listed, file: IO[bytes], name: str, update: Callable[[int], None]) -> None:
    names = "\t".join(column.name for column in listed.columns)
    header = f"# {listed.title}, written by csaw {VERSION}, fingerprint {listed.store.fingerprint}\n# {names}\n"
    with packed(file, name) as out:
        out.write(header.encode())
        write_rows(listed, out, update, b"\t", plain_words(listed.words))
