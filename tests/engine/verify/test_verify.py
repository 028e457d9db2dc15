"""Claims of verify: it passes what the law draws, and finds every fault planted here.

The samples come from a slow sampler of its own.
"""

import importlib
import json

import numpy as np
import pytest
from click.testing import CliRunner
from helpers import graphs, slow
from helpers.forged import forged
from helpers.laws import successive
from helpers.remade import remade
from scipy.stats import hypergeom

from csaw.cli.commands.verify import verify as command
from csaw.engine import sample
from csaw.engine.samples import UNKNOWN
from csaw.engine.stores import open_samples
from csaw.engine.stores.verify import verify
from csaw.engine.verify.kernels import DenseIds
from csaw.engine.verify.pooled import pooled_test
from csaw.engine.verify.sets import half_law
from csaw.engine.verify.statistics import Choices, Laws, chi_square, fit
from csaw.partition import IngestOptions, ingest
from csaw.partition.arrays.nodes import digest, write_group
from csaw.partition.errors import StoreError

ROUNDS = 60
verifying = importlib.import_module("csaw.engine.verify")  # ``engine`` has the function of this name


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return graphs.random_store(tmp_path_factory.mktemp("graph") / "g", vertices=30, edges=110)


@pytest.fixture(scope="module")
def troubled(tmp_path_factory):
    return graphs.store_of(tmp_path_factory.mktemp("graph") / "t", graphs.TROUBLED, directed=True, vertices=7)


def every_vertex(store, rounds=ROUNDS):
    return np.tile(np.arange(store.vertices), rounds)


def walk_store(tmp_path, store, algorithm, drawn, said=None, *, weighted=True, **parameters):
    """Walks as ``drawn``, said to be of ``algorithm`` with these parameters."""
    walks, lengths = drawn
    parameters = {"walk_length": walks.shape[1] - 1, "num_walks": 1} | parameters
    said = said or slow.manifest(store, algorithm, parameters, weighted=weighted, sources="all x 1")
    return slow.write(tmp_path / "s", said, "walks", {"walks": walks, "lengths": lengths}, group_size=700)


def failed(path):
    return {check.name for check in verify(path).checks if not check.ok}


WALKS = [
    ("deepwalk", {}),
    ("node2vec", {"p": 0.25, "q": 4.0}),
    ("biased", {"bias": "degree"}),
    ("metropolis-hastings", {}),
    ("jump", {"jump_prob": 0.3}),
    ("restart", {"restart_prob": 0.3}),
    ("ppr", {"termination_prob": 0.3}),
]


@pytest.mark.parametrize(("algorithm", "options"), WALKS)
@pytest.mark.parametrize("graph", ["store", "troubled"])
def test_what_the_law_draws_passes(tmp_path, request, graph, algorithm, options):
    store = request.getfixturevalue(graph)
    drawn = slow.slow_walks(store, algorithm, every_vertex(store, 40), walk_length=8, **options)
    report = verify(walk_store(tmp_path, store, algorithm, drawn, **options))
    assert report.ok, report
    assert any(check.p_value is not None for check in report.checks)


@pytest.mark.parametrize(
    ("said", "drawn", "told"),
    [
        ("node2vec", {"p": 1.0, "q": 1.0}, {"p": 0.25, "q": 1.0}),
        ("node2vec", {"p": 1.0, "q": 4.0}, {"p": 0.25, "q": 4.0}),
        ("node2vec", {"p": 4.0, "q": 1.0}, {"p": 4.0, "q": 0.25}),
        ("restart", {"restart_prob": 0.15}, {"restart_prob": 0.3}),
        ("ppr", {"termination_prob": 0.15}, {"termination_prob": 0.2}),
        ("jump", {"jump_prob": 0.0}, {"jump_prob": 0.15}),
        ("biased", {"bias": "none"}, {"bias": "degree"}),
    ],
)
def test_an_ignored_parameter_is_found(tmp_path, store, said, drawn, told):
    walks = slow.slow_walks(store, said, every_vertex(store), walk_length=20, **drawn)
    assert failed(walk_store(tmp_path, store, said, walks, **told)) & {"transitions", "transitions, pooled"}


