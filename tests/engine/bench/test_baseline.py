"""What figures of a benchmark say: a slower run is noticed, and claims hold or do not."""

import json
import time

import pytest
from helpers.bench import GRAPH, bench, row

from csaw.cli.commands.bench import SLOWER
from csaw.engine.bench import earlier_runs, suites
from csaw.engine.bench.bench_row import MACHINE, figure
from csaw.engine.bench.context import Context
from csaw.engine.bench.suites import papers
from csaw.engine.cpu.batches.walks import Walks

SERIES = {"series": papers.SERIES}
LIMIT = {"suite": MACHINE, "work": "gathers", **figure([1e9]), "unit": "gathers/s"}


class Clock:
    """Seconds that pass when a batch of walks says so, and not while other work has the processor."""

    def __init__(self, monkeypatch):
        self.now, self.turns = 0.0, 0
        self.advance = Walks.advance
        monkeypatch.setattr(time, "perf_counter", lambda: self.now)
        monkeypatch.setattr(Walks, "advance", lambda walks: self.spend(walks))
        self.seconds = 0.1

    def spend(self, walks):
        self.advance(walks)
        self.turns += 1
        self.now += self.seconds * (1 + 0.02 * (self.turns % 3))  # some noise


LINE = [GRAPH, "--suite", "walks", "--only", "uniform walk, 4000", "--max-instances", "20", "--repeats", "3"]


def test_a_slower_kernel_is_caught_by_the_baseline_and_the_same_speed_is_not(tmp_path, monkeypatch):
    before = tmp_path / "before.json"
    monkeypatch.setattr(Context, "limits", [LIMIT])
    clock = Clock(monkeypatch)
    before.write_text(json.dumps(bench(*LINE, folder=tmp_path)[2]))
    code, said, _ = bench(*LINE, "--baseline", str(before), folder=tmp_path)
    assert code == 0
    assert "0 slower, 0 faster of 2 figures" in said
    clock.seconds *= 1.2
    code, said, _ = bench(*LINE, "--baseline", str(before), folder=tmp_path)
    assert code == SLOWER == 4
    assert f"slower: walks, {GRAPH}, uniform walk, 20 x 2000" in said
    clock.seconds /= 1.5
    code, said, _ = bench(*LINE, "--baseline", str(before), folder=tmp_path)
    assert code == 0
    assert f"faster: walks, {GRAPH}, uniform walk, 20 x 2000" in said


def test_rates_of_the_machines_own_clock_are_compared_with_the_baseline(tmp_path):
    before, rows = tmp_path / "before.json", bench(*LINE, folder=tmp_path)[2]
    faster = [row | {name: row[name] * 1e6 for name in ("rate", "fastest", "slowest") if name in row} for row in rows]
    before.write_text(json.dumps(faster))
    code, said, _ = bench(*LINE, "--baseline", str(before), folder=tmp_path)
    assert code == SLOWER
    assert f"slower: walks, {GRAPH}, uniform walk, 20 x 2000" in said


@pytest.mark.parametrize(
    ("before", "now", "slower", "faster"),
    [
        ((90, 100, 110), (90, 100, 110), False, False),
        ((99, 100, 101), (93, 94, 95), False, False),  # outside the spread, within the margin
        ((99, 100, 101), (92, 93, 94), True, False),
        ((90, 100, 110), (80, 82, 85), False, False),  # within half the spread of it
        ((90, 100, 110), (75, 78, 80), True, False),
        ((90, 100, 110), (50, 60, 100), False, False),  # the spreads overlap
        ((99, 100, 101), (107, 108, 109), False, True),
        ((99, 100, 101), (1, 1, 4), True, False),  # a spread of three times the rate hides no slowdown of this size
        ((1, 1, 4), (99, 100, 101), False, True),
    ],
)
def test_slower_is_beyond_both_spreads_and_their_noise(before, now, slower, faster):
    (change,) = earlier_runs.compare([row("walk", *before)], [row("walk", *now), row("new", 1.0)])
    assert (change.slower, change.faster) == (slower, faster)


def selected(way, rate, collisions=0.0, searches=1.0):
    return row(f"w, {way}", rate, way=way, iterations_an_edge=1 + collisions, searches_an_edge=searches)


def both_ways(work, rate):
    return row(f"{work}, sample-parallel", 1.0), row(f"{work}, transit-parallel", rate)


def timed(what, work, times, **more):
    return row(work, 1.0, suite=what, times=times, **more)


