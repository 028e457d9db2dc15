"""Checks of the report of a store against its arrays, and of an append also against the version before."""

import math
from collections.abc import Iterator

from csaw.partition.arrays.files import VERSIONS
from csaw.partition.base.plain_data import Record
from csaw.partition.errors import StoreError
from csaw.partition.graph.merging import REMOVE
from csaw.partition.graph.store import GraphStore, open_graph
from csaw.partition.graph.types import RELATIONS_READ, REVERSES
from csaw.partition.graph.versions import APPENDED, GROWN, numbered

ADDED = {"edges": "rows", "duplicates": "edges_repeated"}
"""Counts of all edges in a report, and what an append adds to each."""
STAYING = ("duplicates_policy", "self_loops_dropped", "weights", "reversed", "target_offset", REVERSES, RELATIONS_READ)
"""Facts about how the store was made, which decide how new edges are read."""


def wrong_facts(store: GraphStore) -> list[str]:
    """The names of facts in the report of a store that cannot be right: its sizes, and those about an append."""
    held = {"vertices": store.vertices, "stored_edges": store.edges}
    facts = {name: store.report.get(name, one) == one for name, one in held.items()}
    if APPENDED in store.report:
        said = store.report[APPENDED]
        facts |= _of_append(store, said if isinstance(said, dict) else {})
    return [name for name, holds in facts.items() if not holds]


def _of_append(store: GraphStore, said: Record) -> dict[str, bool]:
    """The names of facts about an append, and whether they can be right."""
    in_folder = store.path.parent.name == VERSIONS
    met = _number(said, "edges_added") + _number(said, "edges_repeated")
    facts = {
        "version": not in_folder or store.path.name == str(store.version),
        "partitions": _number(said, "partitions_written") + _number(said, "partitions_kept") == len(store.partitions),
        "rows": met <= _number(said, "rows"),  # others are self loops that were dropped
    }
    before = _before(store)
    return facts if before is None else facts | dict(_compared(store, before, said))


def _compared(store: GraphStore, before: GraphStore, said: Record) -> Iterator[tuple[str, bool]]:
    """The names of facts, and whether the version before agrees."""
    yield "of", said.get("of") == before.fingerprint
    yield "directed", store.directed == before.directed
    yield "edge_columns", store.edge_columns == before.edge_columns
    yield "vertices_added", _number(said, "vertices_added") == store.vertices - before.vertices
    grew = before.growth if store.vertices > before.vertices else before.growth[:-1]
    yield GROWN, said.get(GROWN, []) == [*grew]
    edges, entries = _number(said, "edges_added") - _number(said, "edges_removed"), store.edges - before.edges
    two = not store.directed or store.report.get(REVERSES) is True
    most = 2 * edges if two else edges  # self loops are in one row
    yield "edges_added", min(edges, most) <= entries <= max(edges, most)
    removes = said.get("duplicates_policy") == REMOVE
    for name, more in ADDED.items():
        if name in before.report:
            added = 0 if removes else _number(said, more)
            yield name, _number(store.report, name) == _number(before.report, name) + added
    for name in STAYING:
        yield name, store.report.get(name) == before.report.get(name)


def _before(store: GraphStore) -> GraphStore | None:
    """The version before, where it is there and can be opened."""
    try:
        if store.version - 1 in [number for number, _ in numbered(store.base)]:
            return open_graph(store.base, version=store.version - 1)
    except StoreError:  # which its own check tells
        pass
    return None


def _number(said: Record, name: str) -> float:
    """A count; not a number, which no comparison holds for, where it is none."""
    found = said.get(name)
    return found if type(found) is int else math.nan
