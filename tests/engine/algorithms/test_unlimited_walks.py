"""Walks without a limit: their law, the same bytes however they are drawn, their store, and what a limit cuts."""

import logging

import numpy as np
import pytest
from helpers import own_walk
from helpers.faults import plant
from helpers.graphs import arrays_of, random_store, rows_of, store_of, stored_arrays
from helpers.invariance import assert_same
from helpers.laws import edge_law
from helpers.machine import need_package
from helpers.stats import assert_drawn_from

from csaw.engine import execute, open_samples, prepare, stream
from csaw.engine import sample as draw
from csaw.engine.algorithms.ppr import Ppr
from csaw.engine.api import registry
from csaw.engine.api.termination import may_end
from csaw.engine.cpu.batches.walks import UnlimitedWalks
from csaw.engine.plan import planning
from csaw.engine.runs.draw import draw_batches
from csaw.engine.runs.virtual import commit_virtual
from csaw.engine.samples.writer import SampleWriter
from csaw.engine.stores.export import export
from csaw.engine.stores.verify import verify
from csaw.partition.errors import BudgetError, OptionError

ENDS = 0.2
# (source, target, weight): a dead end (3), a self loop, an edge that is repeated
DIRECTED = [(0, 1, 1), (0, 2, 2), (1, 0, 1), (1, 1, 2), (2, 0, 3), (2, 3, 1), (2, 3, 0.5), (1, 4, 1), (4, 2, 1)]


def ends_by_instance(self, e):
    chance = 0.5 * self.termination_prob if e.instance % 2 == 0 else 3.0 * self.termination_prob
    if e.random() < chance:
        return -1
    return e.dst


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return random_store(tmp_path_factory.mktemp("g") / "g.zarr", vertices=500, edges=5000, partitions=6)


def walks_of(arrays):
    """Each walk of a ragged store, as a list."""
    return [walk.tolist() for walk in np.split(arrays["walks"], arrays["walk_ptr"][1:-1])]


def assert_lengths_are_geometric(lengths, chance):
    most = int(np.log(50 / lengths.size / chance) / np.log(1 - chance))
    law = [chance * (1 - chance) ** k for k in range(most)] + [(1 - chance) ** most]
    assert_drawn_from(np.bincount(np.minimum(lengths, most), minlength=most + 1), law)


def test_lengths_are_geometric(tmp_path, store):
    for chance in (ENDS, 0.02):
        walks = draw(
            store, tmp_path / "s.zarr", "ppr", termination_prob=chance, instances=20_000, seed=4, overwrite=True
        )
        assert_lengths_are_geometric(walks.lengths, chance)
        assert verify(tmp_path / "s.zarr").ok


def test_ends_are_drawn_from_personalized_pagerank(tmp_path):
    """Of which the vector of source s solves x = e_s + (1 - p) x P; a walk ends at v with x_v p, and always at a dead
    end.
    """
    store = store_of(tmp_path / "g.zarr", DIRECTED, directed=True)
    rows = rows_of(store, True)
    step = np.array([[edge_law(row, lambda v, w: w).get(v, 0.0) for v in range(len(rows))] for row in rows])
    visits = np.linalg.inv(np.eye(len(rows)) - (1 - ENDS) * step)
    ends = np.where(step.sum(axis=1) > 0, ENDS, 1.0)
    arrays = arrays_of(store, tmp_path / "s.zarr", "ppr", termination_prob=ENDS, num_walks=20_000, seed=9)
    last = arrays["walks"][arrays["walk_ptr"][1:] - 1].reshape(-1, len(rows))  # sources take turns
    for source in range(len(rows)):
        assert_drawn_from(np.bincount(last[:, source], minlength=len(rows)), visits[source] * ends)
    assert verify(tmp_path / "s.zarr").ok


@pytest.mark.parametrize(
    "own", [False, pytest.param(True, marks=pytest.mark.slow(reason="compiles walks by rejection for each way"))]
)
def test_walks_are_the_beginnings_of_longer_ones_however_they_are_drawn(tmp_path, store, own, monkeypatch):
    """Random numbers have addresses: a limit that no walk reaches gives the same walks as none."""
    monkeypatch.setattr(planning, "GROUP_BYTES", 1 << 14)
    algo, options = (own_walk.written(tmp_path, 0.9), {}) if own else ("ppr", {"termination_prob": 0.05})
    options |= {"seed": 3, "instances": 1000}
    limited = arrays_of(store, tmp_path / "l.zarr", algo, walk_length=1000, **options)
    assert limited["lengths"].max() < 1000
    expected = [walk[: n + 1].tolist() for walk, n in zip(limited["walks"], limited["lengths"], strict=True)]
    found = arrays_of(store, tmp_path / "u.zarr", algo, walk_length=None, **options)
    assert walks_of(found) == expected
    for way in ({"threads": 1, "in_flight": 17}, {"threads": 2}, {"residency": "disk", "memory": "250KiB"}):
        execute(
            prepare(store, algo, walk_length=None, ids="dense", **options, **way), tmp_path / "o.zarr", overwrite=True
        )
        assert_same(found, stored_arrays(tmp_path / "o.zarr"))


