"""The tests of the tests: each fault that a sampler may have is planted, and the suite's own check and csaw verify find
it.
"""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from helpers.faults import plant
from helpers.graphs import FIVE, SQUARE, arrays_of, rows_of, store_of
from helpers.laws import (
    assert_fires_are_geometric,
    assert_frontier_walks_follow,
    assert_picks_are_independent,
    assert_picks_are_successive,
    assert_sets_are_equally_likely,
    assert_walks_follow,
    by_weight,
    first_order,
    jump,
    metropolis,
    node2vec,
    ppr,
    restart,
)

from csaw.cli.commands.verify import verify as command
from csaw.engine.algorithms.biased import Biased
from csaw.engine.algorithms.deepwalk import Deepwalk
from csaw.engine.algorithms.jump import Jump
from csaw.engine.algorithms.layer import Layer
from csaw.engine.algorithms.metropolis_hastings import MetropolisHastings
from csaw.engine.algorithms.multidimensional import Multidimensional
from csaw.engine.algorithms.neighbor import Neighbor
from csaw.engine.algorithms.node2vec import Node2vec
from csaw.engine.algorithms.ppr import Ppr
from csaw.engine.algorithms.random_edge import RandomEdge
from csaw.engine.algorithms.restart import Restart
from csaw.engine.algorithms.snowball import Snowball
from csaw.engine.draws import random

WALKS = 20_000  # from every vertex
PICKS = 60_000
BIASES = [w for *_, w in FIVE]
LATER = [(6, 0, 1), *FIVE]  # the same choice one hop from the source
STAR = [(0, v, 1) for v in range(1, 81)]  # more than pools list
TWICE = [*STAR, *((v, u, 1) for v in range(1, 81) for u in range(81, 161))]
FORK = [(0, 1, 1), (0, 2, 1)] + [(v, u, 1) for v in (1, 2) for u in (3, 4, 5)]


def caught(check, *arguments):
    with pytest.raises(AssertionError):
        check(*arguments)


def failed(path):
    """Names of the checks that fail; the command ends in status 3 then."""
    done = CliRunner().invoke(command, [str(path), "--json"])
    wrong = {check["name"] for check in json.loads(done.output)["checks"] if not check["ok"]}
    assert done.exit_code == (3 if wrong else 0), done.output
    return wrong


# Second-order walks


def without_p(self, e):
    if e.dst == e.prev or e.prev < 0 or e.is_neighbor(e.prev, e.dst):
        return e.weight
    return e.weight / self.q


def without_q(self, e):
    return e.weight / self.p if e.dst == e.prev else e.weight


def p_a_tenth_off(self, e):
    if e.dst == e.prev:
        return e.weight / (1.1 * self.p)
    if e.prev < 0 or e.is_neighbor(e.prev, e.dst):
        return e.weight
    return e.weight / self.q


def neighbors_are_far(self, e):
    if e.dst == e.prev:
        return e.weight / self.p
    return e.weight if e.prev < 0 else e.weight / self.q


def near_the_vertex_itself(self, e):
    """The neighborhood of the wrong vertex is asked."""
    if e.dst == e.prev:
        return e.weight / self.p
    if e.prev < 0 or e.is_neighbor(e.src, e.dst):
        return e.weight
    return e.weight / self.q


# name: (p and q, the wrong bias, the bias range that goes with it)
NODE2VEC = {
    "p ignored": (0.25, 4.0, without_p, lambda self: (0.25, 1.0, 1.0)),
    "p ignored, high": (2.0, 0.5, without_p, lambda self: (1.0, 2.0, 1.0)),
    "p ignored at q = 1": (0.5, 1.0, without_p, lambda self: (1.0, 1.0, 1.0)),
    "p a tenth off": (0.25, 4.0, p_a_tenth_off, lambda self: (0.25, 1.0, 1.0 / (1.1 * self.p))),
    "q ignored": (0.25, 4.0, without_q, lambda self: (1.0, 1.0, 4.0)),
    "q ignored, high": (2.0, 0.5, without_q, lambda self: (1.0, 1.0, 0.5)),
    "neighbors are far": (0.25, 4.0, neighbors_are_far, Node2vec.bias_range),
    "wrong neighborhood": (0.25, 4.0, near_the_vertex_itself, Node2vec.bias_range),
    "return edge never": (0.25, 4.0, Node2vec.edge_bias, lambda self: (0.25, 1.0, 0.0)),
}
LIKE_ANOTHER = (
    "p ignored, high",
    "q ignored, high",
    "wrong neighborhood",
    "p ignored at q = 1",
    "all accepted",
    "restart where it is",
    "termination upside down",
    "one range for all picks",
    "snowball's weights ignored",
    "layer's weights ignored",
    "fire of one more",
    "p ignored",
    "neighbors are far",
    "restarts a tenth too often",
    "ends a tenth too often",
    "snowball's weights ignored later",
    "layer's weights ignored later",
    "layers of one draw",
    "siblings of one draw, sets",
)


