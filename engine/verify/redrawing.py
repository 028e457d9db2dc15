"""What draws instances again for verify, which itself draws nothing: whoever verifies gives it."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from csaw.engine.api.registry import Algo
from csaw.engine.samples import Samples
from csaw.engine.samples.layouts import Arrays, SampleLayout
from csaw.engine.sources.sources import Sources
from csaw.partition.graph.store import GraphStore


class BaseInstances(Protocol):
    """The base instances of a sample, drawn again with dense ids."""

    seed: int
    sources: Sources
    layout: SampleLayout
    fill: int  # the id of an entry without a vertex

    def round(self, instance: int, round_: int) -> Arrays:
        """Return the arrays of a round of an instance."""

    def held(self) -> Samples:
        """Return the first rounds of the first instances."""

    def number(self, place: int) -> int:
        """Return the number of the base instance that is held at this place."""


class Redrawing(NamedTuple):
    """Draws the base instances of samples with a target again.

    ``why_not``: the reason why those of some samples cannot be drawn again; empty where they can. ``bases``: those of
    samples of a graph store, by FILE.py:CLASS where csaw does not ship their algorithm.
    """

    why_not: Callable[[Samples], str]
    bases: Callable[[Samples, GraphStore, Algo | None], AbstractContextManager[BaseInstances]]
