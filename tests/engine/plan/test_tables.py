"""Which neighbor samples are made as tables, and when parents can be grouped."""

import pytest
from helpers.graphs import WideStore, random_store

from csaw.engine import prepare
from csaw.engine.cuda.device import Device
from csaw.engine.plan.planning import worth_grouping
from csaw.partition.errors import OptionError

GPU = Device(0, "none", "sm_90", 132, 1 << 40)
TWO_HOPS = {"algo": "neighbor", "fanout": (5, 3)}


@pytest.mark.parametrize(
    "options", [{"bias": "none"}, {"replace": True}, {"bias": "degree"}, {"bias": "none", "fanout": ()}]
)
def test_parents_of_tables_can_be_grouped(tmp_path, options):
    store = random_store(tmp_path / "g.zarr")
    assert prepare(store, device=GPU, transit_parallel="on", **TWO_HOPS | options).plan.transit == "on"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"device": "cpu"}, "this run is on the CPU"),
        ({"algo": "deepwalk", "fanout": None}, "deepwalk with --select alias and these options cannot"),
        ({"algo": "forest-fire", "fanout": None}, "forest-fire with --select its"),
        ({"fanout": (5, -1)}, "neighbor with --select its"),
        ({"select": "keys"}, "neighbor with --select keys"),
        ({"bias": "none", "fanout": (40, 3)}, "neighbor with --select uniform"),
        ({"residency": "streamed"}, "the graph is streamed"),
        ({"bias": "none", "in_flight": 2**30}, r"5,368,709,120 parents, .* lower --in-flight to 858,993,459"),
    ],
)
def test_what_cannot_be_grouped_is_refused_with_a_way_out(tmp_path, options, reason):
    store = random_store(tmp_path / "g.zarr")
    given = {name: value for name, value in ({"device": GPU} | TWO_HOPS | options).items() if value is not None}
    with pytest.raises(OptionError, match=rf"--transit-parallel on: .*{reason}.*; use auto or off"):
        prepare(store, transit_parallel="on", **given)
    for harmless in ("auto", "off"):
        prepare(store, transit_parallel=harmless, **given)


@pytest.mark.parametrize(
    ("transit", "edges", "parents", "worth"),
    [
        ("auto", 10**9, 10**6, False),
        ("auto", 10**9, 10**7, True),
        ("auto", 10**6, 10**7, False),
        ("on", 10**6, 1, True),
        ("off", 10**9, 10**7, False),
    ],
)
def test_a_hop_is_grouped_where_it_reads_much_of_a_large_graph(tmp_path, transit, edges, parents, worth):
    given = {"bias": "none", "device": GPU, "transit_parallel": transit} | TWO_HOPS
    plan = prepare(random_store(tmp_path / "g.zarr"), **given).plan
    assert worth_grouping(plan, edges, parents, 10) == worth


def test_a_plan_says_where_nothing_can_be_grouped(tmp_path):
    assert prepare(random_store(tmp_path / "g.zarr"), device="cpu", **TWO_HOPS).plan.transit == "off"


def test_ids_of_64_bits_cannot_be_grouped(tmp_path):
    with pytest.raises(OptionError, match="those of this graph have 64"):
        prepare(
            WideStore(random_store(tmp_path / "g.zarr")),
            device=GPU,
            transit_parallel="on",
            **TWO_HOPS | {"bias": "none"},
        )
