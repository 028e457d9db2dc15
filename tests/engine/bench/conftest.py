"""What tests of peers share."""

import numpy as np
import pytest

from csaw.engine.bench.suites.peers import small_graph
from csaw.partition.graph.edge_columns import TIME


@pytest.fixture
def how(tmp_path):
    """What a peer is told to draw on the graph of five vertices."""
    arrays = small_graph()
    rows = {"indptr": arrays.indptr, "indices": arrays.indices, "weights": arrays.weights}
    np.savez(tmp_path / "csr.npz", **rows, times=arrays.columns[TIME.name])
    return {"folder": str(tmp_path), "threads": 2, "length": 4, "rounds": 1, "listed": [], "together": 1}
