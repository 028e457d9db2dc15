"""Libraries that measure networks, beside csaw in its suites, and GroupTC, which counts triangles on a GPU.

Libraries are classes of libraries.py, which its TOOLS names. bench/peer_loop.py runs them in a process of their own, by
the interpreter that ``--peer`` names or, where the package is installed for csaw's, by that. A class has ``works``, the
names of works that it can do, and imports the package when it is made:

    (how, graph)        ``how`` has folder, vertices, directed, threads, the name of the work and what it needs: sources
                        of searches, or damping and tolerance; the ends of each edge, of an undirected one once, stand
                        in ``ends.npz`` of the folder
    draw()              does the work once
    edges(done)         1: what is counted are times that the work is done

GroupTC (Li and others) is a program, ``main``, which counts the triangles of the graph that csaw measures. It reads
each edge once: ``begin.bin`` (u64, where the edges of each vertex begin), ``source.bin`` and ``adjacent.bin`` (u32).
What it takes to turn the graph for its kernel, and the mean of the kernel's runs, stand in the files of its log,
between tabs; the two together are what csaw counts as all in.
"""

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

from csaw.engine.bench.bench_row import Row, gap
from csaw.engine.bench.context import Context
from csaw.engine.bench.network_peers import libraries
from csaw.engine.bench.networks import Rows, ends_of
from csaw.engine.bench.peers import LIMIT_SECONDS, Child, PeerError
from csaw.partition.base.plain_data import OptionValue

FILE = Path(libraries.__file__)
NAMES = tuple(libraries.TOOLS)


def measured(
    context: Context, graph: Rows, works: tuple[str, ...], *, directed: bool, **how: OptionValue
) -> Iterator[tuple[Row, list[float]]]:
    """Measure the works of a suite by each library that is there and has them.

    Yields:
        A row with the work and the peer, and the seconds of each repeat, after one that does not count; none where the
        row says why it was not measured.
    """
    names = {name: path for name in NAMES if (path := _python(context, name))}
    asked = [
        (work, name)
        for name in names
        for work in works
        if work in libraries.TOOLS[name].works and context.only in f"{work}, {name}"
    ]
    if not asked:
        return
    with tempfile.TemporaryDirectory(dir=context.out) as folder:
        source, target = ends_of(graph, directed)
        np.savez(Path(folder, "ends.npz"), source=source, target=target)
        shape = {"vertices": graph.indptr.size - 1, "directed": directed, "threads": context.threads}
        for work, name in asked:
            row: Row = {"work": f"{work}, {name}", "peer": name, "ran_on": "cpu"}
            try:
                seconds = _seconds(name, names[name], how | shape | {"folder": folder, "work": work}, context.repeats)
            except PeerError as error:
                yield row | gap(row["work"], error), []
            else:
                yield row, seconds


def _python(context: Context, name: str) -> str:
    """The interpreter that has a library; empty where none is known."""
    return context.peers.get(name, sys.executable if find_spec(name) else "")


def _seconds(name: str, python: str, how: Row, repeats: int) -> list[float]:
    child = Child(name, python, how, FILE)
    try:
        return [1 / child.ask()["rate"] for _ in range(repeats)]
    finally:
        child.end()


GROUP_TC, GROUP_TC_PROGRAMS = "grouptc", ("main",)
OTHERS = (
    "Bisson",
    "Fox",
    "Green",
    "GroupTC-OPT",
    "GroupTC-Cuckoo",
    "GroupTC-HASH",
    "GroupTC-HASH-V2",
    "H-INDEX",
    "Hu",
    "Polak",
    "TC-Check",
    "TRUST",
    "TriCore",
)
RUNS = 10  # of its kernel
COUNTED = re.compile(r"\bGroupTC\t[^\t]*\t(\d+)\t\d+\t([\d.]+)$", re.MULTILINE)
TURNED = re.compile(r"\bcsr2rid_dcsr\t[^\t]*\t\d+\t([\d.]+)$", re.MULTILINE)


class Counted(NamedTuple):
    """Triangles, the seconds of the kernel alone, and those with the turning of the graph."""

    triangles: int
    kernel_seconds: float
    seconds: float


def group_tc(programs: str, graph: Rows, *, device: int, repeats: int, out: Path) -> list[Counted]:
    """Run the program ``repeats`` times on the rows of a simple undirected ``graph``. Raises PeerError."""
    with tempfile.TemporaryDirectory(dir=out) as name:
        folder = Path(name)
        _write(graph, folder / "graph")
        return [
            _run(Path(programs, GROUP_TC_PROGRAMS[0]), folder, folder / f"log{turn}", device) for turn in range(repeats)
        ]


def _write(graph: Rows, folder: Path) -> None:
    folder.mkdir()
    sources, targets = ends_of(graph, False)
    begin = np.searchsorted(sources, np.arange(graph.indptr.size))
    begin.astype(np.uint64).tofile(folder / "begin.bin")
    sources.astype(np.uint32).tofile(folder / "source.bin")
    targets.astype(np.uint32).tofile(folder / "adjacent.bin")


def _run(program: Path, folder: Path, log: Path, device: int) -> Counted:
    settings = folder / "config.ini"
    settings.write_text(
        "\n".join(
            [
                "[comm]",
                f"dataset_file_path = {folder}/",
                "datasets_1 = graph",
                f"log_file_path = {log}/",
                "preprocessing_iterations = 1",
                f"device = {device}",
                "log_level = info",
                "GroupTC = true",
                *(f"{other} = false" for other in OTHERS),
                "[GroupTC]",
                f"iteration_count = {RUNS}",
                f"device = {device}",
                "",
            ]
        )
    )
    try:
        done = subprocess.run(
            [program, f"-config={settings}"], capture_output=True, text=True, check=False, timeout=LIMIT_SECONDS
        )
    except subprocess.TimeoutExpired as error:
        raise PeerError(f"it did not end within {LIMIT_SECONDS:.0f} s") from error
    counted, turned = (
        _last(log / place / "time_output.txt", found)
        for place, found in (("GroupTC", COUNTED), ("csr2rid_dcsr", TURNED))
    )
    if done.returncode or not counted or not turned:
        last = ((done.stderr + done.stdout).strip().splitlines() or ["nothing"])[-1]
        raise PeerError(f"it ended with status {done.returncode}, its last words: {last[-200:]}")
    triangles, kernel = int(counted[1]), float(counted[2])
    return Counted(triangles, kernel, kernel + float(turned[1]))


def _last(file: Path, found: re.Pattern[str]) -> re.Match[str] | None:
    """The last match in a file of the log; None without one."""
    return next(reversed(list(found.finditer(file.read_text()))), None) if file.exists() else None
