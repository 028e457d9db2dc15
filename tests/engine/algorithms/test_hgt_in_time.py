"""HGT sampling in time: anchors of its law with exact chances, a slow definition with the same bytes, the request that
decides them, faults that verify finds, and what is refused.
"""

from collections import Counter

import numpy as np
import pandas
import pytest
from click.testing import CliRunner
from helpers.faults import plant
from helpers.graphs import arrays_of
from helpers.hgt import defined, drawn
from helpers.interrupted import interrupted_after
from helpers.invariance import assert_request_decides, assert_same
from helpers.relations import SEEDS, graph_in_time, partitioned
from helpers.small_samples import files_of
from helpers.stats import assert_drawn_from
from helpers.temporal import events_store, random_events

import csaw
from csaw.cli.main import cli
from csaw.engine import execute, prepare
from csaw.engine.batches.budgets import Budgets, BudgetsInTime
from csaw.engine.cluster.shards import Shard, draw_shard
from csaw.engine.cpu.backend import CpuBackend
from csaw.engine.plan.batch_kind import BatchKind
from csaw.engine.stores.verify import verify
from csaw.partition.errors import OptionError

NUMBERS = {"a": (7, 4), "b": (10, 8), "c": (2, 1)}
SOME = {"num_samples": NUMBERS, "time_strategy": "uniform"}
ONE_TIME = SOME | {"seeds_per_batch": 16, "sources": "type:b", "start_time": 25}
EACH = SOME | {"seeds_per_batch": 1, "sources": SEEDS}
CASES = {
    "one time": ONE_TIME,
    "a time for each": EACH,
    "strict": ONE_TIME | {"time_order": "strict"},
    "window": ONE_TIME | {"time_window": 7},
    "strict window for each": EACH | {"time_order": "strict", "time_window": 9, "shuffle": True, "epochs": 2},
}
every_case = pytest.mark.parametrize("case", CASES)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return graph_in_time(tmp_path_factory.mktemp("timed"))


@pytest.fixture(scope="module")
def pieces(tmp_path_factory):
    return graph_in_time(tmp_path_factory.mktemp("pieces"), partitions=4)


def timed(folder, files):
    """The graph of these relations, each with rows of source, target and time."""
    given = {name: "source,target,time\n" + rows.replace(" ", ",") for name, rows in files.items()}
    return partitioned(folder, given, time_column="time")


@pytest.fixture(scope="module")
def papers(tmp_path_factory):
    """The graph of LAWS B1, papers P0 by authors A0, A1, and P1 by A1, A2, A3, with edges after time 5 that would
    change each chance: to other authors, and further ones to these.
    """
    rows = "0 0 5\n0 1 -3\n1 1 5\n1 2 0\n1 3 4\n" + "0 0 6\n0 4 9\n1 3 7\n1 3 6\n1 5 100\n"
    return timed(tmp_path_factory.mktemp("papers"), {"paper-by-author": rows})


SEED_PAPERS = ["paper:0", "paper:1"]
AT_5 = {"time_strategy": "uniform", "start_time": 5}
ONE = {"author:0": 3 / 14, "author:1": 25 / 42, "author:2": 2 / 21, "author:3": 2 / 21}
SETS = {"01": 625 / 1309, "12": 1375 / 6783, "13": 1375 / 6783, "02": 71 / 1463, "03": 71 / 1463, "23": 8 / 399}


def test_later_edges_give_nothing_and_are_not_among_those_that_a_budget_is_divided_among(papers):
    """LAWS B1 with n = 1."""
    counts = Counter(drawn(papers, SEED_PAPERS, 6000, num_samples={"author": (1,)}, **AT_5))
    assert set(counts) == {(name,) for name in ONE}
    assert_drawn_from([counts[name,] for name in ONE], list(ONE.values()))


def test_two_vertices_are_drawn_one_after_the_other(papers):
    """LAWS B1 with n = 2."""
    found = drawn(papers, SEED_PAPERS, 6000, num_samples={"author": (2,)}, **AT_5)
    sets = Counter("".join(sorted(name[-1] for name in one)) for one in found)
    assert set(sets) == set(SETS)
    assert_drawn_from([sets[one] for one in SETS], list(SETS.values()))


