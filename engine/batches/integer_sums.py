"""Sums of biases as integers, which are the same in any order of addition, and so on every device.

The biases of a pool become integers of one scale, at least 1 each, as engine/cpu/kernels/weigh.py has them for rows.
This is accurate unless biases are so far apart that light ones are rounded to a few units, or to one. ``lightness``
measures that, and pools that have too much of it get finer sums: see ``finer`` and Columns in
engine/batches/layers.py. Whether they do depends on their biases only.
"""

from types import ModuleType

import numpy as np

from csaw.engine.batches.traversals import counts, fresh
from csaw.engine.plan.contracts import Array

BITS = 61
LEAST_BITS = 16  # of an integer whose rounding cannot be seen: as for running sums of rows, engine/plan/selection.py
VISIBLE_BITS = 40  # rounding that moves less than 2^-40 of the draws cannot be seen
REST_BITS = 30  # of what is left of a number in units: as many as leave room for sums of 2^32 of them
FARTHEST = 1000  # powers of two below the units of a pool, of which the least rates are


def shifts(xp: ModuleType, largest: Array, count: Array) -> Array:
    """int64 [pools]: the power of two that scales the biases of a pool, ``count`` of them up to ``largest``, so that
    their sum stays below 2^62.
    """
    bits = xp.frexp(count.astype(np.float64))[1]
    return BITS - xp.frexp(largest)[1].astype(np.int64) - bits


def scaled(xp: ModuleType, biases: Array, shift: Array | int) -> Array:
    """int64 [n]: ``biases * 2^shift``; a possible edge keeps at least 1."""
    value = xp.ldexp(biases, xp.asarray(shift, np.int32)).astype(np.int64)
    return xp.where(biases > 0.0, xp.maximum(value, 1), 0)


def lightness(units: Array) -> Array:
    """int64 [n]: how much the rounding to ``units`` may change each, at most, in 2^-16 of it; 0 above 2^16 units.

    As the sum of a pool, it tells how visible the rounding of all is: an edge of u units is off by up to 1, and 1/u of
    its draws show that.
    """
    found: Array = (1 << LEAST_BITS) // units.clip(1) * (units > 0)
    return found


def too_light(light: Array, total: Array, replace: bool) -> Array:
    """bool [pools]: whether rounding could be seen in the draws from pools with these sums of ``lightness`` and units.

    Without replacement, the lightest can be all that is left of a pool, so that each must be accurate. With it, draws
    only show what is large enough compared with the whole.
    """
    found: Array = light > (total >> VISIBLE_BITS - LEAST_BITS) if replace else light > 0
    return found


def finer(
    xp: ModuleType, local: Array, dst: Array, bias: Array, instances: int, vertices: int
) -> tuple[Array, Array, Array]:
    """The candidates of pools, in order: int64 [n] their instances, int64 [n] their units, and float64 [n] their rates.

    Units and rates have the same scale in an instance. Units add up to less than 2^62, and those of any successive
    candidates are off by no more than one or two, also as a sum. Rates are off by less than e^2 2^-59 of them, for
    candidates of e edges. ``local``, ``dst``, ``bias`` [edges]: of edges to the candidates, in order of instance.
    """
    key = local * vertices + dst
    order = xp.argsort(key, kind="stable")
    key, bias = key[order], bias[order]
    is_first = fresh(xp, key)
    of = xp.cumsum(is_first, dtype=np.int64) - 1  # the candidate of each edge
    first = xp.flatnonzero(is_first)
    owner = key[first] // vertices
    # The edges of each candidate are added up in a scale of the candidate's own.
    largest, edges = xp.zeros(first.size, np.float64), xp.diff(xp.append(first, key.size))
    xp.maximum.at(largest, of, bias)
    own = shifts(xp, largest, edges)
    upto = xp.append(xp.zeros(1, np.int64), xp.cumsum(scaled(xp, bias, own[of])))  # may overflow; differences are right
    sums = (upto[first + edges] - upto[first]).astype(np.float64)
    # The sums of an instance get one scale: first one that is low enough for any, then one that uses all bits.
    begin = xp.searchsorted(owner, xp.arange(instances + 1))
    most = xp.zeros(instances, np.float64)
    xp.maximum.at(most, local[order], bias)
    scale = shifts(xp, most, counts(xp, local, instances))
    whole = xp.append(xp.zeros(1, np.int64), xp.cumsum(_times(xp, sums, scale[owner] - own).astype(np.int64)))
    total = (whole[begin[1:]] - whole[begin[:-1]] + xp.diff(begin)).astype(np.float64)
    scale += BITS - 1 - xp.frexp(total)[1].astype(np.int64)
    rates = _times(xp, sums, scale[owner] - own)
    units = xp.floor(rates)
    # What is left of units is added up in each instance, and makes further units as it goes.
    rest = xp.append(xp.zeros(1, np.int64), xp.cumsum(xp.ldexp(rates - units, REST_BITS).astype(np.int64)))
    before = rest[begin[owner]]
    more = (rest[1:] - before >> REST_BITS) - (rest[:-1] - before >> REST_BITS)
    return owner, units.astype(np.int64) + more, rates


def _times(xp: ModuleType, values: Array, power: Array) -> Array:
    """float64 [n]: ``values * 2^power``; a value above 0 stays above 0."""
    found: Array = xp.ldexp(values, xp.maximum(power, -FARTHEST).astype(np.int32))
    return found
