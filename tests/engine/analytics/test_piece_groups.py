"""Pieces of lists are grouped in order, within the memory, and so that GPUs have about as much to do."""

from itertools import pairwise

import numpy as np
import pytest

from csaw.engine.analytics.cuda.piece_groups import Group, divided, grouped, lookups

SIZES = {
    "one": [[3, 2, 5]],
    "nothing": [[0, 0, 0], [4, 0, 0]],
    "even": [[10, 3, 7]] * 64,
    "hubs first": [[2**k, 9000 // 2**k, 400] for k in range(12)],
    "random": np.random.default_rng(5).integers(0, 3000, (200, 3)).tolist(),
}


def pieces_of(groups):
    return [piece for one in groups for piece in range(one.low, one.high)]


@pytest.mark.parametrize("most", [1, 10, 25, 1000])
def test_neighbors_are_grouped_up_to_the_most(most):
    sizes = [3, 9, 1, 1, 30, 2, 2, 2, 7]
    groups = grouped([Group(k, k + 1, size) for k, size in enumerate(sizes)], most)
    assert pieces_of(groups) == list(range(len(sizes)))
    assert all(one.bytes == sum(sizes[one.low : one.high]) for one in groups)
    assert all(one.bytes <= most or one.high == one.low + 1 for one in groups)
    assert all(a.bytes + sizes[b.low] > most for a, b in pairwise(groups))


def test_lookups_are_the_pairs_of_lower_neighbors():
    """5 lists of 8 neighbors have 5 x 8 x 8 / 2 pairs; a piece without lists has none."""
    assert lookups(np.array([[5, 8, 8], [0, 0, 0], [7, 0, 0]])).tolist() == [160.0, 0.0, 0.0]


@pytest.mark.parametrize("works", [1, 4, 32])
@pytest.mark.parametrize("name", SIZES)
def test_works_have_all_pieces_once_within_both_limits(name, works):
    sizes = np.array(SIZES[name])
    bytes_of, taken = 48 * sizes[:, 0] + 8 * sizes[:, 1] + 4 * sizes[:, 2], lookups(sizes)
    for most in (1, int(bytes_of.max()) + 1, int(bytes_of.sum()) + 1):
        found = divided(sizes, bytes_of, most, works)
        assert sorted(pieces_of(found)) == list(range(len(sizes)))
        for one in found:
            assert one.bytes == bytes_of[one.low : one.high].sum()
            alone = one.high == one.low + 1
            assert alone or (one.bytes <= most and taken[one.low : one.high].sum() <= taken.sum() / works * (1 + 1e-9))
        order = [taken[one.low : one.high].sum() for one in found]
        assert order == sorted(order, reverse=True)


def test_works_of_like_pieces_are_as_many_as_wanted():
    sizes = np.array(SIZES["even"])
    assert len(divided(sizes, np.ones(64, np.int64), 10**9, 8)) == 8
