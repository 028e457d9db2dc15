"""The scores of single choices by a closed form: one thread judges many choices, each with its own law, and keeps no
table.
"""

import numpy as np

from csaw.engine.verify.law_kernels import one_law
from csaw.partition.base.compile import njit
from csaw.partition.base.kernel_arrays import empty, place_between, zeros


@njit(nogil=True)
def judge_choices(indptr, indices, bias, p, q, vertex, before, chosen, largest, excess, variance, change):
    """Judge choices of a neighbor of ``vertex`` by the biases of ``row_laws``; ``before`` is the previous vertex, -1
    for none.

    The scores are in columns: a uniform neighbor, one by its degree, a return, a common neighbor, the first and the
    last possible one. Each choice gets the excess of its scores over their means, their variances, and their growth if
    the choice is the deviation. Return the number of choices that the law never makes.
    """
    most = 1
    for i in range(vertex.size):
        most = max(most, indptr[vertex[i] + 1] - indptr[vertex[i]])
    outcome, chance, kind = empty(most, np.int64), empty(most, np.float64), empty(most, np.int8)
    share, even, other = empty(most, np.float64), empty(most, np.float64), empty(most, np.float64)
    bits, common = zeros((indptr.size >> 6) + 1, np.uint64), empty(most, np.int8)
    impossible = 0
    for i in range(vertex.size):
        for column in range(excess.shape[1]):
            excess[i, column], variance[i, column], change[i, column] = 0.0, 0.0, 0.0
        filled = one_law(indptr, indices, bias, p, q, vertex[i], before[i], bits, common, outcome, chance, kind)
        at = place_of(outcome, filled, chosen[i])
        if at < 0:
            impossible += filled > 0 or chosen[i] >= 0
        elif filled > 1:
            score_outcomes(indptr, outcome, chance, filled, largest, share, even, other)
            from_another(chance, filled, share, even, other, at, i, excess, variance, change)
            with_a_meaning(chance, kind, filled, at, i, excess, variance, change)
    return impossible


@njit(nogil=True)
def place_of(outcome, filled, chosen):
    """The place of ``chosen`` among the outcomes, ascending; -1 where it is none."""
    low = place_between(outcome, 0, filled, chosen)
    return low if low < filled and outcome[low] == chosen else -1


@njit(nogil=True)
def score_outcomes(indptr, outcome, chance, filled, largest, share, even, other):
    """The scores of ``score_rows`` of each outcome, for the law of a uniform neighbor (``even``) and for one by its
    degree (``other``), of which ``share`` is the law.

    Divisions stand in a loop without sums, which a processor does several at a time.
    """
    total = 0.0
    for cell in range(filled):
        to = outcome[cell]
        share[cell] = indptr[to + 1] - indptr[to]
        total += share[cell]
    total, uniform = max(total, 1e-300), 1.0 / filled
    for cell in range(filled):
        share[cell] /= total
        even[cell] = uniform / chance[cell] if uniform < largest * chance[cell] else largest
        other[cell] = share[cell] / chance[cell] if share[cell] < largest * chance[cell] else largest


@njit(nogil=True)
def from_another(chance, filled, share, even, other, at, i, excess, variance, change):
    """Fill in the first two columns of choice ``i``, of the outcome ``at``, from the scores of all outcomes."""
    uniform = 1.0 / filled
    mean, square, theirs = 0.0, 0.0, 0.0
    mean_other, square_other, theirs_other = 0.0, 0.0, 0.0
    for cell in range(filled):
        mean += chance[cell] * even[cell]
        square += chance[cell] * even[cell] * even[cell]
        theirs += uniform * even[cell]
        mean_other += chance[cell] * other[cell]
        square_other += chance[cell] * other[cell] * other[cell]
        theirs_other += share[cell] * other[cell]
    if square - mean * mean > 1e-9:  # otherwise the other law is the law itself
        excess[i, 0], variance[i, 0], change[i, 0] = even[at] - mean, square - mean * mean, theirs - mean
    spread = square_other - mean_other * mean_other
    if spread > 1e-9:
        excess[i, 1], variance[i, 1], change[i, 1] = other[at] - mean_other, spread, theirs_other - mean_other


@njit(nogil=True)
def with_a_meaning(chance, kind, filled, at, i, excess, variance, change):
    """Fill in the other columns of choice ``i``: a return, a common neighbor, the first and the last outcome."""
    back, common = 0.0, 0.0
    for cell in range(filled):
        back += chance[cell] if kind[cell] == 2 else 0.0
        common += chance[cell] if kind[cell] == 1 else 0.0
    last = filled - 1
    shares = (back, common, chance[0], chance[last])
    hits = (kind[at] == 2, kind[at] == 1, at == 0, at == last)
    for name in range(4):
        share = min(shares[name], 1.0)
        excess[i, 2 + name] = hits[name] - share
        variance[i, 2 + name], change[i, 2 + name] = share * (1.0 - share), 1.0 - share
