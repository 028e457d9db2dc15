"""Whether instances repeat others more often than their law lets them, as they do where the random numbers of one
instance are used for another.

Let p(u) be the chance that an instance comes out as u. Of instances in a fixed order, the next one repeats an earlier u
with chance p(u). So the repeats of outcomes with p(u) <= t have a mean of at most t times the number of pairs, and
Chernoff's bound holds for their number, however instances and their sources are chosen (a sum of events given all
earlier ones: Freedman, Ann. Probab. 1975). One repeated walk of 80 steps is enough. Where outcomes are likely, as in
rows of one neighbor, repeats tell nothing and count for nothing.

Instances are compared by a hash of their arrays, 16 bytes each; of those that seem to repeat, the arrays are compared.
"""

from collections.abc import Callable
from math import exp, log
from threading import Lock

import numpy as np

from csaw.engine.api.starts import SourceKind
from csaw.engine.samples.layouts import Arrays, Ragged, SampleLayout
from csaw.engine.verify.checks import Checks, Subject
from csaw.engine.verify.kernels import mix_rows, mix_runs
from csaw.engine.verify.power import Result
from csaw.partition.base.interruptible import go_on
from csaw.partition.base.read_only import thawed

NAME = "reuse"
DEVIATION = "instances that repeat another one"
MOST = 1 << 24  # instances whose hashes are kept; of more, those with some hashes
JUDGED = 128  # outcomes that are there more than once whose chances are computed
LOOKED_AT = 5  # instances that tell how likely outcomes are
THRESHOLDS = 128  # powers of two
SURE = 1e-30  # of a p-value: chances are followed no further
Chance = Callable[[Arrays, float], float | None]
"""The chance of the outcome that the arrays of one instance have, given its sources if these were given, or more than
that; it may stop below a bound. None where it is not known."""