def test_an_edge_at_the_time_itself_counts_unless_the_order_is_strict(papers):
    """At time 5, strictly: P0 gives A1 all, P1 gives A2 and A3 a half each."""
    strict = AT_5 | {"time_order": "strict"}
    counts = Counter(drawn(papers, SEED_PAPERS, 6000, num_samples={"author": (1,)}, **strict))
    chances = {"author:1": 2 / 3, "author:2": 1 / 6, "author:3": 1 / 6}
    assert set(counts) == {(name,) for name in chances}
    assert_drawn_from([counts[name,] for name in chances], list(chances.values()))


def test_a_window_leaves_out_what_is_long_before(papers):
    """With a window of 4 at time 5: P0 gives A0 all, P1 gives A1 and A3 a half each."""
    counts = Counter(drawn(papers, SEED_PAPERS, 6000, num_samples={"author": (1,)}, time_window=4, **AT_5))
    chances = {"author:0": 2 / 3, "author:1": 1 / 6, "author:3": 1 / 6}
    assert set(counts) == {(name,) for name in chances}
    assert_drawn_from([counts[name,] for name in chances], list(chances.values()))


def test_vertices_that_were_drawn_know_the_time_of_the_seeds(tmp_path):
    """LAWS B2 with a second layer: the author inherits time 5, so that its later paper P3 gets nothing."""
    files = {
        "author-writes-paper": "0 0 1\n0 1 2\n0 2 5\n0 3 6\n",
        "paper-by-author": "0 0 3\n0 1 6\n",
        "paper-to-paper": "0 1 4\n0 3 8\n",
    }
    store = timed(tmp_path, files)
    found = Counter(drawn(store, ["paper:0"], 500, num_samples=(1,), **AT_5))
    assert found == {("author:0", "paper:1"): 500}
    found = Counter(drawn(store, ["paper:0"], 500, num_samples=(1, 9), **AT_5))
    assert found == {("author:0", "paper:1", "paper:2"): 500}
    late = Counter(drawn(store, ["paper:0"], 500, num_samples=(9, 9), **AT_5 | {"start_time": 8}))
    assert {name for one in late for name in one} == {f"paper:{k}" for k in (1, 2, 3)} | {"author:0", "author:1"}


def test_each_seed_has_its_own_time_and_sees_nothing_later(tmp_path):
    """LAWS E1: orders at 5 and 8, seen at 6, 8 and 9."""
    store = timed(tmp_path, {"user-has-order": "0 1 5\n0 2 8\n"})

    def seen(**options):
        sources = {"ids": ["user:0"] * 4, "time": [6, 9, 8, 4]}
        given = {"sources": sources, "seeds_per_batch": 1, "num_samples": (5,), "time_strategy": "uniform"}
        sample = csaw.sample(store, algo="hgt", device="cpu", progress=False, **given | options)
        assert sample["seed_time"][:].tolist() == sources["time"]
        return [sorted(sample.group(k, k + 1)["time"].tolist()) for k in range(4)]

    assert seen() == [[5], [5, 8], [5, 8], []]
    assert seen(time_order="strict") == [[5], [5, 8], [5], []]
    assert seen(time_window=2) == [[5], [8], [8], []]


def test_no_edge_is_later_than_its_mini_batch_though_its_ends_were_drawn(tmp_path):
    """pyHGT and PyTorch Geometric keep all edges at the end: here both ends are there, and the later edges are not."""
    files = {"x-to-y": "0 0 1\n0 1 2\n0 0 9\n", "y-to_y-y": "0 1 7\n1 0 3\n", "y-back-x": "1 0 8\n0 0 3\n"}
    sample = csaw.sample(
        timed(tmp_path, files), algo="hgt", sources=["x:0"], num_samples=(5, 5), progress=False, **AT_5
    )
    assert len(sample["n_id"]) == 3
    assert sorted(sample["time"][:].tolist()) == [1, 2, 3, 3]


