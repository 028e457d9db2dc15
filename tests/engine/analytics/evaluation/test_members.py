"""A source that the user names is the same vertex in a graph and in its samples."""

from contextlib import closing

import numpy as np
import pytest
from helpers.graphs import random_store
from helpers.oracles import distances

from csaw.engine import open_samples, sample
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.evaluation import sampled
from csaw.engine.analytics.measures.bfs import Bfs
from csaw.partition import IngestOptions, ingest
from csaw.partition.errors import OptionError


@pytest.mark.parametrize("string", [False, True])
@pytest.mark.parametrize("as_", ["drawn", "induced"])
def test_a_source_is_found_by_its_own_id(tmp_path, string, as_):
    plain = random_store(tmp_path / "p.zarr", vertices=80, edges=200).load()
    name = (lambda v: f"v{900 - 7 * v}") if string else (lambda v: str(1000 + 13 * v))
    rows = np.repeat(np.arange(80), np.diff(plain.indptr))
    lines = [f"{name(v)} {name(u)}" for v, u in zip(rows.tolist(), plain.indices.tolist(), strict=True)]
    (tmp_path / "g.txt").write_text("\n".join(lines) + "\n")
    store = ingest(tmp_path / "g.txt", tmp_path / "g.zarr", IngestOptions(directed=True))
    sample(
        store, tmp_path / "s.zarr", "snowball", depth=1, instances=1, sources=[store.original_ids([3])[0]], device="cpu"
    )
    with closing(HostNetwork(store)) as host:
        held = sampled.held(open_samples(tmp_path / "s.zarr"), host, 0, 1)
        graph = getattr(sampled, as_)(held, host)
        assert 1 < graph.vertices.size < store.vertices
        block = next(graph.network.blocks())
        lists = [block.indices[a:b].tolist() for a, b in zip(block.indptr, block.indptr[1:], strict=False)]
        for at, vertex in enumerate(graph.vertices[:5].tolist()):
            original = store.original_ids([vertex])[0]
            found = Bfs(bfs_source=original).findings(graph.network)["bfs"].values
            assert found.tolist() == distances(lists, at)
            assert graph.network.store.original_ids([at])[0] == original
        other = store.original_ids(np.setdiff1d(np.arange(store.vertices), graph.vertices)[:1])[0]
        with pytest.raises(
            OptionError,
            match=f"vertex {other} is in .*, but not among the {graph.vertices.size} vertices of the sample",
        ):
            Bfs(bfs_source=other).findings(graph.network)
