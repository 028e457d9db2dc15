"""One turn of a journey: every stage once, in order, each beside its limits on the same machine at the time."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np

from csaw.engine.bench.context import Context
from csaw.engine.bench.journey_stages import MEMBER, MEMBERS, stages
from csaw.engine.bench.machine import forget, held_to, plain_read, plain_write
from csaw.engine.bench.stage import Places, Stage, needed, plan_of, sampling_of
from csaw.partition.base.cache import CUPY_VARIABLE, VARIABLE
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
