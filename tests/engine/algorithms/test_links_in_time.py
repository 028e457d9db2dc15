"""Links in time: their negatives have an edge by the time of the link, and none from its source by then, or ever. Laws
counted by hand and by enumeration, a slow reference byte by byte, times of links, and faults that verify finds.
"""

import json
import re

import numpy as np
import pytest
from click.testing import CliRunner
from helpers.faults import plant
from helpers.forged import forged
from helpers.graphs import arrays_of
from helpers.machine import need_package
from helpers.relations import graph_in_time, partitioned
from helpers.remade import remade
from helpers.stats import assert_drawn_from
from helpers.temporal import events_store, random_events

import csaw
from csaw.cli.main import cli
from csaw.engine.batches.links import first_times, units_upto
from csaw.engine.cpu.kernels.select import pick_word
from csaw.engine.draws.random import below_wide
from csaw.partition import write_graph
from csaw.partition.base.compile import njit
from csaw.partition.errors import CsawError, OptionError
from csaw.partition.graph.edge_columns import BEFORE_ALL

MANY = 40_000
TRIES = 32
UNTIL, EVER = {"negative_time": "until"}, {"negative_time": "ever"}
HAND = [(0, 1, 1), (0, 2, 5), (0, 3, 9), (1, 2, 2), (3, 4, 4), (4, 0, 6), (0, 1, 8), (5, 1, 7)]
"""Vertex 0 meets 1 at 1 and 8, 2 at 5, and 3 at 9; vertices 0 to 5 have their first edges at 1, 1, 2, 4, 4 and 7."""


def drawn(store, tmp_path, **options):
    arrays = arrays_of(store, tmp_path / "s.zarr", "links", **UNTIL | {"seed": 3, "skip_full": True} | options)
    return arrays["links"].astype(np.int64), arrays["time"], arrays["negatives"].astype(np.int64)


# Laws


