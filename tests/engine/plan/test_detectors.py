"""How a repeated candidate is found changes what it takes, counted, and no byte of the sample."""

from itertools import accumulate

import pytest
from helpers.graphs import random_store, store_of, stored_arrays
from helpers.invariance import assert_same

from csaw.engine import execute, prepare
from csaw.engine.cpu.kernels.select import TRIES, TRIES_SHIFT
from csaw.engine.draws.random import words
from csaw.engine.plan.choices import DETECTORS, Collision
from csaw.engine.schedule.backend import TALLY
from csaw.partition.errors import OptionError

STAR = [(0, v, 1 + v % 7) for v in range(1, 81)]
PICKS, SEED, INSTANCES = 60, 3, 40


def run(store, out, detect=None, collision="repeated", **options):
    given = {"select": "its", "seed": SEED, "device": "cpu", **options}
    results = execute(prepare(store, "neighbor", collision=collision, detect=detect, **given), out, overwrite=True)
    return stored_arrays(out), {name: results[name] for name in TALLY}


def slow_counts(biases, picks):
    """Repeated sampling in plain Python integers: candidates, collisions, comparisons with a list of what is taken,
    draws from the rest.
    """
    shift = 61 - max(biases).bit_length() - len(biases).bit_length()
    counts = {"iterations": 0, "collisions": 0, "linear": 0, "rest": 0}
    for instance in range(INSTANCES):
        taken = []
        for pick in range(picks):
            candidate, tries, most = None, 0, TRIES + (pick >> TRIES_SHIFT)
            while candidate is None or candidate in taken:
                left = [0 if tries == most and i in taken else bias << shift for i, bias in enumerate(biases)]
                upto, number = list(accumulate(left)), pick + picks * tries
                w = [int(word) for word in words(SEED, instance, 0, number >> 1)]
                target = ((w[2] << 32 | w[3]) if number & 1 else (w[0] << 32 | w[1])) * upto[-1] >> 64
                candidate = next(i for i, top in enumerate(upto) if top > target)
                counts["linear"] += taken.index(candidate) + 1 if candidate in taken else len(taken)
                tries += 1
            counts["iterations"] += tries
            counts["collisions"] += tries - 1
            counts["rest"] += tries > most
            taken.append(candidate)
    return counts


@pytest.mark.parametrize("collision", ["bipartite", "repeated"])
@pytest.mark.parametrize("fanout", [(4, 3), (30, 2)])
def test_detectors_change_no_byte_and_only_searches(tmp_path, collision, fanout):
    store = random_store(tmp_path / "g.zarr")
    bitmap, with_bitmap = run(store, tmp_path / "s.zarr", "contiguous", collision, fanout=fanout)
    linear, with_list = run(store, tmp_path / "s.zarr", "linear", collision, fanout=fanout)
    assert_same(bitmap, linear)
    assert with_bitmap["searches"] == with_bitmap["iterations"] < with_list["searches"]
    assert with_bitmap | {"searches": 0} == with_list | {"searches": 0}


def test_counts_are_those_of_a_slow_reference(tmp_path):
    store = store_of(tmp_path / "g.zarr", STAR, directed=True)
    expected = slow_counts([weight for *_, weight in STAR], PICKS)
    options = {"fanout": (PICKS,), "sources": [0], "instances": INSTANCES}
    for detect, searches in (("contiguous", expected["iterations"]), ("linear", expected["linear"])):
        _, counts = run(store, tmp_path / "s.zarr", detect, **options)
        assert counts == dict.fromkeys(TALLY, 0) | {
            "draws": expected["iterations"],
            "iterations": expected["iterations"],
            "collisions": expected["collisions"],
            "searches": searches,
        }
    assert expected["collisions"] > INSTANCES * PICKS // 10
    assert expected["rest"] > 10, "no pick met as many collisions"


def test_what_each_way_with_collisions_costs(tmp_path):
    store = store_of(tmp_path / "g.zarr", STAR, directed=True)
    options = {"fanout": (PICKS,), "sources": [0], "instances": INSTANCES}
    counts = {c: run(store, tmp_path / "s.zarr", None, c, **options)[1] for c in Collision}
    picks = INSTANCES * PICKS
    for c in Collision:
        assert counts[c]["iterations"] == picks + counts[c]["collisions"]
    assert counts["repeated"]["draws"] == counts["repeated"]["iterations"]
    assert picks <= counts["bipartite"]["draws"] < counts["bipartite"]["iterations"] < counts["repeated"]["iterations"]
    assert counts["updated"] == dict.fromkeys(TALLY, 0) | {
        "draws": picks,
        "iterations": picks,
        "rebuilt": INSTANCES * (PICKS - 1) * len(STAR),
    }


@pytest.mark.parametrize(
    ("algo", "options", "reason"),
    [
        ("neighbor", {"detect": "strided"}, "on the CPU a single thread selects"),
        ("neighbor", {"detect": "linear", "collision": "updated"}, "--collision updated removes selected neighbors"),
        ("neighbor", {"detect": "linear", "select": "keys"}, "this run selects by keys"),
        ("neighbor", {"detect": "linear", "replace": True}, "drawn with replacement"),
        ("deepwalk", {"detect": "linear"}, "one neighbor at a time"),
        ("neighbor", {"detect": "bloom"}, f"expected one of {', '.join(DETECTORS)}"),
    ],
)
def test_a_detector_that_would_do_nothing_is_refused(tmp_path, algo, options, reason):
    store = random_store(tmp_path / "g.zarr")
    with pytest.raises(OptionError, match=reason):
        prepare(store, algo, device="cpu", **{"select": "its", **options})
