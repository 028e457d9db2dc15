"""The description of a sample: what was sampled, without reading it."""

import numpy as np
import pytest
from click.testing import CliRunner
from helpers import slow
from helpers.small_samples import RAGGED, SAID, STORES, SUBGRAPHS, edit, some_walks

from csaw.cli.commands.info import info
from csaw.engine.samples import SampleWriter
from csaw.engine.stores import open_samples
from csaw.engine.stores.describe import describe_store as describe
from csaw.partition.errors import StoreError


@pytest.mark.parametrize("layout", STORES)
def test_describe_says_what_was_sampled_without_reading_it(tmp_path, layout):
    path = slow.write(tmp_path / "s", SAID, layout, STORES[layout], group_size=2)
    edges = {
        "walks": STORES["walks"]["lengths"],
        "hops": np.full(4, 2),
        "subgraphs": SUBGRAPHS["counts"],
        "ragged-walks": RAGGED["lengths"],
    }[layout]
    full, stored_bytes = describe(path, full=True), sum(f.stat().st_size for f in path.rglob("*") if f.is_file())
    for chunk in path.rglob("c.*"):
        chunk.unlink()
    shown = describe(path)
    assert shown == full
    assert shown["algorithm"] == "deepwalk"
    assert shown["edges"] == edges.sum()
    assert shown["lengths"] == {"min": edges.min(), "mean": edges.mean(), "max": edges.max()}
    assert shown.get("ended_early", 0) == (edges < 4).sum() * (layout == "walks")
    assert shown["bytes"] == stored_bytes
    assert shown["results"] == {"seconds": 1.5}


@pytest.mark.parametrize("layout", STORES)
def test_a_sample_without_its_results_is_described_with_what_is_missing(tmp_path, layout):
    path = slow.write(tmp_path / "s", SAID, layout, STORES[layout], group_size=2)
    whole = describe(path)
    (path / "results" / "zarr.json").unlink()
    shown, full = describe(path), describe(path, full=True)
    assert shown["missing"].startswith("results/zarr.json, with the counts and timings")
    assert shown["unknown"].startswith("not known: results/zarr.json, which contains it, is missing; csaw info --full")
    assert shown["edges"] is shown["lengths"] is None
    assert shown["results"] == open_samples(path).results == {}
    assert {**full, "results": whole["results"], "bytes": whole["bytes"], "missing": None} == {**whole, "missing": None}
    printed = CliRunner().invoke(info, [str(path), "--full"])
    assert printed.exit_code == 0
    assert "missing" in printed.output
    assert "results/zarr.json, with the counts" in printed.output


def test_sizes_of_a_resumed_sample_are_those_of_all_its_groups(tmp_path, monkeypatch):
    slow.write(tmp_path / "s", SAID, "walks", some_walks(), group_size=4, groups=[0])
    monkeypatch.setattr(SampleWriter, "_publish", lambda self: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):  # when the groups' markers are gone
        slow.write(tmp_path / "s", SAID, "walks", some_walks(), group_size=4, resume=True)
    monkeypatch.undo()
    slow.write(tmp_path / "s", SAID, "walks", some_walks(), group_size=4, resume=True)
    assert describe(tmp_path / "s")["edges"] == some_walks()["lengths"].sum()


def test_changed_sizes_are_refused_and_missing_ones_are_said_to_be(tmp_path):
    path = slow.write(tmp_path / "s", SAID, "walks", some_walks(), group_size=4)
    node, edges = path / "results" / "zarr.json", some_walks()["lengths"].sum()
    edit(node, "attributes", "sizes", "edges", value=1)
    with pytest.raises(StoreError, match="its bytes have changed"):
        describe(path)
    edit(node, "attributes", "sha256", value=None)  # as versions before wrote it
    with pytest.raises(StoreError, match="sizes as they were written"):
        describe(path)
    edit(node, "attributes", value={"seconds": 1.5})  # as early versions wrote it
    shown = describe(path)
    assert shown["edges"] is shown["lengths"] is shown["ended_early"] is None
    assert "--full" in shown["unknown"]
    assert describe(path, full=True)["edges"] == edges
