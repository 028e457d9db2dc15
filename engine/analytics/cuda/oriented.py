"""Lists of lower neighbors of vertices that are ranked by degree, on a GPU: twin of engine/analytics/cpu/oriented.py.

Vertices of fewer than two neighbors are in no triangle, and have no rank: so ranks take 32 bits where ids take 64, and
what is kept of each rank is of fewer vertices. Hubs, the vertices of highest degree, are listed in 16 bits, others in
32. Where all rows are in memory, they are split where others' ranks are looked up, and keep their places.

Of a graph larger than a GPU's memory, all rows pass by the GPU once, and are written run by run: the lists of the
vertices of a block, in order of rank. They are read piece by piece, the lists of consecutive ranks, put together of
what each run has of it. Of each list there is an entry beside it (analytics/cuda/kernels/oriented_runs.cu). So the half
of the graph that is read again and again has no more than four bytes an edge, hubs in 16 bits, and is not split again.
Runs are in host memory, which is page-locked, or in a temporary file; those of a graph that is spread over GPUs stay on
the GPU that wrote them.
"""

import threading
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

import cupy
import numpy as np
from cupy import ndarray as Array

from csaw.engine.analytics.clusterings import HUBS
from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.piece_groups import Group
from csaw.engine.analytics.rows_in_memory import Block
from csaw.engine.cpu.scratch_file import ScratchFile
from csaw.engine.cuda.declarations import BLOCK
from csaw.engine.cuda.memory import page_locked
from csaw.partition.base.cache import cache_dir
from csaw.partition.errors import DeviceError

MOST_RANKED = (1 << 32) - 1  # vertices whose ranks take 32 bits, besides the number that stands for no rank
LEAST = 2  # neighbors of a vertex in a triangle
SPAN = 1024  # vertices of which a warp finds those that get a rank, as in engine/analytics/cuda/kernels/oriented.cu
LONG = 1024  # neighbors from which a row is split by a whole block
BIG, SMALL = 512, (32, 2)  # threads of a block: of one long row, and of two short ones
RANKED = 8  # words of the struct Ranked
DENSE_OF = 3  # its word that says in how large a dense part it has many neighbors
MOST_WARPS = 1 << 20  # of a launch


class Lists(NamedTuple):
    """The lower neighbors of the vertices of rank ``first`` .. ``last`` - 1.

    ``ranked`` uint32 [last - first, RANKED]: the struct of analytics/cuda/kernels/ranked.cuh. ``near`` uint16, ``far``
    uint32: hubs, and others.
    """

    first: int
    last: int
    ranked: Array
    near: Array
    far: Array


class Higher(NamedTuple):
    """The higher neighbors of the vertices of some lists, in any order.

    ``count[k]`` uint32 of ``words`` uint32 from ``begin[k]`` int64 on.
    """

    begin: Array
    count: Array
    words: Array


class Split(NamedTuple):
    """Rows whose lower neighbors' ranks come first, and whose higher ones' come last: ``rows`` uint32 [entries].

    ``lower``, ``close`` and ``higher``, uint32 of each vertex: how many neighbors are lower, hubs among these, and
    higher.
    """

    rows: Array
    lower: Array
    close: Array
    higher: Array


