"""The summary of a resumed run: what is of the whole sample, and what of the run alone."""

import pytest
from helpers.graphs import random_store

from csaw.engine import execute, open_samples, prepare
from csaw.engine.plan import planning
from csaw.engine.samples.group_writer import GroupWriter
from csaw.engine.schedule import batch_loop


@pytest.mark.parametrize(
    ("algo", "options", "ended"),
    [
        ("deepwalk", {"walk_length": 5}, "dead_ends"),
        ("ppr", {}, "walks_ended"),
        ("ppr", {"walk_length": 4}, "walks_ended"),
        ("forest-fire", {"depth": 2}, None),
    ],
)
def test_edges_and_dead_ends_are_those_of_the_whole_sample(tmp_path, monkeypatch, algo, options, ended):
    """Dead ends are left out where groups do not say how many they have."""
    monkeypatch.setattr(planning, "GROUP_BYTES", 1000)
    store = random_store(tmp_path / "g.zarr", vertices=300, directed=True)
    job = prepare(store, algo, device="cpu", in_flight=40, **options)
    whole = execute(job, tmp_path / "whole.zarr")
    assert "resumed" not in whole

    def interrupted(done):
        if done > 100:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        execute(job, tmp_path / "s.zarr", progress=interrupted)
    resumed = execute(job, tmp_path / "s.zarr", resume=True)
    assert resumed["sampled_edges"] == whole["sampled_edges"] == open_samples(tmp_path / "s.zarr").sizes["edges"]
    assert (resumed[ended] == whole[ended] > 0) if ended else not {"dead_ends", "walks_ended"} & resumed.keys()
    assert "groups were there; bytes written, times and rates are those of the rest" in resumed["resumed"]
    assert open_samples(tmp_path / "s.zarr").checksums == open_samples(tmp_path / "whole.zarr").checksums


def test_a_group_of_which_a_part_was_kept_counts_as_a_whole_and_its_rate_is_that_of_the_rest(tmp_path, monkeypatch):
    store = random_store(tmp_path / "g.zarr", vertices=300, directed=True)
    job = prepare(store, "forest-fire", device="cpu", depth=2, threads=4)
    whole = execute(job, tmp_path / "whole.zarr")
    monkeypatch.setattr(batch_loop, "KEEP_SECONDS", 0.0)
    monkeypatch.setattr(batch_loop, "FIRST_SECONDS", 0.0)
    keep, kept = GroupWriter.keep, []

    def keep_two(self, group, counts, arrays):
        keep(self, group, counts, arrays)
        kept.append(counts.edges)
        if len(kept) == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as stopping:
        stopping.setattr(GroupWriter, "keep", keep_two)
        with pytest.raises(KeyboardInterrupt):
            execute(job, tmp_path / "s.zarr")
    resumed = execute(job, tmp_path / "s.zarr", resume=True)
    assert (resumed["sampled_edges"], resumed["dead_ends"]) == (whole["sampled_edges"], whole["dead_ends"])
    assert resumed["resumed"].startswith("0 of 1 groups were there, and a part of another; bytes written")
    rest = resumed["seps_sampling"] * resumed["sampling_seconds"]
    assert rest == pytest.approx(whole["sampled_edges"] - sum(kept), rel=0.001)
