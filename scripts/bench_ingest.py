"""Text edge list to CSR on disk: csaw against pandas + scipy and polars + sort, each run in a fresh process, in alternation.

    python scripts/bench_ingest.py [--scale 20] [--rounds 3] [--file EDGES]

Two times each: the work, with what the libraries import left out, and the whole process. csaw numbers the vertices, checks every row, and syncs
its store to the disk; the others do none of these and only save their arrays. Needs pandas, scipy and polars.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

IMPORTS = {
    "csaw": """
from csaw.partition import IngestOptions, ingest
import csaw.partition.pipeline, zarr
from numba.core.registry import cpu_target
cpu_target.typing_context.refresh(), cpu_target.target_context.refresh()  # what Numba imports when it is first used""",
    "pandas + scipy": "import numpy as np, pandas as pd, scipy.sparse as sp",
    "polars + sort": "import numpy as np, polars as pl",
}
WORK = {
    "csaw": "edges = ingest(path, out + '.zarr', IngestOptions(directed=True)).edges",
    "pandas + scipy": """
table = pd.read_csv(path, sep='\\t', header=None, skiprows=2, names=['u', 'v'], dtype=np.int64)
u, v = table['u'].to_numpy(), table['v'].to_numpy()
size = int(max(u.max(), v.max())) + 1
matrix = sp.coo_matrix((np.ones(u.size, np.float32), (u, v)), shape=(size, size)).tocsr()
matrix.sum_duplicates()
np.save(out + '.indptr.npy', matrix.indptr)
np.save(out + '.indices.npy', matrix.indices)
edges = matrix.nnz""",
    "polars + sort": """
table = pl.read_csv(path, separator='\\t', has_header=False, skip_rows=2, new_columns=['u', 'v'], schema_overrides={'column_1': pl.Int64, 'column_2': pl.Int64})
table = table.unique().sort('u', 'v')
np.save(out + '.sources.npy', table['u'].to_numpy())
np.save(out + '.targets.npy', table['v'].to_numpy())
edges = table.height""",
}
RUN = """
import sys, time
{imports}
path, out = sys.argv[1:]
began = time.perf_counter()
{work}
seconds = time.perf_counter() - began
peak = next(line for line in open('/proc/self/status') if line.startswith('VmHWM'))
print(seconds, int(peak.split()[1]) / 1024, edges)
"""


class Run(NamedTuple):
    work: float  # seconds
    process: float
    peak: float  # MiB
    edges: int


def main() -> None:
    """Make the text, run each in turn, print medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--file", help="use this tab-separated file with two header lines instead")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        file = options.file or str(Path(folder, "edges.txt"))
        if not options.file:
            from csaw.datasets.generate import write_text

            write_text(f"rmat:scale={options.scale},edge_factor=16,seed=1,undirected=0", file)
        once("csaw", file, folder)  # compiles, and warms the page cache for all
        runs: dict[str, list[Run]] = {name: [] for name in WORK}
        for _ in range(options.rounds):
            for name in WORK:
                runs[name].append(once(name, file, folder))
    report(runs)


def once(name: str, file: str, folder: str) -> Run:
    """One run in a process of its own, in an empty folder."""
    code = RUN.format(imports=IMPORTS[name], work=WORK[name])
    with tempfile.TemporaryDirectory(dir=folder) as out:
        began = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-c", code, file, f"{out}/g"], check=True, capture_output=True, text=True
        )
        process = time.perf_counter() - began
    seconds, peak, edges = done.stdout.split()
    return Run(float(seconds), process, float(peak), int(edges))


def report(runs: dict[str, list[Run]]) -> None:
    """A row each; all merge repeats and must agree on what is left. Ratios are the median of those within each round."""
    if len({run.edges for each in runs.values() for run in each}) != 1:
        sys.exit(f"the candidates disagree on the edges: { {name: each[0].edges for name, each in runs.items()} }")
    print("| | work, s (median; all) | to csaw's | process, s | to csaw's | peak MiB |\n|---|---|---|---|---|---|")
    for name, each in runs.items():
        work, process = (statistics.median(getattr(run, what) for run in each) for what in ("work", "process"))
        every = ", ".join(f"{run.work:.2f}" for run in each)
        ratios = [
            statistics.median(
                getattr(run, what) / getattr(base, what) for run, base in zip(each, runs["csaw"], strict=True)
            )
            for what in ("work", "process")
        ]
        print(
            f"| {name} | {work:.2f} ({every}) | {ratios[0]:.2f} | {process:.2f} | {ratios[1]:.2f} | {max(r.peak for r in each):,.0f} |"
        )


if __name__ == "__main__":
    main()
