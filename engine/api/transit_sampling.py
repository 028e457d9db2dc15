"""NextDoor's shape of a sampler (Jangda et al., EuroSys 2021, section 4.1), as classes to derive one's own from.

    steps(self)                                   number of steps; None: until nothing new is met
    sample_size(self, step)                       vertices that a transit draws at a step; without it 1, a walk
    next(self, step, transits, random)            one vertex that is drawn from the edges of the transits, -1: none
    step_transits(self, step, sample, i, random)  which vertex is transit; without it those of the step before
    unique(self, step)                            whether the vertices of a step are different; without it no

``next`` draws one edge with ``random.choice(transits.edges)``, each equally likely, or with
``random.choice(transits.edges, self.bias)``, in proportion to a method ``bias(self, e)``, which reads what any
edge_bias reads. It returns the edge's ``dst``. That of a walk may decide otherwise, by ``random.random()``, and return
``random.vertex()``, ``transits[0]``, or -1, which ends the walk. translation.py makes a Walk or a Traversal of such a
class, whose hooks are compiled.
"""

from typing import TYPE_CHECKING, Any, ClassVar

from csaw.engine.api.algorithm import Algorithm

if TYPE_CHECKING:
    from csaw.engine.api.views import EdgeView


class TransitSampling(Algorithm):
    """Base of both kinds of NextDoor's samplers."""

    collective: ClassVar[bool] = False
    visited_once: ClassVar[bool] = False
    """Whether edges to vertices that an instance has met before cannot be drawn."""
    draws_seeds: ClassVar[bool] = False
    """Whether an instance is a mini-batch whose seeds are drawn by a column of numbers, as of MiniBatches."""
    replace: bool = True
    """Whether the vertices of a step are drawn independently; False: along different edges."""

    def steps(self) -> int | None:
        raise NotImplementedError

    def sample_size(self, step: int) -> int:
        return 1

    def next(self, step: int, transits: Any, random: Any) -> int:
        raise NotImplementedError

    def step_transits(self, step: int, sample: Any, i: int, random: Any) -> int:
        raise NotImplementedError

    def unique(self, step: int) -> bool:
        return False


class IndividualSampling(TransitSampling):
    """Base of individual transit sampling: each transit of a step draws ``sample_size(step)`` of its own neighbors.

    A class without ``sample_size`` is a walk. Where ``step_transits`` returns ``random.choice(sample.roots)``, one of
    several walkers of an instance moves at each step.
    """


class CollectiveSampling(TransitSampling):
    """Base of collective transit sampling: the transits of a step together draw ``sample_size(step)`` vertices from
    their combined neighborhood, or with ``random.choice(transits.graph.edges)`` from the whole graph.
    """

    collective = True


def equally_likely(self: Algorithm, e: "EdgeView") -> float:
    return 1.0
