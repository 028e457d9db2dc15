"""HGT sampling: anchors of its law with exact chances, a slow definition with the same bytes, the request that decides
them, faults that verify finds, and what is refused.
"""

from collections import Counter, defaultdict
from itertools import permutations

import numpy as np
import pandas
import pytest
from click.testing import CliRunner
from helpers.faults import plant
from helpers.forged import forged
from helpers.graphs import arrays_of, random_store
from helpers.hgt import defined, drawn
from helpers.invariance import assert_request_decides, assert_same
from helpers.relations import partitioned
from helpers.stats import assert_drawn_from

import csaw
from csaw.cli.main import cli
from csaw.engine import execute, prepare
from csaw.engine.batches.budgets import Budgets
from csaw.engine.cpu.backend import CpuBackend
from csaw.engine.plan.batch_kind import BatchKind
from csaw.engine.stores.verify import verify
from csaw.partition.errors import BudgetError, OptionError, StoreError
from csaw.partition.graph.types import RELATION

NUMBERS = {"a": (7, 4), "b": (10, 8), "c": (2, 1)}
OPTIONS = {"num_samples": NUMBERS, "seeds_per_batch": 16, "sources": "type:b"}


@pytest.fixture(scope="module")
def papers(tmp_path_factory):
    """The graph of LAWS B1: papers P0 by authors A0, A1, and P1 by A1, A2, A3."""
    return partitioned(tmp_path_factory.mktemp("papers"), {"paper-by-author": "0 0\n0 1\n1 1\n1 2\n1 3\n"})


def successive(squares):
    """The chance of each order in which all are drawn, one after the other, in proportion to ``squares``."""
    for order in permutations(squares):
        left, chance = sum(squares.values()), 1.0
        for one in order:
            chance, left = chance * squares[one] / left, left - squares[one]
        yield order, chance


BUDGETS = {"author:0": 1 / 2, "author:1": 5 / 6, "author:2": 1 / 3, "author:3": 1 / 3}
SETS = {"01": 625 / 1309, "12": 1375 / 6783, "13": 1375 / 6783, "02": 71 / 1463, "03": 71 / 1463, "23": 8 / 399}


def test_a_vertex_is_drawn_by_the_square_of_its_budget(papers):
    """LAWS B1 with n = 1; unsquared it would be 1/4, 5/12, 1/6, 1/6."""
    counts = Counter(drawn(papers, ["paper:0", "paper:1"], 6000, num_samples={"author": (1,)}))
    chances = {"author:0": 3 / 14, "author:1": 25 / 42, "author:2": 2 / 21, "author:3": 2 / 21}
    assert set(counts) == {(name,) for name in chances}
    assert_drawn_from([counts[name,] for name in chances], list(chances.values()))


def test_two_vertices_are_drawn_one_after_the_other(papers):
    """LAWS B1 with n = 2: the chances of sets, and of orders."""
    found = list(drawn(papers, ["paper:0", "paper:1"], 6000, num_samples={"author": (2,)}))
    sets = Counter("".join(sorted(name[-1] for name in one)) for one in found)
    assert_drawn_from([sets[one] for one in SETS], list(SETS.values()))
    chances = defaultdict(float)
    for order, chance in successive({name: budget**2 for name, budget in BUDGETS.items()}):
        chances[order[:2]] += chance
    counts = Counter(found)
    assert set(counts) == set(chances)
    assert_drawn_from([counts[one] for one in chances], list(chances.values()))


def test_the_next_layer_adds_to_the_budgets_that_are_left(papers, tmp_path):
    """Layer by layer, with authors that give to papers: the exact chances of two layers."""
    files = {"paper-by-author": "0 0\n0 1\n1 1\n1 2\n1 3\n", "author-of-paper": "0 2\n1 2\n1 3\n2 3\n3 3\n3 4\n"}
    store = partitioned(tmp_path, files)
    counts = Counter(drawn(store, ["paper:0", "paper:1"], 6000, num_samples={"author": (1, 1), "paper": (0, 1)}))
    of = {0: {2: 1.0}, 1: {2: 0.5, 3: 0.5}, 2: {3: 1.0}, 3: {3: 0.5, 4: 0.5}}
    squares, chances = {int(name[-1]): budget**2 for name, budget in BUDGETS.items()}, {}
    for one, first in squares.items():
        left = {other: square for other, square in squares.items() if other != one}
        papers_of = {paper: share**2 for paper, share in of[one].items()}
        for other, square in left.items():
            for paper, share in papers_of.items():
                chance = first / sum(squares.values()) * square / sum(left.values())
                key = (f"author:{one}", f"author:{other}", f"paper:{paper}")
                chances[key] = chance * share / sum(papers_of.values())
    assert set(counts) == set(chances)
    assert_drawn_from([counts[one] for one in chances], list(chances.values()))


