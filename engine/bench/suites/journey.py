"""The commands that a user waits for, each in a process, from a text of edges to samples in another format.

No paper has this. The graph is this suite's own, R-MAT as text, scale 20 for a CPU and 23 for a GPU; or those of
``--graphs``, which have the papers' sizes, and every rmat: graph that the command names. Each stage stands beside its
limits, measured in the same turn: a plain read of its inputs, a plain synced write of the bytes that it leaves behind,
its own sampling, or the start of a process that does nothing.

A graph with weights of which about half fits is sampled as well, from the host's memory on a GPU and from the disk,
with a row for the whole command, one for the sampling in it, and one that sets the command beside the seconds that its
plan expected. First uses are commands on a graph of 34 vertices with an empty cache.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from csaw.datasets.spec import parse_rmat
from csaw.engine.bench.bench_row import Row, Verdict, figure, gap, goal_text, measured
from csaw.engine.bench.context import Context, Suite
from csaw.engine.bench.earlier_runs import MARGIN
from csaw.engine.bench.graphs import Named, expected
from csaw.engine.bench.journey_commands import (
    APPENDED,
    FIRST_ALGORITHMS,
    FIRST_MEASURE,
    FIRST_USE,
    FROM_DISK,
    HELP,
    IN_MEMORY,
    INFO,
    MEMBER,
    MEMBERS,
    MIDDLE_MEMORY,
    REFRESHED,
    SAMPLED,
    SMALL,
    STREAMED,
    TEXT,
    TO_NPY,
    TO_PARQUET,
    TO_TEXT,
    VERIFY,
    Places,
    Stage,
    needed,
    on_all,
    plan_of,
    sampling_of,
    stages,
    streamed,
    walks_in_memory,
)
from csaw.engine.bench.machine import forget, held_to, plain_read, plain_write
from csaw.partition.base.cache import CUPY_VARIABLE, VARIABLE
from csaw.partition.base.quoting import short
from csaw.partition.errors import CsawError

READ, WRITE, SAMPLING = "a plain read", "a plain write", "its sampling"
PARTS, GZIP_LEVEL = 16, 1
DRIVERS_VARIABLE = "CUDA_CACHE_PATH"  # of the machine code that the driver compiles
GZIP_HEAD = b"\x1f\x8b\x08\0\0\0\0\0\x04\xff"


class Timed(NamedTuple):
    """One run of a stage: its seconds, the bytes that its rate counts, and the seconds of each of its limits.

    ``bytes`` 0: the rate counts commands. ``expected``: the seconds that a plan expected, 0 without one.
    """

    seconds: float
    bytes: int
    limits: dict[str, float]
    expected: float = 0.0


def turn(
    context: Context, places: Places, spec: str, small_memory: str, *, warms: bool = False
) -> Iterator[dict[str, Timed]]:
    """Run the stages that are wanted once, in empty folders, and yield after each what the rows of all so far take.

    Removing gigabytes of an earlier turn would take as long as a stage itself. ``warms``: what this turn compiles is
    for others, so that it leaves out the commands that begin with an empty cache.
    """
    for folder in places:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    every = stages(context, places, spec, small_memory)
    packed = {places.gzip(name): places.text for name in (MEMBERS, MEMBER)}
    out: dict[str, Timed] = {}
    for stage in needed(every, context.only, packed):
        if stage.missing or (warms and stage.first):
            continue
        if stage.name in (MEMBERS, MEMBER):
            write_gzip(places.text, places.gzip(stage.name), context.threads, members=stage.name == MEMBERS)
        with held_to(context.threads):  # commands without --threads, too
            out |= _timed(stage, places)
        yield dict(out)


def _timed(stage: Stage, places: Places) -> dict[str, Timed]:
    """Run a stage; the result has an entry for each of its rows."""
    if stage.cold:
        for path in stage.reads:
            forget(path)
    seconds = _first(stage, places) if stage.first else run(_command(stage))
    if stage.start:
        name, code = stage.start
        return {stage.name: Timed(seconds, 0, {name: run([sys.executable, "-c", code])})}
    limits = {READ: plain_read(file for path in stage.reads for file in _files(path))} if stage.reads else {}
    size = sum(file.stat().st_size for file in _files(stage.counts)) if stage.counts else 0
    parts = dict[str, Timed]()
    if stage.leaves:
        left = sum(file.stat().st_size for file in _files(stage.leaves))
        if stage.command[0] == "sample":
            results = _results(stage.leaves)
            limits[SAMPLING] = results["sampling_seconds"]
            parts = _parts(stage, seconds, results)
        if stage.leaves.parent == places.memory:
            shutil.rmtree(stage.leaves)  # before as much is written again
        limits[WRITE] = plain_write(stage.leaves.parent, left)
    return {stage.name: Timed(seconds, size, limits), **parts}


def _parts(stage: Stage, seconds: float, results: dict[str, float]) -> dict[str, Timed]:
    """The rows of a sample beside that of its command, from the results that it stored."""
    drawn = results["loading_seconds"] + results["sampling_seconds"]
    found = {
        sampling_of(stage.name): Timed(drawn, 0, {}),
        plan_of(stage.name): Timed(seconds, 0, {}, results["expected_seconds"]),
    }
    return {name: one for name, one in found.items() if name in stage.rows}


def _command(stage: Stage) -> list[str]:
    return [sys.executable, "-m", "csaw.cli", *stage.command]


def _first(stage: Stage, places: Places) -> float:
    """Seconds of a command that finds nothing compiled: neither by csaw nor by CuPy nor by the driver."""
    with tempfile.TemporaryDirectory(dir=places.disk) as cache:
        return run(_command(stage), dict.fromkeys((VARIABLE, CUPY_VARIABLE, DRIVERS_VARIABLE), cache))


def run(command: list[str], variables: dict[str, str] | None = None) -> float:
    """Seconds that a command takes; CsawError with its words if it fails. ``variables``: of its environment."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | (variables or {})
    began = time.perf_counter()
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    seconds = time.perf_counter() - began
    if done.returncode:
        said = done.stderr.strip() or f"it ended with status {done.returncode}"
        raise CsawError(f"{' '.join(command[2:])}: {said}")
    return seconds