@pytest.mark.parametrize(
    ("time", "until", "ever"),
    [
        (1, [], []),
        (2, [2], []),
        (4, [2, 3, 4], [4]),
        (5, [3, 4], [4]),
        (8, [3, 4, 5], [4, 5]),
        (9, [4, 5], [4, 5]),
    ],
)
@pytest.mark.parametrize("way", ["until", "ever"])
def test_negatives_of_a_vertex_at_each_time(tmp_path, time, way, until, ever):
    """An edge that comes later is a negative before, and none after; no vertex is one before its own first edge."""
    store, possible = events_store(tmp_path / "g.zarr", HAND, 6), {"until": until, "ever": ever}[way]
    options = {"sources": [[0, 1]], "start_time": time, "instances": MANY // 4, "num_negatives": 4}
    _, times, negatives = drawn(store, tmp_path, negative_time=way, **options)
    assert (times == time).all()
    if not possible:
        assert set(np.unique(negatives.astype(np.uint32))) == {2**32 - 1}
        return
    assert_drawn_from(np.bincount(negatives.ravel(), minlength=6), [float(v in possible) for v in range(6)])


def test_the_source_can_be_a_negative_once_it_has_an_edge(tmp_path):
    store = events_store(tmp_path / "g.zarr", HAND, 6)
    options = {"sources": [[5, 1]], "num_negatives": 40, "instances": 200, "allow_self": True}
    for time, possible in ((6, {0, 1, 2, 3, 4}), (7, {0, 2, 3, 4, 5})):
        assert set(np.unique(drawn(store, tmp_path, start_time=time, **options)[2])) == possible


def test_a_pair_is_an_edge_from_the_earliest_of_its_edges_on(tmp_path):
    """The parallel edges are stored with the latest first."""
    events = [(0, 1, 9), (0, 1, 3), (0, 1, 6), (2, 1, 1), (3, 0, 1)]
    store, options = events_store(tmp_path / "g.zarr", events, 4), {"sources": [[0, 1]], "num_negatives": 60}
    for time, possible in ((2, {1, 2, 3}), (3, {2, 3}), (6, {2, 3})):
        assert set(np.unique(drawn(store, tmp_path, start_time=time, **options)[2])) == possible


def test_vertices_without_an_edge_are_no_negatives_even_at_the_last_time(tmp_path):
    last = 2**63 - 1
    store = events_store(tmp_path / "g.zarr", [(0, 1, 1), (2, 0, last)], 5)
    options = {"sources": [[0, 1]], "num_negatives": 30}
    assert set(np.unique(drawn(store, tmp_path, start_time=last, **options)[2])) == {2}
    assert (drawn(store, tmp_path, start_time=last - 1, **options)[2].astype(np.uint32) == 2**32 - 1).all()


GRAPHS = {
    "sparse": (24, random_events(24, 60, 1, span=9)),
    "dense": (14, [(u, v, (5 * u + 3 * v) % 17) for u in range(14) for v in range(14) if (u * v + u) % 5]),
    "repeated": (9, [(u, v, (u * k + v) % 7) for u in range(9) for v in range(9) if (u + v) % 3 for k in range(3)]),
}


def law_of(events, vertices, link, time, **options):
    """The biases of all vertices as negatives of a link, from the list of events."""
    u = link[0]
    first = {v: min((t for a, b, t in events if v in (a, b)), default=None) for v in range(vertices)}
    met = {b for a, b, t in events if a == u and (t <= time or options["negative_time"] == "ever")}
    lead = [b for _, b, _ in events]
    bias = [
        (lead.count(v) ** 0.75 if options.get("negative_bias") == "degree" else 1.0)
        if first[v] is not None and first[v] <= time and v not in met and (v != u or options.get("allow_self"))
        else 0.0
        for v in range(vertices)
    ]
    return np.array(bias)


@pytest.mark.parametrize("options", [UNTIL, EVER, UNTIL | {"negative_bias": "degree"}, EVER | {"allow_self": True}])
@pytest.mark.parametrize("graph", GRAPHS)
def test_negatives_of_every_edge_follow_the_law(tmp_path, graph, options):
    vertices, events = GRAPHS[graph]
    store = events_store(tmp_path / "g.zarr", events, vertices)
    given = {"sources": "all", "instances": 2 * len(events), "num_negatives": 300} | options
    links, times, negatives = drawn(store, tmp_path, **given)
    found: dict = {}
    for link, time, one in zip(links.tolist(), times.tolist(), negatives, strict=True):
        law = law_of(events, vertices, link, time, **given)
        assert bool((one.astype(np.uint32) == 2**32 - 1).all()) is not bool(law.any())
        if law.any():
            assert (law[one] > 0).all()
            key = tuple(law)
            found[key] = found.get(key, 0) + np.bincount(one, minlength=vertices)
    judged = [law for law in found if sum(bias > 0 for bias in law) > 1]
    assert judged
    for law in judged:
        if min(bias for bias in law if bias > 0) / sum(law) * found[law].sum() >= 5:
            assert_drawn_from(found[law], law)


def test_negatives_of_a_link_are_independent(tmp_path):
    store = events_store(tmp_path / "g.zarr", HAND, 6)
    options = {"sources": [[0, 1]], "start_time": 4, "instances": MANY, "num_negatives": 2}
    negatives = drawn(store, tmp_path, **options)[2]
    assert_drawn_from(np.bincount((negatives[:, 0] - 2) * 3 + negatives[:, 1] - 2, minlength=9), np.ones(9))


def reference(store, events, vertices, links, times, number, seed, **options):
    """The negatives of links one by one: trials among the vertices that are there, and then one of those left free."""
    first = [min((t for a, b, t in events if v in (a, b)), default=2**70) for v in range(vertices)]
    order = sorted(range(vertices), key=lambda v: (first[v], v))
    by_degree = options.get("negative_bias") == "degree"
    units = np.diff(units_upto(store)).tolist() if by_degree else [1] * vertices
    drawn = []
    for i, (link, time) in enumerate(zip(links.tolist(), times.tolist(), strict=True)):
        there = [v for v in order if first[v] <= time]
        free = set(np.flatnonzero(law_of(events, vertices, link, time, **options)).tolist())
        for j in range(number):
            drawn.append(chosen_by(seed, i, j, there, free, units))
    return np.array(drawn).reshape(len(links), number)


@njit
def ranked(seed, instance, slot, number, bound):
    return below_wide(pick_word(seed, instance, slot, number), bound)


def chosen_by(seed, i, j, there, free, units):
    def pick(some, trial):
        numbers = (seed, i, j, trial, sum(units[v] for v in some))
        upto = np.cumsum([units[v] for v in some])
        return some[int(np.searchsorted(upto, int(ranked(*map(np.uint64, numbers))), side="right"))]

    if not any(units[v] for v in there if v in free):
        return 2**32 - 1
    for trial in range(TRIES):
        if (v := pick(there, trial)) in free:
            return v
    return pick([v for v in there if v in free], TRIES)


@pytest.mark.parametrize("options", [UNTIL, EVER, UNTIL | {"negative_bias": "degree"}, EVER | {"allow_self": True}])
@pytest.mark.parametrize("graph", GRAPHS)
def test_every_byte_is_that_of_a_slow_reference(tmp_path, graph, options):
    vertices, events = GRAPHS[graph]
    store = events_store(tmp_path / "g.zarr", events, vertices)
    links, times, negatives = drawn(store, tmp_path, sources="all", num_negatives=6, seed=11, **options)
    expected = reference(store, events, vertices, links, times, 6, 11, **options)
    assert np.array_equal(negatives.astype(np.uint32), expected.astype(np.uint32))


@pytest.mark.parametrize("bias", ["none", "degree"])
def test_what_32_trials_miss_is_chosen_among_all_that_is_left(tmp_path, bias):
    """A hub has an edge to all but three of 5,000 vertices by time 3, and to the last ones later."""
    left = (17, 2500, 4999)
    events = [(0, v, 5 if v in left else 2) for v in range(1, 5000)] + [(v, v - 1, 1) for v in range(1, 5000)]
    store = events_store(tmp_path / "g.zarr", events, 5000)
    options = {"sources": [[0, 1]], "instances": 3000, "num_negatives": 4, "negative_bias": bias}
    negatives = drawn(store, tmp_path, start_time=3, **options)[2]
    counts = np.bincount(negatives.ravel(), minlength=5000)
    weights = [1.0, 1.0, 1.0] if bias == "none" else [2**0.75, 2**0.75, 1.0]
    assert counts.sum() == counts[list(left)].sum()
    assert_drawn_from(counts[list(left)], weights)
    assert (drawn(store, tmp_path, start_time=5, **options)[2].astype(np.uint32) == 2**32 - 1).all()
    none = arrays_of(store, tmp_path / "t.zarr", "links", skip_full=True, **options | EVER | {"start_time": 3})
    assert (none["negatives"] < 0).all()


# Times of links, and where they are from


def test_links_have_the_times_of_their_edges(tmp_path):
    events = random_events(30, 500, 3)
    store = events_store(tmp_path / "g.zarr", events, 30)
    held = store.load(store.further_columns)
    _, times, _ = drawn(store, tmp_path, sources="all")
    assert times.tolist() == held.columns["time"].tolist()
    links, times, _ = drawn(store, tmp_path, instances=MANY)
    places = {event: k for k, event in enumerate(sorted(set(events)))}
    counts = np.zeros(len(places), np.int64)
    for link, time in zip(links.tolist(), times.tolist(), strict=True):
        counts[places[(*link, time)]] += 1
    assert_drawn_from(counts, [events.count(event) for event in places])


def test_links_and_times_come_from_a_file_or_a_mapping(tmp_path):
    (tmp_path / "e.csv").write_text(
        "user,item,day\n" + "".join(f"u{k % 7},i{k % 5},2026-01-{k + 1:02}\n" for k in range(28))
    )
    graph = csaw.partition(
        tmp_path / "e.csv", tmp_path / "g.zarr", directed=True, time_column="day", time_format="iso", progress=False
    )
    (tmp_path / "l.csv").write_text("time,source,destination\n2026-01-20,u1,i3\n2026-01-09,u2,i2\n")
    (tmp_path / "m.txt").write_text("# links\nu1 i3 2026-01-20\nu2 i2 2026-01-09\n")
    pairs, days = [["u1", "i3"], ["u2", "i2"]], np.array(["2026-01-20", "2026-01-09"], "M8[D]")
    ways = [tmp_path / "l.csv", tmp_path / "m.txt", {"ids": pairs, "time": days}]
    made = [
        csaw.sample(graph, tmp_path / f"{k}.zarr", algo="links", sources=way, seed=1, device="cpu", **UNTIL)
        for k, way in enumerate(ways)
    ]
    for one in made:
        assert one.names(one["links"][:]).tolist() == pairs
        assert one["time"][:].tolist() == days.astype("M8[s]").astype(np.int64).tolist()
        assert np.array_equal(one["negatives"][:], made[0]["negatives"][:])
        assert csaw.verify(one.path).ok
    words = [
        "sample",
        str(tmp_path / "g.zarr"),
        str(tmp_path / "c.zarr"),
        "--algo",
        "links",
        "--negative-time",
        "until",
    ]
    words += ["--sources", str(tmp_path / "one.txt"), "--start-time", "2026-01-20", "--device", "cpu"]
    (tmp_path / "one.txt").write_text("u1 i3\n")
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output
    assert csaw.open_samples(tmp_path / "c.zarr")["time"][:].tolist() == made[0]["time"][:1].tolist()


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("0 1\n", ":1: expected the source and the destination of a link, two vertex ids, and its time, found '0 1'"),
        ("0 1 2 3\n", ":1: expected the source and the destination of a link, two vertex ids, and its time"),
        ("0 1 x\n", ":1: expected a time"),
        ("0 1 4\n0 y 4\n", ":2: expected a vertex id, found 'y'"),
        ("time,src,timestamp\n1,0,2\n", ":1: expected one column of times, found the names 'time', 'src', 'timestamp'"),
    ],
)
def test_lines_that_are_no_links_with_times_are_refused(tmp_path, text, error):
    store = events_store(tmp_path / "g.zarr", HAND, 6)
    (tmp_path / "l.txt").write_text(text)
    with pytest.raises(CsawError, match=re.escape(error)):
        csaw.sample(store, algo="links", sources=tmp_path / "l.txt", device="cpu", **UNTIL)