def each(faults):
    slow = pytest.mark.slow(reason="a fault of the same kind as a quick one")
    return [pytest.param(name, marks=[slow] if name in LIKE_ANOTHER else []) for name in faults]


@pytest.mark.parametrize("fault", each(NODE2VEC))
def test_a_wrong_node2vec_is_found(tmp_path, fault, monkeypatch):
    p, q, bias, bounds = NODE2VEC[fault]
    store = store_of(tmp_path / "g.zarr", SQUARE, directed=False, vertices=5)
    with monkeypatch.context() as planted:
        planted.setattr(Node2vec, "edge_bias", bias)
        planted.setattr(Node2vec, "bias_range", bounds)
        walks = arrays_of(store, tmp_path / "s.zarr", "node2vec", p=p, q=q, num_walks=WALKS, walk_length=3)["walks"]
    caught(assert_walks_follow, walks, rows_of(store, True), node2vec(p, q))
    assert failed(tmp_path / "s.zarr") & {"transitions", "transitions, pooled"}


# Hooks of other algorithms


def ignores_weights(self, e):
    return 1.0


def ignores_weights_later(self, e):
    return e.weight if e.depth == 0 else 1.0


def by_own_degree(self, e):
    return e.src_degree


def upside_down(self, e):
    return e.dst if e.random() * e.src_degree < e.dst_degree else e.src


def always_moves(self, e):
    return e.dst


def seldom_stays(self, e):
    return e.dst if e.random() * e.dst_degree < 1.1 * e.src_degree else e.src


def jumps_too_often(self, e):
    return e.random_vertex() if e.random() < 1.1 * self.jump_prob else e.dst


def restarts_where_it_is(self, e):
    return e.src if e.random() < self.restart_prob else e.dst


def restarts_too_often(self, e):
    return e.source if e.random() < 1.1 * self.restart_prob else e.dst


def goes_on_with_that_chance(self, e):
    return e.dst if e.random() < self.termination_prob else -1


def ends_too_often(self, e):
    return -1 if e.random() < 1.1 * self.termination_prob else e.dst


def stays_dead(self, v):
    return -1


def prefers_high_ids(self, e):
    return e.dst


def one_walker_as_good_as_another(self, v):
    return 1.0


