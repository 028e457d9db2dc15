"""The memory that measures say they keep: ways to measure, graphs, and the least memory that one can be found in."""

import re

import numpy as np

from csaw.engine.analytics.measure import names
from csaw.partition.errors import BudgetError
from helpers.graphs import random_store, store_of

WAYS = {
    "betweenness": [{"betweenness_sources": 2}],
    "bfs": [{}, {"predecessors": True}],
    "hops": [{"hops": "sources", "hop_sources": 130}, {"hops": "sketches", "hop_sketches": 2}],
    "patterns": [{"pattern": "wedge,triangle"}],
    "sssp": [{}, {"predecessors": True}],
    "spectrum": [{"spectrum_size": 2}, {"spectrum_size": 8}],
    "triangles": [
        {},
        {"triangles": "matrix"},
        {"triangles": "match"},
        {"approximate": 10_000},
        {"approximate": 10_000, "approximate_by": "edges"},
    ],
}
READING = 1 << 19  # bytes in use while a store is read and checked, beside blocks
ROWS = [1.2, 2.2, 3.5]  # memory for the rows of a graph so many times, beside what is kept
CASES = [(name, way) for name in names() for way in WAYS.get(name, [{}])]


def graphs_in(folder, vertices):
    """Make a function of (directed, weighted) that gives a random graph of so many vertices, made once."""
    made = {}

    def graph(directed, weighted):
        if (directed, weighted) not in made:
            path = folder / f"{directed}-{weighted}.zarr"
            made[directed, weighted] = random_store(
                path, vertices=vertices, edges=2 * vertices, directed=directed, weighted=weighted, partitions=4
            )
        return made[directed, weighted]

    return graph


def dense_graphs_in(folder):
    """Make a function of ``weighted`` that gives a directed graph with many edges a vertex, made once."""
    made = {}

    def graph(weighted):
        if weighted not in made:
            ends = (np.random.default_rng(5).random((600_000, 2)) ** 2 * 20_000).astype(int)
            edges, path = np.column_stack([ends, 1 + ends.sum(1) % 7]), folder / f"dense-{weighted}.zarr"
            made[weighted] = store_of(path, edges, directed=True, weighted=weighted, vertices=20_000, partitions=4)
        return made[weighted]

    return graph


def rows_and_kept(store, one, device, rows, measured):
    """Bytes of memory for what a directed graph's measure keeps and for its rows so many times, or those that suffice.

    And what ``measured(bytes)``, as of ``budgets``, says there.
    """
    kept = one.keeps(device, True).bytes(store.vertices, store.edges, 4)
    return followed(int(kept + rows * store.edges * (4 + 4 * one.reads_weights)), measured)


def budgets(store, one, device, measured):
    """Bytes that a measure keeps, and two budgets: all rows in memory, or nearly, and the least that will do.

    Each with what ``measured(bytes)`` says, which measures the graph within so many bytes.
    """
    kept = one.keeps(device, store.directed).bytes(store.vertices, store.edges, 4)
    several = 6 if store.directed or one.name() == "triangles" else 1  # rows in other directions, and oriented
    rows = store.edges * (4 + 4 * one.reads_weights) * several
    return kept, [followed(kept + rows, measured), followed(kept, measured)]


def followed(memory, measured):
    """``memory``, or the bytes that the refusal asks for, with what ``measured`` says there."""
    try:
        return memory, measured(memory)
    except BudgetError as refusal:
        more = re.findall(r"raise --\S+ to (\d[\d,]*\d)", str(refusal))[0]
    enough = int(more.replace(",", ""))
    return enough, measured(enough)


def asked_for(memory, measured):
    """The bytes that the refusal asks for, in which a measure is found; None where ``memory`` is enough."""
    enough, _ = followed(memory, measured)
    return None if enough == memory else enough
