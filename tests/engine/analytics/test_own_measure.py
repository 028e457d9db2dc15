"""Measures of the page on writing one's own find what csaw's find, and any class what Python's interpreter finds."""

import re
from pathlib import Path
from types import SimpleNamespace

import click
import numpy as np
import pytest
from helpers.graphs import random_store, rows_of, store_of
from helpers.networks import GRAPHS, networks, stores
from helpers.own_measures import (
    Beaten,
    Below,
    Counted,
    Degrees,
    Farthest,
    Huge,
    Near,
    Reached,
    Same,
    Signed,
    of_the_page,
    text_of_the_page,
)

from csaw.cli.commands.evaluate import evaluate as command
from csaw.engine import sample
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.cpu.typed_rounds import compiled
from csaw.engine.analytics.evaluation.chosen import chosen
from csaw.engine.analytics.evaluation.evaluate import evaluate
from csaw.engine.analytics.evaluation.options import EvaluateOptions
from csaw.engine.analytics.own_hooks import nothing
from csaw.engine.analytics.ranks import UNITS
from csaw.engine.analytics.rounds import CHUNK
from csaw.engine.measure import Measure, option
from csaw.partition.errors import BudgetError, CsawError, OptionError

NOWHERE = np.zeros(0, np.int64)
RANKS = {"damping": 0.85, "tolerance": 1e-6, "sources": NOWHERE}


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")
    return lambda name: of_the_page(folder, name)


def found(measure, network):
    return measure.findings(network)[measure.name()].values


def some_graphs(folder, names=("troubled", "star inwards", "repeated", "no edges", "one vertex", "one loop", "random")):
    return [GRAPHS[name](folder / f"of {name}.zarr") for name in names]


def each_network(folder, graphs):
    for store in graphs:
        for network in networks(store, folder / "derived"):
            yield store, network
            network.close()


# The classes of the page


def test_distances_are_those_of_the_search(tmp_path, page):
    for store, network in each_network(tmp_path, [*some_graphs(tmp_path), GRAPHS["wide"](tmp_path / "w.zarr")]):
        for source in {0, store.vertices - 1}:
            own = found(page("Distance")(source=source), network)
            assert np.where(own == nothing("min", False), -1, own).tolist() == (
                network.compute("bfs", source=source).tolist()
            )


def test_a_large_search_pulls_pushes_and_queues_alike(tmp_path, page, monkeypatch):
    store = random_store(tmp_path / "g.zarr", vertices=4000, edges=60_000, weighted=False)
    expected = HostNetwork(store).compute("bfs", source=3999)
    for few, share in ((0, 15), (0, 0), (1 << 17, 15), (500, 15)):
        monkeypatch.setattr("csaw.engine.analytics.cpu.rounds.FEW", few)
        monkeypatch.setattr("csaw.engine.analytics.cpu.rounds.PULL_SHARE", share or 1)
        for threads in (1, 3):
            own = found(page("Distance")(source=3999), HostNetwork(store, threads=threads))
            assert np.array_equal(np.where(own == nothing("min", False), -1, own), expected)


def test_labels_are_those_of_components(tmp_path, page):
    for _, network in each_network(tmp_path, [*some_graphs(tmp_path), GRAPHS["random directed"](tmp_path / "d.zarr")]):
        assert found(page("Label")(), network).tolist() == network.compute("components").tolist()


@pytest.mark.parametrize("directed", [True, False])
def test_sums_of_weights_are_those_of_delta_stepping(tmp_path, page, directed):
    for _, network in each_network(tmp_path, stores(tmp_path, directed=directed, weighted=True)):
        own = found(page("WeightFrom")(source=0), network)
        assert own.tolist() == network.compute("sssp", source=0).tolist()


@pytest.mark.parametrize("name", ["Rank", "RankInUnits"])
def test_ranks_are_those_of_pagerank(tmp_path, page, name):
    graphs = [*some_graphs(tmp_path), GRAPHS["random directed"](tmp_path / "d.zarr")]
    for _, network in each_network(tmp_path, graphs):
        ranks, own = network.compute("pagerank", **RANKS), found(page(name)(), network)
        if name == "RankInUnits":
            assert own.tolist() == ranks.units.tolist()
        else:
            # Floats that are rounded in each round may end a round apart, which changes ranks by the tolerance.
            assert np.abs(own - ranks.units / UNITS).sum() <= 2e-6 + ranks.error