STEPS = ("walk.py", "philox(seed, instance[j], steps[j], uint64(0))")
# name: (algorithm, options, what is planted: a hook or a line of a kernel, the right law)
WALK_FAULTS = {
    "weights ignored": ("deepwalk", {}, (Deepwalk, "edge_bias", ignores_weights), first_order(by_weight)),
    "alias never taken": (
        "deepwalk",
        {},
        ("walk.py", "if coin < uint64(graph.table[entry + uint64(2)])", "if True"),
        first_order(by_weight),
    ),
    "same draw at every step": (
        "deepwalk",
        {},
        (*STEPS, "philox(seed, instance[j], uint64(0), uint64(0))"),
        first_order(by_weight),
    ),
    "same draw for all": (
        "deepwalk",
        {},
        (*STEPS, "philox(seed, uint64(0), steps[j], uint64(0))"),
        first_order(by_weight),
    ),
    "degree of the wrong end": (
        "biased",
        {"bias": "degree"},
        (Biased, "edge_bias", by_own_degree),
        first_order(lambda rows, v, w: len(rows[v])),
    ),
    "ratio upside down": ("metropolis-hastings", {}, (MetropolisHastings, "update", upside_down), metropolis),
    "all accepted": ("metropolis-hastings", {}, (MetropolisHastings, "update", always_moves), metropolis),
    "a tenth too many accepted": ("metropolis-hastings", {}, (MetropolisHastings, "update", seldom_stays), metropolis),
    "jumps a tenth too often": ("jump", {"jump_prob": 0.25}, (Jump, "update", jumps_too_often), jump),
    "no jump from a dead end": ("jump", {"jump_prob": 0.25}, (Jump, "dead_end", stays_dead), jump),
    "restart where it is": ("restart", {"restart_prob": 0.25}, (Restart, "update", restarts_where_it_is), restart),
    "restarts a tenth too often": ("restart", {"restart_prob": 0.25}, (Restart, "update", restarts_too_often), restart),
    "termination upside down": ("ppr", {"termination_prob": 0.25}, (Ppr, "update", goes_on_with_that_chance), ppr),
    "ends a tenth too often": ("ppr", {"termination_prob": 0.25}, (Ppr, "update", ends_too_often), ppr),
}


def planted(monkeypatch, fault):
    """For as long as the context lasts."""
    owner, name, wrong = fault
    plant(monkeypatch, *fault) if isinstance(owner, str) else monkeypatch.setattr(owner, name, wrong)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("fault", each(WALK_FAULTS))
def test_a_wrong_walk_is_found(tmp_path, fault, monkeypatch):
    algo, options, what, law = WALK_FAULTS[fault]
    edges = [*SQUARE, (4, 5, 2)] if fault != "no jump from a dead end" else [(0, 1, 1), (1, 2, 1), (1, 0, 1)]
    store = store_of(tmp_path / "g.zarr", edges, directed=len(edges) == 3)
    with monkeypatch.context() as during:
        planted(during, what)
        walks = arrays_of(store, tmp_path / "s.zarr", algo, num_walks=WALKS, walk_length=3, **options)["walks"]
    caught(assert_walks_follow, walks, rows_of(store, True), law)
    assert failed(tmp_path / "s.zarr")


def last_picks(drawn):
    """What instances of one choice selected, counted from the first of FIVE."""
    hops = [name for name in drawn if name.startswith("hop_")]
    if hops:
        return drawn[hops[-1]].astype(int) - 1
    last = drawn["depth"] == drawn["depth"].max()
    return drawn["dst"][last].reshape(PICKS, -1).astype(int) - 1


def successive(drawn):
    assert_picks_are_successive(last_picks(drawn), BIASES)


def equal_sets(drawn):
    assert_sets_are_equally_likely(last_picks(drawn), 5)


def even_pairs(drawn):
    assert_sets_are_equally_likely(last_picks(drawn), len(STAR))


def layers_apart(drawn):
    assert_picks_are_independent(drawn["dst"].reshape(PICKS, 2).astype(int) - [1, 81], [1] * 80, [1] * 80)


def one_by_one(drawn):
    assert_picks_are_independent(last_picks(drawn), BIASES, BIASES)


def cousins(drawn):
    assert_picks_are_independent(last_picks(drawn)[:, [0, 1]] - 2, [1] * 3, [1] * 3)


def cousins_of_two(drawn):
    """The first child of each sibling, of two."""
    cousins(drawn | {"hop_2": drawn["hop_2"][:, [0, 2]]})


def fires(drawn):
    burnt = np.bincount(
        np.searchsorted(drawn["instance_ptr"], np.flatnonzero(drawn["depth"] == 0), "right") - 1, minlength=PICKS
    )
    assert_fires_are_geometric(burnt, 0.5, 5)


def fires_later(drawn):
    started = np.flatnonzero(np.diff(drawn["instance_ptr"]))  # those that lit the vertex between
    assert_fires_are_geometric(np.diff(drawn["instance_ptr"])[started] - 1, 0.5, 5)


def edges_even(drawn):
    assert_sets_are_equally_likely(drawn["dst"].reshape(PICKS, -1).astype(int) - 1, 5)


