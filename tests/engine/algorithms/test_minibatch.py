"""Mini-batches against a slow sampler that says what they are: nodes in a dict, one edge after the other, every word
from its address.
"""

import numpy as np
import pytest
from helpers.graphs import TROUBLED, arrays_of, random_store, store_of, stored_arrays
from helpers.invariance import assert_same

from csaw.engine import draw_batches, execute, open_samples, prepare, sample
from csaw.engine.api.registry import build
from csaw.engine.batches import minibatches
from csaw.engine.cpu.backend import CpuBackend
from csaw.engine.draws.random import words
from csaw.engine.plan.batch_kind import BatchKind
from csaw.engine.runs.virtual import commit_virtual
from csaw.engine.samples.layouts import LAYOUTS
from csaw.engine.sources.shuffled import SHUFFLE_SLOT
from csaw.engine.sources.sources import Sources
from csaw.engine.stores.export import export
from csaw.partition.errors import FormatError, OptionError, StoreError

PLAIN = {"weighted": False, "seed": 5}


def word(seed, instance, slot, number):
    """64 random bits of pick ``number`` at a slot."""
    a, b, c, d = map(int, words(seed, instance, slot, number >> 1))
    return c << 32 | d if number & 1 else a << 32 | b


def places(seed, instance, slot, degree, size, replace):
    """The picks of one node, as places in its row (Floyd's method)."""
    if not replace and (size < 0 or degree <= size):
        return list(range(degree))
    chosen = []
    for k in range(size if degree else 0):
        top = degree if replace else degree - size + k + 1
        place = word(seed, instance, slot, k) * top >> 64
        chosen.append(top - 1 if not replace and place in chosen else place)
    return chosen


def slow(graph, seeds, number, *, fanout, disjoint=False, replace=False, seed=5):
    """A mini-batch in dense ids that starts from ``seeds``, by the names of ``minibatch``."""
    n_id, batch, row, col, e_id = list(seeds), list(range(len(seeds))), [], [], []
    nodes, edges, begin = [len(seeds)], [], 0
    known = {}
    for node, key in enumerate(zip(batch, seeds, strict=True)):
        known.setdefault(key if disjoint else key[1], node)
    for size in fanout:
        end, before = len(n_id), len(e_id)
        for node in range(begin, end):
            first, last = int(graph.indptr[n_id[node]]), int(graph.indptr[n_id[node] + 1])
            for place in places(seed, number, node, last - first, size, replace):
                vertex = int(graph.indices[first + place])
                key = (batch[node], vertex) if disjoint else vertex
                if key not in known:
                    known[key] = len(n_id)
                    n_id.append(vertex)
                    batch.append(batch[node])
                row.append(known[key])
                col.append(node)
                e_id.append(first + place)
        nodes.append(len(n_id) - end)
        edges.append(len(e_id) - before)
        begin = end
    made = {"n_id": n_id, "row": row, "col": col, "e_id": e_id, "num_sampled_nodes": nodes, "num_sampled_edges": edges}
    return made | ({"batch": batch} if disjoint else {})


def hostile(path, name):
    if name == "random":
        return random_store(path)
    if name == "troubled":  # a self loop, a repeated edge, dead ends, an isolated vertex
        return store_of(path, TROUBLED, directed=True, vertices=7)
    if name == "hub":
        return store_of(path, [(0, v, 1) for v in range(1, 400)], directed=False)
    if name == "repeated":
        pairs = np.random.default_rng(5).integers(0, 9, (300, 2)).tolist()
        return store_of(path, [(u, v, 1) for u, v in pairs], directed=True, vertices=9)
    return store_of(path, [], directed=False, vertices=6)