def early(case):
    """Whether an edge of a time counts for a mini-batch of a time."""
    given = CASES[case]
    strict, window = given.get("time_order") == "strict", given.get("time_window", 10**6)
    return lambda time, now: (time < now if strict else time <= now) and now - time <= window


@every_case
def test_the_bytes_are_those_of_the_definition(store, tmp_path, case):
    arrays, counts = arrays_of(store, tmp_path / "s.zarr", "hgt", seed=7, **CASES[case]), early(case)
    names = ("col", "relation", "row", "e_id")
    held = store.load(store.further_columns).columns["time"]
    for instance in (0, 4, 33):
        of_nodes = slice(*arrays["node_ptr"][instance : instance + 2])
        of_edges = slice(*arrays["edge_ptr"][instance : instance + 2])
        seeds = arrays["n_id"][of_nodes][: arrays["hop_nodes"][instance, 0]].tolist()
        now = arrays["seed_time"][np.cumsum(arrays["hop_nodes"][:, 0])[instance] - 1]
        nodes, layer, edges = defined(store, NUMBERS, seeds, instance, 7, lambda time, now=now: counts(time, now))
        assert arrays["n_id"][of_nodes].tolist() == nodes
        assert arrays["hop_nodes"][instance].tolist() == [layer.count(number) for number in range(3)]
        assert arrays["hop_edges"][instance].tolist() == [sum(one[0] == hop for one in edges) for hop in range(2)]
        found = list(zip(*(arrays[name][of_edges].tolist() for name in names), strict=True))
        assert found == [(col, r, row, edge) for _, col, r, _, row, edge in edges]
        assert np.array_equal(arrays["time"][of_edges], held[arrays["e_id"][of_edges]])


@every_case
def test_the_request_decides_the_bytes(tmp_path, store, pieces, case):
    given = CASES[case]
    assert_request_decides(store, pieces, tmp_path / "s.zarr", "hgt", **given)
    expected = arrays_of(store, tmp_path / "s.zarr", "hgt", **given)
    assert_same(expected, arrays_of(pieces, tmp_path / "s.zarr", "hgt", residency="disk", **given))
    small = arrays_of(pieces, tmp_path / "s.zarr", "hgt", residency="disk", in_flight=1, in_place=False, **given)
    assert_same(expected, small)


@every_case
def test_arrays_that_any_backend_computes_have_the_bytes_of_the_kernels(tmp_path, monkeypatch, store, pieces, case):
    """A GPU draws by these arrays, and by a kernel whose twin on the CPU selects neighbors in time."""
    given = CASES[case] | {"seed": 3}
    expected = arrays_of(store, tmp_path / "s.zarr", "hgt", **given)
    monkeypatch.setattr(CpuBackend, "batches", {**CpuBackend.batches, BatchKind.BUDGETS_IN_TIME: BudgetsInTime})
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", "hgt", **given))
    assert_same(expected, arrays_of(pieces, tmp_path / "s.zarr", "hgt", residency="disk", **given))
    monkeypatch.setattr("csaw.engine.batches.budgets.LISTED_EDGES", 50)
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", "hgt", **given))


def test_after_all_edges_a_sample_is_that_without_times(tmp_path, store):
    untimed = {"num_samples": NUMBERS, "seeds_per_batch": 16, "sources": "type:b"}
    expected = arrays_of(store, tmp_path / "s.zarr", "hgt", **untimed)
    found = arrays_of(store, tmp_path / "s.zarr", "hgt", **ONE_TIME | {"start_time": 1000})
    assert {"time", "seed_time"} == found.keys() - expected.keys()
    assert_same(expected, {name: found[name] for name in expected})


def test_a_graph_of_one_type_is_sampled_in_time(tmp_path):
    plain = events_store(tmp_path / "g.zarr", random_events(200, 6000, 11, span=90), 200)
    given = {"num_samples": (9, 5), "seeds_per_batch": 20, "time_strategy": "uniform", "start_time": 0, "epochs": 4}
    csaw.sample(plain, tmp_path / "s.zarr", algo="hgt", device="cpu", progress=False, **given)
    report = verify(tmp_path / "s.zarr")
    assert report.ok, report
    assert csaw.open_samples(tmp_path / "s.zarr")["time"][:].max() <= 0


