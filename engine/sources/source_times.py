"""The times of sources, of traversals that select in time."""

from enum import Enum
from typing import NamedTuple

import numpy as np

from csaw.engine.api.algorithm import Algorithm
from csaw.engine.api.in_time import InTime
from csaw.partition.errors import OptionError
from csaw.partition.graph.edge_columns import NO_TIME


class Asked(Enum):
    """The times that an algorithm asks of its sources."""

    NEVER = 0  # it does not sample in time, or has one option for the time of all
    WITHOUT = 1  # none, where no strategy is given
    SAME = 2  # one for all, which an option gives
    EACH = 3  # one for each, which their list has


class InStore(NamedTuple):
    """Times of sources as a store has them, int64: those that csaw itself has kept."""

    times: np.ndarray


class SourceTimes(NamedTuple):
    """The time of each place of a list of sources, int64; None where all have the time ``same``."""

    listed: np.ndarray | None
    same: int = NO_TIME

    def at(self, places: np.ndarray) -> np.ndarray:
        """int64: the times at these places of the list; NO_TIME where a place is below 0."""
        found = np.full(places.shape, self.same, np.int64) if self.listed is None else self.listed[places]
        found[places < 0] = NO_TIME
        return found


def times_asked(algorithm: Algorithm) -> Asked:
    """The times that an algorithm with its options asks of its sources."""
    if not isinstance(algorithm, InTime):
        return Asked.NEVER
    if algorithm.time_strategy is None:
        return Asked.WITHOUT
    return Asked.EACH if algorithm.start_time is None else Asked.SAME


def asks_times(algorithm: Algorithm) -> bool:
    """Whether each source of an algorithm has a time."""
    return times_asked(algorithm) in (Asked.SAME, Asked.EACH)


def known_times(name: str, times: np.ndarray) -> np.ndarray:
    """The ``times`` of sources; OptionError, which begins with ``name``, where one of them is NO_TIME."""
    if (none := np.flatnonzero(times == NO_TIME)).size:
        raise OptionError(
            f"{name}: expected times from {NO_TIME + 1} to 2^63 - 1, found {NO_TIME}, which means no time, at entry "
            f"{none[0]}"
        )
    return times


def source_times(algorithm: Algorithm, listed: np.ndarray | None) -> SourceTimes | None:
    """The times of an algorithm's sources, of which those that are ``listed`` have one each; None where it asks none.

    OptionError where it asks for times and there are none, or where nodes of one mini-batch would have several.
    """
    if not asks_times(algorithm):
        return None
    if times_asked(algorithm) is Asked.SAME:
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