def test_a_core_is_that_of_the_core_numbers(tmp_path, page):
    for _, network in each_network(tmp_path, [*some_graphs(tmp_path), GRAPHS["clique"](tmp_path / "c.zarr")]):
        cores = network.undirected.compute("core")
        for k in (0, 3, 7):
            assert found(page("KCore")(k=k), network).tolist() == (cores >= k).astype(int).tolist()


def test_the_page_is_tested_whole(page):
    text, tested = text_of_the_page(), Path(__file__).read_text()
    assert all(name in tested for name in re.findall(r"^class (\w+)", text, re.MULTILINE))


# Any class, by the definition


COMBINED = {"min": min, "max": max, "sum": lambda a, b: a + b, "or": lambda a, b: a | b}


def by_definition(one, store, source=0):
    """Values and number of rounds, by calling the hooks in Python's interpreter on lists."""
    edges = [(u, v, w) for u, row in enumerate(rows_of(store, store.weighted)) for v, w in row]
    edges = [(v, u, w) for u, v, w in edges] if one.over == "reversed" else edges
    count, degrees = store.vertices, np.bincount([u for u, *_ in edges], minlength=store.vertices).tolist()
    me = SimpleNamespace(source=source)
    real = isinstance(type(one).start(me, _view(one, True, id=0, degree=degrees[0], vertices=count)), float)

    def view(**fields):
        return _view(one, real, vertices=count, **fields)

    def of(v):
        return {"id": v, "degree": degrees[v]}

    values, number, none = [type(one).start(me, view(**of(v))) for v in range(count)], 0, nothing(one.combine, real)
    while one.rounds is None or number < one.rounds:
        number += 1
        shared = {"round": number}
        if one.has("total"):
            each = [type(one).total(me, view(**of(v), value=values[v], **shared)) for v in range(count)]
            shared["total"] = sum(each) if not real else np.sum(each)
        came = [none] * count
        for u, v, weight in sorted(edges, key=lambda edge: (edge[1], edge[0])):
            if one.combine == "sum" or values[u] != none:
                ends = {"src": u, "dst": v, "src_degree": degrees[u], "dst_degree": degrees[v], "weight": weight}
                sent = type(one).edge(me, view(**ends, value=values[u], dst_value=values[v], **shared))
                came[v] = COMBINED[one.combine](came[v], sent)
        if one.has("vertex"):
            pairs = zip(values, came, strict=True)
            new = [
                type(one).vertex(me, view(**of(v), value=old, combined=got, **shared))
                for v, (old, got) in enumerate(pairs)
            ]
        else:
            new = [COMBINED[one.combine](old, got) for old, got in zip(values, came, strict=True)]
        changed, values = new != values, new
        if not changed and not one.reads("round"):
            break
    return values, number


def _view(one, real, **fields):
    return SimpleNamespace(**fields, nothing=nothing(one.combine, real))


def test_hooks_are_written_once_in_a_process():
    made = [compiled(one, (1.0,), weighted=False) for one in (Reached(), Reached(), Same())]
    assert made[0].kernels is made[1].kernels
    assert made[0].kernels is not made[2].kernels
    assert compiled(Reached(), (1.0,), weighted=True).kernels is not made[0].kernels


@pytest.mark.parametrize("kind", [Farthest, Reached, Beaten, Same, Below, Signed, Counted])
def test_a_class_finds_what_its_hooks_say(tmp_path, kind):
    one = kind(source=1) if kind is Farthest else kind()
    graphs = [
        random_store(tmp_path / "d.zarr", vertices=120, edges=700, directed=True),
        random_store(tmp_path / "u.zarr", vertices=120, edges=300, seed=3),
        GRAPHS["repeated"](tmp_path / "r.zarr"),
        GRAPHS["one loop"](tmp_path / "l.zarr"),
    ]
    for store, network in each_network(tmp_path, graphs):
        both = 18 * store.edges  # bytes of ids and weights in both directions, and to check them
        if kind in (Farthest, Beaten) and store.directed and network.room < both:
            with pytest.raises(BudgetError, match="reads e.weight and has a hook vertex"):
                one.findings(network)
            continue
        values, number = by_definition(one, store, source=min(1, store.vertices - 1))
        if kind is Farthest and store.vertices == 1:
            one, (values, number) = kind(source=0), by_definition(one, store)
        findings = one.findings(network)
        own = findings[kind.__name__].values
        # Python adds floats in another order.
        assert np.allclose(own, values, rtol=1e-12) if kind is Beaten else own.tolist() == values
        assert findings[f"rounds of {kind.__name__}"].value in (number, number - 1)  # the last one changes nothing


