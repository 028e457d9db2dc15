"""What csaw holds in memory is handed out as views that cannot be written, or as copies: nobody changes it unseen."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from helpers.machine import need_package

import csaw

EDGES = [(11, 12), (12, 13), (13, 17), (17, 11), (12, 17)]
ALGORITHMS = [
    ("deepwalk", {"walk_length": 4}),
    ("ppr", {}),
    ("neighbor", {"fanout": "2,2"}),
    ("snowball", {"depth": 2}),
    ("snowball", {"depth": 1, "induced": True}),
    ("minibatch", {"fanout": "2,2", "seeds_per_batch": 2}),
    ("ladies", {"layer_sizes": (2, 2), "frontier_size": 2}),
]
IDS = ["-".join([name, *options]) for name, options in ALGORITHMS]


def overwritten(array):
    """Write into an array, if it can be written."""
    with pytest.raises(ValueError, match="read-only") if not array.flags.writeable else warnings.catch_warnings():
        array[...] = 7


def everything(samples):
    """All that samples hand out, as arrays."""
    for name in samples.arrays:
        held = samples[name]
        yield from (held[:], held[1:], held[-1:], held[[0]], np.asarray(held), np.array(held, copy=None))
        yield np.atleast_1d(held[...])
    for _, arrays in samples.iter_groups():
        yield from arrays.values()
    for one in samples:
        yield from one.values() if isinstance(one, dict) else [one]
    yield from samples.group(0, 1).values()
    yield from (value for value in samples.pyg().values() if isinstance(value, np.ndarray))
    if samples.has_walks:
        yield from (samples.lengths[:], samples.walk(0))


@pytest.mark.parametrize("graph", ["numbers", "words"])
@pytest.mark.parametrize(("algo", "options"), ALGORITHMS, ids=IDS)
@pytest.mark.parametrize("kind", ["memory", "part", "virtual", "stored"])
def test_nobody_changes_samples_unseen(tmp_path, kind, algo, options, graph):
    edges = EDGES if graph == "numbers" else [(f"v{a}", f"v{b}") for a, b in EDGES]
    place = csaw.partition(edges, tmp_path / "g.zarr")
    out = [] if kind in ("memory", "part") else [tmp_path / "s.zarr"]
    samples = csaw.sample(place, *out, algo=algo, seed=1, **options, **({"virtual": True} if kind == "virtual" else {}))
    samples = samples.part(0, 2) if kind == "part" else samples
    before = {name: samples[name][:].copy() for name in samples.arrays}
    lengths = samples.lengths[:].copy() if samples.has_walks else None
    for array in everything(samples):
        overwritten(array)
    assert all(np.array_equal(samples[name][:], held) for name, held in before.items())
    assert lengths is None or np.array_equal(samples.lengths[:], lengths)


@pytest.mark.parametrize("kind", ["memory", "stored"])
def test_nobody_changes_a_graph_unseen(tmp_path, kind):
    graph = csaw.graph(EDGES) if kind == "memory" else csaw.partition(EDGES, tmp_path / "g.zarr")
    ids, drawn = graph.vertex_ids().tolist(), csaw.sample(graph, walk_length=3, seed=1).walks[:].tolist()
    held = graph.load()
    given = [graph.vertex_ids(), graph.original_ids(np.arange(4)), graph.read_indptr(), held.indptr, held.indices]
    for array in [*given, graph.dense_ids([11, 12]), graph.read_offsets(0)]:
        overwritten(array)
    assert graph.vertex_ids().tolist() == ids
    assert csaw.sample(graph, walk_length=3, seed=1).walks[:].tolist() == drawn


@pytest.mark.parametrize(("algo", "options"), ALGORITHMS, ids=IDS)
def test_exports_and_loaders_take_views_without_a_warning(tmp_path, algo, options):
    torch = need_package("torch")
    from csaw.engine.loaders.walks import WalkDataset

    samples = csaw.sample(csaw.graph(EDGES), algo=algo, seed=1, **options)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*not writable")
        for name in ("o.pt", "o.npz", "o.txt"):
            csaw.export(samples, tmp_path / name)
        if algo == "deepwalk":
            walk = WalkDataset(samples)[0]
            walk[:] = 0
            assert samples.walks[0].all()
        for value in samples.pyg().values():
            if isinstance(value, np.ndarray):
                torch.from_numpy(value)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_copies_of_samples_hand_out_views_too(copied):
    samples = copied(csaw.sample(csaw.graph([(f"v{a}", f"v{b}") for a, b in EDGES]), walk_length=4, seed=1))
    assert not samples.walks[:].flags.writeable
    assert samples.labels()[0] == "v11"
    with pytest.raises(ValueError, match="read-only"):
        samples.walks[:][:] = 0


def test_kernels_are_not_compiled_anew_for_views():
    from csaw.engine.samples.array import bits

    samples = csaw.sample(csaw.graph(EDGES), algo="neighbor", fanout="2,2", seed=1)
    assert not samples.hops[1][:].flags.writeable
    assert bits(samples.hops[1][:]).flags.writeable
