"""The goals of a journey's stages, in seconds.

Some are fixed, some those of a node with 16 cores in proportion to the threads, and some refer to another stage of the
turn.
"""

from csaw.engine.bench.baseline import MARGIN
from csaw.engine.bench.context import Context
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

START, START_ON_GPU = 0.7, 1.3  # seconds of a sample of 34 vertices
FIXED = {HELP: 0.15, VERIFY: 10.0, INFO: 0.5}  # seconds
CORES, TEXT_RATE, EXPORT_RATE = 16, 1e9, 1.5e9  # bytes a second on so many cores
OF_DISK = 0.9  # share of a plain write that an export reaches, where the disk is the slower
OF_GZIP = 2  # times the seconds of plain text
WITHIN = 1.15  # times the slowest limit of a whole sample
SEVERAL = 1.6  # times the rate of one GPU, on several


def goals(found: dict[str, Timed], context: Context) -> dict[str, float]:
    """The seconds that each stage of a turn may take to meet its goal.

    A stage without a goal, or whose goal refers to a stage that did not run, is left out.
    """
    share = min(context.threads, CORES) / CORES
    out = FIXED | {SMALL: START_ON_GPU if context.on_gpu else START}
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
