"""The times of sources, of traversals that select in time."""

from typing import NamedTuple

import numpy as np

from csaw.engine.api.algorithm import Algorithm
from csaw.partition.errors import OptionError

NO_TIME = -(2**63)  # of a place without a source, or without an edge


class SourceTimes(NamedTuple):
    """The time of each place of a list of sources, int64; None where all have the time ``same``."""

    listed: np.ndarray | None
    same: int = NO_TIME

    def at(self, places: np.ndarray) -> np.ndarray:
        """int64: the times at these places of the list; NO_TIME where a place is below 0."""
        found = np.full(places.shape, self.same, np.int64) if self.listed is None else self.listed[places]
        found[places < 0] = NO_TIME
        return found


def asks_times(algorithm: Algorithm) -> bool:
    """Whether each source of an algorithm has a time."""
    return getattr(algorithm, "time_strategy", None) is not None


def lists_times(algorithm: Algorithm) -> bool:
    """Whether the times of an algorithm's sources are in their list, because no option gives one to all of them."""
    return asks_times(algorithm) and getattr(algorithm, "start_time", None) is None


def source_times(algorithm: Algorithm, listed: np.ndarray | None) -> SourceTimes | None:
    """The times of an algorithm's sources, of which those that are ``listed`` have one each; None where it asks none.

    OptionError where it asks for times and there are none, or where nodes of one mini-batch would have several.
    """
    if not asks_times(algorithm):
        return None
    if not lists_times(algorithm):
        return SourceTimes(None, int(getattr(algorithm, "start_time", NO_TIME)))
    if listed is None:
        raise OptionError(
            "--time-strategy: expected a time for each source, found none; give a file of --sources whose lines end "
            "with a time, or --start-time, a time for all of them"
        )
    if not getattr(algorithm, "disjoint", True) and np.unique(listed).size > 1:
        raise OptionError(
            "--time-strategy: expected --disjoint beside seeds of different times, because a node that two seeds share "
            "would have two times; pass --disjoint, or one --start-time for all seeds"
        )
    return SourceTimes(listed)
