"""Measures of a window of time on a GPU find what the host finds, wherever the rows are."""

import pytest
from helpers.gpu import device_or_skip
from helpers.networks import same
from helpers.temporal import events_store, random_events

device_or_skip()

from csaw.engine.analytics import measure
from csaw.engine.analytics.evaluation import profiles
from csaw.engine.analytics.evaluation.evaluate import evaluate
from csaw.engine.plan.choices import Residency
from csaw.partition.graph import views

WINDOWS = [{"until": 0}, {"between": (-3, 40)}, {"between": (7, 7)}, {"until": -99}]
MEASURES = [name for name in measure.names() if name not in ("sssp", "spectrum", "personalized-pagerank")]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(profiles, "cache_dir", lambda: tmp_path / "cache")


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("residency", [None, Residency.HOST, Residency.DISK])
def test_a_window_on_a_gpu(tmp_path, monkeypatch, window, residency):
    monkeypatch.setattr(views, "PIECE", 1000)
    store = events_store(tmp_path / "g.zarr", random_events(900, 20_000, 5), 900, partitions=3)
    measures = [name for name in MEASURES if residency is None or name != "patterns"]  # which need all rows
    wish = {"measures": measures, "hops": "exact", "refresh": True, **window}
    found = evaluate(store, device="cuda:0", residency=residency, **wish)
    wanted = evaluate(store, device="cpu", **wish)
    assert same(found.by_measure, wanted.by_measure)