def test_ignored_weights_are_found(tmp_path, store):
    walks = slow.slow_walks(store, "deepwalk", every_vertex(store), walk_length=20, weighted=False)
    assert "transitions" in failed(walk_store(tmp_path, store, "deepwalk", walks))


def test_a_weak_fault_spread_over_rare_situations_is_found_by_pooling(tmp_path):
    store = graphs.random_store(tmp_path / "g", vertices=3000, edges=30000, weighted=False)
    walks = slow.slow_walks(store, "node2vec", np.arange(3000), walk_length=12, p=1.0, q=1.0)
    assert "transitions, pooled" in failed(
        walk_store(tmp_path, store, "node2vec", walks, weighted=False, p=0.25, q=1.0)
    )


def test_single_faults_in_walks_are_found(tmp_path, store):
    walks, lengths = slow.slow_walks(store, "deepwalk", every_vertex(store, 5), walk_length=8, seed=3)
    row = np.flatnonzero(lengths == 8)[0]
    graph, before = store.load(), walks[row, 3]
    far = np.setdiff1d(np.arange(30), graph.indices[graph.indptr[before] : graph.indptr[before + 1]])[0]

    def with_fault(name, change):
        copy = walks.copy(), lengths.copy()
        change(*copy)
        (tmp_path / name).mkdir()
        return failed(walk_store(tmp_path / name, store, "deepwalk", copy))

    def far_away(w, n):
        w[row, 4] = far

    def shifted_lengths(w, n):
        n[:] = np.roll(n, 1) - 1

    def shifted_walks(w, n):
        w[:], n[:] = np.roll(w, 1, 0), np.roll(n, 1)

    def stopped_early(w, n):
        w[row, 6:], n[row] = slow.NONE, 5

    assert "edges" in with_fault("a", far_away)
    assert "lengths" in with_fault("b", shifted_lengths)
    assert "sources" in with_fault("c", shifted_walks)
    assert "ends" in with_fault("d", stopped_early)


def test_an_edge_of_weight_zero_is_never_right(tmp_path, troubled):
    walks, lengths = slow.slow_walks(troubled, "deepwalk", every_vertex(troubled, 40), walk_length=6)
    at = np.flatnonzero((walks[:, 0] == 0) & (lengths == 6))[0]
    walks[at, 1:3], walks[at, 3:], lengths[at] = [3, 4], slow.NONE, 2
    assert failed(walk_store(tmp_path, troubled, "deepwalk", (walks, lengths))) >= {"transitions"}


@pytest.mark.parametrize("replace", [False, True])
def test_hops_that_the_law_draws_pass_and_those_without_weights_fail(tmp_path, store, replace):
    parameters = {"fanout": [3, 2], "replace": replace, "bias": "weight"}
    said = slow.manifest(store, "neighbor", parameters, sources="all x 1")
    right = slow.slow_hops(store, every_vertex(store), (3, 2), replace=replace)
    assert failed(slow.write(tmp_path / "right", said, "hops", right, group_size=500)) == set()
    wrong = slow.slow_hops(store, every_vertex(store), (3, 2), replace=replace, weighted=False)
    assert failed(slow.write(tmp_path / "wrong", said, "hops", wrong)) & {"neighbors", "neighbors, pooled"}


def test_single_faults_in_hops_are_found(tmp_path, store):
    said = slow.manifest(store, "neighbor", {"fanout": [3, 2], "replace": False, "bias": "weight"}, sources="all x 1")
    hops = slow.slow_hops(store, every_vertex(store, 2), (3, 2), replace=False)
    full = np.flatnonzero((hops["hop_1"] != slow.NONE).all(axis=1))[0]
    hops["hop_1"][full, 1] = hops["hop_1"][full, 0]
    assert "repeats" in failed(slow.write(tmp_path / "twice", said, "hops", hops))
    hops["hop_1"][full, 1] = slow.NONE
    assert "sizes" in failed(slow.write(tmp_path / "few", said, "hops", hops))


