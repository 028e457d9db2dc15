"""Detectors of repeated candidates, for selection without replacement (C-SAW, section IV-B).

The sample is the same with each of them.

strided     a bitmap where neighboring candidates are far apart, so that lanes of a GPU that set bits at once seldom
            share a word contiguous  a bitmap where neighboring candidates are side by side
linear      a list of selected candidates, compared one by one
none        the run cannot draw a candidate twice
"""

from csaw.engine.api.algorithm import Algorithm, Traversal
from csaw.engine.plan.layouts import GraphLayout
from csaw.engine.plan.methods import Collision, Method
from csaw.partition.errors import OptionError

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
        raise OptionError(f"--detect {forced}: {reason}; run without --detect")
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
            "--detect strided keeps the threads of a GPU apart, and on the CPU a single thread selects; "
            "use contiguous or linear"
        )
    return forced or ("strided" if gpu else "contiguous")


def _needless(algorithm: Algorithm, select: Method, collision: Collision) -> str | None:
    """The reason why a run has no collisions to detect; None if it has some."""
    if not isinstance(algorithm, Traversal) or algorithm.clocks:
        return f"{algorithm.name()} selects one neighbor at a time, so that none is drawn twice"
    if not select.by_sums:
        return f"this run selects by {select}, which draws no neighbor twice; --detect is for --select its"
    if algorithm.replace:
        return "neighbors are drawn with replacement"
    if collision is Collision.UPDATED:
        return "--collision updated removes selected neighbors from the space, so that none is drawn twice"
    return None
