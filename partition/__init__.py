"""Graph store: text ingest, CSR partitions in Zarr, reading partitions into buffers."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from csaw.partition.edge_ids import read_edge_ids
    from csaw.partition.ingest_options import IngestOptions
    from csaw.partition.pipeline import ingest
    from csaw.partition.store import Graph, GraphStore, Partition, open_graph
    from csaw.partition.write import write_graph

_WHERE = {
    "Graph": "store",
    "GraphStore": "store",
    "IngestOptions": "ingest_options",
    "Partition": "store",
    "ingest": "pipeline",
    "open_graph": "store",
    "read_edge_ids": "edge_ids",
    "write_graph": "write",
}
__all__ = ["Graph", "GraphStore", "IngestOptions", "Partition", "ingest", "open_graph", "read_edge_ids", "write_graph"]


def __getattr__(name: str) -> Any:
    """Names load with their module: ``import csaw.partition`` alone must stay cheap."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"csaw.partition.{_WHERE[name]}"), name)
