"""Training a graph neural network: mini-batches a second alone, and the share of an epoch that waits for them.

NextDoor, tables 1 and 5. GraphSAGE with csaw's NeighborLoader beside those of PyTorch Geometric and DGL, where this
interpreter or one named with ``--peer`` has them, each in a process of its own; and a graph convolutional network with
the layers that LADIES draws (Zou et al., NeurIPS 2019). On a graph of the shape of ogbn-mag, a heterogeneous graph
transformer trains with csaw's HGTLoader: 1,024 papers, and 512 vertices of each type in each of four layers (Hu et al.,
WWW 2020). Features are random, of the size of ogbn-products'; a
mini-batch has 1,024 seeds, and 25 x 10 neighbors without replacement or two layers of 512 vertices. The other loaders
draw on the CPU, so that on a GPU only their epochs are measured, which train there.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np

from csaw.engine.bench import training_child
from csaw.engine.bench.bench_row import Row, Verdict, beside, by_row, figure, gap, measured, named
from csaw.engine.bench.context import Context, Suite
from csaw.engine.bench.graphs import PARTITION_BYTES, Graph, copied, given
from csaw.engine.bench.machine import held_to


class Tool(NamedTuple):
    """A tool that draws mini-batches, and the model that trains with them."""

    name: str
    model: str = "GraphSAGE"
    is_peer: bool = True

    @property
    def works(self) -> tuple[str, str]:
        """The names of its works: mini-batches alone, and epochs."""
        return f"mini-batches, {self.name}", f"{self.model} epoch, {self.name}"


TOOLS = {
    "csaw": Tool("csaw", is_peer=False),
    "ladies": Tool("csaw LADIES", "GCN", is_peer=False),
    "hgt": Tool("csaw HGT", "HGT", is_peer=False),
    "pyg": Tool("PyTorch Geometric"),
    "dgl": Tool("DGL"),
}
FULL = {
    "mini_batches": 28,
    "seeds": 1024,
    "fanout": [25, 10],
    "layer_sizes": [512, 512],
    "num_samples": [512] * 4,
    "features": 100,
    "hidden": 256,
    "classes": 47,
}
QUICK = FULL | {
    "mini_batches": 2,
    "seeds": 32,
    "layer_sizes": [16, 16],
    "num_samples": [8] * 2,
    "features": 8,
    "hidden": 8,
}
MOST_EDGES = 1 << 27  # of a graph that is copied for another tool
LEAST_SHARE = 0.05
TYPED, QUICK_TYPED = "mag:scale=1,seed=1", "mag:scale=0.001,seed=1"  # graphs of several types


def rows(context: Context) -> Iterator[Row]:
    wanted = [name for name, tool in TOOLS.items() if any(context.only in work for work in tool.works)]
    if "hgt" in wanted:
        wanted.remove("hgt")
        yield from _of_types(context)
    for graph in context.graphs() if wanted else ():
        base: dict[str, float] = {}  # csaw's rates
        with tempfile.TemporaryDirectory(dir=context.out) as folder:
            settings = _settings(context, graph, Path(folder))
            for tool in wanted:
                for row in _measured(context, graph, tool, settings):
                    yield context.on(graph) | row | _beside(base, tool, row)


def _of_types(context: Context) -> Iterator[Row]:
    """The rows of the tool that trains on a graph of several types, which is made for it."""
    graph = given(QUICK_TYPED if context.quick else TYPED).open(context.device)
    with tempfile.TemporaryDirectory(dir=context.out) as folder:
        for row in _measured(context, graph, "hgt", _settings(context, graph, Path(folder))):
            yield context.on(graph) | row


def _beside(base: dict[str, float], tool: str, row: Row) -> Row:
    """The columns that set a tool's rate beside csaw's, which ``base`` keeps by kind of work."""
    kind = row["work"].partition(",")[0]
    if tool == "csaw" and "rate" in row:
        base[kind] = row["rate"]
    return beside(row, base.get(kind), "csaw") if TOOLS[tool].is_peer else {}


def _settings(context: Context, graph: Graph, folder: Path) -> Path:
    gpu = context.devices[0].number if context.on_gpu else None
    store = graph.store
    if not store.path.is_dir():  # made on the GPU: another process has to open it
        store = copied(store, 1 + store.edges * store.id_dtype.itemsize // PARTITION_BYTES, folder)
    how = (QUICK if context.quick else FULL) | {
        "graph": str(store.path),
        "csr": str(folder / "csr.npz"),
        "gpu": gpu,
        "threads": context.threads,
        "epochs": context.repeats + 1,
    }
    (folder / "settings.json").write_text(json.dumps(how))
    return folder / "settings.json"


def _measured(context: Context, graph: Graph, tool: str, settings: Path) -> list[Row]:
    """The rows of a tool: its mini-batches alone, and its epochs."""
    alone, epoch = TOOLS[tool].works
    try:
        epochs = _run(context, graph, tool, settings)[1:]  # the first one compiles and fills caches
    except subprocess.CalledProcessError as error:
        said = (error.stderr.strip().splitlines() or ["it ended without a word"])[-1]
        more = (
            "; pip install torch torch_geometric"
            if not TOOLS[tool].is_peer
            else f"; --peer {tool}=PYTHON names another interpreter"
        )
        return [gap(work, said + more) for work in (alone, epoch) if context.only in work]
    except _TooLargeError as error:
        return [gap(work, error) for work in (alone, epoch) if context.only in work]
    share = median(one["waiting"] / one["seconds"] for one in epochs)
    found = [
        {
            "work": alone,
            **figure([one["edges"] / one["alone"] for one in epochs]),
            "seconds": median(one["alone"] for one in epochs),
            "ran_on": "cpu" if TOOLS[tool].is_peer else context.where,
        },
        {
            "work": epoch,
            **figure([1 / one["seconds"] for one in epochs], "epochs/s"),
            "seconds": median(one["seconds"] for one in epochs),
            "waiting_share": share,
            "note": f"{100 * share:.1f} % of it waiting",
        },
    ]
    return [row for row in found if context.only in row["work"]]


class _TooLargeError(Exception):
    """A graph that another tool would need a copy of."""


def _run(context: Context, graph: Graph, tool: str, settings: Path) -> list[Row]:
    """All epochs of a tool, in a process of its own."""
    if TOOLS[tool].is_peer:
        _write(graph, settings.with_name("csr.npz"))
    graph.store.release()  # GPU memory, which the process needs
    paths = {"PYTHONPATH": os.pathsep.join(sys.path)} if not TOOLS[tool].is_peer else {}
    command = [context.peers.get(tool, sys.executable), training_child.__file__, tool, str(settings)]
    with held_to(context.threads):
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ | paths)
    return json.loads(done.stdout.strip().splitlines()[-1])


def _write(graph: Graph, file: Path) -> None:
    """The rows of the graph for a tool that cannot read a store."""
    if graph.store.edges > MOST_EDGES:
        raise _TooLargeError(
            f"the graph has {graph.store.edges:,} edges, too many to copy; use one of at most {MOST_EDGES:,}"
        )
    if not file.exists():
        held = graph.store.load()
        np.savez(file, indptr=held.indptr, indices=held.indices)


def verdict(rows: list[Row]) -> Verdict:
    found = [row for tool in ("csaw", "hgt") for row in measured(rows, work=TOOLS[tool].works[1])]
    if not found:
        return Verdict(None, "no epoch was measured")
    shares = {name: row["waiting_share"] for name, row in named(found).items()}
    return by_row(shares, lambda share: share < LEAST_SHARE, "of an epoch is waiting")


SUITES = {
    "training": Suite(
        "waiting for samples takes less than 5 % of an epoch of GraphSAGE and of HGT",
        rows,
        verdict,
        peers=tuple(name for name, tool in TOOLS.items() if tool.is_peer),
    ),
}
