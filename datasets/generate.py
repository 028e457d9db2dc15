"""Graphs that csaw makes: ``karate`` and ``rmat:scale=20,edge_factor=16,seed=1``, as a store or as SNAP text. Edges of
other models are made in models.py, and graphs of several types in mag.py.

R-MAT graphs (Chakrabarti et al., SDM 2004) have by default the probabilities of Graph500. Edge i is a function of
(seed, i), the same on any machine.

Edge i reads Philox4x32-10 with key = seed and counter = (block of four levels, 0, i): 32 bits a level choose the
quadrant. With noise, as in GTgraph (Bader and Madduri 2006), a level has other chances than the one before it, by the
words of the counter (level, 1, i): each chance is multiplied by a number between 1 - noise and 1 + noise, all as
likely, and all four are divided by their sum. So does the generator of Gunrock, which has its code from GTgraph; in
GTgraph's own, with the same 5 %, both branches for b raise it. The time of edge i is drawn by the counter (0, 2, i);
other models, which have an edge once, draw it by (0, 2, smaller end, larger end), and all draw weights so, by another
key.
"""

import gzip
import os
import shutil
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import BinaryIO, ClassVar, TypeVar

import numpy as np
from numba import uint32, uint64

from csaw.datasets.models import block_of, sbm_blocks
from csaw.datasets.philox import LOW, SHIFT, philox
from csaw.datasets.spec import Integers, Model, Rgg, Rmat, Sbm, is_mag, parse_spec
from csaw.partition.arrays.replace import FILE, cannot_be_written, check, new_file
from csaw.partition.base.compile import njit
from csaw.partition.base.kernel_tools import copy
from csaw.partition.base.parallel import processors
from csaw.partition.errors import BudgetError, OptionError, StoreError
from csaw.partition.graph.edge_columns import TIME
from csaw.partition.graph.store import GraphStore
from csaw.partition.ingestion.ingest_options import IngestOptions
from csaw.partition.ingestion.pipeline import Row, ingest_rows
from csaw.partition.ingestion.text.shape import Shape

# Turning rows of an edge list into text, as fast as gzip compresses it.

DIGITS = 20  # of the largest number
UNITS = [repr(k / 256).removeprefix("0").encode() for k in range(256)]
WIDTH = max(map(len, UNITS))
SPELLED = np.array([np.frombuffer(text.ljust(WIDTH), np.uint8) for text in UNITS])  # of 1/256, behind a whole number
LENGTHS = np.array([len(text) for text in UNITS])
NONE = np.empty(0, np.int64)


def rows_as_text(
    src: np.ndarray, dst: np.ndarray, weights: np.ndarray | None, times: np.ndarray | None = None
) -> memoryview:
    """The lines ``src TAB dst [TAB weight] [TAB time]`` of edges with ids and times from 0 on and weights that are
    multiples of 1/256.
    """
    out = np.empty(src.size * (4 * DIGITS + WIDTH + 4), np.uint8)
    units = NONE if weights is None else (weights.astype(np.float64) * 256).astype(np.int64)
    return out[: _write(src, dst, units, NONE if times is None else times, SPELLED, LENGTHS, out)].data


@njit(nogil=True)
def _write(src, dst, units, times, spelled, lengths, out):
    at = 0
    for i in range(src.size):
        at = _number(out, at, src[i])
        out[at] = 9
        at = _number(out, at + 1, dst[i])
        if units.size:
            out[at] = 9
            at = _number(out, at + 1, units[i] >> 8)
            part = units[i] & 255
            copy(spelled[part, : lengths[part]], out[at:])
            at += lengths[part]
        if times.size:
            out[at] = 9
            at = _number(out, at + 1, times[i])
        out[at] = 10
        at += 1
    return at


@njit(nogil=True)
def _number(out, at, value):
    end = at + 1
    rest = value // 10
    while rest:
        end += 1
        rest //= 10
    for k in range(end - 1, at - 1, -1):
        out[k] = 48 + value % 10
        value //= 10
    return end


# Generated graphs.