def test_snowballs_pass_and_single_faults_in_them_are_found(tmp_path, store):
    said = slow.manifest(store, "snowball", {"depth": 2, "neighbor_size": -1}, sources="all x 1")
    right = slow.slow_snowball(store, every_vertex(store, 1), 2)
    assert failed(slow.write(tmp_path / "right", said, "subgraphs", right, group_size=7)) == set()
    late = np.flatnonzero(right["depth"] == 1)[0]

    def with_fault(name, **changes):
        arrays = {k: v.copy() for k, v in right.items()}
        for column, value in changes.items():
            arrays[column][late] = value
        return failed(slow.write(tmp_path / name, said, "subgraphs", arrays))

    assert "visits" in with_fault("visited", dst=right["sources"][0])
    assert "depths" in with_fault("depth", depth=5)
    assert "repeats" in with_fault("repeat", src=right["src"][late + 1], dst=right["dst"][late + 1])
    dropped = {k: np.delete(v, late) if k in ("src", "dst", "depth") else v.copy() for k, v in right.items()}
    dropped["counts"][np.searchsorted(np.cumsum(right["counts"]), late, "right")] -= 1
    assert "sizes" in failed(slow.write(tmp_path / "short", said, "subgraphs", dropped))


def test_one_changed_byte_in_any_file_fails_with_exit_status_3(tmp_path, store):
    path = walk_store(
        tmp_path, store, "deepwalk", slow.slow_walks(store, "deepwalk", every_vertex(store, 2), walk_length=4)
    )
    assert CliRunner().invoke(command, [str(path)]).exit_code == 0
    for file in ("walks/c.0.0", "lengths/c.0", "walks/zarr.json"):
        data = (path / file).read_bytes()
        (path / file).write_bytes(data[:-2] + bytes([data[-2] ^ 1]) + data[-1:])
        result = CliRunner().invoke(command, [str(path), "--json"])
        assert result.exit_code == 3, result.output
        assert [check["ok"] for check in json.loads(result.output)["checks"]] == [False]
        (path / file).write_bytes(data)


def test_another_graph_fails_and_a_missing_one_is_an_error(tmp_path, store, troubled):
    path = walk_store(
        tmp_path, store, "deepwalk", slow.slow_walks(store, "deepwalk", every_vertex(store, 2), walk_length=4)
    )
    assert {check.name for check in verify(path, troubled.path).checks if not check.ok} == {"graph"}
    with pytest.raises(StoreError, match="none does not exist; make one with csaw partition$"):
        verify(path, tmp_path / "none")


def test_of_a_graph_that_was_moved_the_way_to_name_it_is_said(tmp_path):
    store = graphs.random_store(tmp_path / "g.zarr", vertices=30, edges=60)
    drawn = sample(store, tmp_path / "s.zarr", "deepwalk", walk_length=3)
    store.path.rename(tmp_path / "moved.zarr")
    with pytest.raises(
        StoreError, match=r"s.zarr was drawn from .*g.zarr does not exist; .*, or name it with --graph$"
    ):
        verify(drawn.path)
    assert verify(drawn.path, tmp_path / "moved.zarr").ok


@pytest.mark.parametrize("vertices", [29, 31])
def test_a_graph_that_claims_the_fingerprint_of_the_samples_has_no_other_checks(tmp_path, store, vertices, monkeypatch):
    drawn = slow.slow_walks(store, "deepwalk", every_vertex(store, 2), walk_length=4)
    path = walk_store(tmp_path, store, "deepwalk", drawn)
    other = graphs.random_store(tmp_path / "other", vertices=vertices, edges=110)
    said = {name: value for name, value in other.attributes.items() if name != "digest"}
    said["fingerprint"] = store.fingerprint
    write_group(other.path, said | {"digest": digest(said)})
    for contents in (lambda *_, **__: 1 / 0, verifying._contents):  # whatever comes of such a graph
        monkeypatch.setattr(verifying, "_contents", contents)
        checks = verify(path, other.path).checks
        assert [(check.name, check.ok) for check in checks] == [("checksums", True), ("graph", False)]


def test_vertices_that_the_graph_lacks_are_unknown_whatever_the_manifest_says(tmp_path, store):
    drawn = slow.slow_walks(store, "deepwalk", every_vertex(store, 2), walk_length=4)
    samples = open_samples(walk_store(tmp_path, store, "deepwalk", drawn))
    vertex = np.arange(store.vertices, dtype=samples[0].dtype)  # all of which the manifest knows
    assert DenseIds(samples, None, 20)(vertex).tolist() == [*range(20), *[UNKNOWN] * 10]