def vertices_even(drawn):
    assert_sets_are_equally_likely(drawn["sources"].reshape(PICKS, -1).astype(int), 6)


def a_block(seed, instance, slot, vertices, size):
    """Every vertex equally likely, but neighbors only."""
    return (int(instance) + np.arange(size)) % vertices


FLOYD = "int64(below(word, uint64(top + 1)))"
TRIES = "philox(seed, instance, slot, number >> uint64(1))"
BURNT = "sizes[i] = int64(flips)"
LEFT = "(float(target - low) + 0.5) / float(width) * float(rest)"
NUMBER = ("traverse.py", "uint64(bound[i])")
LAYER = {"depth": 1, "neighbor_size": 2, "select": "uniform", "weighted": False}
ONCE = {"fanout": (2,), "weighted": False}
FIRE = {"burn_prob": 0.5, "weighted": False}
# name: (graph, algorithm, options, what is planted, the suite's check, checks of csaw verify of which one finds it)
TRAVERSAL_FAULTS = {
    "the first of the row": (
        FIVE,
        "neighbor",
        ONCE,
        ("by_time.py", FLOYD, "int64(j)"),
        equal_sets,
        "neighbors",
    ),
    "with replacement": (
        FIVE,
        "neighbor",
        ONCE,
        ("by_time.py", "return low + top\n", "return place\n"),
        equal_sets,
        "repeats",
    ),
    "one range for all picks": (
        FIVE,
        "neighbor",
        ONCE,
        ("by_time.py", "uint64(top + 1)", "uint64(count - k + 1)"),
        equal_sets,
        "neighbors",
    ),
    "weights ignored": (
        FIVE,
        "neighbor",
        {"fanout": (3,)},
        (Neighbor, "edge_bias", ignores_weights),
        successive,
        "neighbors",
    ),
    "weights ignored later": (
        LATER,
        "neighbor",
        {"fanout": (1, 3)},
        (Neighbor, "edge_bias", ignores_weights_later),
        successive,
        "neighbors",
    ),
    "region as printed": (
        FIVE,
        "neighbor",
        {"fanout": (3,), "select": "its"},
        ("select.py", LEFT, "float(target) / float(total) * float(rest)"),
        successive,
        "neighbors",
    ),
    "keys times bias": (
        FIVE,
        "neighbor",
        {"fanout": (3,), "select": "keys"},
        ("select.py", "time /= biases[i]", "time *= biases[i]"),
        successive,
        "neighbors",
    ),
    "two picks of one draw": (
        FIVE,
        "neighbor",
        {"fanout": (2,), "replace": True, "select": "its"},
        ("select.py", "if number & uint64(1) else (w0 << SHIFT) | w1", "if True else w0"),
        one_by_one,
        "neighbors, independence",
    ),
    "siblings of one draw": (
        FORK,
        "neighbor",
        {"fanout": (2, 1), "replace": True},
        ("select.py", TRIES, TRIES.replace("slot", "uint64(0)")),
        cousins,
        "neighbors, independence",
    ),
    "siblings of one draw, uniform": (
        FORK,
        "neighbor",
        {"fanout": (2, 1), "weighted": False},
        ("hops.py", "uint64(slot + cell - local * width)", "uint64(0)"),
        cousins,
        "neighbors, independence",
    ),
    "siblings of one draw each, uniform": (
        FORK,
        "neighbor",
        {"fanout": (2, 2), "replace": True, "weighted": False},
        ("hops.py", "uint64(slot + cell - local * width)", "uint64(slot)"),
        cousins_of_two,
        "neighbors, independence",
    ),
    "siblings of one draw, sets": (
        FORK,
        "neighbor",
        {"fanout": (2, 1)},
        ("select.py", TRIES, TRIES.replace("slot", "uint64(0)")),
        cousins,
        "neighbors, independence",
    ),
    "snowball's weights ignored": (
        FIVE,
        "snowball",
        {"depth": 1, "neighbor_size": 2},
        (Snowball, "edge_bias", ignores_weights),
        successive,
        "neighbors",
    ),
    "snowball's weights ignored later": (
        LATER,
        "snowball",
        {"depth": 2, "neighbor_size": 2},
        (Snowball, "edge_bias", ignores_weights_later),
        successive,
        "neighbors",
    ),
    "layer's weights ignored": (
        FIVE,
        "layer",
        {"depth": 1, "neighbor_size": 2},
        (Layer, "edge_bias", ignores_weights),
        successive,
        "neighbors",
    ),
    "layer's weights ignored later": (
        LATER,
        "layer",
        {"depth": 2, "neighbor_size": 2},
        (Layer, "edge_bias", ignores_weights_later),
        successive,
        "neighbors",
    ),
    "layer's last edge never": (STAR, "layer", LAYER, (*NUMBER, "uint64(bound[i] - 1)"), even_pairs, "neighbors"),
    "layers of one draw": (
        TWICE,
        "layer",
        {**LAYER, "depth": 2, "neighbor_size": 1},
        ("traverse.py", "uint64(slot[i]), uint64(turn))\n            out", "uint64(0), uint64(turn))\n            out"),
        layers_apart,
        "neighbors, independence",
    ),
    "an edge twice in a layer": (
        STAR,
        "layer",
        LAYER,
        ("traverse.py", "out[cell] = dst", "out[cell] = 1 + (dst - 1) // 2 * 2"),
        even_pairs,
        "repeats",
    ),
    "the last edge never": (
        STAR,
        "random-edge",
        {"neighbor_size": 2},
        (*NUMBER, "uint64(bound[i] - 1)"),
        even_pairs,
        "selection",
    ),
    "fire of one more": (
        FIVE,
        "forest-fire",
        {"depth": 1, **FIRE},
        ("traverse.py", BURNT, BURNT + " + 1"),
        fires,
        "burning",
    ),
    "fire of one more later": (
        LATER,
        "forest-fire",
        {"depth": 2, **FIRE},
        ("traverse.py", BURNT, BURNT + " + int64(slot[i] > 0)"),
        fires_later,
        "burning",
    ),
    "fire's chance a twentieth off": (
        FIVE,
        "forest-fire",
        {"depth": 1, **FIRE},
        ("traverse.py", "word > limit", "float(word) > 1.05 * float(limit)"),
        fires,
        "burning",
    ),
    "edges by degree": (
        FIVE,
        "random-edge",
        {"neighbor_size": 2},
        (RandomEdge, "edge_bias", prefers_high_ids),
        edges_even,
        "selection",
    ),
    "vertices in a block": (
        FIVE,
        "random-node",
        {"frontier_size": 3},
        (random, "distinct_below", a_block),
        vertices_even,
        "sets",
    ),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("fault", each(TRAVERSAL_FAULTS))
def test_a_wrong_traversal_is_found(tmp_path, fault, monkeypatch):
    edges, algo, options, what, check, found_by = TRAVERSAL_FAULTS[fault]
    store = store_of(tmp_path / "g.zarr", edges, directed=True)
    start = {"instances": PICKS} if algo.startswith("random") else {"sources": np.full(PICKS, edges[0][0])}
    with monkeypatch.context() as during:
        planted(during, what)
        drawn = arrays_of(store, tmp_path / "s.zarr", algo, **start, **options)
    caught(check, drawn)
    assert found_by in failed(tmp_path / "s.zarr")


WALKERS = {
    "walkers uniformly": ("vertex_bias", one_walker_as_good_as_another, "movers"),
    "steps by weight of another": ("edge_bias", by_own_degree, "transitions"),
}


@pytest.mark.parametrize("fault", WALKERS)
def test_a_wrong_frontier_walk_is_found(tmp_path, fault, monkeypatch):
    hook, wrong, found_by = WALKERS[fault]
    store = store_of(tmp_path / "g.zarr", SQUARE, directed=False)
    with monkeypatch.context() as during:
        during.setattr(Multidimensional, hook, wrong)
        drawn = arrays_of(
            store,
            tmp_path / "s.zarr",
            "multidimensional",
            frontier_size=3,
            walk_length=2,
            sources=np.tile([0, 3, 4], WALKS),
        )
    caught(assert_frontier_walks_follow, drawn, rows_of(store, True), [0, 3, 4])
    assert found_by in failed(tmp_path / "s.zarr")