GENERATING = "generating"
Progress = Callable[[int, int], None]  # edges done, edges in all
Made = TypeVar("Made")
BLOCK = 1 << 20  # edges that the ingest takes at a time
TEXT_BLOCK = 1 << 17  # edges that a thread turns into text at a time: 10 MB with their text
SPOOLED_BYTES = 16  # disk bytes of a row until the store is made: two ids of 64 bits
CELL_BYTES = 24  # of memory for each cell of rgg:
PACKED_BYTES = 1  # of a row of text, at least
THREADS = min(8, os.cpu_count() or 1)
# Zachary, Journal of Anthropological Research 33 (1977), numbered from 1: each vertex with its higher neighbors
KARATE = (
    (1, (2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 18, 20, 22, 32)),
    (2, (3, 4, 8, 14, 18, 20, 22, 31)),
    (3, (4, 8, 9, 10, 14, 28, 29, 33)),
    (4, (8, 13, 14)),
    (5, (7, 11)),
    (6, (7, 11, 17)),
    (7, (17,)),
    (9, (31, 33, 34)),
    (10, (34,)),
    (14, (34,)),
    (15, (33, 34)),
    (16, (33, 34)),
    (19, (33, 34)),
    (20, (34,)),
    (21, (33, 34)),
    (23, (33, 34)),
    (24, (26, 28, 30, 33, 34)),
    (25, (26, 28, 32)),
    (26, (32,)),
    (27, (30, 34)),
    (28, (34,)),
    (29, (32, 34)),
    (30, (33, 34)),
    (31, (33, 34)),
    (32, (33, 34)),
    (33, (34,)),
)


