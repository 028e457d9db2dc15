"""Labels of seeds: a second column in a file of seeds, which mini-batches carry wherever they go."""

import json

import numpy as np
import pytest
from helpers.graphs import random_store

from csaw.engine import draw_batches, execute, open_samples, prepare, sample, stream
from csaw.engine.batches import minibatches
from csaw.engine.cpu.backend import CpuBackend
from csaw.engine.plan.batch_kind import BatchKind
from csaw.engine.runs.virtual import commit_virtual, open_virtual
from csaw.engine.stores.export import export
from csaw.engine.stores.verify import verify
from csaw.partition import write_graph
from csaw.partition.errors import FormatError, OptionError, StoreError

FANOUT = {"fanout": (3, 2), "seeds_per_batch": 7, "seed": 5, "device": "cpu", "weighted": False}
SEEDS = np.random.default_rng(2).permutation(60)[:40]
GIVEN = 0.5 * SEEDS - 3


@pytest.fixture
def store(tmp_path):
    return random_store(tmp_path / "g.zarr", vertices=60, edges=300)


@pytest.fixture
def seeds(tmp_path):
    """A file of seeds with labels, and an empty line."""
    rows = [f"{seed}\t{label}" for seed, label in zip(SEEDS.tolist(), GIVEN.tolist(), strict=True)]
    (tmp_path / "seeds.txt").write_text("\n".join([*rows[:9], "", *rows[9:]]))
    return str(tmp_path / "seeds.txt")


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("options", [{"shuffle": True, "epochs": 2}, {"disjoint": True}])
def test_each_seed_has_its_label_stored_streamed_and_drawn(tmp_path, monkeypatch, store, seeds, options, whole):
    if not whole:
        monkeypatch.setitem(CpuBackend.batches, BatchKind.WHOLE_MINIBATCHES, minibatches.MiniBatches)
    options = FANOUT | options | {"sources": seeds}
    stored = sample(store, tmp_path / "s.zarr", "minibatch", **options)
    for number in range(stored.instances):
        found = stored.minibatch(number)
        assert np.array_equal(found["y"], GIVEN[found["input_id"]])
        assert np.array_equal(found["y"], 0.5 * found["n_id"][: found["y"].size].astype(float) - 3)
    with stream(store, "minibatch", in_flight=4, **options) as batches:
        assert np.array_equal(np.concatenate([batch["y"] for batch in batches]), stored["y"][:])
    drawn = list(draw_batches(prepare(store, "minibatch", in_flight=4, **options)))
    assert np.array_equal(np.concatenate([batch.on_device()["y"] for batch in drawn]), stored["y"][:])
    report = verify(stored.path)
    assert report.ok, [check for check in report.checks if not check.ok]
    assert [check.details for check in report.checks if check.name == "labels"] == [
        "0 labels of seeds that differ from the given ones"
    ]


def test_without_labels_nothing_is_there(tmp_path, store):
    stored = sample(store, tmp_path / "s.zarr", "minibatch", sources=SEEDS, **FANOUT)
    assert "y" not in stored
    assert "labelled" not in stored.manifest["request"]["sources"]
    assert "labels" not in [check.name for check in verify(stored.path).checks]


def test_an_array_in_python_gives_the_bytes_of_the_file(tmp_path, store, seeds):
    ours = sample(store, tmp_path / "a.zarr", "minibatch", sources={"ids": SEEDS, "y": GIVEN}, **FANOUT)
    assert ours.checksums == sample(store, tmp_path / "b.zarr", "minibatch", sources=seeds, **FANOUT).checksums


def test_exports_have_the_labels_of_the_seeds(tmp_path, store, seeds):
    stored = sample(store, tmp_path / "s.zarr", "minibatch", sources=seeds, **FANOUT)
    export(stored.path, tmp_path / "s.npz")
    with np.load(tmp_path / "s.npz") as held:
        assert held["y"].dtype == np.float64
        assert np.array_equal(held["y"], GIVEN[held["input_id"]])


def test_a_virtual_sample_keeps_them(tmp_path, store, seeds):
    job = prepare(store, "minibatch", sources=seeds, **FANOUT)
    commit_virtual(job, tmp_path / "v.zarr")
    stored = sample(store, tmp_path / "s.zarr", "minibatch", sources=seeds, **FANOUT)
    virtual = open_samples(tmp_path / "v.zarr")
    assert np.array_equal(virtual["y"][:], stored["y"][:])
    execute(open_virtual(tmp_path / "v.zarr").job, tmp_path / "later.zarr")
    assert open_samples(tmp_path / "later.zarr").checksums == stored.checksums


