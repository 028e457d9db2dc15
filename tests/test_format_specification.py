"""docs/reference/formats.md is enough to read stores: a reader that was written from it alone finds in each what csaw
finds.
"""

import re
from pathlib import Path

import numpy as np
import pytest
from helpers.edge_columns import with_columns
from helpers.format_reader import GraphReader, SampleReader
from helpers.graphs import random_store
from helpers.relations import graph_in_time

from csaw.engine import open_samples, sample
from csaw.engine.samples.layouts import LAYOUTS
from csaw.partition import IngestOptions, ingest, open_graph, read_edge_ids

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "reference" / "formats.md").read_text()
EDGES = [(0, 1, 1), (1, 2, 0.5), (2, 0, 4), (2, 3, 0.25), (3, 3, 2), (5, 0, 1), (3, 4, 8), (4, 5, 1), (1, 3, 2)]
NAMES = {
    "identity": str,
    "int64": lambda v: str(7 * v - 3),
    "uint64": lambda v: str(2**63 + v),
    "string": "vertex-é{}".format,
}
STORES = {
    "identity": {},
    "int64": {"partitions": 3},
    "uint64": {"directed": False},
    "string": {"partitions": 2, "compression": "lz4"},
}
SAMPLES = {
    "walks": ("deepwalk", {"walk_length": 5}),
    "ragged-walks": ("ppr", {}),
    "hops": ("neighbor", {"fanout": (2, 3)}),
    "subgraphs": ("snowball", {"depth": 2}),
    "induced": ("snowball", {"depth": 1, "induced": True}),
    "layers": ("ladies", {"layer_sizes": (3, 3), "frontier_size": 2}),
    "batches": ("minibatch", {"fanout": (2, 2), "seeds_per_batch": 3, "disjoint": True}),
    "links": ("links", {"num_negatives": 2, "skip_full": True}),
}
FURTHER = {
    "links in time": ("links", {"num_negatives": 2, "skip_full": True, "negative_time": "until"}, {"time"}),
    "labor by relation": ("labor", {"fanout": {"*": (2, 2)}, "frontier_size": 9}, {"relation"}),
    "neighbors by relation": ("neighbor", {"fanout": {"*": (-1, 2)}}, {"relation"}),
}


def ingested(folder, kind, **options):
    text = folder / f"{kind}.txt"
    text.write_text("".join(f"{NAMES[kind](u)} {NAMES[kind](v)} {w}\n" for u, v, w in EDGES))
    return ingest(str(text), folder / f"{kind}.zarr", IngestOptions(**{"directed": True, "edge_ids": True} | options))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("stores")


@pytest.mark.parametrize("kind", STORES)
def test_the_page_is_enough_to_read_a_graph(folder, kind):
    store = ingested(folder, kind, **STORES[kind])
    found, graph = GraphReader(store.path), store.load()
    assert found.attributes["id_kind"] == kind == store.id_kind
    for name in ("indptr", "indices", "weights"):
        assert np.array_equal(found.whole(name), getattr(graph, name))
    assert np.array_equal(found.whole("edge_ids"), read_edge_ids(store))
    assert found.fingerprint() == store.fingerprint
    ids = found.ids()
    assert ids is None if kind == "identity" else list(ids) == store.vertex_ids().tolist()


def test_the_page_is_enough_for_chunks_of_several_blocks_and_for_clusters(folder):
    store = random_store(folder / "larger.zarr", vertices=500, edges=9000)
    found = GraphReader(store.path)
    assert np.array_equal(found.whole("indices"), store.load().indices)
    assert np.array_equal(found.array("clusters"), store.read_clusters())
    assert found.fingerprint() == store.fingerprint


@pytest.mark.parametrize("compression", [None, "lz4"])
def test_the_page_is_enough_to_read_edge_columns(tmp_path, compression):
    store = with_columns(tmp_path / "g.zarr", partitions=3, compression=compression)
    found, graph = GraphReader(store.path), store.load(store.further_columns)
    assert found.attributes["format_version"] == 4
    listed = found.attributes["edge_columns"]
    assert [column["name"] for column in listed] == [column.name for column in store.further_columns]
    for column in listed:
        values = found.whole(f"edge_{column['name']}")
        assert values.dtype.name == column["dtype"]
        assert np.array_equal(values, graph.columns[column["name"]])
    assert found.fingerprint() == store.fingerprint


