"""Triangles and edges that a GPU lists are those of the CPU, row by row, whatever is at work at a time."""

import numpy as np
import pytest
from helpers.gpu import device_or_skip, hub_store

gpu = device_or_skip()

from helpers.graphs import random_store
from helpers.kept import asked_for
from helpers.networks import stores, two_hubs

from csaw.engine.analytics.cpu import common_neighbors as on_the_cpu
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.cuda import common_neighbors
from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.evaluation.listing import write_list
from csaw.engine.analytics.evaluation.options import LISTS
from csaw.partition.errors import BudgetError, OptionError

SMALL = {"LEAST_ENTRIES": 30, "MOST_ENTRIES": 40, "MOST": 50}  # so that a graph takes many tables
STORES = {
    "hub": lambda path: hub_store(path, False),
    "larger": lambda path: random_store(path, vertices=30_000, edges=400_000, weighted=False, partitions=4),
    "larger directed": lambda path: random_store(path, vertices=30_000, edges=400_000, weighted=False, directed=True),
    "dense": lambda path: random_store(path, vertices=1500, edges=300_000, weighted=False),
}


def together(pieces):
    """The columns of all pieces, one after the other, and the entries that are done at the end."""
    found = [(piece[0], np.column_stack(piece[1:]) if len(piece) > 2 else piece[1]) for piece in pieces]
    return [table for _, table in found if table.size], found[-1][0] if found else 0


def check(store, network):
    host = HostNetwork(store)
    for what in ("triangle_list", "support_list"):
        wanted, end = together(getattr(on_the_cpu, what)(host.undirected))
        found, done = together(getattr(common_neighbors, what)(network.undirected))
        assert done == end == host.undirected.edges
        assert bool(found) == bool(wanted)
        if wanted:
            assert np.array_equal(np.concatenate(found), np.concatenate(wanted))
    host.close()


@pytest.mark.parametrize("small", [False, True])
@pytest.mark.parametrize("directed", [True, False])
def test_rows_of_every_shape(directed, small, tmp_path, monkeypatch):
    for name, value in SMALL.items() if small else ():
        monkeypatch.setattr(common_neighbors, name, value)
    for store in stores(tmp_path, directed=directed):
        network = DeviceNetwork(store, gpu, derived=tmp_path)
        check(store, network)
        network.close()


@pytest.mark.parametrize("name", STORES)
def test_rows_of_larger_graphs(name, tmp_path, monkeypatch):
    monkeypatch.setattr(common_neighbors, "MOST_ENTRIES", 1 << 17)
    monkeypatch.setattr(common_neighbors, "MOST", 1 << 15)
    store = STORES[name](tmp_path / "g.zarr")
    network = DeviceNetwork(store, gpu, derived=tmp_path)
    check(store, network)
    network.close()


def test_rows_longer_than_a_warp_of_both_ends(tmp_path):
    store = two_hubs(tmp_path / "g.zarr", others=3000)
    network = DeviceNetwork(store, gpu)
    check(store, network)
    network.close()


@pytest.mark.parametrize("suffix", ["npy", "csv.gz", "parquet"])
@pytest.mark.parametrize("what", ["triangles", "support"])
def test_files_are_those_of_the_cpu(what, suffix, tmp_path):
    store = STORES["larger directed"](tmp_path / "g.zarr")
    files = [tmp_path / f"{device}.{suffix}" for device in ("cpu", "cuda")]
    for out, device in zip(files, ("cpu", "cuda:0"), strict=True):
        write_list(store, what, out, device=device)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_a_gpu_that_does_not_hold_the_rows_says_what_it_takes(tmp_path):
    store = STORES["larger"](tmp_path / "g.zarr")
    with pytest.raises(BudgetError, match=r"lists of triangles.*raise --gpu-memory to .* or pass --device cpu"):
        write_list(store, "triangles", tmp_path / "t.npy", device="cuda:0", gpu_memory=5 << 20)
    write_list(store, "triangles", tmp_path / "t.npy", device="cuda:0", gpu_memory=64 << 20)
    with pytest.raises(OptionError, match="needs all rows in its memory"):
        write_list(store, "triangles", tmp_path / "u.npy", device="cuda:0", residency="streamed")


@pytest.mark.parametrize("what", LISTS)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("memory", [1, 100_000, 1 << 20, 3 << 20, 6 << 20])
def test_the_memory_that_a_refusal_asks_for_is_enough(tmp_path, what, directed, memory):
    store = random_store(tmp_path / "g.zarr", vertices=3000, edges=20_000, directed=directed, weighted=False)
    given = {"device": f"cuda:{gpu.number}", "threads": 2, "overwrite": True}
    asked = asked_for(memory, lambda memory: write_list(store, what, tmp_path / "t.npy", gpu_memory=memory, **given))
    assert asked or memory > 1
