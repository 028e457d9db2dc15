"""Text to a store, and a store to the rows it holds."""

import numpy as np

from csaw.partition import IngestOptions, ingest


def read(folder, text, name="edges.txt", **options):
    """The store of a file that holds ``text``."""
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return ingest(str(file), folder / "g.zarr", IngestOptions(overwrite=True, **options))


def rows(store):
    """(source, target) or (source, target, weight) of every edge, by original ids."""
    graph = store.load()
    sources = np.repeat(np.arange(store.vertices), np.diff(graph.indptr))
    columns = [store.original_ids(sources).tolist(), store.original_ids(graph.indices).tolist()]
    return list(zip(*columns, *([] if graph.weights is None else [graph.weights.tolist()]), strict=True))