PAIRS = {"ids": [[0, 1], [1, 2]], "time": [3, 4]}


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"negative_time": "now"}, "negative_time: expected one of until, ever"),
        ({"start_time": 3}, "start_time: expected negative_time until or ever with it"),
        (UNTIL | {"start_time": 3}, "start_time: expected links in a file of sources with it, found edges"),
        (UNTIL | {"sources": [[0, 1]]}, "negative_time: expected a time for each source, found none"),
        ({"sources": PAIRS}, "; times are read with negative_time"),
        (UNTIL | {"sources": PAIRS, "start_time": 3}, "read with negative_time and without start_time"),
        (UNTIL | {"sources": PAIRS | {"time": [3]}}, "expected a time for each of 2 sources"),
        (UNTIL | {"sources": PAIRS | {"ids": [[0, 1, 2], [1, 2, 3]]}}, "the source and the destination of each link"),
        (UNTIL | {"sources": PAIRS | {"time": [3, -(2**63)]}}, "which means no time"),
        (UNTIL | {"induced": True}, "links have no subgraph"),
    ],
)
def test_what_links_in_time_cannot_have_is_an_error(tmp_path, options, error):
    store = events_store(tmp_path / "g.zarr", HAND, 6)
    with pytest.raises(OptionError, match=re.escape(error)):
        csaw.sample(store, algo="links", device="cpu", **options)