def test_vertices_without_an_earlier_edge_are_dead_ends(tmp_path):
    store = timed(tmp_path, {"x-to-y": "0 0 5\n1 0 7\n"})
    sample = csaw.sample(
        store, algo="hgt", sources=["x:0", "x:1"], num_samples=(2,), seeds_per_batch=1, progress=False, **AT_5
    )
    assert sample.results["dead_ends"] == 1


@pytest.mark.parametrize("case", ["one time", "a time for each"])
def test_samples_streams_and_virtual_samples_are_the_same(tmp_path, store, case):
    given = CASES[case] | {"seed": 2, "device": "cpu"}
    kept = csaw.sample(store, tmp_path / "s.zarr", "hgt", progress=False, **given)
    virtual = csaw.sample(store, tmp_path / "v.zarr", "hgt", virtual=True, progress=False, **given)
    streamed = [batch.arrays() for batch in csaw.stream(store, "hgt", **given)]
    for name in ("n_id", "row", "col", "e_id", "relation", "time", "seed_time"):
        assert np.array_equal(kept[name][:], virtual[name][:]), name
        together = np.concatenate([arrays[name] for arrays in streamed])
        assert np.array_equal(kept[name][:], together.astype(kept[name].dtype)), name
    assert verify(tmp_path / "v.zarr").ok


@pytest.mark.parametrize("case", ["one time", "a time for each"])
def test_runs_go_on_and_shards_add_up_to_the_same_bytes(tmp_path, pieces, case, monkeypatch):
    monkeypatch.setattr("csaw.engine.plan.planning.GROUP_BYTES", 20_000)
    job = prepare(pieces, "hgt", in_flight=5, device="cpu", **CASES[case])
    execute(job, tmp_path / "s.zarr")
    with interrupted_after(2):
        execute(job, tmp_path / "t.zarr")
    execute(job, tmp_path / "t.zarr", resume=True)
    for shard in ("1/2", "0/2"):
        draw_shard(job, tmp_path / "u.zarr", Shard.of(shard))
    assert files_of(tmp_path / "s.zarr") == files_of(tmp_path / "t.zarr") == files_of(tmp_path / "u.zarr")


def test_exports_have_the_times_of_edges(tmp_path, store):
    sample = csaw.sample(store, tmp_path / "s.zarr", algo="hgt", device="cpu", progress=False, **ONE_TIME)
    for name in ("e.csv", "e.parquet"):
        csaw.export(sample, tmp_path / name)
        rows = (pandas.read_csv if name.endswith("csv") else pandas.read_parquet)(tmp_path / name)
        assert Counter(rows["time"].dropna().astype(int).tolist()) == Counter(sample["time"][:].tolist())


def test_the_command_line_reads_times(tmp_path, store):
    (tmp_path / "seeds.txt").write_text("b:1 20\nb:2 30\nb:1 40\n")
    line = ["sample", str(store.path), str(tmp_path / "s.zarr"), "--algo", "hgt", "--num-samples", "5,5"]
    given = ["--time-strategy", "uniform", "--sources", str(tmp_path / "seeds.txt"), "--device", "cpu"]
    runner = CliRunner()
    done = runner.invoke(cli, [*line, *given, "--seeds-per-batch", "1", "--quiet"])
    assert done.exit_code == 0, done.output
    assert csaw.open_samples(tmp_path / "s.zarr")["seed_time"][:].tolist() == [20, 30, 40]
    done = runner.invoke(cli, [*line, *given, "--overwrite"])
    assert done.exit_code != 0
    assert "pass --seeds-per-batch 1, or one --start-time for all seeds" in str(done.exception)


@every_case
def test_verify_finds_no_fault(tmp_path, store, case):
    given = CASES[case] | {"epochs": 5}
    csaw.sample(store, tmp_path / "s.zarr", algo="hgt", device="cpu", progress=False, **given)
    report = verify(tmp_path / "s.zarr")
    assert report.ok, report
    checked = {check.name for check in report.checks if check.tested}
    assert {"times", "order", "shared times", "neighbors", "layers, independence", "budgets", "all edges"} <= checked


