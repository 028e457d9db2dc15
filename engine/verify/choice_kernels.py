"""The scores of single choices by a closed form: one thread judges many choices, each with its own law, and keeps no
table.
"""

import numpy as np

from csaw.engine.verify.kernels import one_law
from csaw.partition.base.compile import njit
from csaw.partition.base.kernel_arrays import empty, place_of, zeros


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
    impossible = 0
    for i in range(vertex.size):
        filled = one_law(indptr, indices, bias, p, q, vertex[i], before[i], outcome, chance, kind)
        at = place_of(outcome[:filled], chosen[i])
        excess[i], variance[i], change[i] = 0.0, 0.0, 0.0
        if filled == 0:
            impossible += chosen[i] >= 0
        elif at == filled or outcome[at] != chosen[i]:
            impossible += 1
        elif filled > 1:
            from_another(indptr, False, outcome, chance, filled, at, largest, 0, excess[i], variance[i], change[i])
            from_another(indptr, True, outcome, chance, filled, at, largest, 1, excess[i], variance[i], change[i])
            shares = zeros(4, np.float64)
            for cell in range(filled):
                shares[0] += chance[cell] if kind[cell] == 2 else 0.0
                shares[1] += chance[cell] if kind[cell] == 1 else 0.0
            shares[2], shares[3] = chance[0], chance[filled - 1]
            hits = (kind[at] == 2, kind[at] == 1, at == 0, at == filled - 1)
            for name in range(4):
                share = min(shares[name], 1.0)
                excess[i, 2 + name] = hits[name] - share
                variance[i, 2 + name], change[i, 2 + name] = share * (1.0 - share), 1.0 - share
    return impossible


@njit(nogil=True)
def from_another(indptr, by_degree, outcome, chance, filled, at, largest, column, excess, variance, change):
    """The score of ``score_rows`` of the outcome ``at``, for the law of a uniform neighbor or, ``by_degree``, of one by
    its degree.
    """
    total = 0.0
    for cell in range(filled):
        total += indptr[outcome[cell] + 1] - indptr[outcome[cell]] if by_degree else 1.0
    total = max(total, 1e-300)
    mean, square, theirs, value = 0.0, 0.0, 0.0, 0.0
    for cell in range(filled):
        share = (indptr[outcome[cell] + 1] - indptr[outcome[cell]] if by_degree else 1.0) / total
        score = share / chance[cell] if share < largest * chance[cell] else largest
        mean += chance[cell] * score
        square += chance[cell] * score * score
        theirs += share * score
        if cell == at:
            value = score
    if square - mean * mean > 1e-9:  # otherwise the other law is the law itself
        excess[column], variance[column], change[column] = value - mean, square - mean * mean, theirs - mean
