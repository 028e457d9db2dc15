"""Bringing samples up to date that do not store all of their request, and virtual ones, which store nothing else."""

import shutil

import numpy as np
import pytest
from helpers.refreshed import SEED, compared, grown, stored

import csaw
from csaw.partition.errors import OptionError, StoreError

# Columns of data.

OF_DST = '1 + e.column("x", e.dst)'
BEYOND = '2 if e.column("x", e.dst + 1) >= 0 else 1'  # NaN, of no vertex, is not
COLUMNS = [  # algorithm, options, whether instances are kept although vertices are new
    ("deepwalk", {"walk_length": 4, "edge_bias": OF_DST}, True),
    ("deepwalk", {"walk_length": 4, "edge_bias": OF_DST, "num_walks": 2, "ids": "dense"}, True),
    ("deepwalk", {"walk_length": 4, "edge_bias": 'e.weight * (1 + e.column("x", e.prev) if e.prev >= 0 else 1)'}, True),
    ("deepwalk", {"walk_length": 4, "edge_bias": BEYOND}, False),
    ("neighbor", {"fanout": (2, 2), "edge_bias": OF_DST}, True),
    ("minibatch", {"fanout": (2, 2), "seeds_per_batch": 3, "edge_bias": 'e.column("x", e.src) + e.weight'}, True),
    ("forest-fire", {"burn_prob": 0.3, "edge_bias": OF_DST}, True),
    ("mvs", {"fanout": (2,), "seeds_per_batch": 4, "norms": "x"}, False),
]


def columns_of(graph):
    draw, vertices = np.random.default_rng(5), csaw.open_graph(graph).vertices
    return {"x": draw.random(vertices), "y": draw.integers(0, 9, vertices)}


@pytest.mark.parametrize(("algo", "options", "keeps"), COLUMNS, ids=lambda one: str(one)[:70])
@pytest.mark.parametrize("far", [False, True])
def test_columns_are_given_again(tmp_path, algo, options, keeps, far):
    graph = grown(tmp_path, 2, far=far)
    done = compared(graph, tmp_path, algo, options, columns_of(graph))
    assert bool(done["kept"]) == (keeps or not far) == (not done["why"])
    changed = csaw.changed(tmp_path / "new.zarr", since=0, columns=columns_of(graph))
    assert changed.size == done["drawn"]


@pytest.mark.parametrize("how", [{"threads": 1}, {"threads": 4}, {"memory": "1GB"}, {"given": "with ids"}], ids=str)
def test_and_in_any_order(tmp_path, how):
    graph = grown(tmp_path, 2, far=True)
    columns = columns_of(graph)
    if "given" in how:
        order = np.random.default_rng(1).permutation(len(columns["x"]))
        ids = csaw.open_graph(graph).vertex_ids()[order]
        how = {"given": {"ids": ids} | {name: array[order] for name, array in columns.items()}}
    assert compared(graph, tmp_path, "deepwalk", {"walk_length": 4, "edge_bias": OF_DST}, columns, **how)["kept"]


def test_where_numbers_of_a_column_are_others_all_is_drawn(tmp_path):
    graph = grown(tmp_path, 2, far=True)
    old, columns = csaw.open_graph(graph, version=0), columns_of(graph)
    before = {name: array[: old.vertices] for name, array in columns.items()}
    own = {"walk_length": 4, "edge_bias": OF_DST, "seed": SEED}
    csaw.sample(old, tmp_path / "s.zarr", **own, columns=before)
    columns["x"][7] += 1
    done = csaw.refresh(tmp_path / "s.zarr", tmp_path / "new.zarr", columns=columns)
    assert done.results["refreshed"]["why"] == "the numbers of the column x have changed"
    assert done.results["refreshed"]["drawn"] == done.instances
    csaw.sample(graph, tmp_path / "full.zarr", **own, columns=columns)
    assert stored(tmp_path / "new.zarr") == stored(tmp_path / "full.zarr")
    with pytest.raises(StoreError, match="the numbers of the column x have changed"):
        csaw.changed(tmp_path / "new.zarr", since=0, columns=columns | {"x": columns["x"] + 1})


