"""Text. Of samples a walk a line, vertices separated by spaces, as gensim's ``corpus_file`` reads; or lines ``instance
src dst depth``, in time with the time behind them, of links and their negatives ``instance src dst label``, and
``instance vertex`` for one without an edge. Times are numbers with decimals or dates, as the input of the graph has
them.

Of graphs rows ``source target``, with the weight and the number of the edge in the input where the store has them,
below a header as SNAP's files have it; an undirected edge is one row. Of lists one row per line, cells separated by
tabs, below a header that names them.
"""

from collections.abc import Callable, Iterator
from typing import IO

import numpy as np

from csaw.engine.export.common import OF_EDGES, OF_WALKS, TABLES_LACK
from csaw.engine.export.graph_rows import Edges as GraphEdges
from csaw.engine.export.graph_rows import Listed
from csaw.engine.export.tables import (
    TIME_ROOM,
    columns_of,
    kind_of_times,
    packed,
    plain_words,
    refused,
    write_edges,
    write_rows,
)
from csaw.engine.samples import Samples
from csaw.engine.samples.ahead import in_order, pieces
from csaw.engine.samples.array import bits, check_names
from csaw.engine.samples.edges import LABEL, Edges, are_alone, edge_arrays, numbered_edges, time_columns
from csaw.partition.arrays.words import Words
from csaw.partition.base.version import VERSION

SUFFIXES = (".txt", ".txt.gz")
LACKS = (OF_WALKS, OF_EDGES, *TABLES_LACK)
DECIMAL = 20  # the most bytes of a number
ROWS = 1 << 16  # formatted at a time, if they are not more bytes than
BYTES = 1 << 26


def write_samples(samples: Samples, file: IO[bytes], name: str, update: Callable[[int], None], threads: int) -> None:
    words, walks = _Words(samples), samples.has_walks

    def lines(start: int, stop: int) -> list[memoryview]:
        return words.walks(samples.group(start, stop)) if walks else words.edges(numbered_edges(samples, start, stop))

    with packed(file, name) as out:
        for done, made in in_order(samples, edge_arrays(samples), pieces(samples), lines, threads):
            for some in made:
                out.write(some)
            update(done)


def _pieces(rooms: np.ndarray) -> Iterator[tuple[slice, int]]:
    """Spans of lines that are formatted together, and the bytes that they may take; ``rooms``
    are those of each line.
    """
    ends, first = np.cumsum(rooms), 0
    while first < ends.size:
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, min(first + ROWS, int(np.searchsorted(ends, before + BYTES, "right"))))
        yield slice(first, last), int(ends[last - 1]) - before
        first = last


