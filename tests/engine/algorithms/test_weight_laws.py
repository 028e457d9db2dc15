"""Weights of every size that a graph can hold keep their law, whatever an algorithm computes of them.

The laws are worked out in fractions from the weights that the graph has, which are 32-bit floats.
"""

from fractions import Fraction

import numpy as np
import pytest
from helpers.graphs import TIMELESS, arrays_of, ends_of_batches, rows_of, store_of
from helpers.stats import assert_drawn_from

from csaw.engine.algorithm import MatrixEntries, Traversal
from csaw.engine.api import hooks, registry
from csaw.partition.errors import CsawError

MANY = 2000
NEVER = Fraction(1, 10**9)  # what is rarer is not met in so few draws: it must not be met at all
CLOSE = (1.0, 0.5**0.5, 2**0.5)  # so that squares in 32 bits are rounded
WEIGHTS = {
    **{
        f"{scale:g}": [scale * w for w in CLOSE]
        for scale in (1e-38, 3e-30, 1e-25, 3e-23, 1e-19, 1.0, 1e19, 1e20, 1e30, 1e38)
    },
    "the least": [2.0**-149, 2.0**-148, 3 * 2.0**-149],
    "around the least normal one": [2.0**-126, 0.7 * 2.0**-126, 2.0**-125],
    "the largest": [float(np.finfo(np.float32).max), 2e38, 3e38],
    "the ends": [1e-38, 1e38, 1e-38],
    "far apart": [1e-38, 1e30, 3e29],
    "below the least normal one": [4e-39, 1e-38, 8e-39],
}
ONE = {
    "walk_length": 1,
    "fanout": (1,),
    "neighbor_size": 1,
    "layer_sizes": (1,),
    "subgraph_nodes": 1,
    "depth": 1,
    "frontier_size": 1,
    "seeds_per_batch": 1,
    "jump_prob": 0.0,
    "restart_prob": 0.0,
    "termination_prob": 0.0,
    "burn_prob": 0.5,
}
EXPRESSIONS = {"e.weight * e.weight": 2, "e.weight ** 2": 2, "1.0 / e.weight": -1, "e.weight * e.weight / e.weight": 1}


def variants():
    """(algorithm, options, its edge_bias) of what the registry holds, with every value of options that are words, if
    its bias reads weights.
    """
    for name in TIMELESS:
        own = registry.find(name).options()
        words = next(((key, one.choices) for key, one in own.items() if one.choices), None)
        for options in [{words[0]: word} for word in words[1]] if words else [{}]:
            algorithm = registry.build(name, options)
            if "weight" in hooks.edge_bias(algorithm, weighted=True).reads:
                yield pytest.param(name, options, id=" ".join([name, *options.values()]))


def expressed():
    """(algorithm, expression) of those whose samples a bias decides."""
    for name in TIMELESS:
        algorithm = registry.build(name, {})
        if not (isinstance(algorithm, Traversal) and (algorithm.induced or not algorithm.sizes())):
            yield from ((name, expression) for expression in EXPRESSIONS)


def whole(kind):
    """Whether an instance chooses from the whole graph, or may be refused as one graph alone, so that each star is a
    graph.
    """
    return kind.sources_from == "every" or issubclass(kind, MatrixEntries)


def stars_of(path, stars):
    """Vertex 4 k has edges of the weights of star k to the three vertices after it, and each of these one back to the
    first of the star.
    """
    edges = [
        (4 * k + end % 4, 4 * k + (end - 4) % 4, w) for k, star in enumerate(stars) for end, w in enumerate(star, 1)
    ]
    return store_of(
        path,
        [*((4 * k, 4 * k + end, w) for k, star in enumerate(stars) for end, w in enumerate(star, 1)), *edges],
        directed=True,
    )