CASES = [
    {"fanout": (5, 3)},
    {"fanout": (5, 3), "disjoint": True},
    {"fanout": (4, 3), "replace": True},
    {"fanout": (-1, 2), "disjoint": True},
    {"fanout": (2, 0, 3)},
    {"fanout": ()},
    {"fanout": (100, 1, 1)},
]


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("graph", ["random", "troubled", "hub", "repeated", "no edges"])
def test_a_mini_batch_is_that_of_the_slow_sampler(tmp_path, monkeypatch, graph, whole):
    """Drawn by one thread through all hops, and hop by hop for all mini-batches of a batch."""
    if not whole:
        monkeypatch.setitem(CpuBackend.batches, BatchKind.WHOLE_MINIBATCHES, minibatches.MiniBatches)
    store = hostile(tmp_path / "g.zarr", graph)
    loaded = store.load()
    sources = np.random.default_rng(1).integers(0, store.vertices, 50)  # some of them several times
    for options in CASES:
        drawn = sample(
            store,
            tmp_path / "s.zarr",
            "minibatch",
            sources=sources,
            seeds_per_batch=9,
            overwrite=True,
            ids="dense",
            device="cpu",
            **PLAIN,
            **options,
        )
        for number in range(drawn.instances):
            found = drawn.minibatch(number)
            seeds = sources[9 * number : 9 * number + 9].tolist()
            expected = slow(loaded, seeds, number, **options) | {
                "input_id": list(range(9 * number, 9 * number + len(seeds)))
            }
            assert found.keys() == expected.keys()
            for name, values in expected.items():
                assert found[name].tolist() == values, (name, options)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "options", [{"bias": "weight", "replace": True}, {"bias": "degree"}, {"select": "keys", "disjoint": True}]
)
def test_biased_mini_batches_do_not_depend_on_where_the_graph_is(tmp_path, options):
    one, seven = random_store(tmp_path / "a.zarr"), random_store(tmp_path / "b.zarr", partitions=7)
    options = {"fanout": (4, 3), "seeds_per_batch": 16, "seed": 5, "epochs": 2} | options
    reference = arrays_of(one, tmp_path / "s.zarr", "minibatch", threads=1, **options)
    assert_same(reference, arrays_of(seven, tmp_path / "s.zarr", "minibatch", threads=2, in_flight=5, **options))
    assert_same(reference, arrays_of(seven, tmp_path / "s.zarr", "minibatch", residency="disk", in_flight=3, **options))


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "options",
    [{}, {"replace": True}, {"bias": "degree", "disjoint": True}, {"collision": "repeated", "fanout": (32, 2)}],
)
def test_running_sums_give_the_picks_of_the_rows(tmp_path, options):
    options = {"fanout": (5, 3, 2), "seeds_per_batch": 16, "seed": 5, "select": "its"} | options
    for name in ("random", "troubled"):
        store = hostile(tmp_path / "g.zarr", name)
        expected = arrays_of(store, tmp_path / "s.zarr", "minibatch", layout="csr", **options)
        assert_same(expected, arrays_of(store, tmp_path / "s.zarr", "minibatch", layout="ctps", **options))


def positions(store, **options):
    """The positions of the seeds of all mini-batches, in order."""
    algorithm = build("minibatch", options)
    sources = Sources(store, algorithm, None, None, 7)
    return sources.take(0, sources.instances, False)[:, :, 1]


def test_an_epoch_takes_every_source_once(tmp_path):
    store = random_store(tmp_path / "g.zarr", vertices=50)
    plain = positions(store, seeds_per_batch=16, epochs=2)
    assert plain.shape == (8, 16)
    assert np.array_equal(plain[plain >= 0], np.tile(np.arange(50), 2))
    shuffled = positions(store, seeds_per_batch=16, epochs=3, shuffle=True).reshape(3, -1)
    epochs = [row[row >= 0] for row in shuffled]
    assert all(np.array_equal(np.sort(row), np.arange(50)) for row in epochs)
    assert not np.array_equal(epochs[0], epochs[1])
    keys = [
        [
            int.from_bytes(b"".join(int(w).to_bytes(4, "big") for w in words(7, i, SHUFFLE_SLOT, e)[:2]), "big")
            for i in range(50)
        ]
        for e in range(3)
    ]
    assert all(
        np.array_equal(row, np.argsort(np.array(key, np.uint64), kind="stable"))
        for row, key in zip(epochs, keys, strict=True)
    )


