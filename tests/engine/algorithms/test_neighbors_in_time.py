"""Neighbors in time follow the law that lists of events give: for every option, with ties, and at the ends of int64."""

import numpy as np
import pytest
from helpers.graphs import arrays_of, store_of
from helpers.neighbors_in_time import assert_neighbors_in_time, batch_choices, tree_choices
from helpers.temporal import TIED, events_store, random_events

from csaw import graph, sample
from csaw.engine import prepare
from csaw.partition.errors import CsawError, FormatError, OptionError

CASES = {
    "uniform": {},
    "strict": {"time_order": "strict"},
    "window": {"time_window": 3},
    "previous": {"time_against": "previous"},
    "previous, strict window": {"time_against": "previous", "time_order": "strict", "time_window": 4},
    "replace": {"replace": True, "fanout": (3, 2)},
    "last": {"time_strategy": "last"},
    "last, previous": {"time_strategy": "last", "time_against": "previous", "time_order": "strict"},
}


def of(case):
    return {"time_strategy": "uniform", "fanout": (2, 3)} | CASES[case]


def timed_list(events, vertices, count, seed=3):
    """Sources of all vertices, each with times among and beyond those of the events."""
    rng = np.random.default_rng(seed)
    times = [time for *_, time in events]
    return {
        "ids": rng.integers(0, vertices, count),
        "time": rng.integers(min(times) - 2, max(times) + 3, count),
    }


@pytest.mark.parametrize("case", CASES)
def test_hops_follow_the_law(tmp_path, case):
    for number, (events, vertices) in enumerate(((TIED, 5), (random_events(6, 90, 7, span=8), 6))):
        store, options = events_store(tmp_path / f"g{number}.zarr", events, vertices), of(case)
        sources = timed_list(events, vertices, 60)
        found = arrays_of(store, tmp_path / "s.zarr", "neighbor", sources=sources, instances=6000, **options)
        assert found["seed_time"][:60, 0].tolist() == sources["time"].tolist()
        choices = tree_choices(found, options["fanout"], options)
        sizes = assert_neighbors_in_time(choices, events, vertices, options)
        assert sizes[0] > 100  # vertices without an earlier edge
        assert sizes[max(options["fanout"])] > 100


@pytest.mark.one_in(2)  # hops draw by each, and mini-batches by what hops draw
@pytest.mark.parametrize("case", [case for case in CASES if "previous" not in case])
def test_mini_batches_follow_the_law(tmp_path, case):
    events, options = random_events(12, 150, 7, span=8), of(case) | {"disjoint": True, "seeds_per_batch": 7}
    store, sources = events_store(tmp_path / "g.zarr", events, 12), timed_list(events, 12, 40)
    found = arrays_of(store, tmp_path / "s.zarr", "minibatch", sources=sources, epochs=150, shuffle=True, **options)
    assert (found["seed_time"] == sources["time"][found["input_id"]]).all()
    assert (store.load().indices[found["e_id"]] == ends(found)).all()
    assert (store.load(store.further_columns).columns["time"][found["e_id"]] == found["time"]).all()
    sizes = assert_neighbors_in_time(batch_choices(found, options["fanout"], options), events, 12, options)
    assert sizes[0] > 100


def ends(found):
    """The vertex that each edge of all mini-batches leads to."""
    first = np.repeat(found["node_ptr"][:-1], np.diff(found["edge_ptr"]))
    return found["n_id"][first + found["row"]]