def first_picks(store, out, name, options):
    """The vertices that instances choose first, of those that choose one."""
    kind = registry.find(name)
    given = {key: value for key, value in ONE.items() if key in kind.options()} | options
    sources = np.repeat(np.arange(0, store.vertices, 4), MANY)
    start = {"instances": MANY} if kind.sources_from == "every" else {"sources": sources}
    drawn = arrays_of(store, out, name, seed=5, **start, **given)
    if "walks" in drawn:
        return drawn["walks"][:, 1]
    if "hop_1" in drawn:
        return drawn["hop_1"].ravel()
    if "n_id" in drawn:
        return ends_of_batches(drawn, 0)
    if "vertices" in drawn:  # of layers, or of a subgraph, in which there is the source, too
        found = drawn["vertices"]
        return found[found % 4 > 0] if kind.draws_from == "edges" else found
    begins, first = drawn["instance_ptr"][:-1], drawn["src"] % 4 == 0
    single = np.bincount(np.searchsorted(begins, np.flatnonzero(first), "right") - 1, minlength=begins.size) == 1
    return drawn["dst"][
        first & np.repeat(single, np.diff(drawn["instance_ptr"]))
    ]  # of fires, those that light one vertex


def refusal_or_picks(store, out, name, options):
    """(the words of a refusal, nothing), or (nothing, what ``first_picks`` returns)."""
    try:
        return "", first_picks(store, out, name, options)
    except CsawError as error:
        return str(error), None


def column_law(store, name, normalize):
    """The chance of each vertex by the squared entries of its column: of the row of 0, or of all rows."""
    rows, law = rows_of(store, True), [Fraction(0)] * store.vertices
    for row in rows[:1] if registry.find(name).draws_from == "neighbors" else rows:
        for u, w in row:
            by = {"symmetric": len(row) * len(rows[u]), "row": len(row) ** 2, "none": 1}[normalize]
            law[u] += Fraction(w) ** 2 / by
    return law


def row_laws(store, power=1):
    """The chance of each vertex to be chosen by the one that has an edge to it, up to a factor of each star."""
    rows, law = rows_of(store, True), [Fraction(0)] * store.vertices
    for row in rows[::4]:
        for u, w in row:
            law[u] = Fraction(w) ** power
    return law


def assert_picked(picks, law):
    """The choices of each star are drawn from its law, of fractions up to a factor, of which rare outcomes are never
    met.
    """
    found = np.bincount(picks, minlength=len(law))
    for star in range(0, len(law), 4):
        total, here = sum(law[star : star + 4]), found[star : star + 4]
        chances = [float(c / total) if c > NEVER * total else 0.0 for c in law[star : star + 4]]
        assert here.sum() > MANY // 10
        assert_drawn_from(here, chances)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("name", "options"), list(variants()))
def test_every_algorithm_that_reads_weights_keeps_its_law_from_end_to_end_of_float32(tmp_path, name, options):
    kind = registry.find(name)
    for stars in [[one] for one in WEIGHTS.values()] if whole(kind) else [list(WEIGHTS.values())]:
        store = stars_of(tmp_path / "g.zarr", stars)
        law = column_law(store, name, options["normalize"]) if issubclass(kind, MatrixEntries) else row_laws(store)
        refused, picks = refusal_or_picks(store, tmp_path / "s.zarr", name, options)
        if refused:  # what a layer's edge weighs, divided by a chance
            assert "the largest number of 32 bits" in refused
            assert max(stars[0]) >= 1e30
        else:
            assert_picked(picks, law)


@pytest.mark.one_in(19)
@pytest.mark.parametrize(("name", "expression"), list(expressed()))
def test_expressions_compute_with_weights_in_64_bits(tmp_path, name, expression):
    kind, options = registry.find(name), {"edge_bias": expression, "weighted": True}
    for stars in [[one] for one in WEIGHTS.values()] if whole(kind) else [list(WEIGHTS.values())]:
        store = stars_of(tmp_path / "g.zarr", stars)
        refused, picks = refusal_or_picks(store, tmp_path / "s.zarr", name, options)
        if refused:
            said = "expected a constant", "hgt cannot use it", "the largest number of 32 bits"
            assert any(one in refused for one in said), refused
            return
        law = row_laws(store, EXPRESSIONS[expression])
        if getattr(kind, "draws_from", "edges") == "vertices":
            for v, row in enumerate(rows_of(store, True)):
                for u, w in row if v else []:
                    law[u] += Fraction(w) ** EXPRESSIONS[expression]
        assert_picked(picks, law)
