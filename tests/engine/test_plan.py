"""What a plan says of memory."""

from helpers.graphs import random_store

from csaw.engine.cuda.device import Device
from csaw.engine.run import prepare

GPU = Device(0, "none", "sm_90", 132, 1 << 40)


def test_hash_tables_hold_weights_where_the_return_edge_is_looked_up(tmp_path):
    store = random_store(tmp_path / "g.zarr")
    neighbors = 8 * store.edges + 32 * (store.vertices + 1)  # half-empty buckets of 4-byte slots
    plans = [prepare(store, "node2vec", device=GPU, p=p, q=1.0).plan for p in (0.25, 4.0)]
    assert [plan.membership for plan in plans] == ["hash", "hash"]
    assert plans[0].graph_bytes - plans[1].graph_bytes == neighbors
    plain = [prepare(store, "node2vec", device=GPU, p=p, q=1.0, weighted=False).plan for p in (0.25, 4.0)]
    assert plain[0].graph_bytes == plain[1].graph_bytes