@pytest.mark.parametrize("algo", ["neighbor", "minibatch"])
@pytest.mark.parametrize("strategy", ["uniform", "last"])
def test_all_earlier_neighbors_are_selected(tmp_path, algo, strategy):
    store, options = events_store(tmp_path / "g.zarr", TIED, 5), {"time_strategy": strategy, "start_time": 4}
    found = arrays_of(store, tmp_path / "s.zarr", algo, fanout=(-1,), **options)
    if algo == "minibatch":
        assert_neighbors_in_time(batch_choices(found, (-1,), options), TIED, 5, options)
        return
    drawn = list(zip(found["src"].tolist(), found["dst"].tolist(), found["time"].tolist(), strict=True))
    wanted = sorted((e for e in TIED if e[2] <= 4), key=lambda e: (e[0], e[2]))  # of one time in the order of the list
    assert sorted(drawn) == sorted(wanted)
    assert [d[::2] for d in drawn] == [w[::2] for w in wanted]  # vertex after vertex, in the order of time
    assert found["seed_time"].tolist() == [4] * 5


def test_cugraph_5593_against_the_root_or_the_edge_before(tmp_path):
    """Cutoff 10, an edge at 3 and then one at 8: the root's time lets both through, falling times the first alone."""
    store = events_store(tmp_path / "g.zarr", [(0, 1, 3), (1, 2, 8)], 3)
    given = {"sources": [0], "start_time": 10, "fanout": (2, 2), "time_strategy": "uniform"}
    both = arrays_of(store, tmp_path / "s.zarr", "neighbor", **given)
    assert both["hop_1"].tolist() == [[1, -1]]
    assert both["hop_2"].tolist() == [[2, -1, -1, -1]]
    assert both["time_2"].tolist() == [[8, *[-(2**63)] * 3]]
    first = arrays_of(store, tmp_path / "s.zarr", "neighbor", time_against="previous", **given)
    assert first["hop_1"].tolist() == [[1, -1]]
    assert (first["hop_2"] == -1).all()


def test_cugraph_5041_the_last_two_before_eight(tmp_path):
    store = events_store(tmp_path / "g.zarr", [(0, 1, 1), (0, 2, 3), (0, 3, 7), (0, 4, 9)], 5)
    given = {"sources": [0], "start_time": 8, "fanout": (2,), "time_strategy": "last"}
    assert arrays_of(store, tmp_path / "s.zarr", "neighbor", **given)["time_1"].tolist() == [[3, 7]]


def test_ties_go_to_larger_ids(tmp_path):
    store = events_store(tmp_path / "g.zarr", [(0, v, 5) for v in (4, 2, 3, 1)] + [(0, 1, 6)], 5)
    given = {"sources": [0], "start_time": 5, "fanout": (2,), "time_strategy": "last"}
    assert arrays_of(store, tmp_path / "s.zarr", "neighbor", **given)["hop_1"].tolist() == [[3, 4]]
    strict = arrays_of(store, tmp_path / "s.zarr", "neighbor", time_order="strict", **given)
    assert strict["hop_1"].tolist() == [[-1, -1]]


def test_times_at_the_ends_of_64_bits(tmp_path):
    least, largest = -(2**63), 2**63 - 1
    events = [(0, 1, least), (0, 2, largest), (0, 3, 0), (1, 2, least)]
    store = events_store(tmp_path / "g.zarr", events, 4)
    for now in (least + 1, least + 2, 0, largest):
        for options in ({}, {"time_order": "strict"}, {"time_window": 2**63 - 1}, {"time_window": 0}):
            given = {"time_strategy": "last"} | options
            sources = {"ids": [0, 1], "time": [now, now]}
            found = arrays_of(store, tmp_path / "s.zarr", "neighbor", sources=sources, fanout=(3, 1), **given)
            choices = tree_choices(found, (3, 1), given)
            assert_neighbors_in_time(choices, events, 4, given)


def test_one_time_needs_no_nodes_of_its_own(tmp_path):
    events = random_events(30, 400, 5)
    store, options = events_store(tmp_path / "g.zarr", events, 30), {"time_strategy": "uniform", "start_time": 3}
    found = arrays_of(store, tmp_path / "s.zarr", "minibatch", fanout=(3, 2), seeds_per_batch=8, **options)
    assert "batch" not in found
    assert_neighbors_in_time(batch_choices(found, (3, 2), options), events, 30, options)


