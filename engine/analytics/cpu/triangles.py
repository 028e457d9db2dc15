"""Triangles of a simple undirected network on the CPU: of the graph and of each vertex, exact or estimated.

Rows are oriented by degree (oriented.py). Where memory does not hold them, parts of them stay while all pieces that
have edges to them pass by: a triangle needs the rows of two of its vertices alone, so for P parts every row is read (P
+ 1) / 2 times.
"""

from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import NamedTuple

import numpy as np

from csaw.engine.analytics.clusterings import Clusterings, of_arrays
from csaw.engine.analytics.cpu.footprints import scratch
from csaw.engine.analytics.cpu.kernels import oriented
from csaw.engine.analytics.cpu.kernels import triangles as triangle_kernels
from csaw.engine.analytics.cpu.network import HostNetwork, equal_ranges
from csaw.engine.analytics.cpu.oriented import Oriented, Rows, orient

TASKS_OF_THREAD, EDGES_OF_TASK = 32, 1 << 12  # the work of vertices differs
WHOLE = (0, 1)  # the share that is all
Count = Callable[[HostNetwork, Oriented, Rows, Rows, np.ndarray], int]


def triangles(
    network: HostNetwork, *, each: bool = True, share: tuple[int, int] = WHOLE
) -> tuple[int, np.ndarray | None]:
    """Count triangles by intersecting sets of neighbors: of the graph, and of ``each`` vertex if that is asked for.

    ``share``: (k, n) counts part k of n alone; the sums of all parts are those of the whole (default: all). BudgetError
    where the network's memory does not hold the longest row.

    Returns:
        The number of triangles, and those that each vertex is in, int64 [V], or None.
    """
    return counted(network, _intersect, each, share)


def counted(
    network: HostNetwork, count: Count, each: bool, share: tuple[int, int] = WHOLE
) -> tuple[int, np.ndarray | None]:
    """Count triangles with ``count``, a function for those between the rows that stay and a piece that passes by.

    Other arguments and the result are those of ``triangles``.
    """
    work = network.unfinished.work("triangles", each, share)
    counts = work.done.pop("counts", np.zeros(network.vertices if each else 0, np.int64))
    total = int(work.done.get("total", 0))
    with closing(orient(network, scratch=scratch(network))) as rows:
        low, high = _ranks(network, rows, share)
        low = int(work.done.get("low", low))
        for fixed in rows.fixed(low, high) if low < high else ():
            own = rows.within(fixed, low, high)
            for piece in rows.pieces(own.first):
                total += count(network, rows, own, piece, counts)
            work.note(counts=counts, total=total, low=own.last)
            work.tell(own.last, high, "vertices of triangles, by degree")
        return total, counts[rows.rank] if each else None


