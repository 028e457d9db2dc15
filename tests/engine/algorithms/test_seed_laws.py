"""MVS: seeds are drawn with the chances of Cong et al., independently, the same however they are made; their chances
are kept and verified.
"""

import numpy as np
import pytest
from helpers.graphs import arrays_of, random_store
from helpers.invariance import assert_request_decides, assert_same
from helpers.stats import assert_drawn_from

from csaw.engine import open_samples, prepare, sample
from csaw.engine.runs.virtual import commit_virtual
from csaw.engine.sources import seeds, shuffled
from csaw.engine.sources.seeds import chances
from csaw.engine.stores.verify import verify
from csaw.engine.verify.batches import least_variance
from csaw.partition.errors import OptionError

SIZE = 8
NORMS = np.concatenate(
    [[0.0, 50.0, 40.0], np.geomspace(0.05, 9.0, 37)]
)  # two that are certain, and one that is never drawn
SEEDS = {"norms": "g", "columns": {"g": NORMS}, "seeds_per_batch": SIZE, "seed": 7}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return random_store(tmp_path_factory.mktemp("mvs") / "g.zarr", vertices=40, edges=160)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("wanted", [1, 7, 40])
def test_chances_are_those_of_least_variance(seed, wanted):
    """Of the sum of squared norms over chances (equation 8), which no small change of the chances makes smaller."""
    rng = np.random.default_rng(seed)
    norms = rng.pareto(0.6, 60) + 1e-3
    found = chances(norms, wanted)
    assert found.sum() == pytest.approx(wanted)
    assert np.allclose(found, least_variance(norms, wanted), 1e-12)
    for _ in range(200):
        a, b = rng.choice(60, 2, replace=False)
        step = min(1e-3 * found[a], 1.0 - found[b])
        other = found + step * (np.arange(60) == b) - step * (np.arange(60) == a)
        assert (norms**2 / other).sum() >= (norms**2 / found).sum() * (1 - 1e-12)


def drawn(arrays):
    """bool [instances, 40]: which vertices are seeds of each mini-batch."""
    seeds = np.diff(arrays["seed_ptr"])
    out = np.zeros((seeds.size, 40), bool)
    out[np.repeat(np.arange(seeds.size), seeds), arrays["input_id"]] = True
    return out


def test_seeds_are_drawn_independently_with_their_chances(tmp_path, store):
    found = drawn(arrays_of(store, tmp_path / "s.zarr", "mvs", fanout=(), instances=20_000, **SEEDS))
    law, n = least_variance(NORMS, SIZE), len(found)
    assert law[:3].tolist() == [0.0, 1.0, 1.0]
    for v in range(40):
        assert_drawn_from([found[:, v].sum(), n - found[:, v].sum()], [law[v], 1 - law[v]])
    for a, b in ((36, 39), (38, 37), (20, 39)):
        both = np.bincount(2 * found[:, a] + found[:, b], minlength=4)
        assert_drawn_from(both, np.outer([1 - law[a], law[a]], [1 - law[b], law[b]]).ravel())
    report = verify(tmp_path / "s.zarr", columns=SEEDS["columns"])
    assert report.ok, str(report)
    assert {c.name for c in report.checks if c.tested} >= {
        "probabilities",
        "seeds, law",
        "seeds, numbers",
        "seeds, independence",
    }


@pytest.mark.parametrize("fanout", [(-1,), (4, 3)])
def test_neither_batches_nor_partitions_change_a_byte(tmp_path, fanout):
    store, cut = random_store(tmp_path / "a.zarr"), random_store(tmp_path / "b.zarr", partitions=4)
    options = {
        "fanout": fanout,
        "seeds_per_batch": 16,
        "bias": "none",
        "columns": {"g": np.arange(300.0)},
        "norms": "g",
    }
    assert_request_decides(store, cut, tmp_path / "s.zarr", "mvs", **options)
    expected = arrays_of(store, tmp_path / "s.zarr", "mvs", seed=5, **options)
    assert_same(expected, arrays_of(cut, tmp_path / "t.zarr", "mvs", seed=5, residency="disk", **options))
    assert np.allclose(expected["probability"], least_variance(np.arange(300.0), 16)[expected["input_id"]])
    report = verify(tmp_path / "s.zarr", columns=options["columns"])
    assert report.ok, str(report)


