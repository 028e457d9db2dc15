"""The memory that measures say they keep: ways to measure, graphs, and the least memory that one can be found in."""

import re

from csaw.engine.analytics.measure import names
from csaw.partition.errors import BudgetError
from helpers.graphs import random_store

WAYS = {
    "betweenness": [{"betweenness_sources": 2}],
    "hops": [{"hops": "sources", "hop_sources": 130}, {"hops": "sketches", "hop_sketches": 2}],
    "patterns": [{"pattern": "wedge,triangle"}],
    "spectrum": [{"spectrum_size": 2}, {"spectrum_size": 14}],
    "triangles": [
        {},
        {"triangles": "matrix"},
        {"triangles": "match"},
        {"approximate": 10_000},
        {"approximate": 10_000, "approximate_by": "edges"},
    ],
}
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


def budgets(store, one, device, measured):
    """Bytes of memory in which a measure is in memory, or as near as it can be, and those in which it just is found.

    ``measured(bytes)`` measures the graph within so many bytes.
    """
    kept = one.keeps(device, store.directed).bytes(store.vertices, store.edges, 4)
    several = 6 if store.directed or one.name() == "triangles" else 1  # rows in other directions, and oriented
    rows = store.edges * (4 + 4 * one.reads_weights) * several
    return kept, [_least(kept + rows, measured), _least(kept, measured)]


def _least(memory, measured):
    """``memory``, or the bytes that the refusal asks for."""
    try:
        measured(memory)
    except BudgetError as refusal:
        more = re.findall(r"raise --\S+ to (\d[\d,]*\d)", str(refusal))[0]
        return _least(int(more.replace(",", "")), measured)
    return memory
