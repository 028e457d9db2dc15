"""Text edge list to CSR on disk: csaw against pandas with SciPy, polars, pyarrow with NumPy, and DuckDB.

Each runs in a fresh process, in turns. No paper has this: both leave reading out. The graph is this suite's own, R-MAT
scale 20 as text, directed, 16.8 M rows, in the page cache.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from csaw.datasets.generate import write_text
from csaw.engine.bench import ingest_child
from csaw.engine.bench.bench_row import Row, Verdict, figure, gap, measured
from csaw.engine.bench.context import Context, Suite
from csaw.engine.bench.machine import held_to

NAMES = {
    "csaw": "csaw",
    "pandas": "pandas read_csv, SciPy CSR, np.save",
    "polars": "polars read_csv, unique, sort, np.save",
    "pyarrow": "pyarrow read_csv, NumPy sort, np.save",
    "duckdb": "DuckDB read_csv, distinct, order by, np.save",
}
SPEC, QUICK_SPEC = (f"rmat:scale={scale},edge_factor=16,undirected=0" for scale in (20, 10))


def rows(context: Context) -> Iterator[Row]:
    spec = QUICK_SPEC if context.quick else SPEC
    tools = [tool for tool, name in NAMES.items() if context.only in name]
    if not tools:
        return
    if context.on_gpu:
        reason = "text is read by the CPU, and this run is of a GPU; run with --device cpu"
        yield from ({"graph": f"text of {spec}"} | gap(NAMES[tool], reason) for tool in tools)
        return
    with tempfile.TemporaryDirectory(dir=context.out) as folder:
        file = Path(folder, "edges.txt")
        size = write_text(spec, file)
        for row in _in_turns(context, tools, file):
            yield {"graph": f"text of {spec}"} | (
                row | figure([size / s for s in row.pop("each")], "rows/s") if "each" in row else row
            )


def _in_turns(context: Context, tools: list[str], file: Path) -> list[Row]:
    """Run the tools in turns; returns a row for each.

    ``each`` has the seconds of every run but the first, which compiles and fills the page cache.
    """
    runs: dict[str, list[Row]] = {tool: [] for tool in tools}
    found: dict[str, Row] = {}
    for _ in range(context.repeats + 1):
        for tool in [tool for tool in tools if tool not in found]:
            try:
                with held_to(context.threads):
                    runs[tool].append(_once(tool, context.peers.get(tool, sys.executable), file))
            except subprocess.CalledProcessError as error:
                said = (error.stderr.strip().splitlines() or ["it ended without a word"])[-1]
                found[tool] = gap(NAMES[tool], f"{said}; --peer {tool}=PYTHON names another interpreter")
    return [found.get(tool) or _row(tool, runs) for tool in tools]


def _row(tool: str, runs: dict[str, list[Row]]) -> Row:
    each, base = runs[tool][1:], runs.get("csaw", [])[1:]
    row = {
        "work": NAMES[tool],
        "each": [run["seconds"] for run in each],
        "seconds": statistics.median(run["seconds"] for run in each),
        "process_seconds": statistics.median(run["process_seconds"] for run in each),
        "edges": each[0]["edges"],
        "peak_mib": max(run["peak_mib"] for run in each),
        "ran_on": "cpu",
    }
    if base and base[0]["edges"] != row["edges"]:
        return gap(NAMES[tool], f"it finds {row['edges']:,} edges where csaw finds {base[0]['edges']:,}")
    for name, what in (("times", "seconds"), ("process_times", "process_seconds")) if base else ():
        row[name] = statistics.median(mine[what] / its[what] for mine, its in zip(base, each, strict=True))
    return row | ({"times_of": "csaw"} if base else {})


def _once(tool: str, python: str, file: Path) -> Row:
    """Run a tool once, into an empty folder."""
    paths = os.pathsep.join(sys.path) if tool == "csaw" else ""
    with tempfile.TemporaryDirectory(dir=file.parent) as out:
        began = time.perf_counter()
        done = subprocess.run(
            [python, ingest_child.__file__, tool, str(file), f"{out}/graph"],
            check=True,
            capture_output=True,
            text=True,
            env=os.environ | ({"PYTHONPATH": paths} if paths else {}),
        )
        return json.loads(done.stdout) | {"process_seconds": time.perf_counter() - began}


def verdict(rows: list[Row]) -> Verdict:
    beside = {
        tool: row
        for tool, name in NAMES.items()
        for row in measured(rows, work=name)
        if tool != "csaw" and "times" in row
    }
    said = "; ".join(
        f"{1 / r['times']:.2f} times as fast as {tool}, {1 / r['process_times']:.2f} with the start of a process"
        for tool, r in beside.items()
    )
    return Verdict(
        1 / beside["pandas"]["times"] >= 3 if "pandas" in beside else None, said or "no other tool is installed"
    )


SUITES = {
    "ingest": Suite(
        "csaw turns text into a checked, synced store 3 times as fast as pandas and SciPy make arrays of it",
        rows,
        verdict,
        peers=tuple(name for name in NAMES if name != "csaw"),
    ),
}