def test_samples_with_strings_large_and_negative_ids_pass(tmp_path, store):
    graph = store.load()
    drawn = slow.slow_walks(store, "deepwalk", every_vertex(store, 4), walk_length=5)
    spread = np.arange(30, dtype=np.uint64)
    for name, ids in {
        "strings": np.array(sorted(f"v{i}" for i in range(30))),
        "large": spread + np.uint64(2**63),
        "negative": np.arange(30) * 5 - 60,
    }.items():
        other = graphs.write_graph(
            tmp_path / f"g{name}", graph.indptr, graph.indices, graph.weights, directed=False, vertex_ids=ids
        )
        said = slow.manifest(other, "deepwalk", {"walk_length": 5, "num_walks": 4}, sources="all x 1")
        arrays = {"walks": drawn[0], "lengths": drawn[1]}
        assert (
            failed(slow.write(tmp_path / name, said, "walks", arrays, group_size=50, vertex_ids=other.vertex_ids()))
            == set()
        )


@pytest.mark.parametrize(("instances", "length"), [(0, 3), (30, 0)])
def test_no_walks_and_walks_without_steps_pass(tmp_path, store, instances, length):
    drawn = slow.slow_walks(store, "deepwalk", np.arange(instances), walk_length=length)
    assert failed(walk_store(tmp_path, store, "deepwalk", drawn)) == set()


def test_p_values_are_uniform_where_the_law_holds():
    draw, law = np.random.default_rng(5), {0: 0.5, 1: 0.3, 2: 0.15, 3: 0.05}
    p = [chi_square(dict(enumerate(draw.multinomial(400, list(law.values())))), law) for _ in range(2000)]
    assert abs(np.mean(np.array(p) < 0.1) - 0.1) < 0.03
    assert chi_square({0: 5, 9: 1}, law) == 0.0
    assert chi_square({0: 5}, {0: 1.0}) is None
    assert chi_square({0: 2}, {0: 1.0, 1: 0.0}) is None


def test_a_rare_outcome_is_pooled_and_not_dropped():
    law = {0: 0.999, **dict.fromkeys(range(1, 11), 0.0001)}
    assert chi_square({0: 900, **dict.fromkeys(range(1, 11), 10)}, law) < 1e-9


def test_g_guards_the_tail_where_chi_square_is_too_sure():
    # P(Poisson(5) >= 18) is 5e-6; chi-square alone says 6e-9
    assert fit(np.array([18.0, 982.0]), np.array([5.0, 995.0])) > 1e-6


def test_the_pooled_place_is_uniform_and_sees_a_shifted_law():
    draw = np.random.default_rng(1)
    situations = np.repeat(np.arange(500), 4)[:, None]
    laws = {v: {0: 0.5 + v / 1500, 1: 0.5 - v / 1500} for v in range(500)}

    def p_of(shift):
        chosen = (draw.random(2000) > np.array([laws[v][0] + shift for v in situations[:, 0]])).astype(int)
        return (
            pooled_test(Choices(situations, chosen), Laws(lambda v: laws[v], lambda rows: np.ones(len(rows)), 10**6))
            .places[0]
            .p_value
        )

    assert p_of(0.0) > 1e-3
    assert p_of(-0.15) < 1e-9


@pytest.mark.parametrize("picks", [1, 2, 4])
def test_picks_from_a_half_are_as_many_as_inclusion_says(picks):
    half, rest = [100.0, 6.0, 3.0], [2.0, 0.5, 0.01]
    exact = {order: (sum(i < 3 for i in order), chance) for order, chance in successive(half + rest, picks).items()}
    mean, variance = half_law(half, rest, picks)
    assert mean == pytest.approx(sum(n * chance for n, chance in exact.values()), abs=1e-7)
    assert variance >= sum((n - mean) ** 2 * chance for n, chance in exact.values()) - 1e-7
    assert half_law([2.0] * 3, [2.0] * 4, picks) == pytest.approx(
        (hypergeom.mean(7, 3, picks), hypergeom.var(7, 3, picks))
    )