def test_a_graph_with_other_numbers_of_vertices_takes_the_columns_by_its_own(tmp_path):
    rows = [(k, (k * 7 + 1) % 60) for k in range(60)] + [(k, (k * 3 + 2) % 60) for k in range(60)]
    ids = np.arange(60)
    data = {"ids": ids, "x": ids % 11}
    csaw.partition(rows, tmp_path / "g.zarr", directed=True)
    for name, other in {
        "fewer": [(a, b) for a, b in rows if a > 5 and b > 5],
        "moved": [(a + 1, b + 1) for a, b in rows],
    }.items():
        made = csaw.partition(other, tmp_path / f"{name}.zarr", directed=True)
        own = {"walk_length": 3, "edge_bias": OF_DST, "seed": SEED}
        csaw.sample(tmp_path / "g.zarr", tmp_path / "s.zarr", overwrite=True, **own, columns=data)
        here = made.vertex_ids()
        given = {"ids": here[::-1], "x": here[::-1] % 11}
        done = csaw.refresh(tmp_path / "s.zarr", tmp_path / "new.zarr", graph=made, columns=given, overwrite=True)
        assert done.results["refreshed"]["why"]
        csaw.sample(made, tmp_path / "full.zarr", overwrite=True, **own, columns=given)
        assert stored(tmp_path / "new.zarr") == stored(tmp_path / "full.zarr")


@pytest.mark.parametrize("version", [1, 0])
def test_an_older_version_takes_columns_of_its_vertices(tmp_path, version):
    graph = grown(tmp_path, 2, far=True)
    columns, own = columns_of(graph), {"walk_length": 3, "edge_bias": OF_DST, "seed": SEED}
    csaw.sample(graph, tmp_path / "s.zarr", **own, columns=columns)
    old = csaw.open_graph(graph, version=version)
    some = {name: array[: old.vertices] for name, array in columns.items()}
    csaw.refresh(tmp_path / "s.zarr", version=version, columns=some)
    csaw.sample(old, tmp_path / "full.zarr", **own, columns=some)
    assert stored(tmp_path / "s.zarr") == stored(tmp_path / "full.zarr")


def test_columns_that_are_missing_or_others_are_refused(tmp_path):
    graph = grown(tmp_path, 2, far=True)
    columns = columns_of(graph)
    csaw.sample(graph, tmp_path / "s.zarr", walk_length=2, edge_bias=OF_DST, columns=columns)
    with pytest.raises(OptionError, match="was drawn with columns of vertex data, which it does not store: x, y; give"):
        csaw.refresh(tmp_path / "s.zarr")
    with pytest.raises(OptionError, match=r"columns: expected x, y, with which .* was drawn, found x$"):
        csaw.refresh(tmp_path / "s.zarr", columns={"x": columns["x"]})
    with pytest.raises(OptionError, match="columns: x: expected a number for each of the 82 vertices"):
        csaw.refresh(tmp_path / "s.zarr", columns={"x": columns["x"][:80], "y": columns["y"]})
    csaw.sample(graph, tmp_path / "t.zarr", walk_length=2)
    with pytest.raises(OptionError, match="columns: .*keeps the options that it was drawn with"):
        csaw.refresh(tmp_path / "t.zarr", columns=columns)


# Virtual samples.

VIRTUAL = [
    {"walk_length": 4},
    {"walk_length": 4, "num_walks": 3},
    {"walk_length": 4, "instances": 30},
    {"walk_length": 4, "sources": [5, 6, 7, 8, 60], "num_walks": 2},
    {"walk_length": 4, "sources": "random:9"},
    {"algo": "ppr", "select": "its"},
    {"algo": "minibatch", "fanout": (2, 2), "sources": {"ids": [4, 5, 6], "y": [1, 0, 2]}},
    {"algo": "fastgcn", "frontier_size": 3},
    {"algo": "links", "num_negatives": 2},
    {"algo": "links", "num_negatives": 2, "sources": [(3, 5), (4, 9)]},
    {"algo": "snowball", "target": 12, "instances": 5},
]


@pytest.mark.parametrize("options", VIRTUAL, ids=str)
@pytest.mark.parametrize("is_gone", [False, True])
def test_a_virtual_sample_stays_one(tmp_path, options, is_gone):
    graph = grown(tmp_path, 2, far=True)
    own = options | {"seed": SEED, "virtual": True}
    csaw.sample(csaw.open_graph(graph, version=0), tmp_path / "s.zarr", **own)
    if is_gone:
        csaw.compact(graph)
    walks = csaw.refresh(tmp_path / "s.zarr", device="cpu")
    assert walks.is_virtual
    assert walks.results["refreshed"] == {"drawn": 0, "kept": 0, "rows": 0, "why": ""}
    csaw.sample(graph, tmp_path / "full.zarr", **own)
    assert stored(tmp_path / "s.zarr") == stored(tmp_path / "full.zarr")
    assert csaw.refresh(tmp_path / "s.zarr").results["refreshed"]["drawn"] == 0
    assert stored(tmp_path / "s.zarr") == stored(tmp_path / "full.zarr")
    assert sorted(one.name for one in tmp_path.iterdir() if "s.zarr" in one.name) == ["s.zarr"]


