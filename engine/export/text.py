"""Text: a walk a line, vertices separated by spaces, as gensim's ``corpus_file`` reads; or lines ``instance src dst depth``, and ``instance vertex`` for one without an edge."""

import gzip
from collections.abc import Callable, Iterator
from typing import IO

import numpy as np

from csaw.engine.samples import Samples
from csaw.engine.samples.ahead import in_order, pieces
from csaw.engine.samples.check import check_names
from csaw.engine.samples.edges import ALONE, Edges, edge_arrays, numbered_edges
from csaw.engine.samples.layout import bits
from csaw.partition.compile import njit
from csaw.partition.errors import OptionError

SUFFIXES = (".txt", ".txt.gz")
SPACE, NEWLINE, MINUS = 32, 10, 45
DECIMAL = 20  # the most bytes of a number
ROWS = 1 << 16  # formatted at a time, if they are not more bytes than
BYTES = 1 << 26
DIGITS = np.frombuffer("".join(f"{number:04d}" for number in range(10_001)).encode(), np.uint8)
E4, E8 = np.uint64(10**4), np.uint64(10**8)


def write(samples: Samples, file: IO[bytes], name: str, update: Callable[[int], None], threads: int) -> None:
    if not name.endswith(".gz"):
        return _write(samples, file, update, threads)
    with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
        return _write(samples, packed, update, threads)  # type: ignore[arg-type]


def _write(samples: Samples, file: IO[bytes], update: Callable[[int], None], threads: int) -> None:
    words, walks = _Words(samples), samples.has_walks

    def lines(start: int, stop: int) -> list[memoryview]:
        return words.walks(samples.group(start, stop)) if walks else words.edges(numbered_edges(samples, start, stop))

    for done, made in in_order(samples, edge_arrays(samples), pieces(samples), lines, threads):
        for some in made:
            file.write(some)
        update(done)


def _pieces(rooms: np.ndarray) -> Iterator[tuple[slice, int]]:
    """Spans of lines that are formatted together, and the bytes that they may take; ``rooms`` are those of each line."""
    ends, first = np.cumsum(rooms), 0
    while first < ends.size:
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, min(first + ROWS, int(np.searchsorted(ends, before + BYTES, "right"))))
        yield slice(first, last), int(ends[last - 1]) - before
        first = last


class _Words:
    """Vertex ids as text: numbers, or the strings behind them."""

    def __init__(self, samples: Samples) -> None:
        self.path, self.named = samples.path, samples.ids == "names"
        self.offsets, self.text = np.zeros(1, np.int64), np.zeros(0, np.uint8)
        if samples.words is not None:
            self.offsets, self.text = samples.words.offsets, samples.words.text
            if np.isin(self.text, np.frombuffer(b" \t\r\n", np.uint8)).any():
                raise OptionError(
                    "a vertex id contains a space, which separates ids in text; export to Parquet instead"
                )

    def sizes(self, ids: np.ndarray) -> np.ndarray:
        """The most bytes that each id takes, int64; fill takes any number of them."""
        if not self.text.size:
            return np.full(ids.shape, DECIMAL, np.int64)
        return np.diff(self.offsets)[np.minimum(ids, self.offsets.size - 2)]

    def walks(self, arrays: dict[str, np.ndarray]) -> list[memoryview]:
        """Lines of a group's walks."""
        walks, sizes = arrays["walks"], arrays["lengths"].astype(np.int64) + 1
        begins = np.cumsum(sizes) - sizes if walks.ndim == 1 else np.arange(sizes.size) * walks.shape[1]
        ids = np.ascontiguousarray(walks).reshape(-1)
        rooms = self.rooms(ids, begins, sizes)
        return [self.lines(ids, begins[span], sizes[span], room) for span, room in _pieces(rooms)]

    def edges(self, edges: Edges) -> list[memoryview]:
        """Lines of edges."""
        rooms = self.sizes(edges["src"]) + self.sizes(edges["dst"]) + 2 * (DECIMAL + 2)
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
        out = np.empty(room, np.uint8)
        size = _lines(bits(ids), _half(ids), begins, sizes, self.offsets, self.text, DIGITS, out)
        return out[:size].data

    def edge_lines(self, edges: dict[str, np.ndarray], room: int) -> memoryview:
        """Lines ``instance src dst depth``, or ``instance src`` where the depth is ALONE."""
        out = np.empty(room, np.uint8)
        ids = [np.ascontiguousarray(edges[n]) for n in ("src", "dst")]
        if self.named:
            check_names(self.path, np.stack(ids), self.offsets.size - 1)
        src, dst = map(bits, ids)
        instance, depth, alone = (
            edges["instance"].astype(np.uint64),
            edges["depth"].astype(np.uint64),
            edges["depth"] == ALONE,
        )
        used = _edge_lines(instance, src, dst, depth, alone, _half(ids[0]), self.offsets, self.text, DIGITS, out)
        return out[:used].data