def test_a_graph_without_times_is_an_error_and_a_full_source_is_named_with_its_time(tmp_path):
    with pytest.raises(OptionError, match="expected times of the edges for links, found none"):
        csaw.sample("karate", algo="links", device="cpu", progress=False, **UNTIL)
    store = events_store(tmp_path / "g.zarr", HAND, 6)
    with pytest.raises(
        OptionError, match=r"link 0: .* 0 has no edge to, found none.*those with an edge by the time 1; pass skip_full"
    ):
        csaw.sample(store, algo="links", sources=[[0, 1]], start_time=1, device="cpu", **UNTIL)
    found = csaw.sample(store, tmp_path / "s.zarr", algo="links", sources="all", skip_full=True, device="cpu", **UNTIL)
    assert (found["negatives"][:] < 0).sum() == 1
    assert found.results["dead_ends"] == 1


def test_without_the_option_times_change_nothing(tmp_path):
    """Neither the sample nor what its request says, which is as in versions that had no such option."""
    events, options = random_events(40, 600, 5), {"num_negatives": 4, "seed": 6, "skip_full": True, "device": "cpu"}
    timed = events_store(tmp_path / "g.zarr", events, 40)
    held = timed.load()
    plain = write_graph(tmp_path / "p.zarr", held.indptr, held.indices, directed=True)
    one = csaw.sample(timed, tmp_path / "s.zarr", algo="links", **options)
    other = csaw.sample(plain, tmp_path / "t.zarr", algo="links", **options)
    assert sorted(one.arrays) == ["links", "negatives"]
    for name in one.arrays:
        assert np.array_equal(one[name][:], other[name][:]), name
    asked = one.manifest["request"]["parameters"]
    assert not {"negative_time", "start_time"} & asked.keys()


