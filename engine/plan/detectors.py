"""How selection without replacement finds out that a candidate is taken already (C-SAW, section IV-B). The sample is the same with all of them.

strided     a bit for every candidate, neighbors in a row far apart: lanes of a GPU that set bits at once seldom meet in a word
contiguous  a bit for every candidate, neighbors in a row side by side
linear      the selected ones in a list, compared from its beginning
none        this run selects another way
"""

from csaw.engine.algorithm import Algorithm, Traversal
from csaw.engine.plan.layouts import GraphLayout
from csaw.engine.plan.methods import Collision, Method
from csaw.partition.errors import OptionError

DETECTORS = ("strided", "contiguous", "linear")
CODES = {"strided": 0, "contiguous": 1, "linear": 2, "none": 0}  # DETECT in the kernels' text


def choose_detector(
    algorithm: Algorithm, select: Method, collision: Collision, layout: GraphLayout, gpu: bool, forced: str | None
) -> str:
    """The detector of a run on graph layout ``layout``; refuses a ``forced`` one that would do nothing."""
    if forced is not None and forced not in DETECTORS:
        raise OptionError(f"--detect {forced}: expected {', '.join(DETECTORS)}")
    reason = _needless(algorithm, select, collision)
    if reason and forced:
        raise OptionError(f"--detect {forced}: {reason}; run without --detect")
    if reason:
        return "none"
    if layout.has_sums:
        if forced in ("strided", "contiguous"):
            raise OptionError(
                f"--detect {forced}: with --layout ctps, a thread compares its few picks with each other; use --layout csr, or --detect linear"
            )
        return "linear"
    if forced == "strided" and not gpu:
        raise OptionError(
            "--detect strided keeps the threads of a GPU apart, and on the CPU a single thread selects; use contiguous or linear"
        )
    return forced or ("strided" if gpu else "contiguous")


def _needless(algorithm: Algorithm, select: Method, collision: Collision) -> str | None:
    """Why a run has no collisions to detect, if so."""
    if not isinstance(algorithm, Traversal) or algorithm.clocks:
        return f"{algorithm.name()} selects one neighbor at a time, so that none is drawn twice"
    if not select.by_sums:
        return f"this run selects by {select}, which draws no neighbor twice; --detect is for --select its"
    if algorithm.replace:
        return "neighbors are drawn with replacement"
    if collision is Collision.UPDATED:
        return "--collision updated removes selected neighbors from the space, so that none is drawn twice"
    return None