@pytest.mark.parametrize("options", [{"walk_length": 3}, {"walk_length": 3, "sources": [5, 6, 7, 60]}], ids=str)
def test_the_instances_of_a_virtual_sample_that_have_changed_are_those_of_a_stored_one(tmp_path, options):
    graph = grown(tmp_path, 2, far=True)
    for name in ("stored", "virtual"):
        csaw.sample(graph, tmp_path / name, seed=SEED, **options, virtual=name == "virtual")
        csaw.export(tmp_path / name, tmp_path / f"{name}.csv", changed_since=0)
    wanted = csaw.changed(tmp_path / "stored", since=0)
    assert wanted.size
    assert np.array_equal(csaw.changed(tmp_path / "virtual", since=0), wanted)
    assert (tmp_path / "virtual.csv").read_bytes() == (tmp_path / "stored.csv").read_bytes()


def test_a_virtual_sample_is_written_to_another_place(tmp_path):
    graph = grown(tmp_path, 2, far=True)
    csaw.sample(csaw.open_graph(graph, version=0), tmp_path / "s.zarr", walk_length=3, virtual=True)
    before = stored(tmp_path / "s.zarr")
    csaw.refresh(tmp_path / "s.zarr", tmp_path / "new.zarr")
    csaw.sample(graph, tmp_path / "full.zarr", walk_length=3)
    assert np.array_equal(
        csaw.open_samples(tmp_path / "new.zarr").walks[:], csaw.open_samples(tmp_path / "full.zarr").walks[:]
    )
    assert stored(tmp_path / "s.zarr") == before
    with pytest.raises(StoreError, match="exists already"):
        csaw.refresh(tmp_path / "s.zarr", tmp_path / "full.zarr")
    with pytest.raises(OptionError, match="seed: .*keeps the options that it was drawn with"):
        csaw.refresh(tmp_path / "s.zarr", seed=4)
    shutil.rmtree(graph)
    with pytest.raises(StoreError, match="does not exist"):
        csaw.refresh(tmp_path / "s.zarr")


def test_a_damaged_virtual_sample_is_told(tmp_path):
    graph = grown(tmp_path, 2)
    csaw.sample(graph, tmp_path / "s.zarr", walk_length=3, sources=[3, 5], virtual=True)
    chunk = tmp_path / "s.zarr" / "given_sources" / "c.0"
    chunk.write_bytes(b"\1" + chunk.read_bytes()[1:])
    with pytest.raises(StoreError, match="its bytes have changed"):
        csaw.refresh(tmp_path / "s.zarr")


@pytest.mark.parametrize(
    "options",
    [
        {"walk_length": 4, "sources": [5, 1000, 6, 200], "num_walks": 2},
        {"walk_length": 4, "sources": [1000]},
        {"algo": "neighbor", "fanout": (2, -1), "unique": True, "sources": [5, 1000, 6, 200]},
        {"algo": "minibatch", "fanout": (2,), "seeds_per_batch": 1, "sources": {"ids": [7, 1000, 6], "y": [1, 0, 2]}},
        {"algo": "links", "num_negatives": 1, "sources": [(5, 6), (5, 1000), (1000, 7), (6, 5)]},
    ],
    ids=str,
)
def test_sources_that_are_new_since_a_version_count_as_changed(tmp_path, options):
    graph = grown(tmp_path, 2, far=True)
    sources = options["sources"]
    samples = csaw.sample(graph, tmp_path / "s.zarr", **options, seed=SEED)
    ids = sources["ids"] if isinstance(sources, dict) else sources
    is_new = [bool({200, 1000} & set(np.atleast_1d(one).tolist())) for one in ids]
    new = np.flatnonzero(np.tile(is_new, options.get("num_walks", 1)))
    changed = csaw.changed(samples, since=0)
    assert set(new.tolist()) <= set(changed.tolist())
    assert len(changed) < samples.instances or all(is_new) or samples.layout == "links"  # negatives may be new, too
    every = csaw.changed(samples, since=0, sources=sources)
    assert np.array_equal(changed, every)
    assert csaw.changed(samples, since=csaw.open_graph(graph).version).size == 0