def test_labels_and_chances_go_with_the_seeds_of_a_list(tmp_path, store):
    ids = np.arange(5, 40)
    drawn = sample(store, tmp_path / "s.zarr", "mvs", sources={"ids": ids, "y": ids * 2.0}, instances=300, **SEEDS)
    batch = drawn.minibatch(17)
    assert np.array_equal(batch["y"], 2.0 * ids[batch["input_id"]])
    expected = least_variance(NORMS[5:], SIZE)[batch["input_id"]]
    assert np.allclose(batch["probability"], expected)
    assert np.allclose(drawn.pyg(17, 18)["probability"], expected)
    report = verify(tmp_path / "s.zarr", columns=SEEDS["columns"])
    assert report.ok, str(report)
    assert [c.name for c in report.checks if not c.tested] == ["seeds, law", "neighbors", "reuse"]


def test_without_norms_all_are_equal_and_a_request_can_be_kept(tmp_path, store):
    options = {"seeds_per_batch": 10, "seed": 2, "instances": 50}
    stored = sample(store, tmp_path / "s.zarr", "mvs", **options)
    assert set(stored["probability"][:].tolist()) == {0.25}
    commit_virtual(prepare(store, "mvs", **options), tmp_path / "v.zarr")
    assert_same(open_samples(tmp_path / "v.zarr").group(3, 9), stored.group(3, 9))
    assert prepare(store, "mvs", seeds_per_batch=10).plan.request.instances == 4


def as_if_equal(norms, wanted):
    return chances(np.ones(norms.size), wanted)


def same_again(seed, batch, chance):
    return shuffled_positions(seed, np.uint64(0), chance)


def in_pairs(seed, batch, chance):
    """Positions 2 i and 2 i + 1 are drawn together."""
    even = shuffled_positions(seed, batch, np.where(np.arange(chance.size) % 2, 0.0, chance))
    return np.sort(np.concatenate([even, even + 1]))


shuffled_positions = shuffled.draw_positions
FAULTS = {
    "probabilities": (seeds, "chances", as_if_equal),
    "seeds, law": (
        shuffled,
        "draw_positions",
        lambda seed, batch, chance: shuffled_positions(seed, batch, np.minimum(1.0, 1.1 * chance)),
    ),
    "seeds, independence": (shuffled, "draw_positions", same_again),
    "seeds, numbers": (shuffled, "draw_positions", in_pairs),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_found_by_name(tmp_path, store, monkeypatch, name):
    """Also where the seeds that are drawn again have the same fault."""
    monkeypatch.setattr(*FAULTS[name])
    arrays_of(store, tmp_path / "s.zarr", "mvs", fanout=(), instances=4000, **SEEDS)
    failed = {check.name for check in verify(tmp_path / "s.zarr", columns=SEEDS["columns"]).checks if not check.ok}
    assert name in failed, failed


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"norms": "h", "columns": {"g": NORMS}}, "--norms: expected the name of a column, found h; the columns are g"),
        ({"norms": "g"}, "give columns with --columns"),
        (
            {"norms": "g", "columns": {"g": NORMS - 1.0}},
            "expected numbers of at least 0, at least one of them above 0, found -1 to 49",
        ),
        ({"norms": "g", "columns": {"g": 0.0 * NORMS}}, "found 0 to 0"),
        ({"epochs": 3}, "--epochs is not an option of mvs"),
        ({"instances": 2**32 + 1}, "--instances: expected at most 4,294,967,296"),
    ],
)
def test_what_has_no_chances_is_refused(store, options, said):
    with pytest.raises(OptionError, match=said):
        prepare(store, "mvs", **options)
