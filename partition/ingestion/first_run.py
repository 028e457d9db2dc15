"""The first run: if no machine code is cached yet, other processes compile what this one needs later, while it compiles
what it needs first.

Numba compiles one function at a time in a process. Each share ends in the cache, from which this process loads it; what
a share lacks, or does not come to, this process compiles itself, as ever.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numba.core.dispatcher import Dispatcher

from csaw.partition.arrays import checksum_kernels, checksums, spool
from csaw.partition.base.compile import awaited, is_cached
from csaw.partition.base.parallel import Crew, processors
from csaw.partition.graph import csr, reciprocity, write
from csaw.partition.ingestion import buckets, ids
from csaw.partition.ingestion.ids import number
from csaw.partition.ingestion.ingest_options import IngestOptions
from csaw.partition.ingestion.job import BucketPlan, IngestJob


def deal_edges() -> None:
    """Number an edge, and deal it to a bucket."""
    budget, ends = spool.Budget(1 << 20, Path()), np.zeros(1, np.uint32)
    raw, dealt = spool.Spool(budget), spool.Spool(budget)
    raw.append(ends, ends.copy())
    job = IngestJob(IngestOptions(), "", "", strings=False, undirected=False, weighted=False)
    with Crew(1, 0) as crew:
        numbering = number(raw, (0, 0), False, "", crew)
        plan = BucketPlan(np.array([0, 1]), numbering.dtype, 1)
        buckets.Buckets(job, plan, numbering, crew).deal(raw, dealt, 1)


def build_rows() -> None:
    """Make a row without edges."""
    addresses, handles = np.zeros((2, 1), np.int64), np.zeros((2, 1), np.int32)
    size, ids, indptr = np.zeros(1, np.int64), np.empty(0, np.uint32), np.empty(2, np.int64)
    none = buckets.NO_WEIGHTS, buckets.NO_NUMBERS
    csr.build_buckets(
        addresses, handles, addresses, size, np.array([0, 1]), 1, csr.FIRST, indptr, ids, *none, ids, ids, *none
    )


def write_store() -> None:
    """Sum up a block and check it, which NumPy does of few bytes; write a graph of two edges, and look at it."""
    block, sums = np.zeros(1, np.uint8), np.empty(1, checksums.DTYPE)
    checksum_kernels.block_sums(block, checksums.BLOCK, sums)
    checksum_kernels.first_damaged(block, checksums.BLOCK, sums)
    with tempfile.TemporaryDirectory(prefix="csaw-") as folder:
        graph = write.write_graph(Path(folder) / "g", np.array([0, 1, 2]), np.array([1, 0], np.uint32), directed=True)
        reciprocity.reciprocity(graph)


class Share(NamedTuple):
    """Work that compiles some kernels, which it calls in the order in which a run does."""

    work: Callable[[], None]
    kernels: tuple[Dispatcher, ...]


SHARES = {  # those that a run needs last first
    "rows": Share(build_rows, (csr.build_buckets,)),
    "store": Share(write_store, (checksum_kernels.block_sums, checksum_kernels.first_damaged, csr.count_present)),
    "deal": Share(
        deal_edges,
        (
            ids.mark,
            ids.rank_seen,
            ids.rank_by_table,
            csr.count_buckets,
            csr.deal,
            csr.count_degrees,
        ),
    ),
}


@contextmanager
def compiling_aside(threads: int) -> Iterator[None]:
    """Have processes compile shares of which nothing is cached; at the end, end those that nobody waited for."""
    most = min(threads, processors()) - 1 if sys.executable else 0
    names = [name for name, share in SHARES.items() if not is_cached(share.kernels[0])] if most > 0 else []
    names = names[: max(most, 2)]  # two of the four parts of the work for a single process
    children = [_child(names[k::most]) for k in range(min(most, len(names)))]
    try:
        yield
    finally:
        awaited.clear()
        for child in children:
            child.terminate()
            child.wait()


def _child(names: list[str]) -> subprocess.Popen[bytes]:
    """A process that compiles some shares. Their kernels wait for it."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    nowhere = subprocess.DEVNULL
    command = [sys.executable, "-P", "-m", __name__, *names]
    child = subprocess.Popen(command, stdin=nowhere, stdout=nowhere, stderr=nowhere, env=environment)
    awaited.update((kernel.py_func, child) for name in names for kernel in SHARES[name].kernels)
    return child


if __name__ == "__main__":
    for share in sys.argv[1:]:
        SHARES[share].work()
