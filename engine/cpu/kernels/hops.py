"""Neighbor samples with uniform picks, hop by hop, and mini-batches, which a thread takes through all hops.

Children of cell c of a hop are cells c * size .. c * size + size - 1 of the next one. A cell depends on its parent
alone, so parents are served in groups whose memory lines are prefetched. The twin of engine/cuda/kernels/hops.cu.

Picks of mini-batches are uniform, from running sums or in time, and their vertices are numbered by a hash table. Rows,
edges and cells of the table are prefetched for a group of nodes at a time. The same sample as
engine/batches/minibatches.py draws hop by hop.
"""

import numpy as np
from numba import int64, uint64

from csaw.engine.cpu.kernels.access import borrowed, neighbor_at, prefetch_edge
from csaw.engine.cpu.kernels.by_time import (
    BESIDE,
    FIELDS,
    L_HERE,
    L_HIGH,
    L_LOW,
    L_NOW,
    L_PLACE,
    L_STEP,
    L_WALKER,
    LEAST,
    draw_places,
    find_candidates,
    find_timed_edges,
    note_edges,
    pick_in_time,
    place_at,
    time_at,
)
from csaw.engine.cpu.kernels.constants import BY_TIME, EVENTS, PACKED, REPLACE, SUMS, TIME_ORDER, TYPED
from csaw.engine.cpu.kernels.memory import borrow, prefetch
from csaw.engine.cpu.kernels.select import successive, with_replacement
from csaw.engine.cpu.kernels.traverse import with_weight
from csaw.engine.draws.random import LOW, SHIFT
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_tools import empty, full, zeros

PARENTS = 32  # in a group


@njit(nogil=True)
def hop(begin, end, graph, seed, first, width, slot, size, parent, child, counts):
    """Draw the children of cells begin .. end - 1 of ``parent``; add the numbers of children, and of parents without a
    neighbor, to ``counts``.

    ``first``: number of the first instance. ``width``: cells of an instance in ``parent``. ``slot``: slot of the first
    of these cells.
    """
    graph = borrowed(graph)
    none = child.dtype.type(-1)
    rows, degrees, picks = empty(PARENTS, np.int64), empty(PARENTS, np.int64), empty(PARENTS, np.int64)
    spots = empty(PARENTS * max(size, 1), np.int64)
    for group in range(begin, end, PARENTS):
        here = min(PARENTS, end - group)
        for j in range(here):
            if parent[group + j] != none:
                prefetch(graph.indptr, uint64(parent[group + j]))
        for j in range(here):
            cell = group + j
            rows[j] = degrees[j] = picks[j] = 0
            if parent[cell] == none:
                continue
            v = uint64(parent[cell])
            rows[j] = graph.indptr[v]
            degrees[j] = graph.indptr[v + uint64(1)] - rows[j]
            picks[j] = choose(seed, first, width, slot, size, cell, rows[j], degrees[j], spots, j * size)
            counts[1] += degrees[j] == 0
            counts[0] += picks[j]
            for k in range(picks[j]):
                prefetch_edge(graph, uint64(spots[j * size + k]))
        for j in range(here):
            cell = (group + j) * size
            for k in range(picks[j]):
                child[cell + k] = neighbor_at(graph, spots[j * size + k])
            for k in range(picks[j], size):
                child[cell + k] = none


@inner
def choose(seed, first, width, slot, size, cell, row, degree, spots, base):
    """Write the edge positions of one parent's picks from spots[base] on; returns their number."""
    local = cell // width
    instance, at = uint64(first + local), uint64(slot + cell - local * width)
    return draw_places(seed, instance, at, row, row + degree, size, spots[base : base + size])


# Neighbor samples in time in tables, as above: a cell depends on its parent and the time that this knows.
#
# The twin of engine/cuda/kernels/hops_in_time.cu.


