"""One ingest of a tab-separated edge list with two header lines, in a process of its own: ``ingest_child.py TOOL EDGES OUT``.

Prints JSON: seconds of the work without imports, the process's peak in MiB, the number of edges in the result. Any interpreter that
has the tool may run this file, so csaw is imported only to measure csaw. csaw numbers the vertices, checks every row, hashes and syncs
its store; the other tools do none of this and save their arrays.
"""

import json
import sys
import time
from collections.abc import Callable
from importlib import import_module

Reader = Callable[[str, str], int]  # file, prefix of the files to write -> edges


def csaw() -> Reader:
    from numba.core.registry import cpu_target

    from csaw.partition import IngestOptions, ingest

    for lazy in ("csaw.partition.pipeline", "zarr"):
        import_module(lazy)
    cpu_target.typing_context.refresh()  # the imports that Numba does on first use
    cpu_target.target_context.refresh()
    return lambda file, out: ingest(file, out + ".zarr", IngestOptions(directed=True)).edges


def pandas() -> Reader:
    import numpy as np
    import pandas as pd
    import scipy.sparse as sp

    def read(file: str, out: str) -> int:
        table = pd.read_csv(file, sep="\t", header=None, skiprows=2, names=["u", "v"], dtype=np.int64)
        u, v = table["u"].to_numpy(), table["v"].to_numpy()
        size = int(max(u.max(), v.max())) + 1
        matrix = sp.coo_matrix((np.ones(u.size, np.float32), (u, v)), shape=(size, size)).tocsr()
        matrix.sum_duplicates()
        np.save(out + ".indptr.npy", matrix.indptr)
        np.save(out + ".indices.npy", matrix.indices)
        return int(matrix.nnz)

    return read


def polars() -> Reader:
    import numpy as np
    import polars as pl

    def read(file: str, out: str) -> int:
        kinds = {"column_1": pl.Int64, "column_2": pl.Int64}
        table = pl.read_csv(
            file, separator="\t", has_header=False, skip_rows=2, new_columns=["u", "v"], schema_overrides=kinds
        )
        table = table.unique().sort("u", "v")
        np.save(out + ".sources.npy", table["u"].to_numpy())
        np.save(out + ".targets.npy", table["v"].to_numpy())
        return table.height

    return read


TOOLS = {"csaw": csaw, "pandas": pandas, "polars": polars}


def main() -> None:
    tool, file, out = sys.argv[1:]
    sys.path.pop(0)  # this folder, whose files would hide packages of the same name
    read = TOOLS[tool]()
    began = time.perf_counter()
    edges = read(file, out)
    seconds = time.perf_counter() - began
    with open("/proc/self/status") as lines:  # not ru_maxrss, which starts at the parent's peak
        peak = next(line for line in lines if line.startswith("VmHWM"))
    print(json.dumps({"seconds": seconds, "peak_mib": int(peak.split()[1]) // 1024, "edges": edges}))


if __name__ == "__main__":
    main()
