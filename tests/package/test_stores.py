"""Claims of the functions that look at stores: they say what the commands print, and take what is open."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import csaw
from csaw.cli.main import cli
from csaw.partition.errors import CsawError, OptionError, StoreError

GIVEN = {"device": "cpu", "seed": 2}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def stores(here):
    """A graph store and a sample store of it, open."""
    graph = csaw.partition([(0, 1), (1, 2), (2, 0), (2, 3)], "g.zarr", directed=False)
    return graph, csaw.sample(graph, "s.zarr", walk_length=3, **GIVEN)


def printed(*line):
    return json.loads(CliRunner().invoke(cli, [*line, "--json"]).output)


def test_verify_gives_the_checks_of_the_command(stores):
    graph, samples = stores
    for store, name in ((samples, "s.zarr"), (graph, "g.zarr")):
        found = [csaw.verify(one) for one in (store, name)]
        assert found[0].ok
        assert found[0].as_dict()["checks"] == found[1].as_dict()["checks"] == printed("verify", name)["checks"]
    assert csaw.verify("s.zarr", graph).ok
    chunk = next(samples.path.glob("walks/c*"))
    chunk.write_bytes(bytes(len(chunk.read_bytes())))
    assert [one.name for one in csaw.verify("s.zarr").checks if not one.ok] == ["checksums"]


def test_info_gives_the_description_of_the_command(stores):
    graph, samples = stores
    assert csaw.info(graph) == csaw.info("g.zarr") == printed("info", "g.zarr") | {"path": str(graph.path)}
    assert csaw.info(graph, full=True)["degrees"] == printed("info", "g.zarr", "--full")["degrees"]
    found = json.loads(json.dumps(csaw.info(samples)))
    assert found == printed("info", "s.zarr") | {"path": str(samples.path)}
    assert (csaw.info(graph)["vertices"], csaw.info("s.zarr")["parameters"]["walk_length"]) == (4, 3)


def test_algorithms_are_those_of_the_command():
    assert json.loads(json.dumps(csaw.algorithms())) == printed("algorithms")
    assert csaw.algorithms()["node2vec"]["options"] == {"walk_length": 80, "num_walks": 1, "p": 1.0, "q": 1.0}


def test_seal_finishes_a_sample_of_shards(stores):
    walked = ("--walk-length", "3", "--seed", "2", "--device", "cpu", "--shard")
    for shard in ("0/2", "1/2"):
        done = CliRunner().invoke(cli, ["sample", "g.zarr", "t.zarr", *walked, shard])
        assert done.exit_code == 0, done.output
    assert csaw.seal("t.zarr", stores[0]) == printed("seal", "t.zarr")
    assert np.array_equal(csaw.open_samples("t.zarr").walks[:], stores[1].walks[:])
    with pytest.raises(StoreError, match="nothing.zarr"):
        csaw.seal("nothing.zarr")


def test_what_is_no_store_on_disk_is_refused(here):
    kept = csaw.sample([(0, 1), (1, 0)], walk_length=2, **GIVEN)
    for wrong in (kept, csaw.graph([(0, 1)]), 5):
        for function in (csaw.verify, csaw.info):
            with pytest.raises(OptionError, match="store: expected a store on disk, or its path, found"):
                function(wrong)
    with pytest.raises(CsawError, match=r"no.zarr does not exist"):
        csaw.verify("no.zarr")
    csaw.partition([(0, 1)], "g.zarr")
    with pytest.raises(OptionError, match="algo: only for samples, but g.zarr is a graph store"):
        csaw.verify("g.zarr", algo="deepwalk")


CASES = {
    "deepwalk": {"walk_length": 3},
    "ppr": {"termination_prob": 0.3},
    "neighbor": {"fanout": (2, 2)},
    "forest-fire": {"sources": "random:4"},
    "ladies": {"instances": 3, "frontier_size": 2, "layer_sizes": (2, 2)},
    "minibatch": {"fanout": (2, 2), "seeds_per_batch": 3},
}


@pytest.mark.parametrize("algo", CASES)
def test_a_loop_over_samples_has_their_instances(stores, algo):
    samples = csaw.sample("g.zarr", "t.zarr", algo=algo, **GIVEN, **CASES[algo])
    kept = csaw.sample("g.zarr", algo=algo, **GIVEN, **CASES[algo])
    whole = list(samples)
    assert len(whole) == len(samples) == samples.instances > 1
    rest = [whole[0], *samples[1:]]
    for number, one in enumerate(whole):
        for other in (samples[number], samples[number - len(samples)], kept[number], rest[number]):
            assert same(one, other)
    if samples.has_walks:
        assert same(whole[1], samples.walk(1))
        assert all(np.all(walk[1:] >= 0) and walk.ndim == 1 for walk in whole)
    elif algo == "minibatch":
        assert same(whole[0], samples.minibatch(0))
    else:
        assert {"neighbor": "hop_1"}.get(algo, "src") in whole[0]
        edges = sum(one["src"].size for one in whole) if "src" in whole[0] else 0
        assert edges == (samples.src.shape[0] if edges else 0)


def same(a, b):
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)
    return np.array_equal(a, b)


def test_slices_are_samples_of_their_own(stores):
    samples = csaw.sample("g.zarr", algo="deepwalk", walk_length=3, num_walks=3, **GIVEN)
    part = samples[3:-2]
    assert (part.first, len(part)) == (3, len(samples) - 5)
    assert np.array_equal(part.walks[:], samples.walks[3:-2])
    assert np.array_equal(part[1:][0], samples[4])
    assert len(samples[5:2]) == 0 == len(list(samples[5:2]))
    assert samples["walks"].shape == (12, 4)
    with pytest.raises(IndexError, match="walk 12 of 12"):
        samples[12]
    with pytest.raises(OptionError, match="expected consecutive instances, found a step of 2"):
        samples[::2]
    with pytest.raises(TypeError):
        samples[1.5]


def test_the_loaders_are_listed():
    from csaw.engine import loaders

    assert dir(loaders) == sorted(loaders.__all__)
    assert {"sample", "stream", "prepare"} <= set(dir(csaw.engine))


def test_a_sample_of_a_graph_in_memory_is_verified_with_that_graph(here):
    edges = [(0, 1), (1, 2), (2, 0), (2, 3)]
    csaw.sample(edges, "m.zarr", walk_length=9, directed=False, **GIVEN)
    with pytest.raises(StoreError, match="does not contain the path of its graph; give it with graph"):
        csaw.verify("m.zarr")
    assert csaw.verify("m.zarr", csaw.graph(edges, directed=False)).ok
    other = csaw.verify("m.zarr", edges)
    assert [check.name for check in other.checks if not check.ok] == ["graph"]
