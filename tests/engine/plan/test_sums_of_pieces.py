"""Partitions of a streamed graph have running sums where picks would read more of rows than making them does."""

import pytest
from helpers.graphs import random_store

from csaw.engine import prepare
from csaw.engine.cuda.device import Device
from csaw.engine.plan.choices import GraphLayout
from csaw.partition.errors import OptionError

GPU = Device(0, "none", "sm_90", 132, 1 << 40)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return random_store(tmp_path_factory.mktemp("sums") / "g.zarr")


def plan_of(store, **options):
    return prepare(store, "neighbor", device=GPU, **{"residency": "streamed", "fanout": (4, 3)} | options).plan


@pytest.mark.parametrize(
    ("options", "layout"),
    [
        ({}, GraphLayout.CTPS),
        ({"residency": "disk"}, GraphLayout.CTPS),
        ({"layout": "csr"}, GraphLayout.CSR),
        ({"instances": 1}, GraphLayout.CSR),
        ({"instances": 1, "layout": "ctps"}, GraphLayout.CTPS),
        ({"fanout": (40, 3)}, GraphLayout.CSR),
        ({"select": "keys"}, GraphLayout.CSR),
        ({"detect": "linear"}, GraphLayout.CSR),
        ({"weighted": False}, GraphLayout.CSR),
        ({"replace": True}, GraphLayout.TABLE),
    ],
)
def test_the_layout_of_partitions(store, options, layout):
    assert plan_of(store, **options).graph_layout is layout


def test_sums_take_room_in_slots(store):
    sums, rows = (plan_of(store, layout=layout) for layout in ("ctps", "csr"))
    assert sums.graph_bytes == rows.graph_bytes + 8 * store.edges


def test_sums_that_cannot_be_are_refused(store):
    with pytest.raises(OptionError, match="needs the layout csr; leave out --layout"):
        plan_of(store, layout="ctps", weighted=False)
