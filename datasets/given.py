"""A graph as Python is given one: a store, its path, a file of edges, a name, or an object of another library."""

import os
from pathlib import Path

from csaw.datasets.resolve import of_store, resolve
from csaw.partition import GraphStore, open_graph


def to_sample(data: object, directed: bool | None = None, memory: object = None) -> str | Path | GraphStore:
    """The graph store of ``data``, or its path, which is opened by the option ``checksums``.

    ``directed``: of a file, a dataset or an object, whether an edge has one direction; None: as these say. ``memory``:
    of :func:`csaw.datasets.resolve.resolve`.
    """
    if isinstance(data, str | os.PathLike):
        return resolve(os.fspath(data), directed=directed, memory=memory)
    if not isinstance(data, GraphStore):
        from csaw.partition.ingestion.given_graph import graph_in_memory

        return graph_in_memory(data, directed=directed)
    if directed is not None:
        raise of_store(data.path, directed)
    return data


def opened(data: object, directed: bool | None = None, memory: object = None) -> GraphStore:
    """The graph store of ``data``, open."""
    found = to_sample(data, directed, memory)
    return found if isinstance(found, GraphStore) else open_graph(found)