def _half(ids: np.ndarray) -> np.uint64:
    """The first of the unsigned numbers that stands for a negative id; 0 where none does."""
    return np.uint64(1 << (8 * ids.dtype.itemsize - 1) if ids.dtype.kind == "i" else 0)


@njit(inline="always")
def _four(value, skip, digits, out, at):
    """Write a number below 10^4 without its first ``skip`` digits; up to three bytes after it are no part of it."""
    cell = np.int64(value) * 4 + skip
    a, b, c, d = digits[cell], digits[cell + 1], digits[cell + 2], digits[cell + 3]
    out[at], out[at + 1], out[at + 2], out[at + 3] = a, b, c, d
    return at + 4 - skip


@njit(inline="always")
def _first(value, digits, out, at):
    """Write a number below 10^8, with which a number begins."""
    high = value // E4
    lead = high if high else value
    skip = (lead < np.uint64(1000)) + (lead < np.uint64(100)) + (lead < np.uint64(10))
    at = _four(lead, skip, digits, out, at)
    return _four(value - high * E4, 0, digits, out, at) if high else at


@njit(inline="always")
def _eight(value, digits, out, at):
    """Write a number below 10^8 in eight digits."""
    high = value // E4
    return _four(value - high * E4, 0, digits, out, _four(high, 0, digits, out, at))


@njit(inline="always")
def _number(value, digits, out, at):
    """Write a uint64 in decimal at ``at``, of which 20 bytes are free; four digits at a time."""
    if value < E8:
        return _first(value, digits, out, at)
    high = value // E8
    if high < E8:
        at = _first(high, digits, out, at)
    else:
        at = _eight(high % E8, digits, out, _first(high // E8, digits, out, at))
    return _eight(value % E8, digits, out, at)


@njit(inline="always")
def _word(value, half, offsets, text, digits, out, at):
    if text.size:
        for k in range(offsets[value], offsets[value + 1]):
            out[at] = text[k]
            at += 1
        return at
    number = np.uint64(value)
    if half and number >= half:
        out[at] = MINUS
        at += 1
        number = (half << np.uint64(1)) - number
    return _number(number, digits, out, at)


@njit(nogil=True)
def _lines(ids, half, begins, sizes, offsets, text, digits, out):
    at = 0
    for walk in range(begins.size):
        for k in range(begins[walk], begins[walk] + sizes[walk]):
            at = _word(ids[k], half, offsets, text, digits, out, at)
            out[at] = SPACE
            at += 1
        if sizes[walk] > 0:
            at -= 1
        out[at] = NEWLINE
        at += 1
    return at


@njit(nogil=True)
def _edge_lines(instance, src, dst, depth, alone, half, offsets, text, digits, out):
    at = 0
    for i in range(src.size):
        at = _number(instance[i], digits, out, at)
        out[at] = SPACE
        at = _word(src[i], half, offsets, text, digits, out, at + 1)
        if not alone[i]:
            out[at] = SPACE
            at = _word(dst[i], half, offsets, text, digits, out, at + 1)
            out[at] = SPACE
            at = _number(depth[i], digits, out, at + 1)
        out[at] = NEWLINE
        at += 1
    return at