def test_all_types_of_a_layer_are_drawn_at_once(tmp_path):
    """LAWS B2: if authors came first, P2 would be drawn with 1/17."""
    store = partitioned(
        tmp_path, {"author-writes-paper": "0 0\n0 1\n0 2\n", "paper-by-author": "0 0\n", "paper-to-paper": "0 1\n"}
    )
    found = Counter(drawn(store, ["paper:0"], 500, num_samples=(1,)))
    assert found == {("author:0", "paper:1"): 500}


def test_several_edges_to_a_vertex_count_each_and_the_row_counts_those_to_sampled_ones(tmp_path):
    store = partitioned(tmp_path, {"x-to-y": "0 0\n0 0\n0 1\n1 2\n", "x-to2-x": "0 1\n0 1\n0 2\n0 3\n"})
    counts = Counter(drawn(store, ["x:0", "x:1"], 6000, num_samples={"*": (1,)}))
    ys, xs = {0: 4 / 9, 1: 1 / 9, 2: 1.0}, {2: 0.5, 3: 0.5}
    chances = {(f"x:{x}", f"y:{y}"): xs[x] * square / sum(ys.values()) for x in xs for y, square in ys.items()}
    assert set(counts) == set(chances)
    assert_drawn_from([counts[one] for one in chances], list(chances.values()))


def test_random_numbers_of_mini_batches_and_layers_are_independent(tmp_path):
    """Joint outcomes of two layers of one type, and of two mini-batches after each other: all equally likely."""
    rows = "".join(f"0 {v}\n" for v in range(1, 5))
    store = partitioned(tmp_path, {"x-to-x": rows})
    found = list(drawn(store, ["x:0"], 8000, num_samples=(1, 1)))
    pairs = Counter(found)
    assert len(pairs) == 12
    assert_drawn_from(list(pairs.values()), [1 / 12] * 12)
    both = Counter((a[0], b[0]) for a, b in zip(found[::2], found[1::2], strict=True))
    assert len(both) == 16
    assert_drawn_from(list(both.values()), [1 / 16] * 16)


def test_the_bytes_are_those_of_the_definition(store, tmp_path):
    arrays = arrays_of(store, tmp_path / "s.zarr", "hgt", seed=7, **OPTIONS | {"seeds_per_batch": 200})
    first, last = store.types.span("b")
    for instance in (0, 4):
        seeds = range(first + 200 * instance, min(first + 200 * instance + 200, last))
        nodes, layer, edges = defined(store, NUMBERS, seeds, instance, 7)
        of_nodes = slice(*arrays["node_ptr"][instance : instance + 2])
        of_edges = slice(*arrays["edge_ptr"][instance : instance + 2])
        assert arrays["n_id"][of_nodes].tolist() == nodes
        assert arrays["hop_nodes"][instance].tolist() == [layer.count(number) for number in range(3)]
        assert arrays["hop_edges"][instance].tolist() == [sum(one[0] == hop for one in edges) for hop in range(2)]
        names = ("col", "relation", "row", "e_id")
        found = list(zip(*(arrays[name][of_edges].tolist() for name in names), strict=True))
        assert found == [(col, r, row, edge) for _, col, r, _, row, edge in edges]


def test_the_request_decides_the_bytes(tmp_path, store, pieces):
    assert_request_decides(store, pieces, tmp_path / "s.zarr", "hgt", **OPTIONS)
    expected = arrays_of(store, tmp_path / "s.zarr", "hgt", **OPTIONS)
    assert_same(expected, arrays_of(pieces, tmp_path / "s.zarr", "hgt", residency="disk", **OPTIONS))
    small = arrays_of(pieces, tmp_path / "s.zarr", "hgt", residency="disk", in_flight=1, in_place=False, **OPTIONS)
    assert_same(expected, small)