class ModelRows:
    """A generated graph as rows for the ingest, made a few blocks ahead of the reader."""

    def __init__(self, model: Model, progress: Progress | None = None) -> None:
        self.model, self.progress = model, progress
        self.shape, self.weighted = Shape(undirected=bool(model.undirected)), bool(model.weights)
        self.counts = {"lines": 0, "comments": 0, "blank": 0, "edges": 0, "skipped": 0}
        self._ends = partial(_rmat_block, model) if isinstance(model, Rmat) else block_of(model)
        self.clusters = partial(sbm_blocks, model) if isinstance(model, Sbm) else None

    def __iter__(self) -> Iterator[Row]:
        return self.each(lambda *block: block, BLOCK, THREADS)

    def each(self, work: Callable[..., Made], size: int, threads: int) -> Iterator[Made]:
        """Yield ``work(src, dst, weights)`` of blocks of about ``size`` edges, in their order; threads do the work.

        Where edges have times, these are a fourth argument.
        """
        units, draws = self.model.units, self.model.draws
        step = max(1, size * units // draws)

        def made(first: int) -> tuple[Made, int]:
            src, *columns = self._block(first, min(step, units - first))
            assert src is not None
            return work(src, *columns), src.size

        ahead: deque[Future[tuple[Made, int]]] = deque()
        tell = self.progress or (lambda done, total: None)
        tell(0, draws)
        with ThreadPoolExecutor(threads) as pool:
            firsts = iter(range(0, units, step))
            while True:
                while len(ahead) <= threads and (first := next(firsts, None)) is not None:
                    ahead.append(pool.submit(made, first))
                if not ahead:
                    tell(self.counts["edges"], self.counts["edges"])
                    return
                result, count = ahead.popleft().result()
                self.counts["edges"] += count
                tell(min(self.counts["edges"], draws), draws)
                yield result

    def _block(self, first: int, count: int) -> tuple[np.ndarray | None, ...]:
        m = self.model
        src, dst = self._ends(first, count)
        weights = symmetric_weights(src, dst, m.seed, m.weights) if self.weighted else None
        times: tuple[np.ndarray, ...] = ()
        if m.times is not None:
            by_number = isinstance(m, Rmat)
            times = (
                edge_times(m.seed, first, count, m.times) if by_number else _ends_times(src, dst, m.seed, m.times),
            )
        return src.astype(np.int64), dst.astype(np.int64), weights, *times


def _rmat_block(r: Rmat, first: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    src, dst = edges(r.scale, r.edge_factor, r.seed, first, count, r.a, r.b, r.c, r.noise, r.d)
    if r.scramble:
        scrambled(src, r.scale)
        scrambled(dst, r.scale)
    return src, dst


class KarateRows:
    """Zachary's karate club, 34 vertices and 78 edges."""

    shape, weighted = Shape(undirected=True), False
    counts: ClassVar = {"lines": 78, "comments": 0, "blank": 0, "edges": 78, "skipped": 0}

    def __iter__(self) -> Iterator[Row]:
        pairs = np.array([(u, v) for u, row in KARATE for v in row], np.int64)
        yield pairs[:, 0], pairs[:, 1], None

    def each(self, work: Callable[..., Made], size: int, threads: int) -> Iterator[Made]:
        return (work(*block) for block in self)


def generate(
    spec: str,
    out: str | Path,
    *,
    partitions: int | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> GraphStore:
    """Make the graph of ``spec`` and write it as the graph store ``out``; returns the open store."""
    if is_mag(spec):
        from csaw.datasets.mag import generate_mag

        return generate_mag(spec, out, partitions=partitions, overwrite=overwrite, progress=progress)
    rows, loops, dedup = _rows(spec, progress)
    _check_room(rows, Path(out).parent, SPOOLED_BYTES)
    options = IngestOptions(
        self_loops="keep" if loops else "drop",
        duplicates="first" if dedup else "keep",
        partitions=partitions,
        overwrite=overwrite,
        time_column=TIME.name if is_timed(spec) else None,
    )
    return ingest_rows(spec, rows, out, options, reading=GENERATING)


def write_text(spec: str, out: str | Path, *, overwrite: bool = False, progress: Progress | None = None) -> int:
    """Write the graph of ``spec`` as a SNAP edge list, and return the number of rows.

    It is compressed if its name ends with .gz. csaw partition makes the store of ``spec`` of it, with --time-column
    Time where edges have times.
    """

    def as_text(src: np.ndarray, dst: np.ndarray, *columns: np.ndarray | None) -> tuple[memoryview, int]:
        kept = slice(None) if loops else src != dst
        left = (None if column is None else column[kept] for column in columns)
        return rows_as_text(src[kept], dst[kept], *left), src[kept].size

    if is_mag(spec):
        raise OptionError(f"{out}: a graph of several types has no edge list; choose a name that ends with .zarr")
    _check_out(Path(out), overwrite)
    rows, loops, _ = _rows(spec, progress)
    _check_room(rows, Path(out).parent, PACKED_BYTES)
    kind = "Undirected" if rows.shape.undirected else "Directed"
    names = ["FromNodeId", "ToNodeId", *["Weight"] * rows.weighted, *["Time"] * is_timed(spec)]
    head = f"# {kind} graph: {spec}\n# " + "\t".join(names) + "\n"
    written = 0
    try:
        with new_file(Path(out), overwrite=overwrite) as plain, _packed(plain, Path(out)) as file:
            file.write(head.encode())
            for text, count in rows.each(as_text, TEXT_BLOCK, processors()):
                file.write(text)
                written += count
    except StoreError:
        raise
    except OSError as error:
        raise cannot_be_written(out, error) from error
    return written


def is_timed(spec: str) -> bool:
    """Whether the edges of the graph of ``spec`` have times."""
    return spec != "karate" and not is_mag(spec) and parse_spec(spec).times is not None


def _packed(file: BinaryIO, out: Path) -> AbstractContextManager[BinaryIO | gzip.GzipFile]:
    return gzip.GzipFile("", "wb", fileobj=file, mtime=0) if out.name.endswith(".gz") else nullcontext(file)


def _check_out(out: Path, overwrite: bool) -> None:
    if not out.parent.is_dir():
        raise OptionError(f"{out.parent} is not a directory; make it first")
    check(out, FILE, overwrite)


def _check_room(rows: ModelRows | KarateRows, folder: Path, row_bytes: int) -> None:
    """Refuse a graph for which disk and memory together have no room. Raises BudgetError."""
    if isinstance(rows, ModelRows) and folder.is_dir():
        cells = rows.model.units if isinstance(rows.model, Rgg) else 0
        need = rows.model.draws * row_bytes + cells * CELL_BYTES
        have = shutil.disk_usage(folder).free + os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        if need > have:
            raise BudgetError(
                f"{rows.model}: {rows.model.draws:,} edges need at least {need:,} bytes while they are made, but "
                f"memory and the disk of {folder} have only {have:,}; choose a smaller graph"
            )


def _rows(spec: str, progress: Progress | None) -> tuple[ModelRows | KarateRows, bool, bool]:
    """The rows of ``spec``, whether self loops are kept, and whether repeated edges are merged."""
    if spec == "karate":
        return KarateRows(), False, True
    model = parse_spec(spec)
    loops, dedup = (model.self_loops, model.dedup) if isinstance(model, Rmat) else (0, 1)
    return ModelRows(model, progress), bool(loops), bool(dedup)


WEIGHT_KEY = np.uint64(0x57454947)  # gives weights other random numbers than edges
WORDS = 2.0**32


def edges(
    scale: int,
    edge_factor: int,
    seed: int,
    first: int,
    count: int,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
    noise: float = 0.0,
    d: float | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The ends of the edges first .. first + count - 1, uint32 [count] each; ``d``: what a, b and c leave of 1."""
    count = max(0, min(count, (edge_factor << scale) - first))
    src, dst = np.empty(count, np.uint32), np.empty(count, np.uint32)
    below_a, below_b, below_c = (np.uint64(min(x, 1.0) * WORDS) for x in (a, a + b, a + b + c))
    if noise:
        _noisy_edges(scale, np.uint64(seed), first, a, b, c, 1 - a - b - c if d is None else d, noise, src, dst)
    else:
        _edges(scale, np.uint64(seed), first, below_a, below_b, below_c, src, dst)
    return src, dst


def symmetric_weights(src: np.ndarray, dst: np.ndarray, seed: int, kind: int | Integers = 1) -> np.ndarray:
    """Return a float32 weight for each edge, the same for u-v and v-u: a multiple of 1/256 in (0, 1].

    ``kind`` 5: the same number is brought to [1, 5). A range: an integer of it.
    """
    weights = np.empty(src.size, np.float32)
    if isinstance(kind, Integers):
        count = np.uint64(kind.high - kind.low + 1)
        _whole_weights(src, dst, np.uint64(seed), np.uint64(kind.low), count, weights)
        return weights
    _weights(src, dst, np.uint64(seed), weights)
    return from_one_to_five(weights) if kind == 5 else weights


def edge_times(seed: int, first: int, count: int, times: Integers) -> np.ndarray:
    """Return the times of the edges first .. first + count - 1: int64 [count], integers of the range."""
    drawn = np.empty(count, np.int64)
    _times(np.uint64(seed), first, times.low, np.uint64(times.high - times.low + 1), drawn)
    return drawn


def _ends_times(src: np.ndarray, dst: np.ndarray, seed: int, times: Integers) -> np.ndarray:
    """Return the time of each edge by its ends, the same for u-v and v-u: int64, integers of the range."""
    drawn = np.empty(src.size, np.int64)
    _times_by_ends(np.uint64(seed), src, dst, times.low, np.uint64(times.high - times.low + 1), drawn)
    return drawn


def from_one_to_five(weights: np.ndarray) -> np.ndarray:
    """Multiples of 1/256 in (0, 1] as multiples of 1/64 in [1, 5), in place; arrays on a GPU too.

    Every step is exact.
    """
    weights *= 4
    weights += 1 - 1 / 64
    return weights


@njit(nogil=True)
def _edges(scale, seed, first, below_a, below_b, below_c, src, dst):
    k0, k1 = seed & LOW, seed >> SHIFT
    for i in range(src.size):
        edge = uint64(first + i)
        s = d = uint32(0)
        w0 = w1 = w2 = w3 = uint64(0)
        for level in range(scale):
            if level & 3 == 0:
                w0, w1, w2, w3 = philox(uint64(level >> 2), uint64(0), edge & LOW, edge >> SHIFT, k0, k1)
            word, w0, w1, w2 = w0, w1, w2, w3
            s = (s << uint32(1)) | uint32(word >= below_b)
            d = (d << uint32(1)) | uint32((below_a <= word < below_b) or word >= below_c)
        src[i], dst[i] = s, d


@njit(nogil=True)
def _noisy_edges(scale, seed, first, a, b, c, d, noise, src, dst):
    k0, k1 = seed & LOW, seed >> SHIFT
    for i in range(src.size):
        edge = uint64(first + i)
        s = t = uint32(0)
        w0 = w1 = w2 = w3 = uint64(0)
        of_a, of_b, of_c, of_d = a, b, c, d
        for level in range(scale):
            if level & 3 == 0:
                w0, w1, w2, w3 = philox(uint64(level >> 2), uint64(0), edge & LOW, edge >> SHIFT, k0, k1)
            word, w0, w1, w2 = w0, w1, w2, w3
            below_a, below_b = _below(of_a), _below(of_a + of_b)
            below_c = _below(of_a + of_b + of_c)
            s = (s << uint32(1)) | uint32(word >= below_b)
            t = (t << uint32(1)) | uint32((below_a <= word < below_b) or word >= below_c)
            n0, n1, n2, n3 = philox(uint64(level), uint64(1), edge & LOW, edge >> SHIFT, k0, k1)
            of_a, of_b = _varied(of_a, noise, n0), _varied(of_b, noise, n1)
            of_c, of_d = _varied(of_c, noise, n2), _varied(of_d, noise, n3)
            total = of_a + of_b + of_c + of_d
            of_a, of_b, of_c, of_d = of_a / total, of_b / total, of_c / total, of_d / total
        src[i], dst[i] = s, t


@njit(inline="always")
def _below(chance):
    return uint64(min(chance, 1.0) * WORDS)


@njit(inline="always")
def _varied(chance, noise, word):
    return chance * (1.0 + noise * (2.0 * (np.float64(word) / WORDS) - 1.0))


@njit(nogil=True)
def _weights(src, dst, seed, weights):
    k0, k1 = seed & LOW, (seed >> SHIFT) ^ WEIGHT_KEY
    for i in range(src.size):
        u, v = uint64(min(src[i], dst[i])), uint64(max(src[i], dst[i]))
        word = philox(uint64(0), uint64(0), u, v, k0, k1)[0]
        weights[i] = np.float32((word >> uint64(24)) + uint64(1)) / np.float32(256.0)


@njit(nogil=True)
def _whole_weights(src, dst, seed, low, count, weights):
    k0, k1 = seed & LOW, (seed >> SHIFT) ^ WEIGHT_KEY
    for i in range(src.size):
        u, v = uint64(min(src[i], dst[i])), uint64(max(src[i], dst[i]))
        word = philox(uint64(0), uint64(0), u, v, k0, k1)[0]
        weights[i] = np.float32(low + (word * count >> SHIFT))


@njit(nogil=True)
def _times(seed, first, low, count, drawn):
    for i in range(drawn.size):
        edge = uint64(first + i)
        drawn[i] = _time(seed, edge & LOW, edge >> SHIFT, low, count)


@njit(nogil=True)
def _times_by_ends(seed, src, dst, low, count, drawn):
    for i in range(drawn.size):
        drawn[i] = _time(seed, uint64(min(src[i], dst[i])), uint64(max(src[i], dst[i])), low, count)


@njit(inline="always")
def _time(seed, one, other, low, count):
    """``count``: of integers in the range, at most 2^32. Each is drawn by 64 bits, as a fraction of 1."""
    upper, lower, _, _ = philox(uint64(0), uint64(2), one, other, seed & LOW, seed >> SHIFT)
    return low + np.int64((upper * count + (lower * count >> SHIFT)) >> SHIFT)


@njit(nogil=True)
def scrambled(ids, scale):
    """Replaces ids below 2^scale by their images under a fixed bijection of that range."""
    mask = (uint64(1) << uint64(scale)) - uint64(1)
    half = uint64((scale + 1) // 2)
    for i in range(ids.size):
        x = uint64(ids[i])
        for factor in (uint64(0x9E3779B97F4A7C15), uint64(0xBF58476D1CE4E5B9), uint64(0x94D049BB133111EB)):
            x = (x * factor + uint64(1)) & mask  # odd factors and shifted exclusive or can be undone
            x ^= x >> half
        ids[i] = x