def test_an_undirected_edge_counts_at_both_ends(tmp_path):
    rng = np.random.default_rng(3)
    pairs, times = rng.integers(0, 40, (300, 2)), rng.integers(0, 90, 300)
    pairs = np.unique(np.sort(pairs, axis=1), axis=0)
    graph = csaw.graph(pairs, time=times[: len(pairs)], directed=False)
    options = {"sources": "all", "num_negatives": 30, "skip_full": True, "device": "cpu", "ids": "dense"}
    found = csaw.sample(graph, algo="links", **options, **UNTIL)
    held = graph.load(graph.further_columns)
    source = np.repeat(np.arange(graph.vertices), np.diff(held.indptr))
    events = list(zip(source.tolist(), held.indices.tolist(), held.columns["time"].tolist(), strict=True))
    links, drawn_at = found["links"][:].tolist(), found["time"][:].tolist()
    for link, time, negatives in zip(links, drawn_at, found["negatives"][:], strict=True):
        law = law_of(events, graph.vertices, link, time, **UNTIL)
        assert ((law[negatives] > 0) if law.any() else (negatives < 0)).all()


def test_rows_of_tables_are_there_from_their_own_time_on(tmp_path):
    """Order 2 is placed at 9: its edge to a customer, which has no time, does not make it a negative before."""
    need_package("pyarrow")
    tables = {
        "customer": {"file": "c.csv", "key": "id"},
        "order": {"file": "o.csv", "key": "id", "time": "placed", "references": {"of": "customer"}},
    }
    (tmp_path / "c.csv").write_text("id\n0\n1\n")
    (tmp_path / "o.csv").write_text("id,placed,of\n0,3,0\n1,5,1\n2,9,1\n")
    (tmp_path / "t.json").write_text(json.dumps({"tables": tables}))
    graph = csaw.partition(tmp_path / "t.json", tmp_path / "g.zarr", reverse_relations=True, progress=False)
    given = {"relation": "rev_of", "sources": "all", "num_negatives": 20, "skip_full": True, "device": "cpu"}
    found = csaw.sample(graph, tmp_path / "s.zarr", algo="links", **given, **UNTIL)
    rows = {
        (link[1], time): {graph.original_ids(np.array([v], graph.id_dtype))[0] if v >= 0 else "" for v in negatives}
        for link, time, negatives in zip(
            found.names(found["links"][:]).tolist(),
            found["time"][:].tolist(),
            found["negatives"][:].tolist(),
            strict=True,
        )
    }
    assert rows == {
        ("order:0", 3): {""},
        ("order:1", 5): {"order:0"},
        ("order:2", 9): {"order:0"},
    }
    assert not failed(tmp_path / "s.zarr")


