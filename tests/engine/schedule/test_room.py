"""Traversals that meet more edges than was planned take no more memory than the run may use: smaller batches, fewer
groups at a time, or an error.
"""

import logging
import tracemalloc
from contextlib import closing

import numpy as np
import pytest
from helpers.graphs import arrays_of, random_store, store_of
from helpers.invariance import assert_same

from csaw.engine import prepare
from csaw.engine.batches.traversals import EDGE_BYTES
from csaw.engine.cpu import runner
from csaw.engine.plan import planning
from csaw.engine.runs.job import open_backend
from csaw.engine.schedule.batch_loop import TooManyTogetherError
from csaw.engine.schedule.targets import batches_of
from csaw.engine.schedule.workers import Units
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
    monkeypatch.setattr(runner, "LEAST_ROOM", 0)


def memory_of(store, edges, **options):
    """The least memory in which a batch may have so many edges."""
    plan = prepare(store, "snowball", **ALL | options).plan
    return plan.fixed_bytes + plan.graph_bytes + EDGE_BYTES * edges


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
    """The hubs come first, with fifty times the neighbors that are planned for the first hop."""
    monkeypatch.setattr(planning, "GROUP_BYTES", 1 << 9)
    parted, part = [], Units.part
    monkeypatch.setattr(Units, "part", lambda self, unit: parted.append(len(unit)) or part(self, unit))
    options = ALL | {"instances": HUBS, "depth": 1}
    expected = arrays_of(store, tmp_path / "r.zarr", "snowball", **options)
    memory = memory_of(store, expected["src"].size // 2, instances=HUBS, depth=1)
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", "snowball", memory=memory, **options))
    assert max(parted) > 1


def test_what_does_not_fit_beside_others_keeps_the_size_of_batches(store, monkeypatch):
    """A batch that is drawn alone is as large as before."""
    job = prepare(store, "snowball", **ALL | {"instances": 3000, "in_flight": 20})
    with closing(batches_of(open_backend(job), job.sources, lambda: False)) as batches:
        edges = sum(batch.edges for batch in batches.draw(100, 120))
        monkeypatch.setattr(runner, "LEAST_ROOM", EDGE_BYTES * 3 * edges // 2)
        object.__setattr__(batches.backend.plan, "budget_bytes", 0)
        batches.drawn_bytes = 0
        with pytest.raises(TooManyTogetherError, match="together with those before it") as at_once:
            batches.draw(100, 3000, patient=False)
        batches.drawn_bytes = 0
        sizes = [batch.instances for batch in batches.draw(100, 160)]
        assert sizes[0] == 20
        assert min(sizes) < 20
        batches.drawn_bytes = 0
        drawn = batches.draw(100, 120)
        assert [batch.instances for batch in drawn] == [20]
        with pytest.raises(TooManyTogetherError) as bit_by_bit:
            batches.draw(120, 3000, patient=False, after=drawn)
        assert str(bit_by_bit.value) == str(at_once.value), "what is drawn already counts"


@pytest.mark.parametrize(
    "options",
    [{"depth": 2}, {"depth": 3}, {"depth": 4, "neighbor_size": 5}, {"depth": 2, "unique": True, "neighbor_size": 3}],
)
def test_a_batch_takes_no_more_than_it_claims(tmp_path, monkeypatch, options):
    """As NumPy and the system count it; at first it claims too little to count."""
    graph = random_store(tmp_path / "r.zarr", vertices=4000, edges=60_000, weighted=False, directed=False)
    job = prepare(graph, "snowball", seed=1, instances=60, weighted=False, **options)
    claimed = []
    with closing(batches_of(open_backend(job), job.sources, lambda: False)) as batches:
        batches.draw(0, 2)
        monkeypatch.setattr(type(batches.backend), "claim", lambda self, size: claimed.append(size))
        tracemalloc.start()
        try:
            batches.draw(0, 60)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak < 1.1 * max(claimed) + 100_000


def test_an_instance_that_does_not_fit_is_an_error(tmp_path, store):
    with pytest.raises(BudgetError, match=r"instance 0 needs more memory .* raise --memory"):
        arrays_of(store, tmp_path / "s.zarr", "snowball", memory=memory_of(store, 50, instances=9), instances=9, **ALL)


def test_a_plan_counts_on_hubs(tmp_path, store):
    one, two, every = (
        prepare(store, "snowball", **ALL | {"depth": depth}).plan.output_bytes // store.vertices
        for depth in (1, 2, None)
    )
    mean = store.edges / store.vertices
    hub = np.sqrt(mean * store.max_degree)
    assert two > hub * one / 2
    assert two <= every <= 40 * (store.edges + 2)