@pytest.mark.parametrize(
    ("suite", "rows", "holds"),
    [
        ("walks", [row("uniform walk", 1.0, of_ceiling=0.6), row("uniform walk", 1.0, of_ceiling=0.5)], True),
        ("walks", [row("uniform walk", 1.0, of_ceiling=0.6), row("uniform walk", 1.0, of_ceiling=0.4)], False),
        ("neighbors", [row("25 x 10, with replacement", 1.0, of_ceiling=0.4)], False),
        ("neighbors", [row("25 x 10, without replacement", 1.0, of_ceiling=0.9)], None),
        ("overview", [row("whole run: uniform walks of 80, written", 1.0, of_plain_write=0.5, of_slower=0.95)], True),
        ("overview", [row("whole run: uniform walks of 80, written", 1.0, of_plain_write=0.95, of_slower=0.85)], False),
        ("journey", [row("sample, node2vec p=.5 q=2", 1.0, of_slower=0.9, seconds=2.0)], True),
        ("journey", [row("sample, node2vec p=.5 q=2", 1.0, of_slower=0.8, seconds=2.0)], False),
        (
            "selection",
            [selected("bipartite", 3.0, 0.1), selected("repeated", 2.0, 0.2), selected("updated", 1.0)],
            True,
        ),
        (
            "selection",
            [selected("bipartite", 3.0, 0.3), selected("repeated", 2.0, 0.2), selected("updated", 1.0)],
            False,
        ),
        (
            "selection",
            [selected("bipartite", 1.5, 0.1), selected("repeated", 1.0, 0.2), selected("updated", 2.0)],
            False,
        ),
        ("selection", [selected("bipartite", 3.0), selected("bipartite, linear", 3.0, searches=2.0)], True),
        ("selection", [selected("bipartite", 3.0), selected("bipartite, linear", 3.0, searches=0.5)], False),
        ("selection", [selected("bipartite", 3.0)], None),
        (
            "neighbor-size",
            [row("1", 1.0, 2.0, neighbor_size=1, **SERIES), row("8", 3.0, 4.0, neighbor_size=8, **SERIES)],
            True,
        ),
        (
            "neighbor-size",
            [row("1", 1.0, 3.5, neighbor_size=1, **SERIES), row("8", 3.0, 4.0, neighbor_size=8, **SERIES)],
            None,
        ),
        (
            "neighbor-size",
            [row("1", 5.0, 6.0, neighbor_size=1, **SERIES), row("8", 3.0, 4.0, neighbor_size=8, **SERIES)],
            False,
        ),
        ("instances", [row("1", 2.0, instances=2000, **SERIES), row("8", 1.0, instances=16000, **SERIES)], False),
        ("instances", [row("1", 2.0, instances=2000, **SERIES)], None),
        ("transit", [*both_ways("a", 1.1), *both_ways("b", 2.0)], True),
        ("transit", [*both_ways("a", 0.9), *both_ways("b", 2.0)], False),
        (
            "from-disk",
            [
                timed("from-disk", "walk", 0.8, times_of="reading alone"),
                timed("from-disk", "neighbors", 0.9, times_of="reading alone"),
            ],
            True,
        ),
        (
            "from-disk",
            [
                timed("from-disk", "walk", 0.7, times_of="reading alone"),
                timed("from-disk", "neighbors", 0.9, times_of="reading alone"),
            ],
            False,
        ),
        ("ingest", [timed("ingest", "pandas read_csv, SciPy CSR, np.save", 0.3, process_times=0.5)], True),
        ("ingest", [timed("ingest", "pandas read_csv, SciPy CSR, np.save", 0.4, process_times=0.3)], False),
        ("ingest", [timed("ingest", "polars read_csv, unique, sort, np.save", 0.1, process_times=0.3)], None),
        ("peers", [timed("peers", "w, dgl", 0.5, peer="dgl"), timed("peers", "w, csaw", 1.0, peer="csaw")], True),
        ("peers", [timed("peers", "w, dgl", 1.2, peer="dgl"), timed("peers", "w, csaw", 1.0, peer="csaw")], False),
    ],
)
def test_a_verdict_is_what_the_figures_say(suite, rows, holds):
    verdict = suites.load(suite).verdict(rows)
    assert verdict.holds is holds
    assert verdict.found
    assert suites.load(suite).verdict([]).holds is None


def test_a_slower_machine_is_not_mistaken_for_slower_code():
    before = [{"suite": MACHINE, "device": "A"}, row("gathers", 100.0, suite=MACHINE), row("walk", 10.0)]
    now = [{"suite": MACHINE, "device": "B"}, row("gathers", 50.0, suite=MACHINE), row("walk", 5.0)]
    said = earlier_runs.told(before, now, earlier_runs.compare(before, now))
    assert "the baseline is of another device: A, this is B" in said
    assert "what this machine can do is slower too" in said
    assert "2 slower, 0 faster of 2 figures that both runs have" in said
