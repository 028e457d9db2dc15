"""Graph store: text ingest, CSR partitions in Zarr, reading partitions into buffers."""

from importlib import import_module
from typing import Any

_WHERE = {
    "Graph": "store",
    "GraphStore": "store",
    "IngestOptions": "ingest",
    "Partition": "store",
    "ingest": "ingest",
    "open_graph": "store",
    "write_graph": "write",
}
__all__ = sorted(_WHERE)


def __getattr__(name: str) -> Any:
    """Names load with their module: ``import csaw.partition`` alone must stay cheap."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"csaw.partition.{_WHERE[name]}"), name)
