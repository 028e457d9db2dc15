"""Claims of what verify finds: weak faults at usual sizes, faults in a part of the sample, no less than it says, and
never nothing as something.
"""

import json
import sys

import numpy as np
import pytest
from click.testing import CliRunner
from helpers import graphs, slow
from helpers.strayed import circles, strayed_walks

from csaw.cli.commands.verify import verify as command
from csaw.engine.algorithms.jump import Jump
from csaw.engine.stores.verify import verify
from csaw.engine.verify import walks
from csaw.engine.verify.choices import Counter
from csaw.engine.verify.pooled import pooled_test
from csaw.engine.verify.statistics import Choices, Laws, bounded_sum, joined

FIVE_VERTICES = [(0, 1, 1), (1, 2, 1), (0, 2, 1), (1, 3, 1), (1, 4, 1)]
LAW = {0: 0.5, 1: 0.3, 2: 0.15, 3: 0.05}
LEVEL = 1e-8


def verified(tmp_path, store, algorithm, drawn, num_walks=1, *, weighted=False, **parameters):
    said = {"walk_length": drawn[0].shape[1] - 1, "num_walks": num_walks} | parameters
    manifest = slow.manifest(store, algorithm, said, weighted=weighted, sources="all x 1")
    arrays = {"walks": drawn[0], "lengths": drawn[1]}
    tmp_path.mkdir(exist_ok=True)
    return slow.write(tmp_path / "s", manifest, "walks", arrays, group_size=20_000)


@pytest.mark.parametrize(
    ("edges", "num_walks", "share"),
    [(circles(), 1, 0.03), (FIVE_VERTICES, 1000, 0.01)],
    ids=["3 % on circles of friends", "1 % on five vertices"],
)
def test_a_few_steps_to_a_uniform_other_neighbor_are_found(tmp_path, edges, num_walks, share):
    store = graphs.store_of(tmp_path / "g", edges, directed=False, weighted=False)
    sources = np.tile(np.arange(store.vertices), num_walks)
    failed = {}
    for planted in (0.0, share):
        drawn = strayed_walks(store, sources, 80, 0.25, 4.0, planted, seed=3)
        report = verify(verified(tmp_path / str(planted), store, "node2vec", drawn, num_walks, p=0.25, q=4.0))
        failed[planted] = {check.name for check in report.checks if not check.ok}
        if planted == 0.0:
            (uniform,) = (check for check in report.checks if check.name == "transitions, uniform")
            assert uniform.finds["choices from a uniform neighbor"] < 1.3 * share
    assert failed[0.0] == set()
    assert "transitions, uniform" in failed[share]


def test_returns_that_are_too_frequent_at_hubs_alone_are_found_there(tmp_path):
    store = graphs.store_of(tmp_path / "g", circles(), directed=False, weighted=False)
    failed, sources = {}, np.arange(store.vertices)
    for share in (0.0, 0.03):
        walks = strayed_walks(store, sources, 80, 0.25, 4.0, share, seed=3, hub=256)
        report = verify(verified(tmp_path / str(share), store, "node2vec", walks, p=0.25, q=4.0), budget=10_000)
        failed[share] = {check.name for check in report.checks if not check.ok}
    assert failed == {0.0: set(), 0.03: {"transitions, by degree"}}
    (found,) = (check for check in report.checks if not check.ok)
    assert "worst in degrees 256 to 1,023" in found.details


@pytest.fixture
def counted_in_a_pass(monkeypatch):
    """Samples of any size are kept in part and counted in the rest, in many pieces."""
    monkeypatch.setattr(walks, "STEPS_KEPT", 20_000)
    monkeypatch.setattr(walks, "ENTRIES", 10_000)


def test_a_fault_in_some_situations_is_found_by_counts_of_the_whole_sample(tmp_path, counted_in_a_pass):
    store = graphs.store_of(tmp_path / "g", FIVE_VERTICES, directed=False, weighted=False)
    sources, failed = np.tile(np.arange(store.vertices), 500), {}
    for share in (0.0, 0.2):
        walks = strayed_walks(store, sources, 40, 0.25, 4.0, share, seed=3, hub=4)
        report = verify(verified(tmp_path / str(share), store, "node2vec", walks, 500, p=0.25, q=4.0))
        failed[share] = {check.name for check in report.checks if not check.ok}
    assert failed[0.0] == set()
    assert {"transitions", "transitions, by degree"} <= failed[0.2]
    (found,) = (check for check in report.checks if check.name == "transitions")
    assert "v = 1, prev" in found.details
    assert int(found.details.split()[2].replace(",", "")) > 40_000  # not those 20,000 that are kept