IN_TIME = {"time_strategy": "uniform"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (IN_TIME, "--time-strategy: expected a time for each source, found none; give a file of --sources whose lines"),
        (IN_TIME | {"sources": "random:3"}, "--time-strategy: expected a time for each source"),
        ({"start_time": 3}, "--start-time: expected --time-strategy uniform or last with it"),
        ({"time_order": "strict"}, "--time-order: expected --time-strategy"),
        ({"time_against": "previous"}, "--time-against: expected --time-strategy"),
        ({"time_window": 3}, "--time-window: expected --time-strategy"),
        (IN_TIME | {"time_window": -1}, "--time-window: expected a length of time, a number from 0 on"),
        ({"time_strategy": "first"}, "--time-strategy: expected one of uniform, last, found 'first'"),
        ({"time_strategy": "last", "replace": True}, "--time-strategy last and --replace exclude each other"),
        (
            IN_TIME | {"replace": True, "fanout": (2, -1)},
            "--replace: expected fanouts of at least 0 with --time-stra",
        ),
        (IN_TIME | {"unique": True}, "--time-strategy and --unique exclude each other"),
        (IN_TIME | {"start_time": 3, "induced": True}, "--induced and --time-strategy exclude each other"),
        (IN_TIME | {"start_time": 3, "target": 3}, "--target: neighbor cannot be repeated"),
        (IN_TIME | {"start_time": 3, "bias": "degree"}, "expected edges that are equally likely, .* pass --bias=none"),
        (IN_TIME | {"start_time": 3, "edge_bias": "e.dst + 1"}, "expected edges that are equally likely"),
        (
            IN_TIME | {"start_time": 3, "select": "its"},
            "--select its cannot draw neighbor with --time-strategy, .* it can use time",
        ),
        (IN_TIME | {"start_time": 3.5}, "--start-time: expected a number without decimals"),
        (IN_TIME | {"start_time": 2**63}, "--start-time"),
        (IN_TIME | {"sources": [0, 1]}, "--time-strategy: expected a time for each source"),
        (IN_TIME | {"sources": {"ids": [0, 1]}}, "sources: expected an array of ids, .* in time ids and time"),
        (IN_TIME | {"sources": {"ids": [0, 1], "time": [1]}}, "time: expected a time for each of 2 sources"),
        (IN_TIME | {"sources": {"ids": [0], "time": [1.5]}}, "time: entry 0: expected a number without decimals"),
        (
            IN_TIME | {"sources": {"ids": [0], "time": np.array([2**63], np.uint64)}},
            "entry 0: expected a number .*, found .*9223372036854775808",
        ),
        (IN_TIME | {"sources": {"ids": [0], "time": [2**70]}}, "time"),
        (IN_TIME | {"sources": {"ids": [0], "time": [None]}}, "time"),
        (
            IN_TIME | {"sources": {"ids": [0, 1], "time": [1, -(2**63)]}},
            "^sources: time: expected times from -9223372036854775807 to .* which means no time, at entry 1",
        ),
        (IN_TIME | {"start_time": -(2**63)}, "^--start-time: expected -9223372036854775807 to"),
        (IN_TIME | {"start_time": True}, "^--start-time: expected a number without decimals .* found True"),
        (IN_TIME | {"start_time": np.bool_(True)}, "^--start-time: expected a number"),
        (IN_TIME | {"start_time": 1, "sources": {"ids": [0], "time": [1]}}, "times are read .* without --start-time"),
        ({"sources": {"ids": [0], "time": [1]}}, "sources: expected an array of ids"),
    ],
)
def test_options_at_odds_are_refused(tmp_path, options, said):
    store = events_store(tmp_path / "g.zarr", TIED, 5)
    with pytest.raises(OptionError, match=said):
        prepare(store, "neighbor", **options)


