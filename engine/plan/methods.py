"""Methods that draw a neighbor by its bias, and ways to treat collisions."""

from enum import StrEnum
from typing import Self

from csaw.engine.api.algorithm import Algorithm
from csaw.engine.plan.layouts import GraphLayout
from csaw.partition.errors import OptionError


class Method(StrEnum):
    """A method of selection, the cheapest first, under the name that ``--select`` takes.

    It has the properties that plans and kernels read.
    """

    by_edge: bool
    """Whether a pick reads single edges, however long the row is."""
    exact_number: bool
    """Whether a pick takes the same number of reads each time."""

    UNIFORM = "uniform", True, True
    """Draw any neighbor: all biases are equal."""
    ALIAS = "alias", True, True
    """Draw from an alias table made beforehand (Walker 1977; Vose 1991)."""
    REJECTION = "rejection", True, False
    """Propose a neighbor by its weight, accept it by its bias (KnightKing, SOSP 2019)."""
    ITS = "its", False, False
    """Search the running sums of a row: inverse transform sampling (C-SAW, SC 2020, section IV)."""
    KEYS = "keys", False, False
    """Take the smallest exponential keys (Efraimidis and Spirakis 2006), for selection without replacement."""

    TIME = "time", True, False
    """Search the order of a row by time for the edges that may follow, and draw one by its place or its time."""

    def __new__(cls, name: str, by_edge: bool, exact_number: bool) -> Self:
        made = str.__new__(cls, name)
        made._value_ = name
        made.by_edge, made.exact_number = by_edge, exact_number
        return made

    @property
    def code(self) -> int:
        """Its number in the kernels, the constant SELECT."""
        return list(Method).index(self)

    @property
    def by_sums(self) -> bool:
        """Whether a pick searches in running sums of biases, and may meet a neighbor that is selected already."""
        return self is Method.ITS


class Collision(StrEnum):
    """The step to take when inverse transform sampling draws a neighbor that is already selected.

    See C-SAW, SC 2020, section IV-B.
    """

    BIPARTITE = "bipartite"
    """Remove the selected neighbor's region from the space and search again with the same random number."""
    REPEATED = "repeated"
    """Draw again with a new random number."""
    UPDATED = "updated"
    """Remove each selected neighbor from the sums, so that no later draw can hit it."""

    @property
    def code(self) -> int:
        """Its number in the kernels, the constant COLLISION."""
        return list(Collision).index(self)


# Detectors of repeated candidates, for selection without replacement (C-SAW, section IV-B).
#
# The sample is the same with each of them.
#
# strided     a bitmap where neighboring candidates are far apart, so that lanes of a GPU that set bits at once seldom
#             share a word contiguous  a bitmap where neighboring candidates are side by side
# linear      a list of selected candidates, compared one by one
# none        the run cannot draw a candidate twice

DETECTORS = ("strided", "contiguous", "linear")
CODES = {"strided": 0, "contiguous": 1, "linear": 2, "none": 0}  # DETECT in the kernels' text


def choose_detector(
    algorithm: Algorithm, select: Method, collision: Collision, layout: GraphLayout, gpu: bool, forced: str | None
) -> str:
    """Choose the detector of a run on graph layout ``layout``.

    OptionError if ``forced`` names one that this run cannot use.
    """
    if forced is not None and forced not in DETECTORS:
        raise OptionError(f"--detect {forced}: expected {', '.join(DETECTORS)}")
    reason = _needless(algorithm, select, collision)
    if reason and forced:
        raise OptionError(f"--detect {forced}: {reason}; leave out --detect")
    if reason:
        return "none"
    if layout.has_sums:
        if forced in ("strided", "contiguous"):
            raise OptionError(
                f"--detect {forced}: with --layout ctps, a thread compares its few picks with each other; "
                "use --layout csr, or --detect linear"
            )
        return "linear"
    if forced == "strided" and not gpu:
        raise OptionError(
            "--detect strided separates the threads of a GPU, but on the CPU a single thread selects; use "
            "contiguous or linear"
        )
    return forced or ("strided" if gpu else "contiguous")


def _needless(algorithm: Algorithm, select: Method, collision: Collision) -> str | None:
    """The reason why a run has no collisions to detect; None if it has some."""
    if algorithm.rule.by_steps:
        return f"{algorithm.name()} selects one neighbor at a time, so that none is drawn twice"
    if not select.by_sums:
        return f"this run selects by {select}, which draws no neighbor twice; --detect is for --select its"
    if algorithm.rule.replace:
        return "neighbors are drawn with replacement"
    if collision is Collision.UPDATED:
        return "--collision updated removes selected neighbors from the space, so that none is drawn twice"
    return None
