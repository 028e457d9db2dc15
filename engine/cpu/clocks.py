"""Frontier sampling by exponential clocks (Ribeiro and Towsley, IMC 2010, section 5): events of an instance's walkers in order of time.

Walker w of an instance reads slot w: draw m, words 0-1 for its m-th waiting time, words 2-3 for the neighbor it then takes. So the walkers of an
instance are independent, and the earliest ``length`` events are the sample whatever computes them.
"""

import numpy as np
from numba import int64, uint64

from csaw.engine.cpu.access import borrowed, is_loaded, neighbor_at
from csaw.engine.cpu.constants import UNIFORM, vertex_bias
from csaw.engine.cpu.weigh import accumulate, inverse_transform, weigh
from csaw.engine.random import SHIFT, below, neg_log, philox
from csaw.partition.compile import njit


@njit
def next_time(params, graph, seed, instance, walker, move, now, prev, v, bad):
    """When a walker at v moves next: never from a dead end."""
    rate = float(vertex_bias(params, graph, seed, instance, move, v, prev, v, -1, 1.0))
    if not (rate >= 0.0) or rate == np.inf:
        bad[0], bad[1], bad[2] = 1, v, v
        return np.inf
    if rate == 0.0 or graph.indptr[v] == graph.indptr[v + 1]:
        return np.inf
    w0, w1, _, _ = philox(seed, uint64(instance), uint64(walker), uint64(move))
    return now + neg_log((w0 << SHIFT) | w1) / rate


@njit
def earliest(heap, times, cell):
    """Sift the walker in ``cell`` down a min-heap by (time, walker)."""
    walker = heap[cell]
    while 2 * cell + 1 < heap.size:
        child = 2 * cell + 1
        if child + 1 < heap.size and before(times, heap[child + 1], heap[child]):
            child += 1
        if not before(times, heap[child], walker):
            break
        heap[cell] = heap[child]
        cell = child
    heap[cell] = walker


@njit(forceinline=True)
def before(times, a, b):
    return times[a] < times[b] or (times[a] == times[b] and a < b)


@njit(nogil=True)
def start_clocks(todo, first, graph, params, seed, at, times, heap, bad):
    """First waiting times of some instances' walkers, and the heap over them."""
    graph = borrowed(graph)
    for i in todo:
        for w in range(at.shape[1]):
            times[i, w] = next_time(params, graph, seed, first + i, w, 0, 0.0, -1, at[i, w], bad)
            heap[i, w] = w
        for cell in range(at.shape[1] // 2, -1, -1):
            earliest(heap[i], times[i], cell)


@njit(nogil=True)
def run_clocks(todo, first, graph, params, seed, length, at, prev, times, moves, heap, step, alive, src, dst, bad):
    """Events of some instances, until each has ``length``, every walker is stuck, or the next one's row is not in memory."""
    graph = borrowed(graph)
    room = 64
    biases, ctps, whole = np.empty(room, np.float64), np.empty(room, np.int64), np.empty(0, np.int64)
    for i in todo:
        while True:
            w = heap[i, 0]
            v = at[i, w]
            if step[i] == length or times[i, w] == np.inf:
                alive[i] = 0
                break
            if not is_loaded(graph, v):
                break
            row = graph.indptr[v]
            count = graph.indptr[v + 1] - row
            _, _, w2, w3 = philox(seed, uint64(first + i), uint64(w), uint64(moves[i, w]))
            word = (w2 << SHIFT) | w3
            if UNIFORM:
                position = row + int64(below(word, uint64(count)))
            else:
                if count > room:
                    room = 2 * count
                    biases, ctps = np.empty(room, np.float64), np.empty(room, np.int64)
                largest = weigh(
                    params, graph, seed, first + i, moves[i, w], v, prev[i, w], v, row, whole, count, biases, bad
                )
                if largest < 0.0:
                    return
                if accumulate(biases, count, largest, ctps) == 0:
                    times[i, w] = np.inf
                    earliest(heap[i], times[i], 0)
                    continue
                position = row + inverse_transform(ctps, count, word)
            then = neighbor_at(graph, position)
            src[i, step[i]], dst[i, step[i]] = v, then
            step[i] += 1
            moves[i, w] += 1
            at[i, w], prev[i, w] = then, v
            times[i, w] = next_time(params, graph, seed, first + i, w, moves[i, w], times[i, w], v, then, bad)
            if bad[0]:
                return
            earliest(heap[i], times[i], 0)
