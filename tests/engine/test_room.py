"""Traversals that meet more edges than was planned take no more memory than the run may use: smaller batches, fewer groups at a time, or an error."""

import logging

import numpy as np
import pytest
from helpers.graphs import arrays_of, store_of
from helpers.invariance import assert_same

from csaw.engine.cpu import backend
from csaw.engine.plan import plan as plans
from csaw.engine.run import prepare
from csaw.partition.errors import BudgetError

HUBS, VERTICES = 30, 3000
ALL = {"depth": 2, "seed": 3, "weighted": False}


@pytest.fixture
def store(tmp_path):
    """Every vertex has one edge, to a hub with a hundred others."""
    edges = [(v, v % HUBS, 1) for v in range(HUBS, VERTICES)] + [(v, (v + 1) % HUBS, 1) for v in range(HUBS)]
    return store_of(tmp_path / "g.zarr", edges, directed=False)


@pytest.fixture(autouse=True)
def no_room_beside_the_plan(monkeypatch):
    monkeypatch.setattr(backend, "LEAST_ROOM", 0)


def memory_of(store, edges, **options):
    """The least memory in which a batch may have so many edges."""
    plan = prepare(store, "snowball", **ALL | options).plan
    return plan.fixed_bytes + plan.graph_bytes + 96 * edges


def test_batches_become_smaller(tmp_path, store, caplog):
    options = ALL | {"instances": 200}
    expected = arrays_of(store, tmp_path / "r.zarr", "snowball", **options)
    edges = expected["src"].size
    assert edges > 200 * 100
    with caplog.at_level(logging.INFO):
        found = arrays_of(
            store, tmp_path / "s.zarr", "snowball", memory=memory_of(store, edges // 2, instances=200), **options
        )
    assert "out of memory with" in caplog.text
    assert_same(expected, found)


def test_groups_become_fewer(tmp_path, store, monkeypatch):
    monkeypatch.setattr(plans, "GROUP_BYTES", 1 << 16)
    options = ALL | {"instances": 400, "in_flight": 400}
    job = prepare(store, "snowball", **options)
    assert job.plan.request.group_size * 4 < 400
    expected = arrays_of(store, tmp_path / "r.zarr", "snowball", **options)
    memory = memory_of(store, expected["src"].size // 4, instances=400)
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", "snowball", memory=memory, **options))


def test_an_instance_that_does_not_fit_is_an_error(tmp_path, store):
    with pytest.raises(BudgetError, match=r"instance 0 alone needs more memory .* raise --memory"):
        arrays_of(store, tmp_path / "s.zarr", "snowball", memory=memory_of(store, 50, instances=9), instances=9, **ALL)


def test_a_plan_counts_on_hubs(tmp_path, store):
    one, two, every = (
        prepare(store, "snowball", **ALL | {"depth": depth}).plan.output_bytes // store.vertices
        for depth in (1, 2, None)
    )
    mean = store.edges / store.vertices
    hub = np.sqrt(mean * store.max_degree)
    assert two > hub * one / 2
    assert every >= two
