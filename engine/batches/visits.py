"""The vertices that each instance of a batch has met."""

from types import ModuleType

import numpy as np

from csaw.engine.batches.ordered import fresh
from csaw.engine.plan.contracts import Array


class Visits:
    """The vertices met so far, at first the ``sources`` [instances, frontier size]. ``xp``: NumPy or CuPy.

    Those of instance i are seen[ptr[i]] .. seen[ptr[i + 1] - 1], ascending.
    """

    def __init__(self, xp: ModuleType, vertices: int, sources: Array) -> None:
        self.xp, self.vertices = xp, vertices
        self.instances, width = sources.shape
        self.seen = xp.sort(sources, axis=1).ravel()
        self.ptr = xp.arange(self.instances + 1, dtype=np.int64) * width

    def counts(self, local: Array) -> Array:
        """How many vertices these instances have met."""
        return self.xp.diff(self.ptr)[local]

    def first(self, local: Array, dst: Array, are_new: bool) -> Array:
        """Numbers of the vertices ``dst`` that are new to their instances ``local``, of equal ones the first; they are
        met from now on.

        ``are_new``: whether nothing met before is among them.
        """
        xp = self.xp
        key = local * self.vertices + dst  # below 2^63: instances in flight hold a vertex each, at least
        order = xp.argsort(key, kind="stable")
        new = order[fresh(xp, key[order])]
        owner = xp.repeat(xp.arange(self.instances), xp.diff(self.ptr))
        known = owner * self.vertices + self.seen
        if not are_new:
            new = new[~xp.isin(key[new], known)]
        seen = xp.sort(xp.concatenate([known, key[new]]))
        self.seen = seen % self.vertices
        self.ptr[1:] += xp.cumsum(xp.bincount(local[new], minlength=self.instances))
        return xp.sort(new)