@pytest.mark.parametrize(
    ("algo", "said"),
    [
        ("deepwalk", "; this algorithm takes no times of sources$"),
        ("temporal", "; this algorithm takes no times of sources$"),
        ("neighbor", "; times are read with --time-strategy$"),
        ("minibatch", "; times are read with --time-strategy$"),
    ],
)
def test_times_that_nothing_reads_are_refused_with_the_reason(tmp_path, algo, said):
    store = events_store(tmp_path / "g.zarr", TIED, 5)
    with pytest.raises(OptionError, match=said):
        prepare(store, algo, sources={"ids": [0], "time": [1]})


def test_seeds_of_different_times_need_disjoint_nodes(tmp_path):
    store, sources = events_store(tmp_path / "g.zarr", TIED, 5), {"ids": [0, 1], "time": [3, 4]}
    with pytest.raises(OptionError, match="seeds of different times need --disjoint"):
        prepare(store, "minibatch", sources=sources, **IN_TIME)
    prepare(store, "minibatch", sources=sources | {"time": [3, 3]}, **IN_TIME)
    with pytest.raises(OptionError, match="--time-against is not an option of minibatch"):
        prepare(store, "minibatch", sources=sources, time_against="previous", disjoint=True, **IN_TIME)


@pytest.mark.parametrize("algo", ["ladies", "fastgcn", "deepwalk", "forest-fire", "snowball"])
def test_others_have_no_strategy(tmp_path, algo):
    store = events_store(tmp_path / "g.zarr", TIED, 5)
    why = ", because it draws by the entries of one matrix" * (algo in ("ladies", "fastgcn"))
    with pytest.raises(OptionError, match=f"--time-strategy is not an option of {algo}{why}"):
        prepare(store, algo, **IN_TIME)


def test_a_graph_needs_times(tmp_path):
    store = store_of(tmp_path / "g.zarr", [(0, 1, 1)], directed=True, vertices=2)
    with pytest.raises(OptionError, match="expected times of the edges for neighbor, found none; make the store with"):
        prepare(store, "neighbor", start_time=3, bias="none", **IN_TIME)


def test_a_graph_in_memory_is_given_times_there():
    with pytest.raises(OptionError, match=r"found none; make the graph with csaw.graph\(data, time=times\)$"):
        prepare(graph(np.array([[0, 1], [1, 2]]), directed=True), "neighbor", start_time=3, **IN_TIME)


def test_a_weighted_graph_needs_no_bias(tmp_path):
    rows = store_of(tmp_path / "g.zarr", [(0, 1, 1)], directed=True, vertices=2)
    with pytest.raises(OptionError, match="found a bias of neighbor that reads weight; pass --bias=none"):
        prepare(rows, "neighbor", start_time=3, **IN_TIME)
    with pytest.raises(OptionError, match="pass bias='none'"):
        sample(rows, tmp_path / "s.zarr", "neighbor", start_time=3, **IN_TIME)


@pytest.mark.parametrize(
    ("algo", "text", "said"),
    [
        (
            "neighbor",
            "0\n",
            ":1: expected a vertex id and its time, .* found '0'; give each source a separate line",
        ),
        (
            "neighbor",
            "0 3\n1\n",
            ":2: expected a vertex id and its time, separated by a space, tab or comma, found '1'",
        ),
        ("neighbor", "0 3\n1 2 4\n", ":2: expected a vertex id and its time"),
        ("neighbor", "0 soon\n", ":1: expected a time, a number without decimals that int64 holds, .*, found 'soon'"),
        ("neighbor", "0 1.5\n", ":1: expected a time, a number .*, found '1.5'"),
        ("neighbor", "0 9223372036854775808\n", ":1: expected a time, a number"),
        (
            "neighbor",
            "0 -9223372036854775808\n",
            ":1: expected a time, .*, not -9223372036854775808, which means no time",
        ),
        ("minibatch", "0 1 2 3\n", ":1: expected a vertex id, its label and its time"),
        ("minibatch", "0 1 2\n1 3\n", ":2: expected a vertex id, its label and its time"),
        ("minibatch", "0 a 2\n", ":1: expected a label"),
    ],
)
def test_files_of_sources_are_checked_line_by_line(tmp_path, algo, text, said):
    store = events_store(tmp_path / "g.zarr", TIED, 5)
    (tmp_path / "seeds.txt").write_text(text)
    with pytest.raises(FormatError, match=said):
        prepare(store, algo, sources=str(tmp_path / "seeds.txt"), **IN_TIME)


