"""What measures say that they keep: ways to measure, and the least memory that a measure can be found in."""

import re

from csaw.engine.analytics.measure import names
from csaw.partition.errors import BudgetError

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