def _results(sample: Path) -> dict[str, float]:
    """The summary of its run that a sample has stored."""
    return json.loads((sample / "results" / "zarr.json").read_text())["attributes"]


def _files(path: Path) -> list[Path]:
    return [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]


def write_gzip(text: Path, out: Path, threads: int, *, members: bool) -> None:
    """Write a text as gzip of level 1, packed in 16 parts side by side.

    Each is a member of its own, or all are in one member.
    """
    data = np.memmap(text, np.uint8, "r")
    parts = np.array_split(data, PARTS)
    with ThreadPoolExecutor(threads) as packers, open(out, "wb") as file:
        if members:
            file.writelines(packers.map(_member, parts))
        else:
            ends = [False] * (PARTS - 1) + [True]
            file.write(GZIP_HEAD)
            file.writelines(packers.map(_deflated, parts, ends))
            file.write(_tail(data))


def _member(part: np.ndarray) -> bytes:
    return GZIP_HEAD + _deflated(part, True) + _tail(part)


def _deflated(part: np.ndarray, ends: bool) -> bytes:
    """The part as deflate blocks that end at a whole byte; ``ends``: with the last one."""
    packer = zlib.compressobj(GZIP_LEVEL, wbits=-zlib.MAX_WBITS)
    return packer.compress(part.data) + packer.flush(zlib.Z_FINISH if ends else zlib.Z_SYNC_FLUSH)


def _tail(data: np.ndarray) -> bytes:
    return zlib.crc32(data.data).to_bytes(4, "little") + (data.size % (1 << 32)).to_bytes(4, "little")


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
OF_APPEND = 0.1  # of making the graph anew
OF_REFRESH = 1.5  # of a full draw, if hardly any walk stays as it is


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
        out[APPENDED] = OF_APPEND * found[TEXT].seconds
    for name in {TO_TEXT, TO_NPY, TO_PARQUET} & found.keys():
        one = found[name]
        out[name] = max(one.bytes / (EXPORT_RATE * share), one.limits[WRITE] / OF_DISK)
    for name in {SAMPLED, IN_MEMORY} & found.keys():
        out[name] = found[SMALL].seconds + WITHIN * max(found[name].limits.values())
    if SAMPLED in found:
        out[REFRESHED] = OF_REFRESH * found[SAMPLED].seconds
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


SPECS = {"quick": 10, "cpu": 20, "gpu": 23}
SPEC = "rmat:scale={},edge_factor=16,undirected=0"
# The first turn compiles all that the others run, on a graph just large enough for its budget of memory to matter.
FIRST_SCALE, FIRST_MEMORY, MEMORY = 16, "16MiB", "200MiB"
SHARED_MEMORY = Path("/dev/shm")
WALK_BYTES = 81 * 4 * 2  # of room in memory for each walk, twice what it takes


def rows(context: Context) -> Iterator[Row]:
    scale = SPECS["quick" if context.quick else "gpu" if context.on_gpu else "cpu"]
    named = context.named if context.chosen else [Named(SPEC.format(scale), SPEC.format(scale))]
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
            parsed = parse_rmat(spec)
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
    most = expected(parse_rmat(spec))[0] * walks_in_memory(context) * WALK_BYTES
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


SUITES = {
    "journey": Suite(
        "a whole csaw sample takes at most 1.15 times the slowest of a plain write, a plain read and sampling, "
        "beside the start of a command",
        rows,
        verdict,
    ),
}
