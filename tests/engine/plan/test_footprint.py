"""A footprint counts vertices, edges and ids, and parts that do not fit are refused by name."""

from pathlib import Path

import pytest

from csaw.engine.plan.footprint import Footprint, fit
from csaw.partition.errors import BudgetError

PARTS = {"offsets": 80, "members": 0, "samples in flight": 20}


def test_ids_of_eight_bytes_and_entries_count():
    one = Footprint(10, edge=1, ids=2, edge_ids=1, fixed=7)
    assert one.bytes(100, 1000, 4) == 100 * 18 + 1000 * 5 + 7
    assert one.bytes(100, 1000, 8) == 100 * 26 + 1000 * 9 + 7


def test_footprints_add_up_whatever_the_graph():
    one, other = Footprint(10, edge=1, ids=2, edge_ids=1, fixed=7), Footprint(3, edge=5, ids=1, edge_ids=4, fixed=2)
    for graph in ((0, 0, 4), (100, 1000, 4), (100, 1000, 8)):
        assert (one + other).bytes(*graph) == one.bytes(*graph) + other.bytes(*graph)


@pytest.mark.parametrize("more", [0, 1, 1000])
def test_what_parts_leave_is_the_budget(more):
    assert fit(PARTS, 100 + more, Path("g.zarr"), "--memory") == more


def test_parts_that_do_not_fit_are_named_with_the_way_out():
    listed = "80 for offsets of rows, 8 bytes a vertex; 20 for samples in flight"
    refusal = f"^g.zarr: .* at least 100 bytes: {listed}. The limit is 99 bytes; raise --memory to 100 or wait$"
    with pytest.raises(BudgetError, match=refusal):
        fit(PARTS, 99, Path("g.zarr"), "--memory", " or wait")
