"""Dense ids of an array of integers are those of the integers one by one."""

import numpy as np
import pytest

from csaw.partition.graph.original_ids import places, places_of_integers

ENDS = [
    -(2**63),
    -(2**63) + 1,
    -7,
    -1,
    0,
    1,
    2**31,
    2**53 + 1,
    2**62,
    2**63 - 1,
    2**63,
    2**63 + 5,
    2**64 - 2,
    2**64 - 1,
]


def within(kind, numbers=ENDS):
    limits = np.iinfo(kind)
    return np.array([one for one in numbers if limits.min <= one <= limits.max], kind)


@pytest.mark.parametrize("asked", [np.int64, np.uint64, np.int8, np.uint32])
@pytest.mark.parametrize("stored", [np.int64, np.uint64, np.uint32, None])
@pytest.mark.parametrize("shuffled", [False, True])
def test_arrays_are_found_as_integers_one_by_one_are(stored, asked, shuffled):
    ids, order = None if stored is None else within(stored)[::2], None
    if shuffled and ids is not None:
        ids = np.random.default_rng(3).permutation(ids)
        order = np.argsort(ids)
    originals, vertices = within(asked), 3 if ids is None else ids.size
    at, there = places_of_integers(ids, order, vertices, originals)
    found = [int(place) if is_there else -1 for place, is_there in zip(at, there, strict=True)]
    assert found == places(ids, order, vertices, originals.tolist())
    assert there.any()


def test_a_graph_without_vertices_has_none():
    assert not places_of_integers(np.array([], np.int64), None, 0, np.array([0, 5]))[1].any()