def test_the_verdict_does_not_depend_on_the_number_of_threads(tmp_path, counted_in_a_pass, monkeypatch):
    store = graphs.store_of(tmp_path / "g", circles(), directed=False, weighted=False)
    walks = strayed_walks(store, np.arange(store.vertices), 40, 0.25, 4.0, 0.01, seed=3)
    path, reports = verified(tmp_path, store, "node2vec", walks, p=0.25, q=4.0), []
    for number in (1, 3, 16):
        monkeypatch.setattr(sys.modules["csaw.engine.verify.course"], "processors", lambda number=number: number)
        reports.append(verify(path).as_dict())
    assert reports[0] == reports[1] == reports[2]


def test_a_pass_counts_what_a_slow_count_counts(tmp_path, counted_in_a_pass):
    store = graphs.store_of(tmp_path / "g", FIVE_VERTICES, directed=True, weighted=False)
    walks, lengths = slow.slow_walks(store, "node2vec", np.tile(np.arange(5), 1000), walk_length=9, weighted=False)
    rows = np.array([(1, -1), (2, 1), (1, 0)])
    laws = {(1, -1): {2: 0.4, 3: 0.6}, (2, 1): {-1: 1.0}, (1, 0): {2: 0.2, 3: 0.2, 4: 0.6}}
    table = joined(Laws(lambda *row: laws[row], lambda rows: np.ones(len(rows)), 10**6).tables(rows))
    counter, dense = Counter(rows, ("v", "prev"), table), walks.astype(np.int64)
    dense[dense == slow.NONE] = -1
    others = np.arange(len(dense)) % 3 > 0
    counter.count(dense, lengths, np.ones(len(dense), bool), others)
    expected = {}
    for walk, steps, other in zip(dense.tolist(), lengths.tolist(), others, strict=True):
        for k in range(min(steps + 1, 9) if other else 1):
            key = (walk[k], walk[k - 1] if k else -1)
            expected.setdefault(key, []).append(walk[k + 1])
    counted = counter.counted()
    assert counted.found.tolist() == [expected[row].count(o) for row in map(tuple, rows.tolist()) for o in laws[row]]
    assert counted.strange.tolist() == [expected[1, -1].count(4), 0, 0]
    assert counted.times.tolist() == [len(expected[row]) for row in map(tuple, rows.tolist())]
    assert counted.strange[0] > 100


def drawn(law, size, seed=1):
    return np.random.default_rng(seed).choice(list(law), size, p=list(law.values()))


def pooled(chosen, **more):
    laws = Laws(lambda v: LAW, lambda rows: np.ones(len(rows)), 10**6)
    return pooled_test(Choices(np.zeros((chosen.size, 1), np.int64), chosen, ("at",), **more), laws)


def test_the_share_that_is_told_is_found_and_half_of_it_mostly_not():
    size, found = 20_000, {1.0: 0, 0.4: 0}
    told = pooled(drawn(LAW, size)).uniform[0].smallest(LEVEL)
    assert 0.01 < told < 0.2
    for part in found:
        for seed in range(20):
            rng = np.random.default_rng(seed)
            wrong = rng.random(size) < part * told
            chosen = np.where(wrong, rng.integers(0, 4, size), drawn(LAW, size, seed))
            found[part] += pooled(chosen).uniform[0].p_value < LEVEL
    assert found[1.0] >= 19
    assert found[0.4] <= 2