def test_steps_on_disk_give_the_same_walks(tmp_path, monkeypatch):
    monkeypatch.setattr(planning, "GROUP_BYTES", 1 << 14)
    store = random_store(tmp_path / "g.zarr", vertices=2000, edges=60_000, partitions=12, directed=True)
    options = {"termination_prob": 0.02, "seed": 3, "instances": 4000, "weighted": False}
    job = prepare(store, "ppr", residency="disk", memory="200KiB", ids="dense", **options)
    assert job.plan.paths_bytes > 0
    execute(job, tmp_path / "s.zarr")
    assert_same(arrays_of(store, tmp_path / "r.zarr", "ppr", **options), stored_arrays(tmp_path / "s.zarr"))


def test_batches_and_streams_have_what_is_stored(tmp_path, store):
    options = {"termination_prob": 0.1, "seed": 3, "instances": 500, "in_flight": 120}
    samples = draw(store, tmp_path / "s.zarr", "ppr", **options)
    with stream(store, "ppr", **options) as streamed:
        for batch in (*draw_batches(prepare(store, "ppr", **options)), *streamed):
            for low, high in ((0, batch.instances), (7, min(31, batch.instances))):
                assert_same(batch.arrays(slice(low, high)), samples.group(batch.first + low, batch.first + high))


def test_virtual_samples_and_parts_have_what_is_stored(tmp_path, store):
    options = {"termination_prob": 0.1, "seed": 3, "instances": 500}
    stored = draw(store, tmp_path / "s.zarr", "ppr", **options)
    commit_virtual(prepare(store, "ppr", **options), tmp_path / "v.zarr")
    virtual = open_samples(tmp_path / "v.zarr")
    for found, first, last in (
        (virtual, 0, 500),
        (virtual.part(100, 300), 100, 300),
        (stored.part(100, 300), 100, 300),
    ):
        assert_same(found.group(3, 20), stored.group(first + 3, first + 20))
        assert np.array_equal(found.lengths, stored.lengths[first:last])
        assert found.walk(7).tolist() == stored.walk(first + 7).tolist()
    assert np.array_equal(virtual.walks[:], stored.walks[:])
    assert verify(tmp_path / "v.zarr").ok


def test_a_run_that_was_interrupted_is_resumed(tmp_path, store, monkeypatch):
    monkeypatch.setattr(planning, "GROUP_BYTES", 1 << 13)
    job = prepare(store, "ppr", termination_prob=0.1, seed=3, instances=2000, in_flight=100, ids="dense")
    execute(job, tmp_path / "whole.zarr")
    write, left = SampleWriter.write, [7]

    def stops(self, group, arrays):
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt
        write(self, group, arrays)

    with monkeypatch.context() as during:
        during.setattr(SampleWriter, "write", stops)
        with pytest.raises(KeyboardInterrupt):
            execute(job, tmp_path / "s.zarr")
    assert execute(job, tmp_path / "s.zarr", resume=True)["sampled_edges"] > 0
    assert_same(stored_arrays(tmp_path / "whole.zarr"), stored_arrays(tmp_path / "s.zarr"))


def test_walks_are_read_one_by_one_and_exported(tmp_path, store):
    samples = draw(store, tmp_path / "s.zarr", "ppr", termination_prob=0.1, seed=3, instances=400)
    walks = walks_of(stored_arrays(tmp_path / "s.zarr"))
    assert [samples.walk(i).tolist() for i in range(400)] == walks
    assert samples.walk(-1).tolist() == walks[-1]
    assert samples.walk_length is None
    with pytest.raises(IndexError, match="walk 400 of 400"):
        samples.walk(400)
    export(tmp_path / "s.zarr", tmp_path / "c.txt")
    lines = (tmp_path / "c.txt").read_text().splitlines()
    assert [[int(v) for v in line.split()] for line in lines] == walks
    batch = samples.pyg(10, 20)
    assert [batch["n_id"][row[row >= 0]].tolist() for row in batch["walk"]] == walks[10:20]
    with pytest.raises(OptionError, match="do not fit the table of an .npy file"):
        export(tmp_path / "s.zarr", tmp_path / "c.npy")