def test_floats_have_the_same_bits_by_any_threads(tmp_path):
    store = random_store(tmp_path / "g.zarr", vertices=3000, edges=60_000)
    wanted = found(Beaten(), HostNetwork(store, threads=1))
    for threads in (2, 3, 7):
        assert found(Beaten(), HostNetwork(store, threads=threads)).tobytes() == wanted.tobytes()


class Summed(Measure):
    """What each row has in a sum, and what all vertices have."""

    combine = "sum"
    rounds = 1

    def start(self, v):
        return 1 / (3 + v.id)

    def total(self, v):
        return v.value * 1.1

    def edge(self, e):
        return e.value / (1 + e.dst)

    def vertex(self, v):
        return v.combined if v.id else v.total


def in_lanes(numbers):
    """The sum of 32 lanes, in each of which numbers are added in their order, and which are then added in halves."""
    lanes = [0.0] * 32
    for number, one in enumerate(numbers):
        lanes[number % 32] += one
    while len(lanes) > 1:
        lanes = [one + other for one, other in zip(lanes, lanes[len(lanes) // 2 :], strict=False)]
    return lanes[0]


def in_pieces(numbers):
    sums = [in_lanes(numbers[k : k + 512]) for k in range(0, len(numbers), 512)]
    return in_lanes(sums) if len(sums) > 1 else sum(sums)


def test_floats_are_added_as_lanes_of_a_warp_add_them(tmp_path):
    counts, vertices = [0, 1, 2, 7, 31, 32, 33, 511, 512, 513, 1025, 16_384, 16_385, 17_000], 17_001
    edges = [(u, v, 1) for v, count in enumerate(counts) for u in range(1, count + 1)]
    network = HostNetwork(store_of(tmp_path / "g.zarr", edges, directed=True, vertices=vertices))
    own = found(Summed(), network)
    start = [1 / (3 + v) for v in range(vertices)]
    for v, count in enumerate(counts[1:], start=1):
        assert own[v] == in_pieces([start[u] / (1 + v) for u in range(1, count + 1)])
    whole = [one * 1.1 for one in start]
    assert own[0] == sum(in_pieces(whole[k : k + CHUNK]) for k in range(0, vertices, CHUNK))


# What is refused


class Endless(Measure):
    limit = 50

    def start(self, v):
        return v.id

    def edge(self, e):
        return e.value - 1


class Limited(Endless):
    rounds: int = option(3, help="rounds", low=0)


class Strange(Measure):
    combine = "sum"

    def start(self, v):
        return 1.0

    def vertex(self, v):
        return (v.combined - v.combined) / (v.value - v.value)


class Text(Measure):
    def start(self, v):
        return v.id

    def edge(self, e):
        text = "a"
        return len(text) + e.prev


class Unsteady(Measure):
    def start(self, v):
        return v.id

    def vertex(self, v):
        return v.value / 2


class RealBits(Measure):
    combine = "or"

    def start(self, v):
        return 1.5

    def edge(self, e):
        return e.src


class Fractions(Measure):
    combine = "or"

    def start(self, v):
        return 1.5


def test_no_end_is_an_error_that_says_what_to_do(tmp_path):
    network = HostNetwork(GRAPHS["square"](tmp_path / "g.zarr"))
    with pytest.raises(OptionError, match="after 50 rounds, the values of 5 vertices still change; .* set rounds"):
        Endless().findings(network)
    assert found(Limited(), network).tolist() == [-3, -3, -3, -3, -3] or found(Limited(), network).min() == -3
    assert found(Limited(rounds=0), network).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (
            Strange,
            r"line \d+ of test_own_measure.py: Strange.vertex: expected a number, found NaN .* vertex \d in round 1",
        ),
        (Text, r"line \d+ of test_own_measure.py: Text.edge: no e.prev; there are src, dst"),
        (Unsteady, r"line \d+ of test_own_measure.py: Unsteady.vertex: start gives an integer"),
        (RealBits, r"RealBits.start: expected an integer, whose bits are combined by or"),
        (Fractions, r"Fractions.start: expected an integer, whose bits are combined by or"),
    ],
)
def test_a_hook_that_cannot_be_is_refused_with_its_line(tmp_path, kind, said):
    with pytest.raises(OptionError, match=said):
        kind().findings(HostNetwork(GRAPHS["square"](tmp_path / "g.zarr")))


def test_a_vertex_without_edges_starts_a_sum_at_nothing(tmp_path):
    with pytest.raises(OptionError, match="has no vertices"):
        Endless().findings(HostNetwork.of_arrays(np.zeros(1, np.int64), np.zeros(0, np.uint32), directed=False))


def of(**body):
    return type("Mine", (Measure,), {"start": Endless.start, **body})


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"combine": "mean"}, "Mine.combine: expected one of min, max, sum, or, found 'mean'"),
        ({"over": "both"}, "Mine.over: expected one of edges, reversed, undirected"),
        ({"rounds": -1}, "Mine.rounds: expected an integer of at least 0, found -1"),
        ({"limit": None}, "Mine.limit: expected an integer of at least 1, found None"),
        ({"tolerance": "no"}, "Mine.tolerance: expected a number of at least 0"),
        ({"combine": "sum"}, r"Mine: a sum needs a method 'def vertex\(self, v\)'"),
        ({"start": Measure.start}, r"Mine: expected a method 'def start\(self, v\)'"),
        ({"vertx": Unsteady.vertex}, "Mine.vertx: nothing reads it; did you mean vertex?"),
        ({"egde": Below.edge}, r"line \d+ of .*: Mine.egde: nothing reads it; did you mean edge?"),
        ({"combin": "max"}, "Mine.combin: nothing reads it; did you mean combine?"),
        ({"tolerence": 3}, "Mine.tolerence: nothing reads it; did you mean tolerance?"),
        ({"over": "undirected", "edge": Below.edge}, "Mine.edge: e.weight is of the edges as they are stored"),
        ({"combine": "sum", "vertex": Beaten.total}, "no v.total|reads the number of the round"),
    ],
)
def test_a_class_that_cannot_be_is_refused(body, said):
    with pytest.raises(OptionError, match=said):
        of(**body)()


