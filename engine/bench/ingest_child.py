"""One ingest of a text of edges, in a separate process: ``ingest_child.py TOOL EDGES OUT``.

The text is separated by tabs and has two header lines. Prints JSON: seconds of the work without imports, the process's
peak in MiB, the number of edges in the result. Every interpreter that has the tool may run this file, so csaw is
imported only to measure csaw. csaw numbers the vertices, checks every row, hashes and syncs its store; the other tools
do none of this and save their arrays.
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

    for lazy in ("csaw.partition.ingestion.pipeline", "zarr"):
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


def pyarrow() -> Reader:
    import numpy as np
    import pyarrow as pa
    from pyarrow import csv

    def read(file: str, out: str) -> int:
        table = csv.read_csv(
            file,
            csv.ReadOptions(skip_rows=2, column_names=["u", "v"]),
            csv.ParseOptions(delimiter="\t"),
            csv.ConvertOptions(column_types={"u": pa.int64(), "v": pa.int64()}),
        )
        u, v = table["u"].to_numpy(), table["v"].to_numpy()
        keys = u << 32 | v  # ids are below 2^31 here; a sort of keys takes a fifth of the time of group_by and sort_by
        keys.sort()
        keys = keys[np.append(True, keys[1:] != keys[:-1])]
        u, v = keys >> 32, keys & 0xFFFFFFFF
        np.save(out + ".indptr.npy", np.append(0, np.bincount(u).cumsum()))
        np.save(out + ".indices.npy", v)
        return int(v.size)

    return read


def duckdb() -> Reader:
    import duckdb as db
    import numpy as np

    query = """SELECT DISTINCT u, v FROM read_csv(?, delim = '\t', header = false, skip = 2,
               columns = {'u': 'BIGINT', 'v': 'BIGINT'}) ORDER BY u, v"""

    def read(file: str, out: str) -> int:
        columns = db.connect().execute(query, [file]).fetchnumpy()
        np.save(out + ".sources.npy", columns["u"])
        np.save(out + ".targets.npy", columns["v"])
        return int(columns["u"].size)

    return read


TOOLS = {"csaw": csaw, "pandas": pandas, "polars": polars, "pyarrow": pyarrow, "duckdb": duckdb}


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
