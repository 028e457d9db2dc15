"""The commands that a user waits for, each in a process, from a text of edges to samples in another format.

No paper has this. The graph is this suite's own, R-MAT as text, scale 20 for a CPU and 23 for a GPU; or those of
``--graphs``, which have the papers' sizes, and every rmat: graph that the command names. Each stage stands beside its
limits, measured in the same turn: a plain read of its inputs, a plain synced write of the bytes that it leaves behind,
its own sampling, or the start of a process that does nothing.

A graph with weights of which about half fits is sampled as well, from the host's memory on a GPU and from the disk,
with a row for the whole command, one for the sampling in it, and one that sets the command beside the seconds that its
plan expected. First uses are commands on a graph of 34 vertices with an empty cache.
"""

import os
import shutil
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from csaw.datasets.spec import parse_spec
from csaw.engine.bench.bench_row import Row, Verdict, figure, gap, goal_text, measured
from csaw.engine.bench.context import Context
from csaw.engine.bench.graphs import Named, expected
from csaw.engine.bench.journey_goals import WITHIN, as_planned, goals
from csaw.engine.bench.journey_stages import IN_MEMORY, SAMPLED, SMALL, on_all, stages, walks_in_memory
from csaw.engine.bench.journey_turn import Timed, turn
from csaw.engine.bench.stage import Places
from csaw.partition.base.quoting import short

CLAIM = (
    "a whole csaw sample takes at most 1.15 times the slowest of a plain write, a plain read and sampling, "
    "beside the start of a command"
)
SPECS = {"quick": 10, "cpu": 20, "gpu": 23}
TEXT = "rmat:scale={},edge_factor=16,undirected=0"
# The first turn compiles all that the others run, on a graph just large enough for its budget of memory to matter.
FIRST_SCALE, FIRST_MEMORY, MEMORY = 16, "16MiB", "200MiB"
SHARED_MEMORY = Path("/dev/shm")
WALK_BYTES = 81 * 4 * 2  # of room in memory for each walk, twice what it takes


def rows(context: Context) -> Iterator[Row]:
    scale = SPECS["quick" if context.quick else "gpu" if context.on_gpu else "cpu"]
    named = context.named if context.chosen else [Named(TEXT.format(scale), TEXT.format(scale))]
    for one in named:
        if str(one.source).startswith("rmat:") and not Path(one.source).exists():
            yield from ({"graph": f"text of {one.label}"} | row for row in _journey(context, str(one.source)))
        else:
            reason = "the journey begins with text that csaw makes, of rmat: graphs alone"
            yield {"graph": one.label, "work": "journey", "not_measured": reason}


def _journey(context: Context, spec: str) -> Iterator[Row]:
    """The rows of all stages on one graph, each as soon as the last of ``context.repeats`` turns has measured it."""
    with ExitStack() as stack:
        disk = stack.enter_context(tempfile.TemporaryDirectory(dir=context.out))
        memory = stack.enter_context(tempfile.TemporaryDirectory(dir=_memory(context, spec)))
        places = Places(Path(disk, "turn"), Path(memory, "turn"))
        if not context.quick:
            parsed = parse_spec(spec)
            small = str(replace(parsed, scale=min(parsed.scale, FIRST_SCALE)))
            _whole(turn(context, places, small, FIRST_MEMORY, warms=True))
        turns = [_whole(turn(context, places, spec, MEMORY)) for _ in range(context.repeats - 1)]
        last, found = turn(context, places, spec, MEMORY), dict[str, Timed]()
        for stage in stages(context, places, spec, MEMORY):
            on_disk = stage.leaves and stage.leaves.is_relative_to(memory) and not memory.startswith(str(SHARED_MEMORY))
            note = {"note": f"on the disk, because {SHARED_MEMORY} has no room for it"} if on_disk else {}
            for work in [work for work in stage.rows if context.only in work]:
                while not stage.missing and work not in found:  # its goal refers to stages before it
                    found = next(last)
                yield gap(work, stage.missing) if stage.missing else _row(context, work, [*turns, found]) | note


def _whole(one: Iterator[dict[str, Timed]]) -> dict[str, Timed]:
    """Return what all rows of a turn take, once it is done."""
    found: dict[str, Timed] = {}
    for found in one:  # noqa: B007 - the last has all
        pass
    return found


def _memory(context: Context, spec: str) -> Path:
    """The folder for samples to memory: /dev/shm if they fit there, otherwise the one of all other files."""
    most = expected(parse_spec(spec))[0] * walks_in_memory(context) * WALK_BYTES
    fits = os.access(SHARED_MEMORY, os.W_OK) and shutil.disk_usage(SHARED_MEMORY).free > most
    return SHARED_MEMORY if fits else context.out


def _row(context: Context, stage: str, turns: list[dict[str, Timed]]) -> Row:
    """The row of one stage: medians over the turns.

    Rates are bytes a second, or commands a second where no bytes are counted.
    """
    runs = [found[stage] for found in turns]
    unit = "bytes/s" if runs[0].bytes else "commands/s"
    row: Row = {
        "work": stage,
        **figure([(run.bytes or 1) / run.seconds for run in runs], unit),
        "seconds": statistics.median(run.seconds for run in runs),
        "limits": {name: statistics.median(run.limits[name] for run in runs) for name in runs[0].limits},
    }
    if runs[0].bytes:
        row["bytes"] = runs[0].bytes
    allowed = [goals(found, context) for found in turns]
    if stage in allowed[0]:
        # The share is of the same turn, so that a busy one counts on both sides; the goal is the rate at which it is 1.
        share = statistics.median(seconds[stage] / run.seconds for run, seconds in zip(runs, allowed, strict=True))
        row |= {"goal": row["rate"] / share, "met": share >= 1}
    if runs[0].expected:
        row |= _beside_plan(runs)
    if stage == SAMPLED:
        row["of_slower"] = statistics.median(_of_slower(found) for found in turns)
    if stage == on_all(context):
        row |= {
            "times": statistics.median(found[IN_MEMORY].seconds / found[stage].seconds for found in turns),
            "times_of": "one GPU",
        }
    return row


def _beside_plan(runs: list[Timed]) -> Row:
    """The columns that set the seconds of a command beside those that its plan expected."""
    expected, seconds = (statistics.median(getattr(run, name) for run in runs) for name in ("expected", "seconds"))
    goal, met = as_planned(seconds, expected)
    said = f"{seconds / expected:.3g} times what its plan expected"
    return {"expected_seconds": expected, "goal": 1 / goal, "met": met, "note": said}


def _of_slower(found: dict[str, Timed]) -> float:
    """The slowest limit of a whole sample as a share of its seconds, the start of a command left out."""
    return max(found[SAMPLED].limits.values()) / max(found[SAMPLED].seconds - found[SMALL].seconds, 1e-9)


def verdict(rows: list[Row]) -> Verdict:
    found = measured(rows, work=SAMPLED)
    if not found:
        return Verdict(None, f"{SAMPLED} was not measured")
    times = 1 / min(row["of_slower"] for row in found)
    having = [row for row in measured(rows) if "met" in row]
    missed = "; ".join(f"{row['work']}, {_done(row)} of {goal_text(row)}" for row in having if not row["met"])
    said = f"{times:.2f} times the slowest of them; {sum(row['met'] for row in having)} of {len(having)} goals met"
    return Verdict(times <= WITHIN, f"{said}{f'; missed: {missed}' if missed else ''}")


def _done(row: Row) -> str:
    return f"{row['seconds']:.3g} s" if row["unit"] == "commands/s" else short(row["rate"])