@pytest.mark.parametrize(
    ("wrong", "part"),
    [(np.arange(50_000) // 5000 == 3, "tenth 4 of the sample"), (np.arange(50_000) % 10 == 0, "the first step")],
)
def test_a_fault_in_a_part_of_the_sample_is_found_there(wrong, part):
    rng, depth = np.random.default_rng(2), np.arange(50_000) % 10
    strayed = wrong & (rng.random(depth.size) < 0.2)
    found = pooled(np.where(strayed, rng.integers(0, 4, depth.size), drawn(LAW, depth.size)), depth=depth).uniform
    worst = min(found, key=lambda result: result.p_value)
    assert worst.part == part
    assert worst.p_value < LEVEL
    right = pooled(drawn(LAW, depth.size), depth=depth).uniform
    assert min(result.p_value for result in right) > 1e-3


def test_a_part_is_told_apart_from_the_whole():
    names, labels = Choices(np.arange(40)[:, None], np.zeros(40), degree=np.arange(40) // 4).parts()
    assert names[0] == ""
    assert [names[one[-1]] for one in labels[1:]] == ["tenth 10 of the sample", "degrees above 4"]
    assert names[labels[2][0]] == "degrees up to 0"


@pytest.mark.parametrize("size", [0, 1, 2, 3, 19, 500])
def test_samples_of_few_choices_end_well_whatever_the_budget(size):
    for budget in (0, 1, 2, 10**6):
        situations, chosen = np.arange(size)[:, None] % 7, drawn(LAW, size)
        found = pooled_test(Choices(situations, chosen), Laws(lambda v: LAW, lambda rows: np.ones(len(rows)), budget))
        assert min(size, 1) <= found.looked_at <= size


def test_freedmans_p_value_is_never_too_small():
    rng = np.random.default_rng(4)
    for chance, size in ((0.001, 500), (0.3, 5), (0.5, 3000)):
        excess = rng.binomial(size, chance, 4000) - size * chance
        sums = [np.array([one, size * chance * (1 - chance), size * (1 - chance)]) for one in excess]
        p = np.array([bounded_sum(one, 1.0, "").p_value for one in sums])
        assert all((p <= level).mean() <= level + 3 * (level / p.size) ** 0.5 for level in (0.001, 0.01, 0.1, 0.5))


@pytest.mark.parametrize(
    ("edges", "length", "sources"),
    [([(0, 1, 1), (1, 2, 1), (2, 0, 1)], 20, 30), ([(0, 1, 1), (0, 2, 1), (0, 3, 3)], 1, 3), (FIVE_VERTICES, 0, 10)],
    ids=["every step is forced", "three steps", "no step"],
)
def test_what_cannot_be_tested_is_said_to_be_not_tested(tmp_path, edges, length, sources):
    store = graphs.store_of(tmp_path / "g", edges, directed=True)
    walks = slow.slow_walks(store, "deepwalk", np.arange(sources) % store.vertices, walk_length=length)
    path = verified(tmp_path, store, "deepwalk", walks, weighted=True)
    done = CliRunner().invoke(command, [str(path)])
    assert done.exit_code == 0
    statistics = [line.strip() for line in done.output.splitlines() if "transitions" in line or "reuse" in line]
    assert len(statistics) > 1
    assert all(line.strip().startswith("not tested") and len(line.split()) > 5 for line in statistics), done.output
    assert f"all checks passed, {len(statistics)} not tested" in done.stdout.splitlines()[-1]
    report = json.loads(CliRunner().invoke(command, [str(path), "--json"]).output)
    assert report["ok"]
    assert report["counts"] == {
        "passed": len(report["checks"]) - len(statistics),
        "failed": 0,
        "not_tested": len(statistics),
    }
    assert all(
        c["status"] == "not tested" and not c["tested"] and c["details"]
        for c in report["checks"]
        if "transitions" in c["name"]
    )


def test_nothing_tested_that_could_have_been_is_no_success(tmp_path, monkeypatch):
    edges = [(u, v, 1 + (u + v) % 3) for u in range(40) for v in range(u)]
    store = graphs.store_of(tmp_path / "g", edges, directed=False)
    walks = slow.slow_walks(store, "deepwalk", np.arange(40), walk_length=10)
    path = verified(tmp_path, store, "deepwalk", walks, weighted=True)
    assert verify(path).ok
    report = verify(path, budget=1)
    assert report.untested
    assert not report.ok
    monkeypatch.setattr("csaw.engine.stores.verify.verify", lambda *_, **__: report)
    done = CliRunner().invoke(command, [str(path)])
    assert done.exit_code == 3
    assert "NOT TESTED" in done.output.splitlines()[-1]


def test_an_algorithm_without_a_law_is_said_to_be_not_tested(tmp_path, monkeypatch):
    store = graphs.random_store(tmp_path / "g", vertices=20, edges=60)
    walks = slow.slow_walks(store, "jump", np.arange(20), walk_length=10)
    monkeypatch.delattr(Jump, "law")
    report = verify(verified(tmp_path, store, "jump", walks, weighted=True, jump_prob=0.15))
    assert report.ok
    said = {check.name: check.details for check in report.checks if not check.tested}
    assert "without law" in said["transitions"]
    assert "without law" in said["edges"]
