"""The format of sample stores: Zarr groups whose arrays the classes of ``layouts/`` declare.

Chunks are uncompressed, little-endian, whole rows: ``ARRAY/c.GROUP.0`` (``ARRAY/c.N`` in one dimension).
"""

from csaw.partition.base.plain_data import Record
from csaw.partition.graph.store import GraphStore

KIND = "samples"
FORMAT_VERSION = 3
"""The latest; a store has the earliest that it can.

In version 1, numbers of the input take 64 bits, however small they are. Version 3 adds ragged walks.
"""
EDGES_A_CHUNK = 1 << 22
VIRTUAL = "virtual"  # the attribute of a store that holds a request and no arrays: see engine/runs/virtual.py


def chunk_name(index: int, dimensions: int) -> str:
    """The file of a chunk in the folder of its array."""
    return f"c.{index}" + ".0" * (dimensions - 1)


def graph_facts(store: GraphStore) -> Record:
    """What the manifest of a sample says of its graph, apart from the path."""
    time = store.stored.time
    return {
        "fingerprint": store.fingerprint,
        "vertices": store.vertices,
        "edges": store.edges,
        "directed": store.directed,
        "id_kind": store.id_kind,
        **({} if time is None else {"time_units": time.units}),
    }
