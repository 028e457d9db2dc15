"""The commands that a user waits for, each in a process of its own, from a text of edges to samples in another format.

No paper has this. The graph is this suite's own, R-MAT as text: scale 20 for a CPU, 23 for a GPU. Each stage is compared with a plain synced write of the bytes
that it leaves behind, measured in the same turn on the same disk; sampling also with its own kernels.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from csaw.engine.bench.bench_row import Row, Verdict, figure, measured
from csaw.engine.bench.context import Context
from csaw.engine.bench.machine import plain_write
from csaw.partition.errors import CsawError

CLAIM = "a whole csaw sample takes at most 1.15 times the slower of a plain write and of sampling, beside the start of a command"
SPECS = {"quick": 10, "cpu": 20, "gpu": 23}
TEXT = "rmat:scale={},edge_factor=16,undirected=0"
SMALL, SAMPLED = "sample, 34 vertices", "sample, node2vec p=.5 q=2"
WALKS = ("--algo", "node2vec", "--p", ".5", "--q", "2", "--walk-length", "80")
WITHIN = 1.15


def rows(context: Context) -> Iterator[Row]:
    scale = SPECS["quick" if context.quick else "gpu" if context.on_gpu else "cpu"]
    with tempfile.TemporaryDirectory(dir=context.out) as folder:
        turns = [_turn(context, Path(folder), TEXT.format(scale)) for _ in range(context.repeats + (not context.quick))]
        turns = turns if context.quick else turns[1:]  # the first compiles
    for stage in turns[0]:
        if context.only in stage:
            yield {"graph": f"text of {TEXT.format(scale)}"} | _row(stage, [turn[stage] for turn in turns])


def _row(stage: str, runs: list[Row]) -> Row:
    """The row of one stage from its turns: bytes left behind a second, or commands a second if it leaves none."""
    unit = "bytes/s" if runs[0]["bytes"] else "commands/s"
    rates = [(run["bytes"] or 1) / run["seconds"] for run in runs]
    row = {"work": stage, **figure(rates, unit), "seconds": statistics.median(run["seconds"] for run in runs)}
    for name in ("of_plain_write", "of_slower"):
        if name in runs[0]:
            row[name] = statistics.median(run[name] for run in runs)
    return row | ({"bytes": runs[0]["bytes"]} if runs[0]["bytes"] else {})


def _turn(context: Context, folder: Path, spec: str) -> dict[str, Row]:
    """Run every stage once, in order, into an empty folder; removing gigabytes of an earlier turn would take as long as a stage itself."""
    shutil.rmtree(folder)
    folder.mkdir()
    text, graph, walks, corpus = (str(folder / name) for name in ("edges.txt", "graph.zarr", "walks.zarr", "walks.txt"))
    where = ("--device", context.kind, "--threads", str(context.threads))
    stages = {
        SMALL: ("sample", "karate", str(folder / "small.zarr"), "--device", context.kind),
        "generate text": ("datasets", "generate", spec, text),
        "partition text": ("partition", text, graph, "--undirected"),
        SAMPLED: ("sample", graph, walks, *WALKS, *where),
        "export to text": ("export", walks, corpus),
        "verify": ("verify", walks),
        "info": ("info", walks),
    }
    left = {"generate text": text, "partition text": graph, SAMPLED: walks, "export to text": corpus}
    out: dict[str, Row] = {}
    for stage, command in stages.items():
        seconds = _timed(command)
        size = _size(Path(left[stage])) if stage in left else 0
        out[stage] = {"seconds": seconds, "bytes": size}
        if size:
            out[stage]["of_plain_write"] = plain_write(folder, size) / seconds
    start, whole = out[SMALL]["seconds"], out[SAMPLED]
    slower = max(whole["of_plain_write"] * whole["seconds"], _sampling_seconds(walks))
    out[SAMPLED]["of_slower"] = slower / max(whole["seconds"] - start, 1e-9)
    return out


def _timed(command: tuple[str, ...]) -> float:
    """Seconds that a csaw command takes; an error if it fails."""
    began = time.perf_counter()
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-m", "csaw.cli", *command], check=False, capture_output=True, text=True, env=environment
    )
    if done.returncode:
        raise CsawError(f"csaw {' '.join(command)}: {done.stderr.strip() or f'it ended with status {done.returncode}'}")
    return time.perf_counter() - began


def _sampling_seconds(walks: str) -> float:
    return float(json.loads(Path(walks, "results", "zarr.json").read_text())["attributes"]["sampling_seconds"])


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else sum(f.stat().st_size for f in path.rglob("*") if f.is_file())


def verdict(rows: list[Row]) -> Verdict:
    found = measured(rows, work=SAMPLED)
    if not found:
        return Verdict(None, f"{SAMPLED} was not measured")
    times = 1 / found[0]["of_slower"]
    stages = "; ".join(f"{row['work']} {row['seconds']:.3g} s" for row in measured(rows))
    return Verdict(times <= WITHIN, f"{times:.2f} times the slower of both; whole commands: {stages}")
