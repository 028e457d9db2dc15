"""The summary of a resumed run: what is of the whole sample, and what of the run alone."""

import pytest
from helpers.graphs import random_store

from csaw.engine import execute, open_samples, prepare
from csaw.engine.plan import planning


@pytest.mark.parametrize(
    ("algo", "options"), [("deepwalk", {"walk_length": 5}), ("forest-fire", {"depth": 2}), ("ppr", {})]
)
def test_edges_are_those_of_the_whole_sample(tmp_path, monkeypatch, algo, options):
    monkeypatch.setattr(planning, "GROUP_BYTES", 1000)
    job = prepare(random_store(tmp_path / "g.zarr", vertices=300), algo, device="cpu", in_flight=40, **options)
    whole = execute(job, tmp_path / "whole.zarr")
    assert "resumed" not in whole

    def interrupted(done):
        if done > 100:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        execute(job, tmp_path / "s.zarr", progress=interrupted)
    resumed = execute(job, tmp_path / "s.zarr", resume=True)
    assert resumed["sampled_edges"] == whole["sampled_edges"] == open_samples(tmp_path / "s.zarr").sizes["edges"]
    assert "groups were there; dead ends, bytes written, times and rates are those of the rest" in resumed["resumed"]
    assert open_samples(tmp_path / "s.zarr").checksums == open_samples(tmp_path / "whole.zarr").checksums