def test_arrays_that_any_backend_computes_have_the_bytes_of_the_kernels(tmp_path, monkeypatch, store, pieces):
    expected = arrays_of(store, tmp_path / "s.zarr", "hgt", seed=3, **OPTIONS)
    plain = random_store(tmp_path / "g.zarr")
    options = {"num_samples": (9, 5), "seeds_per_batch": 20, "seed": 3}
    of_one_type = arrays_of(plain, tmp_path / "s.zarr", "hgt", **options)
    monkeypatch.setattr(CpuBackend, "batches", {**CpuBackend.batches, BatchKind.BUDGETS: Budgets})
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", "hgt", seed=3, **OPTIONS))
    assert_same(expected, arrays_of(pieces, tmp_path / "s.zarr", "hgt", seed=3, residency="disk", **OPTIONS))
    assert_same(of_one_type, arrays_of(plain, tmp_path / "s.zarr", "hgt", **options))


def test_fewer_layers_are_the_beginning_of_more(tmp_path, store):
    two = arrays_of(store, tmp_path / "s.zarr", "hgt", **OPTIONS)
    one = arrays_of(
        store, tmp_path / "s.zarr", "hgt", **OPTIONS | {"num_samples": {n: k[:1] for n, k in NUMBERS.items()}}
    )
    for k in range(len(one["hop_nodes"])):
        nodes, edges = (one[name][k : k + 2] for name in ("node_ptr", "edge_ptr"))
        for name, (low, high), other in (
            ("n_id", nodes, two["node_ptr"][k]),
            ("row", edges, two["edge_ptr"][k]),
            ("e_id", edges, two["edge_ptr"][k]),
        ):
            assert np.array_equal(one[name][low:high], two[name][other : other + high - low])


def test_edges_are_all_those_among_the_vertices(tmp_path, store):
    arrays = arrays_of(store, tmp_path / "s.zarr", "hgt", **OPTIONS)
    graph = store.load([RELATION])
    owner = np.repeat(np.arange(store.vertices), np.diff(graph.indptr))
    for k in range(len(arrays["hop_nodes"])):
        n_id = arrays["n_id"][slice(*arrays["node_ptr"][k : k + 2])].astype(np.int64)
        edges = slice(*arrays["edge_ptr"][k : k + 2])
        inside = np.flatnonzero(np.isin(owner, n_id) & np.isin(graph.indices, n_id))
        e_id = arrays["e_id"][edges]
        assert np.array_equal(np.sort(e_id), inside)
        assert np.array_equal(n_id[arrays["col"][edges]], owner[e_id])
        assert np.array_equal(n_id[arrays["row"][edges]], graph.indices[e_id])
        assert np.array_equal(arrays["relation"][edges], graph.columns[RELATION.name][e_id])


def test_a_graph_of_one_type_is_sampled_as_one(tmp_path, store):
    """The law of a graph with one relation, and without an array of relations."""
    rows = "".join(f"{a} {b}\n" for a, b in np.random.default_rng(1).integers(10, 60, (600, 2)))
    typed = partitioned(tmp_path, {"x-to-x": rows})
    (tmp_path / "plain.txt").write_text(rows)
    plain = csaw.partition(
        tmp_path / "plain.txt", tmp_path / "p.zarr", duplicates="keep", directed=True, progress=False
    )
    found = arrays_of(typed, tmp_path / "s.zarr", "hgt", num_samples=(5, 3), seeds_per_batch=7, seed=3)
    expected = arrays_of(plain, tmp_path / "t.zarr", "hgt", num_samples=(5, 3), seeds_per_batch=7, seed=3)
    assert not found.pop("relation").any()
    assert_same(expected, found)
    assert verify(tmp_path / "t.zarr").ok