def test_an_attribute_that_a_hook_reads_may_be_called_nearly_as_a_rule():
    of(starts=3, start=_reads_starts)()


def _reads_starts(self, v):
    return self.starts


def test_hooks_that_changed_are_measured_anew(tmp_path, monkeypatch):
    monkeypatch.setattr("csaw.engine.analytics.evaluation.profiles.cache_dir", lambda: tmp_path / "cache")
    store = GRAPHS["square"](tmp_path / "g.zarr")
    for added in (1, 2, 1):
        text = f"def start(self, v): return v.id + {added}\n"
        (tmp_path / "m.py").write_text(f"from csaw.engine.measure import Measure\nclass M(Measure):\n    {text}")
        name = f"{tmp_path}/m.py:M"
        assert evaluate(store, measures=name, device="cpu").profile["M"].values.tolist() == [added] * 5


def test_a_sample_is_compared_by_ones_own_measure(tmp_path, monkeypatch, page):
    monkeypatch.setattr("csaw.engine.analytics.evaluation.profiles.cache_dir", lambda: tmp_path / "cache")
    store = random_store(tmp_path / "g.zarr", vertices=100, edges=900)
    fires = sample(store, tmp_path / "s.zarr", "forest-fire", instances=4)
    kinds = [page("KCore")(k=2), page("Rank"), page("WeightFrom")]
    rows = {row.finding for row in evaluate(store, [fires], measures=kinds, device="cpu").rows()}
    assert {"distribution of KCore", "Rank", "largest Rank"} <= rows
    assert not any("WeightFrom" in row for row in rows)  # samples have no weights


def _without_checks(self):
    pass