def test_the_reader_sees_a_byte_that_has_changed(folder):
    path = random_store(folder / "changed.zarr", vertices=50, edges=200).path
    file = path / "partitions" / "00000" / "indices" / "c" / "0"
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    with pytest.raises(AssertionError):
        GraphReader(path).whole("indices")


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("kind", ["int64", "string"])
def test_the_page_is_enough_to_read_a_sample(folder, name, kind):
    path = folder / f"{kind}.zarr"
    store = open_graph(path) if path.exists() else ingested(folder, kind, **STORES[kind])
    algo, options = SAMPLES[name]
    out = folder / f"{name}-{kind}.zarr"
    samples = sample(store, out, algo, seed=3, device="cpu", **options)
    found = SampleReader(out)
    assert found.attributes["layout"] == samples.layout
    for array in found.names():
        assert np.array_equal(found.array(array), samples[array][:]), array
    if kind == "string":
        assert found.attributes["ids"] == "names"
        assert found.strings() == samples.labels().tolist()
    for number in range(samples.instances):
        same_instance(samples, found, number)


@pytest.mark.parametrize("name", FURTHER)
def test_the_page_is_enough_to_read_further_arrays(tmp_path, name):
    algo, options, arrays = FURTHER[name]
    samples = sample(graph_in_time(tmp_path), tmp_path / "s.zarr", algo, instances=40, device="cpu", **options)
    found = SampleReader(tmp_path / "s.zarr")
    assert arrays <= set(found.names())
    for array in arrays:
        assert f"| `{array}` |" in PAGE
        assert np.array_equal(found.array(array), samples[array][:])
        assert array in found.instance(7)
    for number in range(samples.instances):
        same_instance(samples, found, number)


def same_instance(samples, found, number):
    """One instance of a sample, by csaw's own reader and by that of the page."""
    ours, theirs = samples.group(number, number + 1), found.instance(number)
    if "walk" in theirs or samples.has_walks:
        assert np.array_equal(theirs.get("walk", theirs.get("walks")), samples.walk(number))
        return
    for name, array in theirs.items():
        assert np.array_equal(np.ravel(array), ours[name].reshape(-1)), name


def test_the_page_is_enough_to_find_parents_of_hops(folder):
    store = random_store(folder / "parents.zarr", vertices=60, edges=200)
    found = SampleReader(sample(store, folder / "parents-hops.zarr", "neighbor", fanout=(3, 2), device="cpu").path)
    rows, fill = GraphReader(store.path), found.attributes["fill"]
    indptr, indices = rows.whole("indptr"), rows.whole("indices")
    edges = 0
    for k in (1, 2):
        parents, children = found.array(f"hop_{k - 1}"), found.array(f"hop_{k}")
        each = children.shape[1] // parents.shape[1]
        for i, c in np.argwhere(children != fill):
            v = parents[i, c // each]
            assert children[i, c] in indices[indptr[v] : indptr[v + 1]]
            edges += 1
    assert edges > 100


@pytest.mark.parametrize("name", ["format1.tar.gz", "samples1.tar.gz"])
def test_the_page_is_enough_for_stores_of_the_first_version(tmp_path, name):
    import tarfile

    with tarfile.open(ROOT / "tests" / "data" / name) as packed:
        packed.extractall(tmp_path, filter="data")
    stores = sorted(
        file.parent
        for file in tmp_path.rglob("zarr.json")
        if '"csaw_kind"' in file.read_text() and file.parent.suffix != ".partial"
    )
    assert stores
    for path in stores:
        if '"csaw_kind": "graph"' in (path / "zarr.json").read_text():
            assert np.array_equal(GraphReader(path).whole("indices"), open_graph(path).load().indices)
        else:
            found, samples = SampleReader(path), open_samples(path)
            assert all(np.array_equal(found.array(array), samples[array][:]) for array in found.names())


def test_the_reader_uses_nothing_of_csaw():
    text = (ROOT / "tests" / "helpers" / "format_reader.py").read_text()
    assert set(re.findall(r"^\s*(?:from|import) (\w+)", text, re.MULTILINE)) == {
        "hashlib",
        "json",
        "struct",
        "itertools",
        "pathlib",
        "numpy",
        "numcodecs",
    }


def test_every_layout_and_array_is_on_the_page():
    for layout in LAYOUTS.values():
        assert f"### Layout `{layout}`" in PAGE
        section = PAGE.partition(f"### Layout `{layout}`")[2].partition("\n### ")[0]
        for array in layout.arrays:
            assert f"`{array.name}`" in section, array.name