def test_drop_last_leaves_out_what_is_short(tmp_path):
    store = random_store(tmp_path / "g.zarr", vertices=50)
    assert positions(store, seeds_per_batch=16, drop_last=True).shape == (3, 16)
    assert (positions(store, seeds_per_batch=16, drop_last=True, epochs=2) >= 0).all()
    assert positions(store, seeds_per_batch=50, drop_last=True).shape == (1, 50)
    assert positions(store, seeds_per_batch=5000).shape == (1, 50)
    with pytest.raises(OptionError, match="--drop-last: an epoch has 50 seeds"):
        positions(store, seeds_per_batch=51, drop_last=True)


def test_what_cannot_be_drawn_is_refused(tmp_path):
    store = random_store(tmp_path / "g.zarr", vertices=50)
    with pytest.raises(OptionError, match="--replace: expected fanouts of at least 0"):
        prepare(store, "minibatch", fanout=(-1, 3), replace=True)
    with pytest.raises(OptionError, match="--select alias cannot draw minibatch"):
        prepare(store, "minibatch", fanout=(3,), replace=True, select="alias")
    (tmp_path / "seeds.txt").write_text("3\n4 1\n")
    with pytest.raises(FormatError, match="seeds.txt:2: expected one vertex id, found '4 1'"):
        prepare(store, "minibatch", sources=str(tmp_path / "seeds.txt"))
    with pytest.raises(OptionError, match="--sources: no source to start from"):
        prepare(store, "minibatch", sources=[])
    with pytest.raises(OptionError, match="--instances: expected at most"):
        prepare(store, "minibatch", instances=2**33)


OWN = """
from csaw.engine.algorithm import MiniBatches


class Near(MiniBatches):
    {rule}

    def sizes(self):
        return (3, 2)
"""


def test_an_own_class_may_be_mini_batches_but_not_with_rules_of_others(tmp_path):
    store = random_store(tmp_path / "g.zarr")
    (tmp_path / "near.py").write_text(OWN.format(rule="replace = False"))
    name = f"{tmp_path / 'near.py'}:Near"
    own = arrays_of(store, tmp_path / "a.zarr", name, seeds_per_batch=16, **PLAIN)
    assert_same(own, arrays_of(store, tmp_path / "b.zarr", "minibatch", fanout=(3, 2), seeds_per_batch=16, **PLAIN))
    for rule in ("collective = True", "visited_once = False", "sources_from = 'random'"):
        (tmp_path / "near.py").write_text(OWN.format(rule=rule))
        with pytest.raises(OptionError, match=f"near.{rule.split()[0]}: expected"):
            prepare(store, name)


def test_an_interrupted_run_is_resumed_to_the_same_bytes(tmp_path, monkeypatch):
    store = random_store(tmp_path / "g.zarr")
    options = {"fanout": (5, 3), "seeds_per_batch": 8, "epochs": 3, "shuffle": True, "disjoint": True, **PLAIN}
    monkeypatch.setattr("csaw.engine.plan.planning.GROUP_BYTES", 1 << 16)
    whole = arrays_of(store, tmp_path / "a.zarr", "minibatch", **options)
    options |= {"ids": "dense", "device": "cpu"}
    job = prepare(store, "minibatch", in_flight=2, **options)
    assert job.plan.request.group_size < job.plan.request.instances // 3

    class Stop(Exception):
        pass

    def stop(done):
        if done > job.plan.request.instances // 2:
            raise Stop

    with pytest.raises(Stop):
        execute(job, tmp_path / "s.zarr", progress=stop)
    execute(prepare(store, "minibatch", in_flight=2, **options), tmp_path / "s.zarr", resume=True)
    assert_same(whole, stored_arrays(tmp_path / "s.zarr"))


def test_batches_in_memory_are_those_of_the_store(tmp_path):
    store = random_store(tmp_path / "g.zarr")
    options = {"fanout": (5, 3), "seeds_per_batch": 8, "disjoint": True, **PLAIN}
    stored = sample(store, tmp_path / "s.zarr", "minibatch", device="cpu", **options)
    for batch in draw_batches(prepare(store, "minibatch", in_flight=3, device="cpu", **options), 2, 9):
        assert_same(batch.arrays(), stored.group(batch.first, batch.first + batch.instances))
        assert_same(batch.arrays(slice(0, 1)), stored.group(batch.first, batch.first + 1))
        assert batch.edges == batch.arrays()["edge_counts"].sum()