@njit(nogil=True)
def hop_in_time(begin, end, graph, seed, first, width, slot, size, parent, known, each, child, time, rules, counts):
    """Draw the children of cells begin .. end - 1 of ``parent`` and the times of the edges to them; add the numbers of
    children, and of parents that may select no edge, to ``counts``.

    ``known``: the time of ``each`` cells of ``parent``, one after the other. ``rules``: the numbers of a run in time.
    Others as in hop.
    """
    graph, state, none = borrowed(graph), full(FIELDS, -1, np.int64), child.dtype.type(-1)
    parent, known, child, time = borrow(parent), borrow(known), borrow(child), borrow(time)
    for group in range(begin, end, BESIDE):
        lanes = min(BESIDE, end - group)
        for j in range(lanes):
            cell = group + j
            there = parent[cell] != none
            state[L_WALKER + j], state[L_HERE + j] = cell if there else -1, int64(parent[cell]) if there else 0
            state[L_NOW + j], state[L_STEP + j] = known[cell // each], 1
            prefetch(graph.indptr, uint64(state[L_HERE + j]))
        find_candidates(lanes, state, graph, rules)
        for j in range(lanes):
            cell = group + j
            local = cell // width
            instance, at = uint64(first + local), uint64(slot + cell - local * width)
            found = int64(0)
            if state[L_WALKER + j] >= 0:
                found = pick_in_time(j, state, graph, seed, instance, at, size, cell * size, time)
                counts[0] += found
                counts[1] += found == 0
            state[L_PLACE + j] = found
        for j in range(0 if EVENTS else lanes):
            find_timed_edges(j, state, graph, (group + j) * size, state[L_PLACE + j], time)
        for j in range(lanes):
            cell, found = (group + j) * size, state[L_PLACE + j]
            note_edges(j, state, graph, cell, found, child, time)
            for k in range(cell + found, cell + size):
                child[k], time[k] = none, LEAST


# The nodes of a mini-batch, numbered by a hash table.
#
# A cell of the table, in open addressing, has 32 bits by which a node is known above the number of the node. Where they
# are its vertex (PACKED), a cell is all that a search reads; else the vertex of a node is in `n_id`, its seed in
# `owner`.

FREE = -1  # a cell without a node


@inner
def resized(array, size):
    """A copy of ``array`` with room for ``size`` elements."""
    out = empty(size, array.dtype)
    for i in range(array.size):
        out[i] = array[i]
    return out


@inner
def hash_of(vertex, seed):
    """64 mixed bits of a node's vertex and seed, which are 0 apart from disjoint mini-batches."""
    return (uint64(vertex) + uint64(seed) * uint64(0xD6E8FEB86659FD93)) * uint64(0x9E3779B97F4A7C15)


@inner
def cell_of(vertex, seed, cells):
    """The cell at which the search for a node begins; the number of cells is a power of two."""
    h = hash_of(vertex, seed)
    return int64((h ^ (h >> uint64(32))) & uint64(cells - 1))


@inner
def key_of(vertex, seed):
    """32 bits by which a node is known: its vertex where that is all there is to it, else some
    of the bits of its hash.
    """
    return uint64(vertex) if PACKED else hash_of(vertex, seed) >> SHIFT


@inner
def enter(table, n_id, owner, vertex, seed, nodes):
    """The node of a vertex; ``nodes`` if it is new, under which number it is then in the table."""
    key, cell = key_of(vertex, seed), cell_of(vertex, seed, table.size)
    while table[cell] != FREE:
        held = uint64(table[cell])
        if held >> SHIFT == key:
            node = int64(held & LOW)
            if PACKED or (n_id[node] == vertex and owner[node] == seed):
                return node
        cell = (cell + 1) & (table.size - 1)
    table[cell] = int64((key << SHIFT) | uint64(nodes))
    return nodes


@inner
def table_of(n_id, owner, nodes, room):
    """A table of the first ``nodes`` nodes, with room for ``room``, at most two thirds full.

    Of equal nodes the first is there.
    """
    cells = int64(64)
    while 2 * cells < 3 * room:
        cells <<= 1
    table = full(cells, FREE, np.int64)
    for node in range(nodes):
        enter(table, n_id, owner, int64(n_id[node]), seed_of(owner, node), node)
    return table


@inner
def seed_of(owner, node):
    """The seed that a node belongs to; 0 where nodes belong to all."""
    return int64(0) if PACKED else int64(owner[node])


# Nodes of a mini-batch select in time: the range of each row's order by time, and picks from it.


@inner
def find_earlier(state, graph, n_id, owner, nodes, relations, shifts, begin, first, last, clock, rules):
    """Find the places of the edges that entries first .. last - 1 may select, in the order of their rows by time: LOW
    and HIGH of ``state``, see by_time.py.
    """
    for entry in range(first, last):
        j, node = entry - first, node_of(nodes, begin, entry)
        here = int64(row_of_entry(n_id, nodes, relations, shifts, begin, entry))
        state[L_WALKER + j], state[L_HERE + j], state[L_STEP + j] = node, here, 1
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


# Mini-batches, one by one.

NODES = 32  # in a group, as many as are searched for side by side in time
ALONE = 1 << 62  # cells of an instance, as those of a hop are counted: all of a mini-batch's nodes are of one


# The nodes of a frontier, each once for every relation that it selects from (TYPED), are its entries: entry e is node
# begin + e where there are no relations.


@inner
def entries_of(n_id, begin, end, sizes, shifts):
    """The nodes and the relations of the entries of nodes begin .. end - 1, node by node; empty where there are no
    relations.
    """
    count = 0
    for node in range(begin, end if TYPED else begin):
        for relation in range(sizes.size):
            count += leaves(n_id[node], relation, sizes, shifts)
    nodes, relations = empty(count, np.int64), empty(count, np.int64)
    count = 0
    for node in range(begin, end if TYPED else begin):
        for relation in range(sizes.size):
            if leaves(n_id[node], relation, sizes, shifts):
                nodes[count], relations[count] = node, relation
                count += 1
    return nodes, relations


@inner
def leaves(vertex, relation, sizes, shifts):
    """Whether a vertex selects from a relation: see partition/graph/relation_rows.py."""
    v = int64(vertex)
    return sizes[relation] != 0 and shifts[relation, 0] <= v < shifts[relation, 1]


@inner
def node_of(nodes, begin, entry):
    return nodes[entry] if TYPED else begin + entry


@inner
def size_of(relations, sizes, entry):
    """How many edges an entry selects; -1: all."""
    return sizes[relations[entry]] if TYPED else sizes[0]


@inner
def slot_of(nodes, relations, begin, entry, sizes):
    """The slot of the random numbers of an entry."""
    return nodes[entry] * sizes.size + relations[entry] if TYPED else begin + entry


@inner
def row_of_entry(n_id, nodes, relations, shifts, begin, entry):
    """The vertex whose row an entry selects from."""
    if TYPED:
        return uint64(int64(n_id[nodes[entry]]) + shifts[relations[entry], 2])
    return uint64(n_id[begin + entry])


@inner
def read_rows(graph, n_id, nodes, relations, sizes, shifts, begin, rows, degrees):
    """Read where the rows of entries begin and how long they are; returns the number of edges that they select."""
    picks = int64(0)
    for entry in range(rows.size):
        if entry + NODES < rows.size:
            prefetch(graph.indptr, row_of_entry(n_id, nodes, relations, shifts, begin, entry + NODES))
        v, size = row_of_entry(n_id, nodes, relations, shifts, begin, entry), size_of(relations, sizes, entry)
        row = graph.indptr[v]
        degree = graph.indptr[v + uint64(1)] - row
        rows[entry], degrees[entry] = row, degree
        picks += degree if size < 0 or (not REPLACE and degree < size) else size if degree > 0 else 0
    return picks


@inner
def widest(sizes):
    """The largest of some numbers, and at least 1."""
    most = int64(1)
    for hop in range(sizes.shape[0]):
        for relation in range(sizes.shape[1]):
            most = max(most, sizes[hop, relation])
    return most


@inner
def prefetch_sums(graph, n_id, nodes, relations, shifts, begin, first, last, rows, degrees):
    """Ask for what the picks of entries first .. last - 1 read first."""
    for entry in range(first, last):
        row, degree = rows[entry], degrees[entry]
        if degree > 0:
            prefetch(graph.possible, row_of_entry(n_id, nodes, relations, shifts, begin, entry))
            prefetch(graph.sums, uint64(row + degree - 1))
            prefetch(graph.sums, uint64(row + (degree >> 1)))


@inner
def choose_by_sums(
    graph, seed, instance, slot, size, vertex, row, degree, spare, taken, targets, picked, e_id, base, tally
):
    """Write the edges of one node's picks to e_id[base:], drawn by the running sums of its row; returns their number.

    ``targets`` and ``picked`` have room for ``size`` picks; ``spare`` and ``taken`` stand for arrays that other ways of
    picking need.
    """
    if degree == 0 or size == 0 or graph.sums[row + degree - 1] == 0:
        return 0
    sums, where, at = graph.sums[row : row + degree], uint64(instance), uint64(slot)
    if REPLACE:
        found = with_replacement(seed, where, at, sums, degree, False, size, targets, picked)
    elif size < degree:
        k, total = min(size, int64(graph.possible[vertex])), sums[degree - 1]
        found = successive(seed, where, at, spare, degree, 1.0, k, sums, total, taken, targets, picked, tally)
    else:
        found = with_weight(sums, degree, picked)
    for k in range(found):
        e_id[base + k] = row + picked[k]
    return found


@njit(nogil=True)
def draw_minibatch(
    seeds, graph, seed, instance, disjoint, sizes, shifts, clock, rules, hop_nodes, hop_edges, counts, tally
):
    """Draw a mini-batch that starts from ``seeds``, vertices, by the address of ``instance``.

    Fills the numbers of nodes and edges of each hop, adds that of vertices without a neighbor to counts[0], and counts
    of selection to ``tally``. Returns the nodes' vertices and seeds, and of each edge the row, the column, its number
    in the graph and, in time, its time. ``sizes`` [hops, relations], ``shifts`` [relations, 3]: how many edges each
    node selects from a relation, and where the rows of the relation are. ``clock`` [seeds], ``rules``: in time the
    times of the seeds, and the numbers of the run.
    """
    graph = borrowed(graph)
    nodes, edges = seeds.size, int64(0)
    n_id, owner = empty(nodes, graph.indices.dtype), zeros(0 if PACKED else nodes, np.int32)
    for node in range(nodes):
        n_id[node] = seeds[node]
        if disjoint:
            owner[node] = node
    table = full(1, FREE, np.int64)
    row, col, e_id = empty(0, np.int32), empty(0, np.int32), empty(0, np.int64)
    ends = empty(64, np.int64)
    picks, targets = empty(widest(sizes), np.int64), empty(widest(sizes), np.int64)
    spare, taken = empty(0, np.float64), empty(0, np.uint64)
    state = full(FIELDS if BY_TIME else 0, -1, np.int64)
    hop_nodes[0] = nodes
    begin = int64(0)
    for hop in range(sizes.shape[0]):
        end, first_edge = nodes, edges
        of, relations = entries_of(n_id, begin, end, sizes[hop], shifts)
        entries = of.size if TYPED else end - begin
        rows, degrees = empty(entries, np.int64), empty(entries, np.int64)
        room = read_rows(graph, n_id, of, relations, sizes[hop], shifts, begin, rows, degrees)
        most = nodes + min(room, (graph.indptr.size - 1) * (seeds.size if disjoint else 1))
        if most * sizes.shape[1] >= int64(1) << 31:
            counts[1] = most
            break
        n_id = resized(n_id[:nodes], most)
        if not PACKED:
            owner = resized(owner[:nodes], most)
        row, col, e_id = (
            resized(row[:edges], edges + room),
            resized(col[:edges], edges + room),
            resized(e_id[:edges], edges + room),
        )
        table = table_of(n_id, owner, nodes, most)
        for group in range(0, entries, NODES):
            last, begun = min(group + NODES, entries), edges
            if SUMS:
                prefetch_sums(graph, n_id, of, relations, shifts, begin, group, last, rows, degrees)
            if BY_TIME:
                find_earlier(state, graph, n_id, owner, of, relations, shifts, begin, group, last, clock, rules)
            for entry in range(group, last):
                node, row_begin, degree = node_of(of, begin, entry), rows[entry], degrees[entry]
                size, slot = size_of(relations, sizes[hop], entry), slot_of(of, relations, begin, entry, sizes[hop])
                if size != 0 and not BY_TIME:
                    counts[0] += degree == 0
                wanted = degree if size < 0 else size
                before = edges
                if BY_TIME:
                    edges += choose_in_time(
                        state, entry - group, graph, seed, instance, slot, wanted, row_begin, degree, e_id, edges
                    )
                    counts[0] += size != 0 and edges == before
                elif SUMS:
                    edges += choose_by_sums(
                        graph,
                        seed,
                        instance,
                        slot,
                        wanted,
                        row_of_entry(n_id, of, relations, shifts, begin, entry),
                        row_begin,
                        degree,
                        spare,
                        taken,
                        targets,
                        picks,
                        e_id,
                        edges,
                        tally,
                    )
                else:
                    edges += choose(seed, instance, ALONE, 0, wanted, slot, row_begin, degree, e_id, edges)
                for k in range(before, edges):
                    col[k] = node
                    prefetch_edge(graph, uint64(e_id[k]))
            if edges - begun > ends.size:
                ends = empty(2 * (edges - begun), np.int64)
            for k in range(begun, edges):
                v = neighbor_at(graph, e_id[k])
                ends[k - begun] = v
                prefetch(table, uint64(cell_of(v, seed_of(owner, col[k]), table.size)))
            for k in range(begun, edges):
                v, root = ends[k - begun], seed_of(owner, col[k])
                node = enter(table, n_id, owner, v, root, nodes)
                if node == nodes:
                    n_id[nodes] = v
                    if not PACKED:
                        owner[nodes] = root
                    nodes += 1
                row[k] = node
        hop_nodes[hop + 1], hop_edges[hop] = nodes - end, edges - first_edge
        begin = end
    time = empty(edges if BY_TIME else 0, np.int64)
    if BY_TIME:
        for k in range(edges):
            time[k] = time_at(graph, e_id[k])
    return n_id[:nodes], owner[:nodes], row[:edges], col[:edges], e_id[:edges], time
