"""The edges of grid:, road:, rgg:, ba: and sbm:, each a function of the seed and of a unit, which spec.py describes.

Units are vertices of a lattice and of sbm:, cells of rgg:, and edges of ba:. What a unit draws, it reads from
Philox4x32-10 with key = seed and counter = (number of the draw, purpose, unit). Everything is computed by integers,
sums, products and comparisons, and is the same on any machine.

rgg:    A binary tree of cells splits the number of points into halves, each by that many random bits, as KaGen does by
        binomials (Funke et al., JPDC 131, 2019); a point's place in its cell is drawn by its number.
ba:     The end of edge i is an end of an earlier edge. If it is the target of one, that is drawn again (Sanders and
        Schulz, IPL 116, 2016), which takes two draws on average and no memory.
sbm:    Pairs are skipped up to the next edge (Batagelj and Brandes, Phys. Rev. E 71, 2005). The gap is the largest k
        with u < (1 - p)^k, found by its bits from the powers (1 - p)^(2^j).
"""

from collections.abc import Callable

import numpy as np
from numba import uint64

from csaw.datasets.philox import LOW, SHIFT, philox
from csaw.datasets.spec import Ba, Grid, Model, Rgg, Road, Sbm
from csaw.partition.base.compile import njit

Ends = tuple[np.ndarray, np.ndarray]
Block = Callable[[int, int], Ends]
"""Makes the edges of the units first .. first + count - 1: sources and targets, int64."""
SPLIT, POINT, DRAW, INSIDE, OUTSIDE, ROADS = (np.uint64(k) for k in range(4, 10))  # purposes; 0 to 3 are in use
BITS = 40  # of a gap between edges


def block_of(model: Model) -> Block:
    """The function that makes blocks of a graph."""
    makers: dict[type[Model], Callable[..., Block]] = {Ba: _ba, Grid: _grid, Rgg: _rgg, Road: _road, Sbm: _sbm}
    return makers[type(model)](model)


def _filled(kernel: Callable[..., int], guess: float, *given: object) -> Ends:
    """The edges that a kernel counts, and writes as far as there is room: again if it needs more room than guessed."""
    needed = int(guess)
    while True:
        src, dst = np.empty(needed, np.int64), np.empty(needed, np.int64)
        if (needed := kernel(*given, src, dst)) <= src.size:
            return src[:needed], dst[:needed]


def _grid(grid: Grid) -> Block:
    shape = np.array([1] * (3 - len(grid.shape)) + list(grid.shape))
    steps = np.array([(0,) * (3 - len(one)) + one for one in grid.steps])
    return lambda first, count: _filled(
        _grid_edges, count * len(steps), first, count, shape, steps, bool(grid.periodic)
    )


