"""Edges of a graph as rows of a table of text: what text, CSV, Matrix Market and GraphML have in common."""

import gzip
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, cast

from csaw.engine.export.cells import Rows, kind_of_ids, kind_of_times
from csaw.engine.export.edges import Edges, Piece
from csaw.engine.export.kinds import FLOAT, NUMBER, SIGNED, WEIGHT
from csaw.engine.export.listed import Listed
from csaw.partition.arrays.words import Words
from csaw.partition.errors import OptionError
from csaw.partition.graph.edge_columns import EdgeColumn
from csaw.partition.ingestion.columns import ENDS

Update = Callable[[int], None]


@contextmanager
def packed(file: IO[bytes], name: str) -> Iterator[IO[bytes]]:
    """``file``, or what packs into it where the ``name`` ends in .gz; the same bytes whenever it is made."""
    if not name.endswith(".gz"):
        yield file
        return
    with gzip.GzipFile("", "wb", 6, file, mtime=0) as inside:
        yield cast(IO[bytes], inside)


def names_of_ends(words: Words | None, usual: tuple[str, str], taken: Collection[str] = ()) -> tuple[str, str]:
    """The names of the columns of both ends: the ``usual`` ones, or others that say the same where other columns are
    called so, whose names are ``taken``, or a vertex is, which would make a header look like an edge.
    """
    pairs = (usual, *((f"{a}_id", f"{b}_id") for a, b in (("source", "target"), ("src", "dst"), ("from", "to"))), *ENDS)
    free = (pair for pair in pairs if set(pair).isdisjoint(taken) and (words is None or max(words.find(pair)) < 0))
    if (pair := next(free, None)) is None:
        raise OptionError(
            "vertices have the names of all columns that rows of edges may have, such as "
            f"{' and '.join(usual)}; export to Parquet instead"
        )
    return pair


def columns_of(edges: Edges) -> list[str]:
    """Return the columns that the store has of an edge beside its ends."""
    further = [column.name for column in edges.further]
    return ["weight"] * edges.store.weighted + ["edge_id"] * edges.has_edge_ids + further


def write_edges(
    edges: Edges, file: IO[bytes], update: Update, around: Sequence[bytes], words: Words | None, once: str = "upper"
) -> None:
    """Write a row for each edge: its ends as original ids, and the ``columns_of`` the store.

    ``words``: string ids as they are written.
    """
    ids = kind_of_ids(edges.id_dtype, edges.words)
    kinds = [WEIGHT] * edges.store.weighted + [NUMBER] * edges.has_edge_ids
    rows = Rows(around, [ids, ids, *kinds, *(_kind(edges, column) for column in edges.further)], words)

    def made(piece: Piece) -> memoryview:
        more = [one for one in (piece.weights, piece.edge_ids) if one is not None]
        return rows.text([edges.original(piece.src), edges.original(piece.dst), *more, *piece.further])

    for done, some in edges.map(made, once):
        file.write(some)
        update(done)


def _kind(edges: Edges, column: EdgeColumn) -> int:
    """The kind of cells that hold numbers of edges: times are written as the input has them."""
    if column == edges.store.time:
        return kind_of_times(column.units)
    return {"i": SIGNED, "u": NUMBER, "f": FLOAT}[column.dtype.kind]


def write_rows(listed: Listed, file: IO[bytes], update: Update, between: bytes, words: Words | None) -> None:
    """Write each row of a list in a line, ``between`` its cells; ``words``: string ids as they are written."""
    ids = kind_of_ids(listed.id_dtype, listed.words)
    kinds = [ids if column.is_vertex else NUMBER for column in listed.columns]
    rows = Rows([b"", *[between] * (len(kinds) - 1), b"\n"], kinds, words)
    for done, some in listed.map(lambda arrays: rows.text(listed.originals(arrays))):
        file.write(some)
        update(done)