# Types


@pytest.fixture(scope="module")
def typed(tmp_path_factory):
    return graph_in_time(tmp_path_factory.mktemp("typed"), partitions=4)


@pytest.mark.parametrize("options", [UNTIL, EVER, UNTIL | {"negative_bias": "degree"}])
def test_links_of_a_relation_are_drawn_from_its_edges_and_alive_by_those_of_all(typed, tmp_path, options):
    given = {"relation": "b-to_b-b", "num_negatives": 5, "instances": 3000, "seed": 2} | options
    found = csaw.sample(typed, tmp_path / "s.zarr", algo="links", device="cpu", ids="dense", **given)
    (low, high), first = typed.types.span("b"), first_times(typed)[0]
    negatives, times = found["negatives"][:], found["time"][:]
    assert ((negatives >= low) & (negatives < high)).all()
    assert (first[negatives] <= times[:, None]).all()
    assert csaw.verify(tmp_path / "s.zarr").ok
    streamed = arrays_of(typed, tmp_path / "t.zarr", "links", residency="disk", in_flight=700, **given)
    assert np.array_equal(streamed["negatives"], negatives)
    assert np.array_equal(streamed["time"], times)


def test_edges_before_all_times_count_only_where_there_are_no_others(tmp_path):
    store = events_store(tmp_path / "g.zarr", [(0, 1, BEFORE_ALL), (1, 2, 4), (3, 0, BEFORE_ALL)], 5)
    first, has_edge = first_times(store)
    assert first[:4].tolist() == [BEFORE_ALL, 4, 4, BEFORE_ALL]
    assert has_edge.tolist() == [True, True, True, True, False]


def test_the_other_end_of_a_relation_decides_when_a_vertex_is_there(tmp_path):
    """`v:1` is bought only at 9, but seen at 3: it may be a negative of what is bought at 5."""
    files = {"u-buys-v": "0 0 5\n1 1 9\n", "u-sees-v": "2 1 3\n2 2 7\n"}
    graph = partitioned(tmp_path, files, time_column=3)
    found = csaw.sample(graph, algo="links", relation="buys", sources="all", num_negatives=9, device="cpu", **UNTIL)
    names = [set(graph.original_ids(row.astype(graph.id_dtype))) for row in found["negatives"][:]]
    assert names == [{"v:1"}, {"v:0", "v:2"}]


# Exports


def test_tables_have_the_time_of_the_link_in_each_row(tmp_path):
    store = events_store(tmp_path / "g.zarr", HAND, 6)
    options = {"sources": "all", "num_negatives": 2, "skip_full": True, "device": "cpu"} | UNTIL
    samples = csaw.sample(store, tmp_path / "s.zarr", algo="links", **options)
    rows = []
    for k, (link, time, negatives) in enumerate(
        zip(samples["links"][:].tolist(), samples["time"][:].tolist(), samples["negatives"][:].tolist(), strict=True)
    ):
        rows += [(k, *link, 1, time), *((k, link[0], one, 0, time) for one in negatives if one >= 0)]
    csaw.export(samples, tmp_path / "p.csv")
    lines = [",".join(map(str, row)) for row in [("instance", "src", "dst", "label", "time"), *rows]]
    assert (tmp_path / "p.csv").read_text().splitlines() == lines
    csaw.export(samples, tmp_path / "p.txt")
    assert (tmp_path / "p.txt").read_text() == "".join(" ".join(map(str, row)) + "\n" for row in rows)
    csaw.export(samples, tmp_path / "p.npy")
    assert [tuple(row) for row in np.load(tmp_path / "p.npy").tolist()] == rows
    assert [tuple(row) for row in samples.to_pandas().itertuples(index=False)] == rows