IN_KERNELS = [
    ("            count = int64(0)", "            count = end - row + 3", {"neighbors"}),
    ("return low <= time_at(graph, position) <= high", "return True", {"order", "all edges"}),
    ("return low <= time_at(graph, position) <= high", "return time_at(graph, position) <= high + 1", {"order"}),
    ("return low <= time_at(graph, position) <= high", "return time_at(graph, position) < high", {"all edges"}),
    ("out[3, kept] = time_at(graph, row + place)", "out[3, kept] = 0", {"edges"}),
]


@pytest.mark.parametrize(("right", "wrong", "found"), IN_KERNELS)
def test_faults_in_kernels_are_found(tmp_path, monkeypatch, store, right, wrong, found):
    plant(monkeypatch, "budgets.py", right, wrong)
    csaw.sample(store, tmp_path / "s.zarr", algo="hgt", device="cpu", progress=False, epochs=5, **ONE_TIME)
    assert found <= {check.name for check in verify(tmp_path / "s.zarr").checks if not check.ok}


def whole_rows(monkeypatch):
    """A budget is divided among all edges of a row, those that come later, too."""
    monkeypatch.setattr(BudgetsInTime, "_lengths", Budgets._lengths)


def other_times(monkeypatch):
    """Edges count until another time than that of the seeds, which the sample has."""
    real = BudgetsInTime._hold

    def hold(self, *entries):
        real(self, *entries)
        self.now = self.now + 4

    monkeypatch.setattr(BudgetsInTime, "_hold", hold)


@pytest.mark.parametrize(("fault", "found"), [(whole_rows, {"neighbors"}), (other_times, {"order", "all edges"})])
def test_planted_faults_are_found(tmp_path, monkeypatch, store, fault, found):
    monkeypatch.setattr(CpuBackend, "batches", {**CpuBackend.batches, BatchKind.BUDGETS_IN_TIME: BudgetsInTime})
    fault(monkeypatch)
    csaw.sample(store, tmp_path / "s.zarr", algo="hgt", device="cpu", progress=False, epochs=5, **ONE_TIME)
    assert found <= {check.name for check in verify(tmp_path / "s.zarr").checks if not check.ok}


def test_seeds_of_other_times_are_found(tmp_path, monkeypatch, store):
    """Mini-batches whose seeds have different times, as a run refuses to draw them."""
    monkeypatch.setattr("csaw.engine.sources.given_sources._refuse_shared", lambda algorithm: None)
    given = EACH | {"seeds_per_batch": 16}
    csaw.sample(store, tmp_path / "s.zarr", algo="hgt", device="cpu", progress=False, **given)
    assert "shared times" in {check.name for check in verify(tmp_path / "s.zarr").checks if not check.ok}


REFUSED = [
    ({"time_strategy": "last", "start_time": 3}, "expected uniform for hgt, because a vertex divides its budget among"),
    ({"time_strategy": "uniform"}, "time_strategy: expected a time for each source, found none"),
    ({"time_window": 3}, "time_window: expected time_strategy uniform or last with it"),
    (SOME | {"sources": SEEDS}, "all seeds of a mini-batch of hgt have one time, because they add to the same budgets"),
    ({"time_against": "previous"}, "time_against is not an option of hgt"),
    (AT_5 | {"edge_bias": "e.dst_degree"}, "hgt cannot use it, because a vertex divides its budget equally"),
    (AT_5 | {"induced": True}, "hgt keeps all edges among the vertices of a mini-batch anyway"),
    (AT_5 | {"select": "keys"}, "select keys cannot draw hgt with time_strategy"),
]


@pytest.mark.parametrize(("options", "said"), REFUSED)
def test_what_cannot_be_is_refused(store, options, said):
    with pytest.raises(OptionError) as error:
        csaw.sample(store, algo="hgt", device="cpu", progress=False, **options)
    assert said in str(error.value)