def test_resume_refuses_other_labels(tmp_path, store):
    given = {"ids": SEEDS, "y": GIVEN}
    sample(store, tmp_path / "s.zarr", "minibatch", sources=given, **FANOUT)
    with pytest.raises(StoreError, match="was sampled with sources = list "):
        sample(store, tmp_path / "s.zarr", "minibatch", sources=given | {"y": GIVEN + 1}, resume=True, **FANOUT)


def test_verify_finds_a_label_that_was_exchanged(tmp_path, store):
    stored = sample(store, tmp_path / "s.zarr", "minibatch", sources={"ids": SEEDS, "y": GIVEN}, epochs=2, **FANOUT)
    node = tmp_path / "s.zarr" / "zarr.json"
    text = node.read_text()
    asked = json.loads(text)["attributes"]["manifest"]["request"]["sources"]
    assert asked.endswith(f" labelled {asked.split()[-1]}")
    for name, change in (("one", [7, 0]), ("all", np.arange(stored["y"].shape[0]))):
        y = stored["y"][:]
        y[change] += 1
        held = stored.group(0, stored.instances) | {"y": y}
        report = reported(tmp_path / name, stored, held)
        assert [check.ok for check in report.checks if check.name == "labels"] == [False], name


def reported(path, stored, arrays):
    """What verify says of a store with the manifest of ``stored`` and other arrays."""
    from csaw.engine.samples import SampleWriter

    with SampleWriter(
        path,
        stored.manifest,
        layout="batches",
        instances=stored.instances,
        group_size=stored.instances,
        dense_dtype=np.uint32,
        ids="dense",
    ) as writer:
        writer.write(0, arrays)
        writer.finish({})
    return verify(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "3 1\n4\n",
            "seeds.txt:2: expected a vertex id and its label, a number, found '4'; give each seed a separate line",
        ),
        (
            "3\n\n4 1\n",
            "seeds.txt:3: expected one vertex id, found '4 1'; give each seed a separate line, and a label",
        ),
        ("3 1 2\n", "seeds.txt:1: expected a vertex id and its label, a number, found '3 1 2'"),
        ("3 1\n4 red\n", "seeds.txt:2: expected a label, a finite number, .* found 'red'"),
        ("3 1\n4 nan\n", "seeds.txt:2: expected a label, a finite number, .* found 'nan'"),
        (
            "3 9007199254740993\n",
            "seeds.txt:1: expected a label, .* an integer of at most 2\\^53, .* found '9007199254740993'",
        ),
        ("3 1\nx 1\n", "seeds.txt:2: expected a vertex id, found 'x'"),
    ],
)
def test_a_malformed_line_is_named(tmp_path, store, text, said):
    (tmp_path / "seeds.txt").write_text(text)
    with pytest.raises(FormatError, match=said):
        prepare(store, "minibatch", sources=str(tmp_path / "seeds.txt"))


@pytest.mark.parametrize(
    ("algo", "options", "said"),
    [
        (
            "minibatch",
            {"sources": {"ids": [1, 2], "y": [1.0]}},
            "sources: y: expected a number for each of 2 seeds, found",
        ),
        (
            "minibatch",
            {"sources": {"ids": [1, 2], "y": [1.0, np.inf]}},
            "sources: y: expected a finite number, .* found inf at entry 1",
        ),
        (
            "minibatch",
            {"sources": {"ids": [1]}},
            "expected an array of ids, or, for mini-batches, a mapping with ids and y",
        ),
        (
            "minibatch",
            {"sources": {"i" * 10_000: [1]}},
            r"found one with 'i{29}\.\.\.i{7}' \(10000 characters\)$",
        ),
        (
            "deepwalk",
            {"sources": {"ids": [1], "y": [1.0]}},
            "expected an array of ids, or, for mini-batches, a mapping with ids and y",
        ),
        (
            "minibatch",
            {"sources": {"ids": [1], "y": [1.0]}, "induced": True},
            "only mini-batches store labels of seeds, but this run draws subgraphs",
        ),
    ],
)
def test_labels_that_cannot_be_kept_are_refused(store, algo, options, said):
    with pytest.raises(OptionError, match=said):
        prepare(store, algo, **options)


def test_words_as_ids_have_labels_too(tmp_path):
    graph = random_store(tmp_path / "n.zarr", vertices=60, edges=300).load()
    words = np.array([f"v{number:02}" for number in range(60)], object)
    store = write_graph(tmp_path / "w.zarr", graph.indptr, graph.indices, directed=False, vertex_ids=words)
    (tmp_path / "seeds.txt").write_text("v07 1\nv03 -2.5\n")
    found = sample(store, tmp_path / "s.zarr", "minibatch", sources=str(tmp_path / "seeds.txt"), **FANOUT).minibatch(0)
    assert dict(zip(words[found["n_id"][:2]], found["y"].tolist(), strict=True)) == {"v07": 1.0, "v03": -2.5}
