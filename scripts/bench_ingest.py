"""Text edge list to CSR: csaw against pandas + scipy and polars + sort, each run in a fresh process, in alternation.

    python scripts/bench_ingest.py [--scale 20] [--rounds 3] [--file EDGES]

csaw writes and syncs a store on disk; the others stop at arrays in memory, which is less work. Needs pandas, scipy and polars.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

IMPORTS = {
    "csaw": "from csaw.partition import IngestOptions, ingest; import csaw.partition.write, csaw.partition.store, zarr",
    "pandas + scipy": "import numpy as np, pandas as pd, scipy.sparse as sp",
    "polars + sort": "import polars as pl",
}
WORK = {
    "csaw": "edges = ingest(path, out, IngestOptions(directed=True, overwrite=True)).edges",
    "pandas + scipy": """
table = pd.read_csv(path, sep='\\t', header=None, skiprows=2, names=['u', 'v'], dtype=np.int64)
u, v = table['u'].to_numpy(), table['v'].to_numpy()
size = int(max(u.max(), v.max())) + 1
matrix = sp.coo_matrix((np.ones(u.size, np.float32), (u, v)), shape=(size, size)).tocsr()
matrix.sum_duplicates()
edges = matrix.nnz""",
    "polars + sort": """
table = pl.read_csv(path, separator='\\t', has_header=False, skip_rows=2, new_columns=['u', 'v'], schema_overrides={'column_1': pl.Int64, 'column_2': pl.Int64})
edges = table.sort('u', 'v').height""",
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
        runs = {name: [] for name in WORK}
        for _ in range(options.rounds):
            for name in WORK:
                runs[name].append(once(name, file, folder))
    report(runs)


def once(name: str, file: str, folder: str) -> tuple[float, float, int]:
    """Seconds, peak MiB and edges of one run in a process of its own."""
    code = RUN.format(imports=IMPORTS[name], work=WORK[name])
    done = subprocess.run(
        [sys.executable, "-c", code, file, f"{folder}/g.zarr"], check=True, capture_output=True, text=True
    )
    seconds, peak, edges = done.stdout.split()
    return float(seconds), float(peak), int(edges)


def report(runs: dict[str, list[tuple[float, float, int]]]) -> None:
    """A row each. csaw and scipy merge repeats and must agree; the sorted table keeps them."""
    if len({run[2] for name, each in runs.items() for run in each if "sort" not in name}) != 1:
        sys.exit(f"the candidates disagree on the edges: { {n: r[0][2] for n, r in runs.items()} }")
    base = statistics.median(run[0] for run in runs["csaw"])
    print("| | seconds (median; all) | ratio to csaw | peak MiB |\n|---|---|---|---|")
    for name, each in runs.items():
        middle = statistics.median(run[0] for run in each)
        every = ", ".join(f"{run[0]:.2f}" for run in each)
        print(f"| {name} | {middle:.2f} ({every}) | {middle / base:.2f} | {max(run[1] for run in each):,.0f} |")


if __name__ == "__main__":
    main()