def test_choices_that_repeat_the_one_before_are_found_though_each_alone_is_right():
    draw = np.random.default_rng(3)
    situations = np.zeros((20_000, 1), np.int64)
    laws = {0: dict.fromkeys(range(10), 0.1)}

    def p_of(chosen):
        laws_of = Laws(laws.__getitem__, lambda rows: np.ones(len(rows)), 10**6)
        return min(result.p_value for result in pooled_test(Choices(situations, chosen), laws_of).independence)

    assert p_of(draw.integers(0, 10, 20_000)) > 1e-3
    assert p_of(np.repeat(draw.integers(0, 10, 10_000), 2)) < 1e-9


def test_outcomes_that_are_all_rare_are_tested_in_cells():
    law = dict.fromkeys(range(100), 0.01)
    assert chi_square(dict.fromkeys(range(100), 1), law) > 1e-3
    assert chi_square(dict.fromkeys(range(50), 2), law) < 1e-9


def test_a_choice_may_decide_whether_the_next_one_is_forced():
    draw = np.random.default_rng(8)
    laws, at, rows = {0: {0: 0.5, 1: 0.5}, 1: {0: 1.0}}, 0, []
    for _ in range(20_000):
        then = int(draw.choice(list(laws[at]), p=list(laws[at].values())))
        rows.append((at, then))
        at = then
    table = np.array(rows)
    found = pooled_test(
        Choices(table[:, :1], table[:, 1]), Laws(laws.__getitem__, lambda rows: np.ones(len(rows)), 10**6)
    )
    assert min(result.p_value for result in found.places + found.independence) > 1e-3


@pytest.mark.parametrize(("size", "said"), [(30, "each set holds every vertex"), (5, "too few sets")])
def test_sets_that_tell_nothing_have_one_reason(tmp_path, size, said):
    store = graphs.random_store(tmp_path / "g.zarr", vertices=30, edges=90)
    sample(store, tmp_path / "s.zarr", "random-node", device="cpu", frontier_size=size, instances=1)
    details = {one.name: one.details for one in verify(tmp_path / "s.zarr").checks}
    assert details["vertices"] == details["sets"] == said


@pytest.mark.parametrize(
    ("algorithm", "options"),
    [("deepwalk", {"num_walks": 40, "walk_length": 2}), ("neighbor", {"instances": 1200, "fanout": [2]})],
)
def test_biases_whose_sum_is_beyond_float64_are_checked_as_shares_of_the_largest(tmp_path, store, algorithm, options):
    huge = "1.7e308 / (1 + e.dst % 3)"
    sample(store, tmp_path / "s.zarr", algorithm, edge_bias=huge, seed=1, **options)
    report = verify(tmp_path / "s.zarr")
    assert report.ok
    assert any(check.tested and check.p_value is not None for check in report.checks)


def test_a_vertex_twice_in_a_layer_without_replacement_is_found(tmp_path, store):
    options = {"layer_sizes": (6, 6), "frontier_size": 4, "instances": 10}
    sample(store, tmp_path / "once", "ladies", replace=False, **options)
    assert failed(tmp_path / "once") == set()
    sample(store, tmp_path / "twice", "ladies", replace=True, **options)
    assert failed(tmp_path / "twice") == set()
    forged(tmp_path / "twice", lambda said: said["manifest"]["request"]["parameters"].update(replace=False))
    assert "repeats" in failed(tmp_path / "twice")


IN_ORDER = [{}, {"select": "keys"}, {"collision": "repeated"}, {"collision": "updated"}, {"bias": "degree"}]


@pytest.mark.parametrize("options", IN_ORDER)
def test_neighbors_out_of_the_order_of_selection_are_found(tmp_path, store, options):
    def by_id(arrays):
        arrays["hop_2"] = np.sort(arrays["hop_2"].reshape(-1, 2), axis=1).reshape(arrays["hop_2"].shape)
        return arrays

    sample(store, tmp_path / "s", "neighbor", fanout=(3, 2), instances=2000, **options)
    assert {"ok"} == {check.status for check in verify(tmp_path / "s").checks if check.name == "first of several"}
    assert failed(tmp_path / "s") == set()
    remade(tmp_path / "s", tmp_path / "t", by_id)
    assert "first of several, pooled" in failed(tmp_path / "t")


