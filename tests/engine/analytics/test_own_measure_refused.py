"""What of a measure of one's own is refused, with what to do; and what its numbers can hold."""

import random
import re

import click
import numpy as np
import pytest
from helpers.graphs import random_store, store_of
from helpers.networks import GRAPHS
from helpers.own_measures import (
    Beaten,
    Below,
    Degrees,
    Endless,
    Huge,
    Near,
    Unfit,
    by_definition,
    found,
    of_the_page,
)

import csaw
from csaw.cli.commands.evaluate import evaluate as command
from csaw.engine import sample
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.evaluation.evaluate import evaluate
from csaw.engine.analytics.evaluation.options import EvaluateOptions, chosen
from csaw.engine.measure import Measure, option
from csaw.partition.errors import CsawError, OptionError


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


class Powers(Measure):
    combine = "or"

    def start(self, v):
        return 2**v.id


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
            r"line \d+ of test_own_measure_refused.py: Strange.vertex: .* found NaN .* vertex \d in round 1",
        ),
        (Text, r"line \d+ of test_own_measure_refused.py: Text.edge: no e.prev; there are src, dst"),
        (Unsteady, r"line \d+ of test_own_measure_refused.py: Unsteady.vertex: start gives an integer"),
        (RealBits, r"RealBits.start: expected an integer, whose bits are combined by or"),
        (Fractions, r"Fractions.start: expected an integer, whose bits are combined by or"),
        (Powers, r"Powers.start: .*, found a float; a power such as 2\*\*k is one, 1 << k is an integer"),
    ],
)
def test_a_hook_that_cannot_be_is_refused_with_its_line(tmp_path, kind, said):
    with pytest.raises(OptionError, match=said):
        kind().findings(HostNetwork(GRAPHS["square"](tmp_path / "g.zarr")))


def test_a_hook_that_draws_is_refused_with_its_line():
    with pytest.raises(OptionError, match=r"line \d+ of .*: Mine.edge: random.random draws numbers that do not follow"):
        of(edge=_drawn)()


def _drawn(self, e):
    return e.value + int(2 * random.random())


class Truth(Measure):
    rounds = 0

    def start(self, v):
        return v.id == 3


def test_a_truth_is_an_integer(tmp_path):
    assert found(Truth(), HostNetwork(GRAPHS["square"](tmp_path / "g.zarr"))).tolist() == [0, 0, 0, 1, 0]


def test_a_vertex_without_edges_starts_a_sum_at_nothing(tmp_path):
    with pytest.raises(OptionError, match="has no vertices"):
        Endless().findings(HostNetwork.of_arrays(np.zeros(1, np.int64), np.zeros(0, np.uint32), directed=False))


def _without_view(self):
    return 0


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
        ({"start": _without_view}, r"Mine.start: expected a method 'def start\(self, v\)'"),
        ({"x": option(3, help="", low=5)}, "Mine.x: its default: expected 5 to .*, found 3"),
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


def test_a_sample_is_compared_by_ones_own_measure(tmp_path, monkeypatch):
    monkeypatch.setattr("csaw.engine.analytics.evaluation.profiles.cache_dir", lambda: tmp_path / "cache")
    store = random_store(tmp_path / "g.zarr", vertices=100, edges=900)
    fires = sample(store, tmp_path / "s.zarr", "forest-fire", instances=4)
    kinds = [of_the_page(tmp_path, "KCore")(k=2), of_the_page(tmp_path, "Rank"), of_the_page(tmp_path, "WeightFrom")]
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
        ([of(check=option(3, help="m"))], "Mine.check: every measure has a method of this name; choose another one"),
        (
            [of(damping=option(3, help="m"))],
            "Mine.damping: csaw's pagerank has an option of this name and another type",
        ),
        ([of(__init__=_without_checks)], "Mine.__init__: a measure must not define it"),
        ([of(__init__=_without_checks)()], "Mine.__init__: a measure must not define it"),
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
    with pytest.raises(OptionError, match=r"^Below: e.weight: expected a graph with weights, found none in .*g.zarr; "):
        Below().check(store)


# Types, and what is too large for them


class Halves(Measure):
    """Values are integers, and an edge gives a float that the vertex makes an integer of."""

    def start(self, v):
        return v.id

    def edge(self, e):
        return e.value / 2

    def vertex(self, v):
        return int(v.combined)


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
    with pytest.raises(OptionError, match=r"Unfit.edge: expected a number, found NaN .* as from 0 / 0"):
        Unfit().findings(HostNetwork(GRAPHS["square"](tmp_path / "g.zarr")))


# Files that cannot be read


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("m.py:Labels", "that derives from csaw.engine.measure.Measure; there are Label; did you mean Label?"),
        ("m.py:Zzz", "m.py has no class called 'Zzz' that derives from csaw.engine.measure.Measure; there are Label"),
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


class NoNumber(Measure):
    over = "undirected"

    def start(self, v):
        return 0.0 / (v.id - 1.0)


def test_not_a_number_is_told_of_the_id_of_the_graph(tmp_path):
    (tmp_path / "edges.txt").write_text("10 20\n20 30\n30 30\n")
    with pytest.raises(OptionError, match=r"found NaN \(not a number\) at vertex 20"):
        NoNumber().findings(HostNetwork(csaw.graph(tmp_path / "edges.txt", directed=True)))


def test_an_option_that_a_measure_has_not_is_refused():
    with pytest.raises(OptionError, match=r"Limited: no option round; it has rounds; did you mean rounds\?"):
        Limited(round=3)


@pytest.mark.parametrize("source", [2.5, 2.0, True, "two", [2]])
def test_a_source_that_is_no_id_is_refused(source, tmp_path):
    store = store_of(tmp_path / "g.zarr", [(0, 1, 1.0), (1, 2, 1.0)], directed=False)
    with pytest.raises(OptionError, match="--bfs-source: expected an integer, the id of a vertex, found"):
        evaluate(store, measures="bfs", bfs_source=source)
