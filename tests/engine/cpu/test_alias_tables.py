"""Alias tables as kernels make them, against sums of fractions and against a sweep by two lists."""

from fractions import Fraction
from itertools import accumulate as accumulated

import numba
import numpy as np
import pytest

from csaw.engine.cpu.kernels.weigh import accumulate, accumulate_each, quantise, shift_for, sweep

BUCKET = 1 << 32
RNG = np.random.default_rng(20261125)
ROWS = {
    "one edge": [0.25],
    "equal": [1.0] * 9,
    "light before heavy": [1.0, 1.0, 1.0, 9.0],
    "heavy before light": [9.0, 1.0, 1.0, 1.0],
    "one possible edge": [0.0, 0.0, 3.0, 0.0],
    "the last is impossible": [2.0, 1.0, 0.0],
    "units that come out even": [1.0, 3.0, 2.0, 2.0],
    "as small as numbers are": [5e-324, 1.5e-323, 1e-323, 5e-324],
    "as large as they are": [1e260, 3e259, 2e260],
    "from the smallest to the largest": [5e-324, 1e-300, 1e-30, 1.0, 1e30, 1e250],
    "float32 weights": RNG.random(300).astype(np.float32).tolist(),
    "a long tail": (RNG.pareto(0.3, 1000) + 1e-9).tolist(),
    "with zeros": (RNG.random(257) * (RNG.random(257) < 0.5)).tolist(),
}


@numba.njit
def made(biases, ids):
    """The running sums of a row, the units of its edges, and its alias table."""
    count, largest = biases.size, biases.max()
    ctps, units = np.empty(count, np.int64), np.empty(count, np.int64)
    table = np.zeros(3 * count, np.uint32)
    table[::3] = ids
    quantise(ctps, count, accumulate(biases, count, largest, ctps), units)
    sweep(table, 0, count, units, np.empty(2 * count + 1, np.int64), 0)
    return shift_for(largest, count), ctps, units, table


def swept(ids, units):
    """The same table by two lists: each light bucket takes what it lacks from the first heavy one that has more than
    its own.
    """
    left, heavies = list(units), [i for i, mine in enumerate(units) if mine > BUCKET]
    alias, below = list(ids), [0] * len(ids)
    for light in (i for i, mine in enumerate(units) if mine < BUCKET):
        todo = [light]
        while todo:
            poor = todo.pop()
            rich = heavies[0]
            alias[poor], below[poor] = ids[rich], left[poor]
            left[rich] -= BUCKET - left[poor]
            if left[rich] < BUCKET:
                todo.append(heavies.pop(0))
    return [list(entry) for entry in zip(ids, alias, below, strict=True)]


@pytest.mark.parametrize("biases", ROWS.values(), ids=ROWS.keys())
def test_a_table_is_that_of_two_lists_and_gives_each_edge_its_share_of_the_fractions(biases):
    ids = [7 * i + 3 for i in range(len(biases))]
    shift, ctps, units, table = made(np.array(biases), np.array(ids))
    exact = [Fraction(bias) * Fraction(2) ** int(shift) for bias in biases]
    assert ctps.tolist() == [int(total) for total in accumulated(exact)]
    assert sum(units.tolist()) == len(ids) * BUCKET
    assert table.reshape(-1, 3).tolist() == swept(ids, units.tolist())
    given = dict.fromkeys(ids, 0)
    for own, alias, below in table.reshape(-1, 3).tolist():
        given[own] += below
        given[alias] += BUCKET - below
    assert list(given.values()) == units.tolist()
    assert all(mine == 0 for mine, bias in zip(units.tolist(), biases, strict=True) if bias == 0)


@numba.njit
def sums_of(biases):
    """The running sums of a row, and those for picks without replacement."""
    carried, each = np.empty(biases.size, np.int64), np.empty(biases.size, np.int64)
    accumulate(biases, biases.size, biases.max(), carried)
    accumulate_each(biases, biases.size, biases.max(), each)
    return carried, each


@pytest.mark.parametrize("light", [1e-3, 0.3, 0.999, 1.5, 1 / 3])
def test_light_edges_beside_an_overwhelming_one_get_what_they_weigh_together(light):
    """Rounded up each, or down each, they would get up to a unit too much or too little each."""
    count = 1 << 16
    biases = np.full(count, light)
    biases[1000] = 2.0**43  # which makes units of 1
    carried, each = sums_of(biases)
    exact = accumulated(map(Fraction, biases.tolist()))
    assert all(-1 - Fraction(1, 1 << 15) < made - true <= 0 for made, true in zip(carried.tolist(), exact, strict=True))
    assert each[999] == 1000 * max(int(light), 1)