# Faults

FAULTS = {
    "later edges count": ("time_at(graph, position) <= now:", "time_at(graph, position) >= now:", "negatives"),
    "edges do not count": ("if ever or time_at(graph, position) <= now:", "if False:", "negatives"),
    "all vertices are there": (
        "high = low + place_behind(first_times[low : low + known[number]], time[i])",
        "high = low + known[number]",
        "there",
    ),
    "another time": (
        "time[i] = time_at(graph, begin + place[i])",
        "time[i] = time_at(graph, begin + place[i]) + 1",
        "times",
    ),
    "the source too": ("if v != without and", "if", "self"),
    "early vertices more often": (
        "uint64(units))), upto)]",
        "uint64(units))) // (1 + int64(word & uint64(1))), upto)]",
        "law of negatives",
    ),
    "the first ones of what is left": (
        "rank = int64(below_wide(word, uint64(units - before[count])))",
        "rank = int64(0)",
        "law of negatives",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_law_is_found(tmp_path, fault, monkeypatch):
    most = 400 if fault.startswith("the first ones") else 3000  # of edges from the hub
    events = random_events(200, 2000, 4) + [(0, v % 200, -60) for v in range(most) if v % 200 > 5]
    store = events_store(tmp_path / "g.zarr", events, 200)
    right, wrong, check = FAULTS[fault]
    options = {"num_negatives": 4, "instances": 20_000, "seed": 2, "device": "cpu", "skip_full": True}
    with monkeypatch.context() as during:
        plant(during, "links_in_time.py", right, wrong)
        csaw.sample(store, tmp_path / "s.zarr", algo="links", **options, **UNTIL)
    assert check in failed(tmp_path / "s.zarr")


def failed(path):
    return {one.name for one in csaw.verify(path).checks if not one.ok}


@pytest.mark.parametrize(("way", "check"), [("until", "law of negatives"), ("ever", "negatives")])
def test_the_other_way_than_asked_for_is_found(tmp_path, way, check):
    store = events_store(tmp_path / "g.zarr", random_events(60, 3000, 4), 60)
    other = {"until": "ever", "ever": "until"}[way]
    options = {"num_negatives": 4, "instances": 20_000, "seed": 2, "device": "cpu", "skip_full": True}
    csaw.sample(store, tmp_path / "s.zarr", algo="links", negative_time=other, **options)
    assert csaw.verify(tmp_path / "s.zarr").ok
    forged(tmp_path / "s.zarr", lambda said: said["manifest"]["request"]["parameters"].update(negative_time=way))
    assert failed(tmp_path / "s.zarr") & {check, "missing"}


def test_times_that_are_missing_or_others_than_given_are_found(tmp_path):
    store = events_store(tmp_path / "g.zarr", random_events(60, 900, 4), 60)
    options = {"sources": {"ids": [[1, 2], [3, 4]], "time": [40, 45]}, "instances": 4, "ids": "dense", "device": "cpu"}
    csaw.sample(store, tmp_path / "s.zarr", algo="links", seed=2, **options, **UNTIL)
    assert csaw.verify(tmp_path / "s.zarr").ok

    def later(arrays):
        arrays["time"][3] += 1
        return arrays

    remade(tmp_path / "s.zarr", tmp_path / "wrong.zarr", later)
    assert failed(tmp_path / "wrong.zarr") == {"times"}
    remade(tmp_path / "s.zarr", tmp_path / "less.zarr", lambda arrays: arrays.pop("time") is None or arrays)
    assert failed(tmp_path / "less.zarr") == {"request"}