def _ranks(network: HostNetwork, rows: Oriented, share: tuple[int, int]) -> tuple[int, int]:
    """The ranks, low .. high - 1, of a share's middle vertices; shares have about as many edges that lead to these."""
    if share == WHOLE:
        return 0, network.vertices
    upto = np.concatenate([[0], np.cumsum(network.degrees[rows.order] - np.diff(rows.begin))])
    part, parts = share
    cuts = np.searchsorted(upto, [upto[-1] * part // parts, upto[-1] * (part + 1) // parts])
    return int(cuts[0]) if part else 0, int(cuts[1]) if part + 1 < parts else network.vertices


def _intersect(network: HostNetwork, rows: Oriented, fixed: Rows, piece: Rows, counts: np.ndarray) -> int:
    """Count the triangles with the middle vertex in ``fixed`` and the vertex of highest rank in ``piece``.

    Each adds 1 to its vertices in ``counts``, by rank, unless that is empty.
    """
    near = np.empty(piece.entries.size, np.uint16)
    network.each(oriented.shorten, network.spans(near.size), piece.entries, near)
    listed = rows.sources(piece, fixed.first, fixed.last)
    middles = (rows.begin, fixed.entries, int(rows.begin[fixed.first]))
    given = (*middles, near, piece.entries, int(rows.begin[piece.first]), *listed)
    tasks = tasks_of(network, listed.begin_in[:-1], fixed.first)
    if counts.size:
        return sum(map(int, network.each(triangle_kernels.count_each, tasks, *given, counts)))
    return sum(map(int, network.each(triangle_kernels.count, tasks, *given)))


def tasks_of(network: HostNetwork, upto: np.ndarray, first: int) -> list[tuple[int, int]]:
    """The vertices ``first`` and on in ranges of about equal work, where ``upto`` [vertices + 1] counts edges."""
    edges = int(upto[-1] - upto[0])
    return equal_ranges(upto, min(network.threads * TASKS_OF_THREAD, edges // EDGES_OF_TASK), first)


# By a masked product: the square of the oriented graph's matrix where the matrix has entries. It is one of the three
# ways of Gunrock's paper (Wang and others, IA3 2016).


def masked_product(network: HostNetwork, *, each: bool = True) -> tuple[int, np.ndarray | None]:
    """Count triangles as ``triangles`` does, of the whole graph and of ``each`` vertex."""
    return counted(network, _multiply, each)


def _multiply(network: HostNetwork, rows: Oriented, fixed: Rows, piece: Rows, counts: np.ndarray) -> int:
    """Count the triangles with the middle vertex in ``fixed`` and the vertex of highest rank in ``piece``.

    Each adds 1 to its vertices in ``counts``, by rank, unless that is empty.
    """
    upto = rows.begin[piece.first : piece.last + 1]
    given = (rows.begin, fixed.entries, fixed.first, fixed.last, piece.entries, int(upto[0]), counts)
    tasks = tasks_of(network, upto, piece.first)
    return sum(map(int, network.each(triangle_kernels.multiply, tasks, *given)))


# Clusterings, which follow from the triangles of each vertex.


def clustering(network: HostNetwork, *, triangles: np.ndarray) -> Clusterings:
    """Find clusterings of the triangles of each vertex, int64 [V]."""
    return of_arrays(network.degrees, triangles)


# Estimates: closed wedges among random ones.
# Seshadhri, Pinar and Kolda, Statistical Analysis and Data Mining 7(4), 2014.

WEDGE_BYTES = 48  # of a wedge: its three vertices, and two orders
KEPT_BYTES = 24  # of a vertex, of which wedges in memory may take as much as STATE_BYTES leaves
LEAST = 1024  # wedges at a time


class Closed(NamedTuple):
    """How many of the drawn wedges are closed: of all wedges alike, and of vertices alike.

    ``wedges`` and ``vertices``: how many wedges, and vertices that have one, the graph has.
    """

    of_wedges: int
    of_vertices: int
    wedges: int
    vertices: int


def wedges(network: HostNetwork, *, count: int, seed: int) -> Closed:
    """Draw ``count`` wedges of a simple undirected network twice: of all wedges alike, and of vertices alike.

    Of vertices of degree 2 or more alike, each comes with one of its wedges.
    """
    begin, able = _running(network)
    if not begin[-1]:
        return Closed(0, 0, 0, 0)
    batch = max(LEAST, (KEPT_BYTES * network.vertices) // WEDGE_BYTES)
    of_wedges = of_vertices = 0
    for low in range(0, count, batch):
        high = min(low + batch, count)
        given = (low, high, np.uint64(seed), begin)
        of_wedges += _closed(network, high - low, partial(triangle_kernels.draw_wedges, *given))
        of_vertices += _closed(network, high - low, partial(triangle_kernels.draw_vertices, *given, able))
    return Closed(of_wedges, of_vertices, int(begin[-1]), int(able[-1]))


def _running(network: HostNetwork) -> tuple[np.ndarray, np.ndarray]:
    """int64 [V + 1] twice: wedges of all vertices before each, and the vertices before it that have a wedge."""
    degrees = network.degrees
    begin, able = (np.zeros(network.vertices + 1, np.int64) for _ in range(2))
    np.cumsum(degrees * (degrees - 1) // 2, out=begin[1:])
    np.cumsum(degrees > 1, out=able[1:])
    return begin, able


def _closed(network: HostNetwork, count: int, draw: Callable[..., None]) -> int:
    """How many of some drawn wedges are closed."""
    centers, firsts, seconds = (np.empty(count, np.int64) for _ in range(3))
    draw(centers, firsts, seconds)
    visit(network, centers, triangle_kernels.find_ends, centers, firsts, seconds)
    return visit(network, firsts, triangle_kernels.count_closed, firsts, seconds)


def visit(network: HostNetwork, vertices: np.ndarray, kernel: Callable[..., int], *arrays: np.ndarray) -> int:
    """Have a kernel see each wedge while the row of its vertex in ``vertices`` is in memory.

    Returns the sum of the kernel's results.
    """
    order = np.argsort(vertices)
    ascending = vertices[order]
    total = 0
    for block in network.blocks(wanted=lambda *ends: bool(np.diff(np.searchsorted(ascending, ends))[0])):
        low, high = np.searchsorted(ascending, [block.first, block.last]).tolist()
        total += kernel(low, high, order, block.first, block.indptr, block.indices, *arrays)
    return total


# Estimates: triangles of random edges, each seen by a random neighbor of an end.

DRAW_BYTES = 64  # of an edge: three vertices, two places, the largest number of its triangles, and two orders


class Seen(NamedTuple):
    """Sums over the drawn edges of the number of triangles that each says, and of its square.

    ``edges`` and ``wedges``: how many of them the graph has.
    """

    triangles: int
    squares: int
    edges: int
    wedges: int


def edge_triangles(network: HostNetwork, *, count: int, seed: int) -> Seen:
    """Draw ``count`` edges of a simple undirected network, each alike, and see whether each is in a triangle.

    Of each edge a random neighbor w is drawn, of that end which has fewer of them, d. Where w is a neighbor of the
    other end too, the edge is taken to have d triangles, otherwise none: on average, those that it has. All sums are of
    integers.
    """
    degrees = network.degrees
    edges, wedges = network.edges // 2, int((degrees * (degrees - 1) // 2).sum())
    batch = max(LEAST, KEPT_BYTES * network.vertices // DRAW_BYTES)
    triangles = squares = 0
    for low in range(0, count if edges else 0, batch):
        most = _most(network, degrees, low, min(low + batch, count), np.uint64(seed))
        triangles += int(most.sum())
        squares += sum(int(part @ part) for part in np.array_split(most, -(-most.size // LEAST)))
    return Seen(triangles, squares, edges, wedges)


def _most(network: HostNetwork, degrees: np.ndarray, low: int, high: int, seed: np.uint64) -> np.ndarray:
    """Say the numbers of triangles of the edges with the numbers low .. high - 1: int64 [high - low]."""
    near, far, third, place = (np.empty(high - low, np.int64) for _ in range(4))
    triangle_kernels.draw_edges(low, high, seed, network.offsets, near, place)
    visit(network, near, triangle_kernels.read_entries, near, place, far)
    triangle_kernels.choose_neighbors(low, high, seed, degrees, near, far, place)
    visit(network, near, triangle_kernels.read_entries, near, place, third)
    most = degrees[near]
    triangle_kernels.shorter_first(degrees, far, third)
    visit(network, far, triangle_kernels.keep_closed, far, third, most)
    return most