class _Words:
    """Vertex ids as text: numbers, or the strings behind them."""

    def __init__(self, samples: Samples) -> None:
        from csaw.engine.export import kernels  # brings Numba

        self.kernels = kernels
        self.path, self.named = samples.path, samples.ids == "names"
        self.timed, self.kind = time_columns(samples), kind_of_times(samples.time_units)
        self.offsets, self.text = np.zeros(1, np.int64), np.zeros(0, np.uint8)
        if samples.words is not None:
            self.offsets, self.text = samples.words.offsets, samples.words.text
            for word in samples.words.encoded(_unfit(samples.words)):
                raise refused(bytes(word), "text", "spaces and line breaks separate ids there")

    def sizes(self, ids: np.ndarray) -> np.ndarray:
        """The most bytes that each id takes, int64; fill takes any number of them."""
        if not self.text.size:
            return np.full(ids.shape, DECIMAL, np.int64)
        return np.diff(self.offsets)[np.clip(ids, 0, self.offsets.size - 2)]

    def walks(self, arrays: dict[str, np.ndarray]) -> list[memoryview]:
        """Lines of a group's walks."""
        walks, sizes = arrays["walks"], arrays["lengths"].astype(np.int64) + 1
        begins = np.cumsum(sizes) - sizes if walks.ndim == 1 else np.arange(sizes.size) * walks.shape[1]
        ids = np.ascontiguousarray(walks).reshape(-1)
        rooms = self.rooms(ids, begins, sizes)
        return [self.lines(ids, begins[span], sizes[span], room) for span, room in _pieces(rooms)]

    def edges(self, edges: Edges) -> list[memoryview]:
        """Lines of edges."""
        rooms = (
            self.sizes(edges["src"]) + self.sizes(edges["dst"]) + 2 * (DECIMAL + 2) + len(self.timed) * (TIME_ROOM + 1)
        )
        parts = (({name: column[span] for name, column in edges.items()}, room) for span, room in _pieces(rooms))
        return [self.edge_lines(*part) for part in parts]

    def rooms(self, ids: np.ndarray, begins: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """The most bytes that each line takes."""
        if not self.text.size:
            return sizes * (DECIMAL + 1) + 1
        upto = np.concatenate([[0], np.cumsum(self.sizes(ids) + 1)])
        return upto[begins + sizes] - upto[begins] + 1

    def lines(self, ids: np.ndarray, begins: np.ndarray, sizes: np.ndarray, room: int) -> memoryview:
        """One line a walk, of the ``sizes`` vertices from its begin on."""
        if self.named:
            of_walks = np.repeat(begins - np.cumsum(sizes) + sizes, sizes) + np.arange(int(sizes.sum()))
            check_names(self.path, ids[of_walks], self.offsets.size - 1)
        out, kernels = np.empty(room, np.uint8), self.kernels
        size = kernels.lines(bits(ids), _half(ids), begins, sizes, self.offsets, self.text, kernels.DIGITS, out)
        return out[:size].data

    def edge_lines(self, edges: dict[str, np.ndarray], room: int) -> memoryview:
        """Lines ``instance src dst depth``, in time with times, or ``instance src`` of a vertex without an edge; of
        links ``instance src dst label``.
        """
        out, kernels = np.empty(room, np.uint8), self.kernels
        ids = [np.ascontiguousarray(edges[n]) for n in ("src", "dst")]
        if self.named:
            check_names(self.path, np.stack(ids), self.offsets.size - 1)
        src, dst = map(bits, ids)
        fourth = edges[LABEL] if LABEL in edges else edges["depth"]
        instance, depth, alone = edges["instance"].astype(np.uint64), fourth.astype(np.uint64), are_alone(edges)
        times = np.empty((src.size, len(self.timed)), np.int64)
        for k, name in enumerate(self.timed):
            times[:, k] = edges[name]
        words, written = (alone, _half(ids[0]), self.offsets, self.text, kernels.DIGITS), kernels.edge_lines
        used = written(instance, src, dst, depth, times, self.kind, *words, out)
        return out[:used].data


def _unfit(words: Words) -> np.ndarray:
    """The first of the words that is empty or has a blank, [1] or []."""
    blanks = np.flatnonzero(np.isin(words.text, np.frombuffer(b" \t\r\n\v\f", np.uint8)))[:1]
    return np.concatenate([np.searchsorted(words.offsets, blanks, "right") - 1, np.flatnonzero(words.sizes() == 0)])[:1]


def _half(ids: np.ndarray) -> np.uint64:
    """The first of the unsigned numbers that stands for a negative id; 0 where none does."""
    return np.uint64(1 << (8 * ids.dtype.itemsize - 1) if ids.dtype.kind == "i" else 0)


HOLDS = ("ids", "edge_ids", "direction")
NAMES = {"weight": "Weight", "edge_id": "EdgeId"}


def write_graph(edges: GraphEdges, file: IO[bytes], name: str, update: Callable[[int], None]) -> None:
    store, columns = edges.store, [NAMES[name] for name in columns_of(edges)]
    words = plain_words(edges.words)
    header = (
        (
            f"# {'Directed' if store.directed else 'Undirected'} graph, written by csaw {VERSION}, fingerprint "
            f"{store.fingerprint}\n"
        )
        + "# "
        + "\t".join(["FromNodeId", "ToNodeId", *columns])
        + "\n"
    )
    with packed(file, name) as out:
        out.write(header.encode())
        write_edges(edges, out, update, [b"", *[b"\t"] * (1 + len(columns)), b"\n"], words)


def write_list(listed: Listed, file: IO[bytes], name: str, update: Callable[[int], None]) -> None:
    names = "\t".join(column.name for column in listed.columns)
    header = f"# {listed.title}, written by csaw {VERSION}, fingerprint {listed.store.fingerprint}\n# {names}\n"
    with packed(file, name) as out:
        out.write(header.encode())
        write_rows(listed, out, update, b"\t", plain_words(listed.words))
