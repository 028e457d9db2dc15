"""Frontier sampling by exponential clocks (Ribeiro and Towsley, IMC 2010, section 5): events of an instance's walkers
in order of time.

Walker w of an instance reads slot w: draw m, words 0-1 for its m-th waiting time, words 2-3 for the neighbor it then
takes. So the walkers of an instance are independent, and the earliest ``length`` events are the sample in whatever
order they are computed.

walkers  int64 [instances, walkers, 4]  AT, PREV, MOVE: moves so far, SPOT: the edge of the next move, if biases are
         equal or summed beforehand keys     f64   [instances, walkers]     time of the next move, a min-heap by (time,
         walker); heap int64: the walkers in its order
"""

import numpy as np
from numba import int64, uint64

from csaw.engine.cpu.kernels.access import away, borrowed, degree, is_loaded, neighbor_at, prefetch_edge, row_of
from csaw.engine.cpu.kernels.constants import SUMS, UNIFORM, vertex_bias
from csaw.engine.cpu.kernels.memory import prefetch
from csaw.engine.cpu.kernels.weigh import accumulate, inverse_transform, weigh
from csaw.engine.draws.random import SHIFT, below, neg_log, philox
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_arrays import copied, empty

AT, PREV, MOVE, SPOT = 0, 1, 2, 3


@inner
def next_event(params, graph, seed, instance, walker, move, now, prev, v, bad):
    """(time, edge) of the next move of a walker at v; infinity at a dead end."""
    rate = float(vertex_bias(params, graph, seed, instance, move, v, prev, v, -1, 1.0))
    if not (rate >= 0.0) or rate == np.inf:
        bad[0], bad[1], bad[2] = 1, v, -1
        return np.inf, int64(0)
    row = graph.indptr[v]
    count = graph.indptr[v + 1] - row
    if rate == 0.0 or count == 0 or (SUMS and graph.sums[row + count - 1] == 0):
        return np.inf, int64(0)
    w0, w1, w2, w3 = philox(seed, uint64(instance), uint64(walker), uint64(move))
    spot = row
    if UNIFORM:
        spot += int64(below((w2 << SHIFT) | w3, uint64(count)))
    elif SUMS:
        spot += inverse_transform(graph.sums[row : row + count], count, (w2 << SHIFT) | w3)
    return now + neg_log((w0 << SHIFT) | w1) / rate, spot


@inner
def sift(keys, heap, cell):
    """Sift the walker in ``cell`` down the heap."""
    key, walker = keys[cell], heap[cell]
    while 2 * cell + 1 < heap.size:
        child = 2 * cell + 1
        if child + 1 < heap.size and before(keys[child + 1], heap[child + 1], keys[child], heap[child]):
            child += 1
        if not before(keys[child], heap[child], key, walker):
            break
        keys[cell], heap[cell] = keys[child], heap[child]
        cell = child
    keys[cell], heap[cell] = key, walker


@inner(forceinline=True)
def before(time, walker, other_time, other):
    """Whether the walker moves before the other one: by time, then by walker."""
    return time < other_time or (time == other_time and walker < other)


@njit(nogil=True)
def start_clocks(todo, first, graph, params, seed, walkers, keys, heap, bad):
    """Draw the first waiting times of the walkers of instances ``todo``, and build their heaps."""
    graph = borrowed(graph)
    for i in todo:
        for w in range(heap.shape[1]):
            at = walkers[i, w, AT]
            keys[i, w], walkers[i, w, SPOT] = next_event(params, graph, seed, first + i, w, 0, 0.0, -1, at, bad)
            heap[i, w] = w
        for cell in range(heap.shape[1] // 2, -1, -1):
            sift(keys[i], heap[i], cell)


@njit(nogil=True)
def run_clocks(todo, first, graph, params, seed, length, walkers, keys, heap, step, alive, src, dst, bad):
    """Draw events of instances ``todo`` until each is done or must wait.

    It has ``length`` events, all its walkers are stuck, or the next walker's row is not in memory.

    The instances take turns, an event each, so that none waits for the memory reads of another.
    """
    graph = borrowed(graph)
    room = 64
    biases, ctps, whole = empty(room, np.float64), empty(room, np.int64), empty(0, np.int64)
    lane, moved, lanes = copied(todo), empty(todo.size, np.int64), todo.size
    while lanes > 0:
        for j in range(lanes - 1, -1, -1):
            i = lane[j]
            w = heap[i, 0]
            v = walkers[i, w, AT]
            over = step[i] == length or keys[i, 0] == np.inf
            if over or not is_loaded(graph, v):
                alive[i] = not over
                lanes -= 1
                lane[j], moved[j] = lane[lanes], moved[lanes]
                continue
            position = walkers[i, w, SPOT] + away(graph, v)
            if not UNIFORM and not SUMS:
                row = row_of(graph, v)
                count = degree(graph, v)
                if count > room:
                    room = 2 * count
                    biases, ctps = empty(room, np.float64), empty(room, np.int64)
                prev, move = walkers[i, w, PREV], walkers[i, w, MOVE]
                largest = weigh(params, graph, seed, first + i, move, v, prev, v, row, whole, count, biases, bad)
                if largest < 0.0:
                    return
                if accumulate(biases, count, largest, ctps) == 0:
                    keys[i, 0], moved[j] = np.inf, -1
                    sift(keys[i], heap[i], 0)
                    continue
                _, _, w2, w3 = philox(seed, uint64(first + i), uint64(w), uint64(move))
                position = row + inverse_transform(ctps, count, (w2 << SHIFT) | w3)
            then = neighbor_at(graph, position)
            prefetch(graph.indptr, uint64(then))
            src[i, step[i]], dst[i, step[i]] = v, then
            step[i] += 1
            walkers[i, w, AT], walkers[i, w, PREV] = then, v
            walkers[i, w, MOVE] += 1
            moved[j] = w
        for j in range(lanes):
            i, w = lane[j], moved[j]
            if w < 0:
                continue
            at, prev, move = walkers[i, w, AT], walkers[i, w, PREV], walkers[i, w, MOVE]
            keys[i, 0], spot = next_event(params, graph, seed, first + i, w, move, keys[i, 0], prev, at, bad)
            if bad[0]:
                return
            walkers[i, w, SPOT] = spot
            prefetch_edge(graph, uint64(spot + away(graph, at)))
            sift(keys[i], heap[i], 0)
