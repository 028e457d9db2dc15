"""Random graphs, algorithms, partitions and budgets: a graph that is read from disk gives the bytes of one that is in
memory.
"""

import pytest
from helpers.budgets import least
from helpers.graphs import arrays_of, stored_arrays
from helpers.invariance import assert_same
from helpers.random_runs import drawn_run
from helpers.rates import pin_row_bytes

from csaw.engine import execute, prepare

QUICK, ALL = 3, 240


MORE = pytest.mark.slow(reason="more runs of the same kind as the quick ones")


@pytest.mark.parametrize("number", [pytest.param(n, marks=[] if n < QUICK else [MORE]) for n in range(ALL)])
def test_a_random_run_from_disk_gives_the_bytes_of_a_resident_graph(tmp_path, monkeypatch, number):
    store, run = drawn_run(number, tmp_path)
    expected = arrays_of(store, tmp_path / "r.zarr", run.algo, **run.wanted)
    given = run.wanted | run.ways | {"residency": "disk", "ids": "dense", "device": "cpu"}
    if not run.rows_cost:
        pin_row_bytes(monkeypatch, 0.001)
    fewest = least(store, run.algo, **given)
    whole = prepare(store, run.algo, memory=1 << 40, **given).plan
    for memory in (fewest, fewest + int(run.spare * whole.graph_bytes)):
        job = prepare(store, run.algo, memory=memory, **given)
        assert job.plan.residency == "disk"
        execute(job, tmp_path / "s.zarr", overwrite=True)
        assert_same(expected, stored_arrays(tmp_path / "s.zarr"))