def test_lists_of_a_parquet_file_are_the_walks(tmp_path, store):
    parquet = need_package("pyarrow.parquet")
    draw(store, tmp_path / "s.zarr", "ppr", termination_prob=0.1, seed=3, instances=400)
    export(tmp_path / "s.zarr", tmp_path / "c.parquet")
    assert parquet.read_table(tmp_path / "c.parquet")["walk"].to_pylist() == walks_of(
        stored_arrays(tmp_path / "s.zarr")
    )


@pytest.mark.parametrize(
    ("algo", "options", "why"),
    [
        ("deepwalk", {}, "ends none"),
        ("jump", {}, "ends none"),
        ("ppr", {"termination_prob": 0}, "ends none with these options"),
        ("ppr", {"termination_prob": 1e-12}, r"expects 1e\+12 steps with these options, .* more than 2,147,483,646"),
    ],
)
def test_what_might_never_end_is_refused(store, algo, options, why):
    with pytest.raises(OptionError, match=f"--walk-length none: .*, but {algo} {why}; give a number of steps$"):
        prepare(store, algo, walk_length="none", **options)


def test_a_walk_that_does_not_end_is_an_error_that_names_it(tmp_path, store, monkeypatch):
    for name in ("api.termination.MOST_STEPS", "api.termination.MOST_PLANNED", "batches.walks.MOST_STEPS"):
        monkeypatch.setattr(f"csaw.engine.{name}", 20)
    with pytest.raises(BudgetError, match=r"instance \d+ has not ended after 20 steps"):
        draw(store, tmp_path / "s.zarr", "ppr", termination_prob=0.05, instances=40)


def test_only_ppr_of_the_shipped_walks_ends_by_itself():
    assert [name for name in registry.names() if may_end(registry.build(name, {}))] == ["ppr"]


def test_a_limit_that_cuts_walks_is_reported(tmp_path, store, caplog):
    job = prepare(store, "ppr", termination_prob=0.01, walk_length=80, instances=5000, seed=2)
    with caplog.at_level(logging.WARNING):
        results = execute(job, tmp_path / "s.zarr")
    lengths = open_samples(tmp_path / "s.zarr").lengths[:]
    cut = int((lengths == 80).sum())
    assert (results["walks_cut"], results["share_cut"]) == (cut, cut / 5000)
    assert_drawn_from([cut, 5000 - cut], [0.99**80, 1 - 0.99**80])
    said = f"{cut:,} of 5,000 walks"
    assert said in caplog.text
    assert [said in check.details for check in verify(tmp_path / "s.zarr").checks if check.name == "limit"] == [True]


@pytest.mark.parametrize(("algo", "length"), [("deepwalk", 5), ("ppr", None)])
def test_where_the_limit_is_the_law_or_there_is_none_nothing_is_said(tmp_path, store, caplog, algo, length):
    with caplog.at_level(logging.WARNING):
        results = execute(prepare(store, algo, walk_length=length, instances=50), tmp_path / "s.zarr")
    assert "walks_cut" not in results
    assert not caplog.text
    assert "limit" not in [check.name for check in verify(tmp_path / "s.zarr").checks]


def test_walks_that_end_with_their_first_round_are_found(tmp_path, store, monkeypatch):
    with monkeypatch.context() as during:
        during.setattr(UnlimitedWalks, "_next_round", lambda self: False)
        walks = draw(store, tmp_path / "s.zarr", "ppr", termination_prob=ENDS, instances=20_000, seed=4)
    with pytest.raises(AssertionError):
        assert_lengths_are_geometric(walks.lengths, ENDS)
    assert not verify(tmp_path / "s.zarr").ok


def test_lengths_of_another_law_are_found_where_as_many_choices_end(tmp_path, store, monkeypatch):
    """Walks of odd and even numbers end with other chances, which are right together."""
    with monkeypatch.context() as during:
        during.setattr(Ppr, "update", ends_by_instance)
        draw(store, tmp_path / "s.zarr", "ppr", termination_prob=ENDS, instances=20_000, seed=4)
    assert [check.name for check in verify(tmp_path / "s.zarr").checks if not check.ok].count("lengths, law") == 1


def test_steps_that_a_round_mixes_up_are_found(tmp_path, store, monkeypatch):
    with monkeypatch.context() as during:
        plant(during, "walk.py", "+ before + 1\n", "+ 1\n")
        draw(store, tmp_path / "s.zarr", "ppr", termination_prob=0.05, instances=2000, seed=4)
    assert not verify(tmp_path / "s.zarr").ok