@pytest.mark.parametrize("options", [{"weighted": False}, {"bias": "none"}, {"weighted": False, "select": "keys"}])
def test_uniform_sets_have_no_order(tmp_path, store, options):
    """Floyd's method takes its first one from a part of the row."""
    sample(store, tmp_path / "s", "neighbor", fanout=(3, 2), instances=2000, **options)
    report = verify(tmp_path / "s")
    assert report.ok
    assert not [check for check in report.checks if check.name.startswith("first of several")]


def test_first_neighbors_of_rows_with_weights_of_0_pass(tmp_path, troubled):
    sample(troubled, tmp_path / "s", "neighbor", fanout=(2, 2), instances=2000)
    assert failed(tmp_path / "s") == set()


@pytest.fixture(scope="module")
def doubled(tmp_path_factory):
    """Each edge twice, with weights 1 and 3."""
    rng = np.random.default_rng(6)
    pairs = np.unique(rng.integers(0, 20, (80, 2)), axis=0)
    rows = "".join(f"{u} {v} 1\n{u} {v} 3\n" for u, v in pairs.tolist())
    path = tmp_path_factory.mktemp("graph")
    (path / "e.txt").write_text(rows)
    return ingest(path / "e.txt", path / "g", IngestOptions(duplicates="keep"))


ONE_BY_ONE = [
    {"fanout": (3, 2), "replace": True},
    {"fanout": (1, 1)},
    {"fanout": (3, 2), "replace": True, "weighted": False},
]


@pytest.mark.parametrize("options", ONE_BY_ONE)
def test_an_edge_in_the_place_of_another_to_the_same_neighbor_is_found(tmp_path, doubled, options):
    sample(doubled, tmp_path / "s", "minibatch", seeds_per_batch=8, epochs=100, **options)
    assert failed(tmp_path / "s") == set()
    assert "parallel edges, pooled" in {check.name for check in verify(tmp_path / "s").checks if check.tested}
    for name, which in (("first", 0), ("any", np.random.default_rng(2).integers(0, 2, 10**6))):
        if name == "any" and not options.get("weighted", True):
            continue

        def other(arrays, which=which):
            arrays["e_id"] = arrays["e_id"] // 2 * 2 + (which if np.ndim(which) == 0 else which[: arrays["e_id"].size])
            return arrays

        remade(tmp_path / "s", tmp_path / name, other)
        assert {"parallel edges", "parallel edges, pooled"} <= failed(tmp_path / name)


def test_sets_of_parallel_edges_are_left_to_the_tests_of_sets(tmp_path, doubled):
    sample(doubled, tmp_path / "s", "minibatch", seeds_per_batch=8, epochs=20, fanout=(3, 2))
    report = verify(tmp_path / "s")
    assert report.ok
    assert not [check for check in report.checks if check.name.startswith("parallel")]


@pytest.mark.parametrize(
    ("algo", "options"), [("layer", {"neighbor_size": 6, "depth": 3}), ("neighbor", {"fanout": (3, 2)})]
)
@pytest.mark.parametrize("drawn", ["weight", "degree"])
def test_sets_by_weight_or_degree_are_not_uniform_ones(tmp_path, algo, options, drawn):
    """Of so many pools that hardly one is there twice."""
    weights = {"weighted": False} if drawn == "degree" else {}
    store = graphs.random_store(tmp_path / "g", vertices=300, edges=4000)
    given = options | {"instances": 1000, "seed": 4} | weights
    sample(store, tmp_path / "s", algo, bias=drawn, **given)
    sample(store, tmp_path / "uniform", algo, bias="none", **given)
    assert failed(tmp_path / "s") == failed(tmp_path / "uniform") == set()
    samples = open_samples(tmp_path / "s")
    arrays = {name: np.array(array) for name, array in samples.group(0, samples.instances).items()}
    remade(tmp_path / "uniform", tmp_path / "t", lambda _: arrays)
    assert "neighbors, pooled" in failed(tmp_path / "t")


def test_what_was_expected_next_to_never_and_was_found_does_not_fit():
    assert fit(np.array([50.0, 40.0, 10.0]), np.array([50.0, 50.0, 1e-320])) == 0.0
