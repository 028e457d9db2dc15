"""GroupTC, triangles on a GPU (Li and others): its program ``main`` counts those of the graph that csaw measures.

It reads each edge once: ``begin.bin`` (u64, where the edges of each vertex begin), ``source.bin`` and ``adjacent.bin``
(u32). What it takes to turn the graph for its kernel, and the mean of the kernel's runs, stand in the files of its log,
between tabs; the two together are what csaw counts as all in.
"""

import re
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from csaw.engine.bench.networks import Rows, ends_of
from csaw.engine.bench.peer_process import LIMIT_SECONDS, PeerError

NAME, PROGRAMS = "grouptc", ("main",)
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


def count(programs: str, graph: Rows, *, device: int, repeats: int, out: Path) -> list[Counted]:
    """Run the program ``repeats`` times on the rows of a simple undirected ``graph``. Raises PeerError."""
    with tempfile.TemporaryDirectory(dir=out) as name:
        folder = Path(name)
        _write(graph, folder / "graph")
        return [_run(Path(programs, PROGRAMS[0]), folder, folder / f"log{turn}", device) for turn in range(repeats)]


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
