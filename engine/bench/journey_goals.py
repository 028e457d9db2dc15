"""The goals of a journey's stages, in seconds.

Some are fixed, some those of a node with 16 cores in proportion to the threads, and some refer to another stage of the
turn.
"""

from csaw.engine.bench.baseline import MARGIN
from csaw.engine.bench.context import Context
from csaw.engine.bench.journey_once import FIRST_ALGORITHMS, FIRST_MEASURE, FIRST_USE, FROM_DISK, STREAMED, streamed
from csaw.engine.bench.journey_stages import (
    HELP,
    IN_MEMORY,
    INFO,
    MEMBER,
    MEMBERS,
    MIDDLE_MEMORY,
    SAMPLED,
    SMALL,
    TEXT,
    TO_NPY,
    TO_PARQUET,
    TO_TEXT,
    VERIFY,
    on_all,
)
from csaw.engine.bench.journey_turn import WRITE, Timed
from csaw.engine.bench.stage import sampling_of

START, START_ON_GPU = 0.7, 0.8  # seconds of a sample of 34 vertices
FIRST, FIRST_ON_GPU = 4.0, 5.0  # seconds of a first use
ON_GPU = {STREAMED: (0.3, 0.8, 0.4), FROM_DISK: (3.0, 6.0, 2.0)}  # seconds of sampling a graph that does not fit
FIXED = {HELP: 0.15, VERIFY: 10.0, INFO: 0.5}  # seconds
CORES, TEXT_RATE, EXPORT_RATE = 16, 1e9, 1.5e9  # bytes a second on so many cores
OF_DISK = 0.9  # share of a plain write that an export reaches, where the disk is the slower
OF_GZIP = 2  # times the seconds of plain text
WITHIN = 1.15  # times the slowest limit of a whole sample
AS_PLANNED = 1.5  # times the seconds that a plan expected, or as many times less
SEVERAL = 1.6  # times the rate of one GPU, on several


def goals(found: dict[str, Timed], context: Context) -> dict[str, float]:
    """The seconds that each stage of a turn may take to meet its goal.

    A stage without a goal, or whose goal refers to a stage that did not run, is left out.
    """
    share = min(context.threads, CORES) / CORES
    out = FIXED | {SMALL: START_ON_GPU if context.on_gpu else START} | _once(context)
    if TEXT in found:
        out[TEXT] = found[TEXT].bytes / (TEXT_RATE * share)
        out[MIDDLE_MEMORY] = found[TEXT].seconds * (1 + MARGIN)
        out |= dict.fromkeys((MEMBERS, MEMBER), OF_GZIP * found[TEXT].seconds)
    for name in {TO_TEXT, TO_NPY, TO_PARQUET} & found.keys():
        one = found[name]
        out[name] = max(one.bytes / (EXPORT_RATE * share), one.limits[WRITE] / OF_DISK)
    for name in {SAMPLED, IN_MEMORY} & found.keys():
        out[name] = found[SMALL].seconds + WITHIN * max(found[name].limits.values())
    if IN_MEMORY in found:
        out[on_all(context)] = found[IN_MEMORY].seconds / SEVERAL
    return {name: seconds for name, seconds in out.items() if name in found}


def _once(context: Context) -> dict[str, float]:
    """The goals of commands that are run once: of each first use, and on a GPU of graphs that do not fit."""
    firsts = (*FIRST_ALGORITHMS, f"evaluate {FIRST_MEASURE}")
    out = dict.fromkeys(map(FIRST_USE.format, firsts), FIRST_ON_GPU if context.on_gpu else FIRST)
    for title, seconds in ON_GPU.items() if context.on_gpu else ():
        out |= dict(zip(map(sampling_of, streamed(title)), seconds, strict=True))
    return out


def as_planned(seconds: float, expected: float) -> tuple[float, bool]:
    """The end of what a plan allows that is nearest to ``seconds``, and whether they lie within."""
    low, high = expected / AS_PLANNED, expected * AS_PLANNED
    return (low if seconds < low else high), low <= seconds <= high
