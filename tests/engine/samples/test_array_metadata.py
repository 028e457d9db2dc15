"""Claims of what viewers read of stores: every array names its dimensions and says what it is, of which request and
graph; xarray opens both stores.
"""

import json
from pathlib import Path

import numpy as np
import pytest
import zarr
from helpers.graphs import random_store
from helpers.machine import need_package

from csaw.engine import sample
from csaw.engine.samples.layouts import LAYOUTS
from csaw.engine.stores import open_samples
from csaw.partition import IngestOptions, ingest
from csaw.partition.errors import OptionError, StoreError
from csaw.partition.graph import attributes as of_graphs

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "formats.md").read_text()
SAMPLES = {
    "walks": ("deepwalk", {"walk_length": 5}),
    "ragged-walks": ("ppr", {}),
    "hops": ("neighbor", {"fanout": (3, 2)}),
    "subgraphs": ("snowball", {"depth": 2}),
    "layers": ("ladies", {"layer_sizes": (3, 3), "frontier_size": 2}),
    "batches": ("minibatch", {"fanout": (2, 2), "seeds_per_batch": 3, "disjoint": True}),
}
WORDS = "".join(f"v{u} v{v} {w}\n" for u, v, w in [(0, 1, 1), (1, 2, 0.5), (2, 0, 4), (2, 3, 0.25), (3, 1, 2)])


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """A graph of strings with clusters and rows of the input, and a sample of each layout."""
    folder = tmp_path_factory.mktemp("described")
    (folder / "g.txt").write_text(WORDS)
    how = IngestOptions(directed=True, edge_ids=True, num_clusters=2, clustering="random", partitions=2)
    found = {"graph": ingest(str(folder / "g.txt"), folder / "g.zarr", how).path}
    for name, (algo, options) in SAMPLES.items():
        found[name] = sample(found["graph"], folder / f"{name}.zarr", algo, seed=7, device="cpu", **options).path
    return found


def arrays_of(path):
    """Every array below a folder, by path: shape, names of dimensions, attributes."""
    nodes = {file.parent: json.loads(file.read_text()) for file in path.rglob("zarr.json")}
    return {
        place.relative_to(path): (node["shape"], node.get("dimension_names"), node["attributes"])
        for place, node in nodes.items()
        if node["node_type"] == "array"
    }


@pytest.mark.parametrize("name", ["graph", *SAMPLES])
def test_every_array_says_what_it_is(stores, name):
    found = arrays_of(stores[name])
    fingerprint = json.loads((stores["graph"] / "zarr.json").read_text())["attributes"]["fingerprint"]
    assert found
    for place, (shape, dimensions, said) in found.items():
        assert len(dimensions) == len(shape) == len(set(dimensions)), place
        assert said["units"] in ("1", "count"), place
        assert said["long_name"], place
        assert said["fingerprint"] == fingerprint, place
        if name != "graph":
            assert (said["algorithm"], said["seed"]) == (SAMPLES[name][0], 7), place
        assert all(f"`{dimension}`" in PAGE for dimension in dimensions if not dimension.startswith("column_")), place
    for folder in {place.parent for place in found}:
        sides = {
            pair
            for place, (shape, dimensions, _) in found.items()
            if place.parent == folder
            for pair in zip(dimensions, shape, strict=True)
        }
        assert len(sides) == len(dict(sides)), "a name of one group has one length"
        assert not {dimension for dimension, _ in sides} & {place.name for place in found if place.parent == folder}


def test_clusters_say_how_they_were_made(stores):
    said = arrays_of(stores["graph"])[Path("clusters")][2]
    assert (said["algorithm"], said["seed"]) == ("random", 0)


def test_zarr_reads_the_names(stores):
    assert zarr.open_array(stores["walks"] / "walks", mode="r").metadata.dimension_names == ("instance", "position")
    assert zarr.open_array(stores["graph"] / "partitions" / "00001" / "indices", mode="r").attrs["units"] == "1"


def test_every_array_of_a_layout_is_described():
    for layout in LAYOUTS.values():
        names = layout.wanted(["hop_0", "hop_1"]) if layout == "hops" else [one.name for one in layout.arrays]
        assert names
        for declared in map(layout.declared, names):
            assert declared.dimensions
            assert declared.units
            assert declared.said
    assert of_graphs.ARRAYS.keys() >= {"indptr", "indices", "weights", "edge_ids", "clusters", "vertex_ids"}


@pytest.mark.parametrize("name", SAMPLES)
def test_xarray_opens_a_sample_with_its_types(stores, name):
    xarray = need_package("xarray")
    samples, found = open_samples(stores[name]), xarray.open_zarr(stores[name], consolidated=False)
    assert len(found.variables) >= 3
    for array in found.variables:
        assert found[array].dtype == samples[array].dtype, "no id becomes a floating-point number"
        assert np.array_equal(found[array].values, samples[array][:])


def test_xarray_opens_a_graph_as_a_tree(stores):
    xarray = need_package("xarray")
    tree = xarray.open_datatree(stores["graph"], engine="zarr", consolidated=False)
    assert tree["clusters"].dims == ("vertex",)
    assert sum(part["indices"].size for part in tree["partitions"].children.values()) == 5


def test_parents_are_those_of_a_loop_over_children(tmp_path):
    store = random_store(tmp_path / "g.zarr", vertices=60, edges=200)
    samples = sample(store, tmp_path / "s.zarr", "neighbor", fanout=(3, 2), device="cpu")
    graph = store.load()
    for hop, fanout in ((1, 3), (2, 2)):
        above, below = samples.hops[hop - 1][:], samples.hops[hop][:]
        slow = [column for column in range(above.shape[1]) for _ in range(fanout)]
        parents = samples.parents(hop)
        assert (parents.dtype, parents.tolist()) == (np.int64, slow)
        for row in range(len(below)):
            for child, parent in zip(below[row], above[row][parents], strict=True):
                if child != samples.fill:
                    assert child in graph.indices[graph.indptr[parent] : graph.indptr[parent + 1]]


def test_what_has_no_parents_says_so(stores):
    hops = open_samples(stores["hops"])
    for wrong in (0, 3, -1):
        with pytest.raises(OptionError, match="a hop from 1 to 2"):
            hops.parents(wrong)
    with pytest.raises(StoreError, match="no tables of hops"):
        open_samples(stores["walks"]).parents(1)