def test_a_mini_batch_is_exported_as_it_is_and_several_follow_one_another(tmp_path):
    ids = np.arange(300) * 7 + 5
    plain = random_store(tmp_path / "p.zarr")
    store = _with_ids(tmp_path / "g.zarr", plain, ids)
    drawn = sample(store, tmp_path / "s.zarr", "minibatch", fanout=(5, 3), seeds_per_batch=40, device="cpu", **PLAIN)
    export(drawn.path, tmp_path / "one.npz", part=(2, 3))
    one, here = np.load(tmp_path / "one.npz"), drawn.minibatch(2)
    assert np.array_equal(one["edge_index"], np.stack([here["row"], here["col"]]))
    for name in ("n_id", "e_id", "input_id", "num_sampled_nodes", "num_sampled_edges"):
        assert np.array_equal(one[name], here[name]), name
    assert (here["n_id"] % 7 == 5).all()
    export(drawn.path, tmp_path / "all.npz")
    every = np.load(tmp_path / "all.npz")
    graph = store.load()
    assert every["batch_size"] == 300
    assert np.array_equal(every["n_id"][:300], ids)
    neighbor, center = (every["n_id"][side] for side in every["edge_index"])
    assert np.array_equal(ids[graph.indices[every["e_id"]]], neighbor)
    assert np.array_equal(ids[np.searchsorted(graph.indptr, every["e_id"], side="right") - 1], center)
    export(drawn.path, tmp_path / "edges.txt")
    assert len((tmp_path / "edges.txt").read_text().splitlines()) == every["e_id"].size


def test_a_virtual_sample_has_the_same_mini_batches(tmp_path):
    store = random_store(tmp_path / "g.zarr")
    options = {"fanout": (5, 3), "seeds_per_batch": 40, "disjoint": True, "sources": "random:130", **PLAIN}
    stored = sample(store, tmp_path / "s.zarr", "minibatch", device="cpu", **options)
    commit_virtual(prepare(store, "minibatch", device="cpu", **options), tmp_path / "v.zarr")
    drawn = open_samples(tmp_path / "v.zarr")
    for number in range(stored.instances):
        assert_same(stored.minibatch(number), drawn.minibatch(number))
    assert_same(stored.minibatch(2), drawn.part(1, 4).minibatch(1))
    for name in {one.name for one in LAYOUTS["batches"].arrays} - {"y", "probability", "time", "seed_time", "relation"}:
        assert np.array_equal(stored[name][:], drawn[name][:]), name


def _with_ids(path, store, ids):
    from csaw.partition import write_graph

    graph = store.load()
    return write_graph(path, graph.indptr, graph.indices, None, directed=False, vertex_ids=ids)


def test_a_store_that_contradicts_itself_is_refused(tmp_path):
    from csaw.engine.samples.array import check_minibatches

    store = random_store(tmp_path / "g.zarr")
    drawn = sample(store, tmp_path / "s.zarr", "minibatch", fanout=(5, 3), seeds_per_batch=40, device="cpu", **PLAIN)
    good = drawn.group(0, 2)
    check_minibatches(drawn.path, good)
    for name, change in (("row", 10**6), ("col", -(10**6)), ("hop_nodes", 1), ("hop_edges", 1)):
        bad = {key: array.copy() for key, array in good.items()}
        bad[name].flat[0] += change
        with pytest.raises(StoreError, match=name):
            check_minibatches(drawn.path, bad)
    with pytest.raises(IndexError, match="mini-batch 99"):
        drawn.minibatch(99)
    walks = sample(store, tmp_path / "w.zarr", walk_length=3, device="cpu")
    with pytest.raises(StoreError, match="has no mini-batches"):
        walks.minibatch(0)
    assert open_samples(drawn.path).minibatch(-1)["n_id"].size