def test_a_seed_that_is_there_twice_counts_once(papers):
    """Its second node has no edges, and gives nothing."""
    sources = ["paper:0", "paper:1", "paper:1"]
    counts = Counter(drawn(papers, sources, 4000, num_samples={"author": (1,)}))
    chances = {"author:0": 3 / 14, "author:1": 25 / 42, "author:2": 2 / 21, "author:3": 2 / 21}
    assert_drawn_from([counts[name,] for name in chances], list(chances.values()))
    sample = csaw.sample(papers, algo="hgt", num_samples=(9,), sources=sources, seeds_per_batch=3, progress=False)
    assert len(sample["n_id"]) == 7
    assert sorted(set(sample["col"][:].tolist())) == [0, 1]


def test_types_without_numbers_vertices_or_budgets(tmp_path):
    """A type that no relation leads to, one of which nothing is drawn, and one with fewer than were asked for."""
    store = partitioned(tmp_path, {"a-to-b": "0 0\n0 1\n1 1\n", "c-in-a": "0 0\n", "b-has-d": "0 0\n1 0\n"})
    sample = csaw.sample(store, algo="hgt", num_samples={"b": (9, 9), "d": (0, 4)}, sources=["a:0"], progress=False)
    names = sample.names(np.arange(store.vertices))[sample["n_id"]].tolist()
    assert (names[0], sorted(names[1:3]), names[3:]) == ("a:0", ["b:0", "b:1"], ["d:0"])
    assert sample.group(0, 1)["hop_nodes"].tolist() == [[1, 2, 1]]
    none = csaw.sample(store, algo="hgt", num_samples=(0, 0), sources=["a:0", "a:1"], progress=False)
    assert len(none["n_id"]) == 2
    assert len(none["row"]) == 0
    alone = csaw.sample(store, algo="hgt", num_samples=(3,), sources=["d:0"], progress=False)
    assert len(alone["n_id"]) == 1


@pytest.mark.parametrize("options", [{}, {"residency": "disk", "memory": "40MiB"}])
def test_numbers_beyond_a_type_draw_all_that_have_a_budget_and_need_no_more_memory(papers, options):
    found = list(drawn(papers, ["paper:0"], 5, num_samples={"*": (2**63 - 1, 10**12)}, **options))
    assert [sorted(one) for one in found] == [["author:0", "author:1"]] * 5


def test_a_hub_gives_from_its_whole_row(tmp_path):
    """PyG draws 50 neighbors of rows with more, which are then each 1/50: here each is 1/200, and one neighbor 1."""
    rows = "".join(f"0 {v}\n" for v in range(200)) + "1 0\n"
    store = partitioned(tmp_path, {"x-to-y": rows})
    found = Counter(drawn(store, ["x:0", "x:1"], 3000, num_samples={"y": (1,)}))
    square = (201 / 200) ** 2
    chance = square / (square + 199 / 200**2)
    assert_drawn_from([found["y:0",], 3000 - found["y:0",]], [chance, 1 - chance])


def test_verify_finds_no_fault(tmp_path, store):
    csaw.sample(store, tmp_path / "s.zarr", algo="hgt", device="cpu", progress=False, epochs=5, **OPTIONS)
    report = verify(tmp_path / "s.zarr")
    assert report.ok, report
    assert {"neighbors", "layers, independence", "budgets", "all edges"} <= {check.name for check in report.checks}
    assert all(check.tested for check in report.checks), report


def of_squares(monkeypatch):
    from csaw.engine.batches.budgets import Budget

    monkeypatch.setattr(Budget, "squares", property(lambda self: self.units.astype(np.float64)))


def of_vertices(monkeypatch):
    """Vertices are drawn by their numbers."""
    real = Budgets._race
    monkeypatch.setattr(
        Budgets, "_race", lambda self, local, vertex, rate: real(self, local, vertex, rate * (1 + vertex))
    )


def of_layers(monkeypatch):
    """A vertex has the same random number at each layer."""

    def race(self, local, vertex, rate):
        return self.backend.race_numbers(local + self.first, vertex * 0, vertex, rate)

    monkeypatch.setattr(Budgets, "_race", race)


def of_instances(monkeypatch):
    """A vertex has the same random number in all mini-batches."""

    def race(self, local, vertex, rate):
        return self.backend.race_numbers(local * 0, vertex * 0 + self.depth, vertex, rate)

    monkeypatch.setattr(Budgets, "_race", race)