def rank_by_degree(network: DeviceNetwork, least: int = LEAST) -> tuple[Array, Array]:
    """Rank the vertices of ``least`` neighbors or more by degree, the highest first, ties in order of ids.

    DeviceError where there are 2^32 of them or more.

    Returns:
        The rank of each vertex, uint32 [V], of which 2^32 - 1 is none; and the vertex of each rank, int64 [ranks].
    """
    vertices, kernels = network.vertices, network.kernels("oriented")
    begin = cupy.zeros(-(-vertices // SPAN) + 1, np.int64)
    kernels.over("count_ranked", 32 * begin.size, vertices, least, network.indptr, begin[1:])
    cupy.cumsum(begin, out=begin)
    ranks = int(begin[-1])
    if ranks > MOST_RANKED:
        neighbors = "two neighbors" if least > 1 else "one neighbor"
        raise DeviceError(
            f"{network.store.path}: expected fewer than 2^32 vertices with {neighbors} or more, found {ranks:,}, which "
            "GPUs number in 32 bits; pass --device cpu"
        )
    rank, chosen = cupy.empty(vertices, np.uint32), cupy.empty(ranks, network.id_dtype)
    keys = cupy.empty(ranks, np.uint64)
    kernels.over("key_ranked", 32 * begin.size, vertices, least, network.indptr, begin, chosen, keys, rank)
    keys.sort()
    kernels.over("rank_keys", ranks, ranks, chosen, keys, rank)
    return rank, keys.view(np.int64)


def empty_split(entries: int, vertices: int) -> Split:
    return Split(*(cupy.empty(size, np.uint32) for size in (entries, vertices, vertices, vertices)))


def split(network: DeviceNetwork, rank: Array, block: Block, into: Split) -> None:
    """Split the rows of a block into ``into``, of its vertices; ``rows`` has the places of ``block.indices``."""
    kernels, count = network.kernels("oriented"), block.last - block.first
    given = (block.first, np.uint32(HUBS), block.indptr, block.indices, rank, *into)
    long, found = cupy.empty(block.indices.size // LONG, np.int64), cupy.zeros(1, np.uint64)
    kernels.over("list_long", count, count, LONG, block.indptr, long, found)
    many = int(found[0])
    kernels.launch("split_long", min(many, network.gpu.processors * 8), BIG, many, long, *given)
    kernels.launch("split_short", min(-(-count // SMALL[1]), network.gpu.processors * 64), SMALL, count, LONG, *given)


def placed(network: DeviceNetwork, order: Array, whole: Split) -> tuple[Lists, Higher]:
    """Place the lists of all ranks, of the split rows of a network in memory."""
    ranks = order.size
    near_begin, kernels = cupy.zeros(ranks + 1, np.int64), network.kernels("oriented")
    kernels.over("count_units", ranks, ranks, order, whole.close, near_begin[1:])
    cupy.cumsum(near_begin, out=near_begin)
    near = cupy.empty(4 * int(near_begin[-1]), np.uint16)
    ranked = cupy.empty((ranks, RANKED), np.uint32)
    higher = Higher(cupy.empty(ranks, np.int64), cupy.empty(ranks, np.uint32), whole.rows)
    kernels.over(
        "place_rows",
        32 * min(ranks, MOST_WARPS),
        ranks,
        order,
        network.indptr,
        *whole,
        near_begin,
        ranked,
        near,
        *higher[:2],
    )
    return Lists(0, ranks, ranked, near, whole.rows), higher


# Lists of a graph larger than a GPU's memory: each edge once.

WIDTHS = ENTRY, UNIT, OTHER = 16, 8, 4  # bytes of a list's entry, of four hubs, and of another neighbor
TO_DEVICE, WITHIN = 1, 3  # CUDA's numbers of a copy from host memory, and from this or another GPU
MOST_SEGMENTS = 65_535  # that a launch has a row of blocks for
MOST_ENTRIES = (1 << 32) - 1  # of a block with more than one row: where a list stands in a run is said in 32 bits
# Of a list in a piece, beside its neighbors: its entry, its struct, and the filling of its last unit.
LIST_BYTES = ENTRY + 4 * RANKED + UNIT


class Run(NamedTuple):
    """Where a run is: places of its entries, hubs and others in the memory of the runs, or their addresses on a GPU.

    ``at`` int64 [cuts, 3]: the numbers of lists, of units of hubs, and of others before each cut.
    """

    places: tuple[int, int, int]
    at: np.ndarray


class Runs:
    """Lists of a network, cut at the ranks ``cuts`` [pieces + 1], in host memory, in a file, or on GPUs.

    ``memory``: uint8; None: a file. ``on_gpus``: each run stays in the memory of the GPU that writes it.
    """

    def __init__(self, cuts: np.ndarray, memory: np.ndarray | None, *, on_gpus: bool = False) -> None:
        self.cuts, self.memory, self.runs, self.end, self.lock = cuts, memory, list[Run](), 0, threading.Lock()
        self.on_gpus, self.there = on_gpus, list[tuple[Array, ...]]()
        self.file = None if on_gpus or memory is not None else ScratchFile(cache_dir())
        self.address = 0 if memory is None else memory.ctypes.data
        self.places: dict[tuple[int, int], int] = {}  # in the file, of what is there of a run between two cuts
        self.held: dict[int, np.ndarray] = {}  # what a thread has read from there

    def close(self) -> None:
        self.there.clear()
        if self.file is not None:
            self.file.close()

    @property
    def ranks(self) -> int:
        """The number of all lists."""
        return int(self.cuts[-1])

    @cached_property
    def sizes(self) -> np.ndarray:
        """int64 [pieces, 3]: the numbers of lists, of units of hubs, and of others of each piece. All are written."""
        return np.diff(np.sum([run.at for run in self.runs], axis=0), axis=0)

    # Writing

    def write(self, network: DeviceNetwork, rank: Array, blocks: Iterator[Block]) -> None:
        """Write the runs of ``blocks``. ``rank``: uint32 [V] on the GPU."""
        stream, earlier = cupy.cuda.Stream(non_blocking=True), None
        cuts = cupy.asarray(self.cuts)
        for block in blocks:
            arrays, at = _run(network, rank, block, cuts)
            stream.wait_event(cupy.cuda.get_current_stream().record())
            if earlier is not None:
                earlier[1].synchronize()  # its arrays may be used again
            self._keep(arrays, at, stream)
            earlier = arrays, stream.record()
        stream.synchronize()

    def _keep(self, arrays: tuple[Array, ...], at: np.ndarray, stream: cupy.cuda.Stream) -> None:
        if self.on_gpus:
            entries, near, far = (array.data.ptr for array in arrays)
            with self.lock:
                self.there.append(arrays)
                self.runs.append(Run((entries, near, far), at))
            return
        sizes = [array.nbytes for array in arrays]
        with self.lock:
            *places, end = accumulate([self.end, *(-(-size // ENTRY) * ENTRY for size in sizes)])
            number, self.end = len(self.runs), end
            self.runs.append(Run((places[0], places[1], places[2]), at))
        if self.memory is not None:
            for array, place, size in zip(arrays, places, sizes, strict=True):
                if size:
                    array.view(np.uint8).ravel().get(
                        out=self.memory[place : place + size], stream=stream, blocking=False
                    )
            return
        assert self.file is not None
        stream.synchronize()
        there = [array.get(stream=stream).view(np.uint8).ravel() for array in arrays]
        for piece in range(at.shape[0] - 1):
            spans = _spans(at, piece, piece + 1)
            self.places[number, piece] = self.file.append(
                np.concatenate([one[span] for one, span in zip(there, spans, strict=True)])
            )

    # Reading

    def read(self, network: DeviceNetwork, low: int, high: int, room: Array, stream: cupy.cuda.Stream) -> Lists:
        """Read the lists of the pieces low .. high - 1 into ``room`` (uint8), on ``stream``.

        They take ``bytes_of`` bytes.
        """
        lists, units, others = self.sizes[low:high].sum(axis=0).tolist()
        widths = (4 * RANKED * lists, UNIT * units, OTHER * others, ENTRY * (lists + len(self.runs) * (high - low)))
        ranked, near, far, entries = carved(room, widths)
        copied, done, kind = list[tuple[int, ...]](), (0, 0, 0), WITHIN if self.on_gpus else TO_DEVICE
        for run, piece, end in self._segments(low, high):
            before, upto = run.at[piece].tolist(), run.at[end].tolist()
            if before[0] == upto[0]:
                continue
            for there, at, width, (source, size) in zip(
                (entries, near, far), done, WIDTHS, self._sources(run, piece, end), strict=True
            ):
                if size:
                    cupy.cuda.runtime.memcpyAsync(there.data.ptr + width * at, source, size, kind, stream.ptr)
            if self.file is not None:
                stream.synchronize()  # its bytes are read where the next ones will be
            copied.append((done[0], upto[0] - before[0], done[1] - before[1], done[2] - before[2]))
            done = (done[0] + upto[0] - before[0] + 1, done[1] + upto[1] - before[1], done[2] + upto[2] - before[2])
        first, segments = int(self.cuts[low]), min(len(copied), MOST_SEGMENTS)
        with stream:
            network.kernels("oriented_runs").launch(
                "place_piece",
                (-(-lists // (BLOCK * segments)), segments),
                BLOCK,
                len(copied),
                cupy.asarray(np.array(copied, np.int64)),
                entries,
                first,
                ranked,
            )
        shape = (lists, RANKED)
        return Lists(
            first,
            int(self.cuts[high]),
            ranked.view(np.uint32).reshape(shape),
            near.view(np.uint16),
            far.view(np.uint32),
        )

    def _segments(self, low: int, high: int) -> Iterator[tuple[Run, int, int]]:
        for run in self.runs:
            for piece in (low,) if self.file is None else range(low, high):
                yield run, piece, high if self.file is None else piece + 1

    def _sources(self, run: Run, piece: int, end: int) -> list[tuple[int, int]]:
        """Addresses of the entries, hubs and others of a segment, and their bytes.

        What comes from the file stays until the next is read.
        """
        spans = _spans(run.at, piece, end)
        if self.file is None:
            return [
                (self.address + place + span.start, span.stop - span.start)
                for place, span in zip(run.places, spans, strict=True)
            ]
        sizes = [span.stop - span.start for span in spans]
        self.held[threading.get_ident()] = whole = np.empty(sum(sizes), np.uint8)
        number = next(number for number, one in enumerate(self.runs) if one is run)
        self.file.read(self.places[number, piece], whole)
        begins = np.cumsum([whole.ctypes.data, *sizes[:-1]]).tolist()
        return list(zip(begins, sizes, strict=True))


class Passing:
    """The lists of ``pieces``, one after the other, through two ``slots`` (uint8) of the GPU of ``network``.

    One is read, on ``stream``, while the one before is in use; the first is on its way at once.
    """

    def __init__(
        self,
        runs: Runs,
        network: DeviceNetwork,
        pieces: Sequence[Group],
        slots: Sequence[Array],
        stream: cupy.cuda.Stream,
    ) -> None:
        self.runs, self.network, self.pieces, self.slots, self.stream = runs, network, pieces, slots, stream
        self.used: list[cupy.cuda.Event | None] = [None, None]  # when kernels are done with a slot
        self.coming = [self._begin(0)] if pieces else []

    def __iter__(self) -> Iterator[Lists]:
        """Yield the lists of each piece, which are good until the next are asked for."""
        for turn in range(len(self.pieces)):
            lists, arrived = self.coming.pop()
            cupy.cuda.get_current_stream().wait_event(arrived)
            if turn + 1 < len(self.pieces):
                self.coming.append(self._begin(turn + 1))
            yield lists
            self.used[turn % 2] = cupy.cuda.get_current_stream().record()

    def _begin(self, turn: int) -> "tuple[Lists, cupy.cuda.Event]":
        """Begin to read a piece. Returns its lists, and when they have arrived."""
        piece, used = self.pieces[turn], self.used[turn % 2]
        if used is not None:
            self.stream.wait_event(used)
        lists = self.runs.read(self.network, piece.low, piece.high, self.slots[turn % 2], self.stream)
        return lists, self.stream.record()


def _spans(at: np.ndarray, piece: int, end: int) -> list[slice]:
    """Bytes of a run from a cut to another: of entries, with the one behind the last; of hubs, and of others."""
    low, high = at[piece].tolist(), at[end].tolist()
    return [
        slice(ENTRY * low[0], ENTRY * (high[0] + 1)),
        slice(UNIT * low[1], UNIT * high[1]),
        slice(OTHER * low[2], OTHER * high[2]),
    ]


def carved(room: Array, sizes: tuple[int, ...]) -> list[Array]:
    """Parts of ``room`` (uint8) of so many bytes each, which begin at multiples of 32."""
    begins = np.cumsum([0, *(-(-size // 32) * 32 for size in sizes)]).tolist()
    return [room[begin : begin + size] for begin, size in zip(begins, sizes, strict=False)]


def _run(network: DeviceNetwork, rank: Array, block: Block, cuts: Array) -> tuple[tuple[Array, ...], np.ndarray]:
    """Entries, hubs and others of a block's run, and ``Run.at``."""
    made = empty_split(block.indices.size, block.last - block.first)
    split(network, rank, block, made)
    own, kernels = rank[block.first : block.last], network.kernels("oriented_runs")
    order = cupy.argsort(own)  # of the unranked, which have no lists, last
    row = cupy.searchsorted(own[order].astype(np.int64), cuts)
    lists = int(row[-1])
    begins = [cupy.zeros(lists + 1, np.int64) for _ in range(2)]
    kernels.over("measure_run", lists, lists, order, made.lower, made.close, *(begin[1:] for begin in begins))
    for begin in begins:
        cupy.cumsum(begin, out=begin)
    at = cupy.stack([row, *(begin[row] for begin in begins)], axis=1).get()
    units, others = at[-1, 1:].tolist()
    arrays = cupy.empty((lists + 1, 4), np.uint32), cupy.empty(4 * units, np.uint16), cupy.empty(others, np.uint32)
    given = (lists, order, own, block.indptr, *made[:3], *begins)
    kernels.over("place_run", 32 * min(lists + 1, MOST_WARPS), *given, *arrays)
    return arrays, at


def cuts_of(network: DeviceNetwork, order: Array, most: int) -> np.ndarray:
    """Choose the ranks at which lists are cut, of which there is one at least: int64 [pieces + 1].

    A piece with more than one list has at most ``most`` bytes, whichever of a vertex's neighbors are lower.
    """
    ranks = order.size
    upto = cupy.empty(ranks, np.int64)
    network.kernels("oriented_runs").over("bound_lists", ranks, ranks, LIST_BYTES, OTHER, order, network.indptr, upto)
    cupy.cumsum(upto, out=upto)
    wanted = cupy.arange(most, int(upto[-1]), most)
    inner = cupy.searchsorted(upto, wanted).get()
    return np.unique(np.concatenate([[0], inner, [ranks]]))


def bytes_of(sizes: np.ndarray, runs: int) -> np.ndarray:
    """Bytes of pieces of these ``sizes``, as ``Runs.read`` needs them."""
    return (ENTRY + 4 * RANKED) * sizes[:, 0] + UNIT * sizes[:, 1] + OTHER * sizes[:, 2] + ENTRY * runs + 4 * 32


def host_bytes(network: DeviceNetwork, ranks: int) -> int:
    """The most bytes that the runs of a network with so many ranks can take."""
    return (
        OTHER * (network.edges // 2) + (2 * ENTRY + UNIT) * (ranks + 1) + 4 * ENTRY * (len(network.cut.partitions) + 1)
    )


def host_memory(network: DeviceNetwork, ranks: int) -> np.ndarray:
    """Page-locked memory for these runs."""
    return page_locked(host_bytes(network, ranks), np.uint8)
