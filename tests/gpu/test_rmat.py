"""R-MAT graphs made on the GPU are those that ``csaw datasets generate`` writes."""

import numpy as np
import pytest
from helpers.gpu import device_or_skip

from csaw.datasets.generate import generate
from csaw.datasets.spec import parse_spec

DEVICE = device_or_skip()


@pytest.mark.parametrize(
    "more",
    [
        "",
        ",weights=1",
        ",weights=0..64",
        ",a=0.45,b=0.15,c=0.15,d=0.25,noise=0.05",
        ",noise=0.9,undirected=0,seed=7",
        ",undirected=0",
        ",scramble=1,seed=7",
        ",dedup=0",
        ",edge_factor=1,self_loops=1",
    ],
)
@pytest.mark.parametrize("most_keys", [None, 3000])  # at once, and in ranges of sources
def test_the_same_graph(tmp_path, monkeypatch, more, most_keys):
    from csaw.engine.bench import rmat

    monkeypatch.setattr(rmat, "PARTITION_EDGES", 1000)
    spec = "rmat:scale=10" + more
    parsed = parse_spec(spec)
    written = generate(spec, tmp_path / "g.zarr")
    graph = written.load()
    made = rmat.DeviceRmat(spec, parsed, DEVICE, most_keys)
    assert (len(made.ranges) > 1) == (most_keys is not None and parsed.draws * (1 + parsed.undirected) > most_keys)
    assert len(made.partitions) > len(made.ranges)
    assert (made.vertices, made.edges) == (written.vertices, written.edges)
    if written.weighted:
        assert made.weight_range[0] <= written.weight_range[0] <= written.weight_range[1] <= made.weight_range[1]
    assert np.array_equal(made.read_indptr(), graph.indptr)
    indices, weights = np.empty(made.edges, np.uint32), np.empty(made.edges if made.weighted else 0, np.float32)
    for part in reversed(made.partitions):
        span = slice(part.first_edge, part.first_edge + part.edges)
        made.read_partition(part.number, indices[span], weights[span] if made.weighted else None)
    assert np.array_equal(indices, graph.indices)
    assert graph.weights is None or np.array_equal(weights, graph.weights)
    made.release()
    again = np.empty(made.partitions[-1].edges, np.uint32)
    made.read_partition(made.partitions[-1].number, again)
    assert np.array_equal(again, graph.indices[-again.size :])