def of_edges(monkeypatch):
    """The first edge of each piece is lost."""
    real = Budgets._members
    monkeypatch.setattr(Budgets, "_members", lambda self, some: tuple(one[1:] for one in real(self, some)))


def of_sizes(monkeypatch):
    """A layer draws one vertex too few of each type."""
    real = Budgets._drawn

    def drawn(self):
        self.numbers = np.maximum(self.numbers - 1, 0)
        return real(self)

    monkeypatch.setattr(Budgets, "_drawn", drawn)


PLANTED = [
    (of_squares, {"neighbors"}),
    (of_vertices, {"neighbors"}),
    (of_layers, {"layers, independence"}),
    (of_instances, {"layers, independence"}),
    (of_edges, {"all edges"}),
    (of_sizes, {"sizes"}),
]


@pytest.mark.parametrize(("fault", "found"), PLANTED)
def test_planted_faults_are_found(tmp_path, monkeypatch, store, fault, found):
    monkeypatch.setattr(CpuBackend, "batches", {**CpuBackend.batches, BatchKind.BUDGETS: Budgets})
    fault(monkeypatch)
    csaw.sample(store, tmp_path / "s.zarr", algo="hgt", device="cpu", progress=False, epochs=5, **OPTIONS)
    wrong = {check.name for check in verify(tmp_path / "s.zarr").checks if not check.ok}
    assert found <= wrong


IN_KERNELS = [
    ("/ (value * value)", "/ value", "neighbors"),
    ("units = BUDGET_UNITS // count", "units = BUDGET_UNITS // (count + 3)", "neighbors"),
    ("if given[2 * cell] >= 0:", "if given[2 * cell] == 0:", "neighbors"),
    ("+ uint64(depth)", "+ uint64(0)", "layers, independence"),
    ("pool_word(seed, uint64(instance)", "pool_word(seed, uint64(0)", "layers, independence"),
    ("if table[cell] == neighbor and", "if table[cell] == neighbor and place > 0 and", "all edges"),
]


@pytest.mark.parametrize(("right", "wrong", "found"), IN_KERNELS)
def test_faults_in_kernels_are_found(tmp_path, monkeypatch, store, right, wrong, found):
    plant(monkeypatch, "budgets.py", right, wrong)
    csaw.sample(store, tmp_path / "s.zarr", algo="hgt", device="cpu", progress=False, epochs=5, **OPTIONS)
    assert found in {check.name for check in verify(tmp_path / "s.zarr").checks if not check.ok}


REFUSED = [
    ({"num_samples": {"d": (1,)}}, "num_samples: no type is called 'd'. There are a, b, c"),
    ({"num_samples": {"a": (1,), "b": (1, 2)}}, "num_samples: expected as many layers for each type, found 1 and 2"),
    ({"num_samples": "a=1;a=2"}, "num_samples: the type 'a' is there twice; give all its layers at once"),
    ({"num_samples": {}}, "expected integers such as 512,512, or for each type, such as paper=512,512, found {}"),
    ({"num_samples": {"a": (-1,)}}, "num_samples: expected 0 to 2^63 - 1, found -1"),
    ({"num_samples": ()}, "num_samples: expected a number for each of 1 to 65,535 layers, found 0"),
    ({"fanout": (3,)}, "fanout is not an option of hgt"),
    ({"time_strategy": "uniform", "start_time": 3}, "expected times of the edges for hgt, found"),
    ({"disjoint": True}, "disjoint is not an option of hgt"),
    ({"induced": True}, "hgt keeps all edges among the vertices of a mini-batch anyway"),
    ({"target": 20}, "hgt cannot use it, because a mini-batch has the seeds that it is given"),
    ({"metapath": "a,b"}, "hgt cannot use it, because it follows all relations"),
    ({"edge_bias": "e.dst_degree"}, "hgt cannot use it, because a vertex divides its budget equally"),
    ({"select": "its"}, "select its cannot draw hgt with this bias; it can use keys"),
]


@pytest.mark.parametrize(("options", "said"), REFUSED)
def test_what_cannot_be_is_refused(store, options, said):
    with pytest.raises(OptionError) as error:
        csaw.sample(store, algo="hgt", device="cpu", progress=False, **options)
    assert said in str(error.value)