class Repeats:
    """Notes a hash of each instance."""

    def __init__(self, subject: Subject) -> None:
        self.subject, self.instances = subject, subject.samples.instances
        self.every = max(1, -(-self.instances // MOST))
        self.lock, self.noted = Lock(), list[tuple[np.ndarray, ...]]()
        self.drawn = subject.sources not in (SourceKind.ALL, SourceKind.LIST)
        """Whether sources are drawn, too, so that any two instances may be equal."""

    def add(self, start: int, arrays: Arrays) -> None:
        """Note the instances of a group, from number ``start`` on; in any thread."""
        layout = self.subject.samples.layout
        own, sources = _hashes(layout, arrays), np.zeros(0, np.uint64)
        if not self.drawn:
            ids, counts = layout.sources(arrays)
            sources = np.zeros(own.size, np.uint64)
            mix_runs(_words(ids), counts, sources)
        kept = np.flatnonzero(own % np.uint64(self.every) == 0)
        one = kept + start, own[kept], sources[kept] if sources.size else np.zeros(kept.size, np.uint64)
        with self.lock:
            self.noted.append(one)

    def judge(self, checks: Checks, chance: Chance | None) -> None:
        """Add the check; ``chance`` None: no law of whole instances is known."""
        if chance is None:
            checks.not_tested(NAME, "no law of whole instances is known here")
            return
        if self.instances < 2 or not self.noted:
            checks.not_tested(NAME, "there is one instance, or none")
            return
        number, own, group = (np.concatenate(column) for column in zip(*self.noted, strict=True))
        order = np.argsort(number)
        number, own, group = number[order], own[order], group[order]
        later = self._later(number, group)
        order = np.lexsort((number, own))
        same = own[order][1:] == own[order][:-1]
        first = np.flatnonzero(np.append(True, ~same) & np.append(same, False))
        ends = np.append(np.flatnonzero(~same) + 1, order.size)
        times = ends[np.searchsorted(ends, first, "right")] - first
        thin = max(1, -(-first.size // JUDGED))
        chosen = (own[order][first] // np.uint64(self.every)) % np.uint64(thin) == 0
        within = (own // np.uint64(self.every)) % np.uint64(thin) == 0
        pairs = float(later[within].sum())
        found = self._chances(chance, number[order], first[chosen], times[chosen], pairs)
        repeats = int((times - 1).sum())
        if found is None:
            checks.not_tested(NAME, "no law of whole instances is known here")
            return
        typical = self._typical(chance, number, pairs)
        p = min(1.0, bound(found, pairs))
        details = f"{repeats:,} of {number.size:,} instances are as one before"
        if found:
            likely = min(chance for chance, _ in found)
            details += f"; the least likely of {len(found):,} looked at has a chance of {likely:.2g}"
        looked_at = int(within.sum())

        def smallest(level: float) -> float:
            copies = (1 << k for k in range(looked_at.bit_length()))
            enough = (many for many in copies if typical is not None and bound([(typical, many)], pairs) <= level)
            return next(enough, 2 * looked_at) / looked_at

        checks.results(NAME, [Result(p, DEVIATION, smallest)], details)

    def _later(self, number: np.ndarray, group: np.ndarray) -> np.ndarray:
        """How many instances with the same sources come after each; more where not all were noted."""
        if self.drawn or self.every > 1:
            return self.instances - 1 - number
        order = np.lexsort((number, group))
        ends = np.append(np.flatnonzero(np.diff(group[order]) != 0) + 1, order.size)
        out = np.empty(order.size, np.int64)
        out[order] = ends[np.searchsorted(ends, np.arange(order.size), "right")] - 1 - np.arange(order.size)
        return out

    def _chances(
        self, chance: Chance, number: np.ndarray, first: np.ndarray, times: np.ndarray, pairs: float
    ) -> list[tuple[float, int]] | None:
        """The chance of each of these outcomes, and how often it repeats."""
        found: list[tuple[float, int]] = []
        samples = self.subject.samples
        for at, many in zip(first.tolist(), times.tolist(), strict=True):
            go_on()
            one, other = (samples.group(int(k), int(k) + 1) for k in number[at : at + 2])
            if any(not np.array_equal(one[name], other[name]) for name in one):
                continue  # hashes alone are equal
            known = chance(one, SURE / pairs)
            if known is None:
                return None
            found.append((known, many - 1))
        return found

    def _typical(self, chance: Chance, number: np.ndarray, pairs: float) -> float | None:
        """The largest chance of some instances from all over the sample."""
        some = np.linspace(0, number.size - 1, LOOKED_AT).astype(np.int64)
        if not pairs:
            return None
        chances = [chance(self.subject.samples.group(k, k + 1), SURE / pairs) for k in number[some].tolist()]
        return None if None in chances else max(one for one in chances if one is not None)


def bound(found: list[tuple[float, int]], pairs: float) -> float:
    """A p-value of repeats of outcomes with these chances, among so many pairs of an instance and a later one."""
    least = 1.0
    for power in range(THRESHOLDS):
        threshold = 2.0**-power
        many, mean = sum(times for chance, times in found if chance <= threshold), threshold * pairs
        if many > mean:
            least = min(least, exp(max(-700.0, many - mean + many * log(mean / many))) if mean else 0.0)
    return least * THRESHOLDS


def _hashes(layout: SampleLayout, arrays: Arrays) -> np.ndarray:
    """uint64 [instances]: a hash of the arrays of each."""
    counted = layout.counted_by if isinstance(layout, Ragged) else {}
    sizes = {
        by: layout.elements(arrays[by]) for by in set(counted.values()) if by in arrays and isinstance(layout, Ragged)
    }
    instances = len(next(iter(sizes.values()))) if sizes else len(next(iter(arrays.values())))
    out = np.zeros(instances, np.uint64)
    for name in sorted(arrays):
        if name in counted:
            mix_runs(_words(arrays[name]), sizes[counted[name]], out)
        else:
            mix_rows(_words(arrays[name]).reshape(instances, -1), out)
    return out


def _words(array: np.ndarray) -> np.ndarray:
    """The same bits as integers."""
    held = thawed(np.ascontiguousarray(array))
    return held.view(f"i{held.dtype.itemsize}")
