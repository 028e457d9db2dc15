"""Nodes of a mini-batch select in time: the range of each row's order by time, and picks from it."""

from numba import int64, uint64

from csaw.engine.cpu.kernels.by_time import (
    L_HERE,
    L_HIGH,
    L_LOW,
    L_NOW,
    L_STEP,
    L_WALKER,
    find_candidates,
    place_at,
)
from csaw.engine.cpu.kernels.constants import REPLACE, TIME_ORDER
from csaw.engine.cpu.kernels.memory import prefetch
from csaw.engine.cpu.kernels.neighbors_in_time import draw_places
from csaw.engine.cpu.kernels.nodes import seed_of
from csaw.partition.base.compile import inner


@inner
def find_earlier(state, graph, n_id, owner, first, last, clock, rules):
    """Find the places of the edges that nodes first .. last - 1 may select, in the order of their rows by time: LOW and
    HIGH of ``state``, see by_time.py.
    """
    for node in range(first, last):
        j = node - first
        state[L_WALKER + j], state[L_HERE + j], state[L_STEP + j] = node, int64(n_id[node]), 1
        state[L_NOW + j] = clock[seed_of(owner, node)]
    find_candidates(last - first, state, graph, rules)


@inner
def choose_in_time(state, j, graph, seed, instance, slot, size, row, degree, e_id, base):
    """Write the edges of one node's picks to e_id[base:], drawn among those that ``state`` has of lane j; returns their
    number.
    """
    low, high = state[L_LOW + j], max(state[L_LOW + j], state[L_HIGH + j])
    if size == 0 or low == high:
        return 0
    most = size if REPLACE else min(size, degree)
    found = draw_places(seed, uint64(instance), uint64(slot), low, high, most, e_id[base : base + most])
    for k in range(base, base + found):
        prefetch(graph.edge_columns[TIME_ORDER], uint64(row + e_id[k]))
    for k in range(base, base + found):
        e_id[k] = place_at(graph, row, degree, e_id[k])
    return found