def test_a_graph_of_one_type_refuses_names_of_types():
    with pytest.raises(OptionError, match="karate has one type of vertices; give numbers such as 512,512"):
        csaw.sample("karate", algo="hgt", num_samples={"paper": (1,)}, device="cpu", progress=False)


def test_more_vertices_than_budgets_can_be_added_up_of_are_refused(store, monkeypatch):
    monkeypatch.setattr("csaw.engine.batches.budgets.MOST_ROWS", 300)
    with pytest.raises(BudgetError, match=r"at most 37 can add to budgets; lower seeds_per_batch or num_samples"):
        csaw.sample(store, algo="hgt", device="cpu", progress=False, **OPTIONS | {"seeds_per_batch": 32})


def test_the_command_line_has_numbers_for_types(tmp_path, store):
    runner, line = (
        CliRunner(),
        ["sample", str(store.path), str(tmp_path / "s.zarr"), "--algo", "hgt", "--device", "cpu"],
    )
    done = runner.invoke(cli, [*line, "--num-samples", "5", "--num-samples", "a=6"])
    assert "--num-samples: expected numbers once, or TYPE=NUMBERS for each type, found 5 and a=6" in done.output
    given = ["--num-samples", "a=7,4", "--num-samples", "b=10,8", "--num-samples", "*=2,1"]
    done = runner.invoke(cli, [*line, *given, "--sources", "type:b", "--seeds-per-batch", "16"])
    assert done.exit_code == 0, done.output
    stored = csaw.open_samples(tmp_path / "s.zarr")
    assert stored.manifest["request"]["parameters"]["num_samples"] == {n: list(k) for n, k in NUMBERS.items()}
    other = csaw.sample(store, algo="hgt", device="cpu", progress=False, **OPTIONS)
    assert np.array_equal(stored["e_id"], other["e_id"])
    assert "a=7,4" in runner.invoke(cli, ["info", str(tmp_path / "s.zarr")]).output
    done = runner.invoke(cli, [*line, *given, "--dry-run"])
    assert done.exit_code == 0, done.output


def test_what_a_request_cannot_say_is_a_fault(tmp_path, store):
    path = tmp_path / "s.zarr"
    csaw.sample(store, path, algo="hgt", device="cpu", progress=False, **OPTIONS)

    def other_types(said):
        said["manifest"]["request"]["parameters"]["num_samples"] = {"a": [7, 4], "x": [10, 8]}

    forged(path, other_types)
    with pytest.raises(StoreError, match=r"s\.zarr/zarr\.json: num-samples: no type is called 'x'"):
        verify(path)


def test_exports_name_the_relation_of_each_edge(tmp_path, store):
    sample = csaw.sample(store, tmp_path / "s.zarr", algo="hgt", device="cpu", progress=False, **OPTIONS)
    for name in ("e.csv", "e.parquet"):
        csaw.export(sample, tmp_path / name)
        rows = (pandas.read_csv if name.endswith("csv") else pandas.read_parquet)(tmp_path / name)
        found = rows["relation"].dropna().astype(int).value_counts().sort_index()
        assert found.to_dict() == Counter(sample["relation"][:].tolist())


def test_an_interrupted_run_goes_on(tmp_path, store):
    stored = arrays_of(store, tmp_path / "s.zarr", "hgt", **OPTIONS)
    job = prepare(store, "hgt", device="cpu", ids="dense", **OPTIONS)

    def stop(done):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        execute(job, tmp_path / "r.zarr", progress=stop)
    execute(job, tmp_path / "r.zarr", resume=True)
    assert np.array_equal(csaw.open_samples(tmp_path / "r.zarr")["e_id"], stored["e_id"])


def test_a_virtual_sample_has_the_same_bytes(tmp_path, store):
    stored = arrays_of(store, tmp_path / "s.zarr", "hgt", **OPTIONS)
    virtual = csaw.sample(store, tmp_path / "v.zarr", algo="hgt", virtual=True, device="cpu", progress=False, **OPTIONS)
    assert np.array_equal(virtual["n_id"], stored["n_id"])
    assert np.array_equal(virtual["relation"], stored["relation"])
    assert verify(tmp_path / "v.zarr").ok
