"""Tests that instances do not depend on the one before, and their draws not on each other: how often a label is drawn
again.

Given the instance before, each independent draw finds one of its labels with the chance that these have together. For
sets without replacement the number found is hypergeometric, which is a sum of independent terms as well (Vatutin and
Mikhailov, Theory Probab. Appl. 1982). So one bound for sums of such terms holds for few instances and for many.
"""

import numpy as np

from csaw.engine.verify.statistics import Result, bounded_sum

LEAST = 1e-12  # of a variance that can show anything


class Overlaps:
    """Counts draws of labels that the instance before drew, too.

    ``total``: the sum of the weights of all labels. Draws are with replacement in proportion to the weights, or
    (``replace`` False) sets of which each is equally likely: then weights count equal labels, mostly one of each.
    """

    def __init__(self, labels: int, total: float, deviation: str, *, replace: bool) -> None:
        self.labels, self.total, self.deviation, self.replace = labels, total, deviation, replace
        self.last = np.zeros(0, np.int64), np.zeros(0)
        self.sums, self.within = np.zeros(3), np.zeros(3)  # excess, variance, draws

    def add(self, instance: np.ndarray, label: np.ndarray, weight: np.ndarray, instances: int) -> None:
        """Add draws of some ``instances`` that follow those before.

        ``instance``, ``label``, ``weight`` [n]: of each draw its instance, 0 to instances - 1, ascending; its label;
        and the weight of that.
        """
        if not instances or self.total <= 0.0:
            return
        last_label, last_weight = self.last
        instance = np.concatenate([np.zeros(last_label.size, np.int64), instance + 1])
        label, weight = np.concatenate([last_label, label]), np.concatenate([last_weight, weight])
        key = instance * self.labels + label
        own, first = np.unique(key, return_index=True)
        draws = np.bincount(instance, minlength=instances + 1)[1:].astype(np.float64)
        found = np.bincount(instance, np.isin(key - self.labels, own), minlength=instances + 1)[1:]
        share = np.minimum(np.bincount(instance[first], weight[first], instances + 1)[:-1] / self.total, 1.0)
        variance = draws * share * (1.0 - share)
        if not self.replace:
            variance *= np.maximum(self.total - draws, 0.0) / max(self.total - 1.0, 1.0)
        self.sums += (found - draws * share).sum(), variance.sum(), draws.sum()
        if self.replace:
            self._add_repeats(instance, weight, first)
        ended = instance == instances
        self.last = label[ended], weight[ended]

    def _add_repeats(self, instance: np.ndarray, weight: np.ndarray, first: np.ndarray) -> None:
        """Add how often draws find a label that their instance has drawn before. ``first``: numbers of those that do
        not.
        """
        new = np.zeros(instance.size, bool)
        new[first] = True
        upto = np.cumsum(np.where(new, weight, 0.0))
        begin = np.searchsorted(instance, instance)
        before = np.concatenate([[0.0], upto])
        share = np.clip((before[:-1] - before[begin]) / self.total, 0.0, 1.0)[instance > 0]
        found = ~new[instance > 0]
        self.within += (found - share).sum(), (share * (1.0 - share)).sum(), share.size

    def results(self) -> list[Result]:
        """The results of all; none if nothing could show a deviation."""
        named = ((self.sums, self.deviation), (self.within, "draws that repeat one of the same instance"))
        return [bounded_sum(sums, 1.0, deviation) for sums, deviation in named if sums[1] > LEAST]


def add_draws(overlaps: Overlaps, draws: list[np.ndarray], weights: np.ndarray) -> list[Result]:
    """The results of draws, one array for each instance. ``weights``: of all labels."""
    label = np.concatenate([np.zeros(0, np.int64), *draws])
    overlaps.add(np.repeat(np.arange(len(draws)), [one.size for one in draws]), label, weights[label], len(draws))
    return overlaps.results()