@pytest.mark.parametrize(
    ("measures", "said"),
    [
        ([3], "--measures: expected names of measures"),
        ([int], "--measures: expected names, FILE.py:CLASS or classes of measures, found <class 'int'>"),
        (["nofile.py:A"], "--measures: nofile.py is not a file"),
        ([Endless(), of(limit=9)], None),
        ([Limited(rounds=1), Limited(rounds=2)], "--measures: two measures are called Limited"),
        ([of(memory=option(3, help="m"))], "Mine.memory: every evaluation has an option of this name"),
        (
            [of(damping=option(3, help="m"))],
            "Mine.damping: csaw's pagerank has an option of this name and another type",
        ),
        ([of(__init__=_without_checks)], "Mine.__init__: a measure is made by its options"),
        ([of(__init__=_without_checks)()], "Mine.__init__: a measure is made by its options"),
        ("degree,nofile.py", "--measures: expected FILE.py:CLASS, found 'nofile.py'"),
    ],
)
def test_measures_that_cannot_be_chosen_are_refused(measures, said):
    options = EvaluateOptions(measures=measures) if said != "--measures: expected names of measures" else None
    if said is None:
        assert [one.name() for one in chosen(options.measures, {})] == ["Endless", "Mine"]
        return
    with pytest.raises(CsawError, match=re.escape(said)):
        chosen((options or EvaluateOptions(measures=measures)).measures, {})


def test_weights_that_are_not_there_are_asked_for(tmp_path):
    store = store_of(tmp_path / "g.zarr", [(0, 1, 1)], directed=False, weighted=False)
    with pytest.raises(OptionError, match=r"Below: e.weight: .*g.zarr has no weights"):
        Below().findings(HostNetwork(store))


# Types, and what is too large for them


class Halves(Measure):
    """Values are integers, and an edge gives a float that the vertex makes an integer of."""

    def start(self, v):
        return v.id

    def edge(self, e):
        return e.value / 2

    def vertex(self, v):
        return int(v.combined)


class Unfit(Measure):
    """An edge gives NaN, of which the vertex makes NaN."""

    combine = "sum"

    def start(self, v):
        return 1.0

    def edge(self, e):
        return (e.value - e.dst_value) / (e.value - e.dst_value)

    def vertex(self, v):
        return v.combined


@pytest.mark.parametrize("kind", [Near, Degrees])
def test_integers_and_floats_mix_as_in_python(tmp_path, kind):
    store = random_store(tmp_path / "g.zarr", vertices=60, edges=100, seed=5)
    assert found(kind(), HostNetwork(store)).tolist() == by_definition(kind(), store)[0]


def test_a_fraction_on_the_way_between_integers_is_refused(tmp_path):
    with pytest.raises(OptionError, match=r"line \d+ of .*: Halves.edge: start gives an integer, and this a number"):
        Halves().findings(HostNetwork(GRAPHS["square"](tmp_path / "g.zarr")))


def test_a_total_of_integers_wraps_around(tmp_path):
    network = HostNetwork(random_store(tmp_path / "g.zarr", vertices=1500, edges=3000, weighted=False))
    with np.errstate(over="ignore"):
        wanted = np.full(1500, 1 << 53).sum()
    assert set(found(Huge(), network).tolist()) == {int(wanted)}


def test_nan_names_the_hook_that_gave_it(tmp_path):
    with pytest.raises(OptionError, match=r"Unfit.edge: expected a number, found NaN .* such as 0 / 0"):
        Unfit().findings(HostNetwork(GRAPHS["square"](tmp_path / "g.zarr")))


# Files that cannot be read


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (
            "m.py:Labels",
            "m.py has no class called 'Labels' that derives from csaw.engine.measure.Measure; did you mean Label?",
        ),
        ("m.py:Zzz", "m.py has no class called 'Zzz' that derives from csaw.engine.measure.Measure"),
        ("bad.py:Label", "bad.py cannot be imported: line 3 of bad.py: option(None): expected a default"),
        ("none.py:Label", "none.py is not a file"),
    ],
)
def test_a_file_that_fails_is_named_before_the_options_of_its_class(tmp_path, monkeypatch, file, said):
    text = "from csaw.engine.measure import Measure, option\nclass Label(Measure):\n    k: int = option({}, help='k')\n"
    (tmp_path / "m.py").write_text(text.format(3))
    (tmp_path / "bad.py").write_text(text.format("None, none='all'"))
    monkeypatch.chdir(tmp_path)
    for given in (["--k", "3"], ["--none-of-these", "3"]):
        with pytest.raises(CsawError, match=re.escape(said)):
            command.make_context("evaluate", ["karate", "--measures", file, *given])
    with pytest.raises(click.NoSuchOption):
        command.make_context("evaluate", ["karate", "--measures", "m.py:Label", "--none-of-these", "3"])