def test_times_are_not_taken_for_vertices_beside_one_time_for_all(tmp_path):
    store = events_store(tmp_path / "g.zarr", TIED, 5)
    (tmp_path / "seeds.txt").write_text("0\n1 3\n")
    for algo in ("neighbor", "minibatch", "mvs"):
        with pytest.raises(
            FormatError, match=":2: expected one vertex id.*, found '1 3'; .* times .* without --start-ti"
        ):
            prepare(store, algo, sources=str(tmp_path / "seeds.txt"), start_time=3, **IN_TIME)
    (tmp_path / "labels.txt").write_text("0 7\n1 3\n")
    for given in (str(tmp_path / "labels.txt"), {"ids": [0, 1], "time": [7, 3]}):
        with pytest.raises(CsawError, match="times .* without --start-time"):
            prepare(store, "minibatch", sources=given, start_time=3, **IN_TIME)
    assert prepare(store, "neighbor", sources=str(tmp_path / "seeds.txt")).plan.request.instances == 3


def test_files_of_sources_have_times_and_labels(tmp_path):
    store = events_store(tmp_path / "g.zarr", TIED, 5)
    (tmp_path / "times.txt").write_text("0 4\n\n2 9\n0 -9223372036854775807\n")
    (tmp_path / "both.txt").write_text("0 0.5 4\n2 1 9\n")
    times = arrays_of(store, tmp_path / "s.zarr", "neighbor", sources=str(tmp_path / "times.txt"), **IN_TIME)
    assert times["hop_0"].ravel().tolist() == [0, 2, 0]
    assert times["seed_time"].ravel().tolist() == [4, 9, 1 - 2**63]
    given = IN_TIME | {"disjoint": True, "seeds_per_batch": 2}
    both = arrays_of(store, tmp_path / "s.zarr", "minibatch", sources=str(tmp_path / "both.txt"), **given)
    assert both["y"].tolist() == [0.5, 1]
    assert both["seed_time"].tolist() == [4, 9]
    labels = {"sources": {"ids": [0, 2], "y": [0.5, 1]}, "start_time": 4}
    one = arrays_of(store, tmp_path / "s.zarr", "minibatch", **labels, **given)
    assert one["y"].tolist() == [0.5, 1]
    assert one["seed_time"].tolist() == [4, 4]


OWN = """
from csaw.engine.algorithm import InTime, Traversal, option

class Mine(InTime, Traversal):
    layout = "{layout}"
    visited_once = {once}
    fanout: tuple = option((2,), help="neighbors")

    def edge_bias(self, e):
        return 2.0

    def sizes(self):
        return self.fanout
"""


def test_a_class_of_ones_own_may_select_in_time(tmp_path):
    store, given = events_store(tmp_path / "g.zarr", TIED, 5), IN_TIME | {"start_time": 4, "fanout": (2, 3)}
    for once, layout in ((False, "hops"), (True, "subgraphs")):
        (tmp_path / f"mine{once}.py").write_text(OWN.format(once=once, layout=layout))
    found = arrays_of(store, tmp_path / "s.zarr", f"{tmp_path / 'mineFalse.py'}:Mine", **given)
    wanted = arrays_of(store, tmp_path / "t.zarr", "neighbor", **given)
    assert all(np.array_equal(found[name], wanted[name]) for name in wanted)
    with pytest.raises(OptionError, match="cannot select in time: expected a traversal whose vertices each select"):
        prepare(store, f"{tmp_path / 'mineTrue.py'}:Mine", **given)
