"""The description of a graph store, as plain data."""

from typing import TYPE_CHECKING

from csaw.partition.base.plain_data import Record

if TYPE_CHECKING:
    from csaw.partition.graph.store import GraphStore

NAMES = (
    "vertices",
    "edges",
    "directed",
    "weighted",
    "multigraph",
    "max_degree",
    "id_kind",
    "partitioner",
    "fingerprint",
)


def describe(store: "GraphStore") -> Record:
    """Describe a graph store, without its partitions and the report of its making."""
    named = {name: getattr(store, name) for name in NAMES}
    columns = [column.text for column in store.further_columns]
    return {
        "path": str(store.path),
        **named,
        **({"edge_columns": columns} if columns else {}),
        "partition_count": len(store.partitions),
    }