@njit(nogil=True)
def _grid_edges(first, count, shape, steps, periodic, src, dst):
    at = 0
    for v in range(first, first + count):
        place = (v // (shape[1] * shape[2]), v // shape[2] % shape[1], v % shape[2])
        for k in range(len(steps)):
            other, fits = 0, True
            for axis in range(3):
                x = place[axis] + steps[k, axis]
                if periodic and shape[axis] > 1:
                    x %= shape[axis]
                fits &= 0 <= x < shape[axis]
                other = other * shape[axis] + x
            if fits:
                src[at], dst[at] = v, other
                at += 1
    return at


def _road(road: Road) -> Block:
    chance = np.uint64((road.degree / 2 - 1) * 2.0**32)
    return lambda first, count: _filled(
        _road_edges, 2 * count, first, count, road.shape[1], chance, np.uint64(road.seed)
    )


@njit(nogil=True)
def _road_edges(first, count, width, chance, seed, src, dst):
    at = 0
    for v in range(first, first + count):
        w0, w1, _, _ = _words(seed, uint64(0), ROADS, v)
        has_north, has_west = v >= width, v % width > 0
        both = w1 < chance
        is_north = w0 & uint64(1) == 0
        if has_north and (both or is_north or not has_west):
            src[at], dst[at] = v - width, v
            at += 1
        if has_west and (both or not is_north or not has_north):
            src[at], dst[at] = v - 1, v
            at += 1
    return at


def _ba(ba: Ba) -> Block:
    def block(first: int, count: int) -> Ends:
        src, dst = np.empty(count, np.int64), np.empty(count, np.int64)
        _ba_edges(np.uint64(ba.seed), first, ba.edge_factor, src, dst)
        return src, dst

    return block


@njit(nogil=True)
def _ba_edges(seed, first, factor, src, dst):
    """Edge i is that of vertex 1 + i // factor. Entry 2 i of the list of ends is its source, 2 i + 1 its target."""
    for i in range(src.size):
        edge = first + i
        src[i] = 1 + edge // factor
        while edge >= factor:
            w0, w1, _, _ = _words(seed, uint64(0), DRAW, edge)
            entry = np.int64((w0 << SHIFT | w1) % uint64(edge // factor * factor * 2))
            edge = entry // 2
            if entry % 2 == 0:
                break
        else:
            dst[i] = 0
            continue
        dst[i] = 1 + edge // factor


def _sbm(sbm: Sbm) -> Block:
    powers = np.array([_powers(1 - chance) for chance in sbm.chances])
    mean = (sbm.inside + sbm.outside) / 2

    def block(first: int, count: int) -> Ends:
        guess = 2.1 * count * mean + 1024  # nearly all neighbors of the first vertices come later
        return _filled(_sbm_edges, guess, first, count, sbm.vertices, sbm.blocks, powers, np.uint64(sbm.seed))

    return block


def _powers(base: float) -> list[float]:
    """``base`` to the powers 2^0, 2^1, 2^2 and so on."""
    found = [base]
    for _ in range(BITS - 1):
        found.append(found[-1] * found[-1])
    return found


@njit(nogil=True)
def _sbm_edges(first, count, vertices, blocks, powers, seed, src, dst):
    at = 0
    for u in range(first, first + count):
        end = ((u * blocks // vertices + 1) * vertices + blocks - 1) // blocks  # first vertex of the next block
        for part in range(2):
            v, last, purpose = (u, end, INSIDE) if part == 0 else (end - 1, vertices, OUTSIDE)
            draw = uint64(0)
            while powers[part, 0] < 1.0:
                v += 1 + _gap(powers[part], seed, draw, purpose, u)
                draw += uint64(1)
                if v >= last:
                    break
                if at < src.size:
                    src[at], dst[at] = u, v
                at += 1
    return at


@njit(nogil=True)
def _gap(powers, seed, draw, purpose, unit):
    w0, w1, _, _ = _words(seed, draw, purpose, unit)
    u, reached, gap = float((w0 << SHIFT | w1) >> uint64(11)) / 2.0**53, 1.0, 0
    for j in range(powers.size - 1, -1, -1):
        if u < reached * powers[j]:
            reached *= powers[j]
            gap += 1 << j
    return gap


def sbm_blocks(sbm: Sbm, vertices: np.ndarray) -> np.ndarray:
    """The block of each of some vertices, int32."""
    return (vertices * sbm.blocks // sbm.vertices).astype(np.int32)


def _rgg(rgg: Rgg) -> Block:
    seed, level, dimensions = np.uint64(rgg.seed), rgg.level, rgg.dimensions
    firsts = points_of_cells(rgg)
    ahead = sum(1 << level * axis for axis in range(dimensions))  # cells from one to the last that touches it
    steps = [one for one in np.ndindex(*(3,) * dimensions) if one >= (1,) * dimensions]
    offsets = np.array([(0,) * (3 - dimensions) + tuple(x - 1 for x in one) for one in steps])

    def block(first: int, count: int) -> Ends:
        cells = firsts[first : min(first + count + ahead, firsts.size - 1) + 1]
        points = np.empty((cells[-1] - cells[0], 3))
        _points(seed, level, dimensions, first, cells, points)
        guess = 1.1 * rgg.draws / rgg.units * count + 1024
        return _filled(_rgg_edges, guess, first, count, level, dimensions, cells, points, offsets, rgg.reach**2)

    return block


def points_of_cells(rgg: Rgg) -> np.ndarray:
    """The number of the first point of each cell, and behind them that of all points: int64."""
    counts = np.array([rgg.vertices])
    for depth in range(rgg.level * rgg.dimensions):
        halves = np.empty((counts.size, 2), np.int64)
        _split(np.uint64(rgg.seed), uint64(depth), counts, halves)
        counts = halves.ravel()
    return np.concatenate([[0], np.cumsum(counts)])


@njit(nogil=True)
def _split(seed, depth, counts, halves):
    for i in range(counts.size):
        ones = 0
        for first in range(0, counts[i], 128):
            words = _words(seed, uint64(first // 128), SPLIT | depth << uint64(8), i)
            for k in range(4):
                bits = min(max(counts[i] - first - 32 * k, 0), 32)
                ones += _ones(words[k] & ((uint64(1) << uint64(bits)) - uint64(1)))
        halves[i, 0], halves[i, 1] = ones, counts[i] - ones


@njit(inline="always")
def _ones(word):
    """The number of one-bits of a word of 32 bits."""
    word -= word >> uint64(1) & uint64(0x55555555)
    word = (word & uint64(0x33333333)) + (word >> uint64(2) & uint64(0x33333333))
    word = (word + (word >> uint64(4))) & uint64(0x0F0F0F0F)
    return np.int64((word * uint64(0x01010101) & LOW) >> uint64(24))


@njit(nogil=True)
def _points(seed, level, dimensions, first, cells, points):
    """The places (z, y, x) of all points of the cells from number ``first`` on; z is 0 in two dimensions."""
    side, mask = 1.0 / (1 << level), (1 << level) - 1
    for c in range(cells.size - 1):
        for point in range(cells[c], cells[c + 1]):
            words = _words(seed, uint64(0), POINT, point)
            for axis in range(3):
                place = (first + c >> level * axis & mask) + float(words[axis]) / 2.0**32
                points[point - cells[0], 2 - axis] = place * side if axis < dimensions else 0.0


@njit(nogil=True)
def _rgg_edges(first, count, level, dimensions, cells, points, offsets, square, src, dst):
    at, width = 0, 1 << level
    depth = width if dimensions == 3 else 1
    for c in range(first, first + count):
        z, y, x = c >> 2 * level, c >> level & (width - 1), c & (width - 1)
        for k in range(len(offsets)):
            oz, oy, ox = z + offsets[k, 0], y + offsets[k, 1], x + offsets[k, 2]
            if not (0 <= oz < depth and 0 <= oy < width and 0 <= ox < width):
                continue
            other = ((oz << level | oy) << level | ox) - first
            for i in range(cells[c - first] - cells[0], cells[c - first + 1] - cells[0]):
                for j in range(max(i + 1, cells[other] - cells[0]), cells[other + 1] - cells[0]):
                    dz, dy = points[i, 0] - points[j, 0], points[i, 1] - points[j, 1]
                    dx = points[i, 2] - points[j, 2]
                    if dz * dz + dy * dy + dx * dx < square:
                        if at < src.size:
                            src[at], dst[at] = cells[0] + i, cells[0] + j
                        at += 1
    return at


@njit(inline="always")
def _words(seed, draw, purpose, unit):
    unit = uint64(unit)
    return philox(draw, purpose, unit & LOW, unit >> SHIFT, seed & LOW, seed >> SHIFT)
