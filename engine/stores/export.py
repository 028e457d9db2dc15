"""Exports a store by its path, or one that is open."""

import io
import os
from pathlib import Path
from typing import Any, BinaryIO

from csaw.datasets.resolve import is_graph_argument, resolve
from csaw.engine.api.registry import Algo
from csaw.engine.export import Update, export_graph, export_samples, part_of
from csaw.engine.export.targets import GRAPHS, SAMPLES, PathTarget, StreamTarget
from csaw.engine.plan.options import options
from csaw.engine.samples import Samples
from csaw.engine.stores import open_samples
from csaw.partition import GraphStore, open_graph
from csaw.partition.base import arguments
from csaw.partition.base.arguments import flag, maybe
from csaw.partition.base.parallel import processors
from csaw.partition.base.python_names import in_python
from csaw.partition.errors import OptionError


def _store(name: str, value: object) -> object:
    wanted = arguments.path("a sample store or a graph, or an open one")
    return value if isinstance(value, Samples | GraphStore) else wanted(name, value)


def _graph_store(name: str, value: object) -> object:
    wanted = arguments.path("the graph store, or an open one")
    return value if isinstance(value, GraphStore) else wanted(name, value)


def _out(name: str, value: object) -> object:
    if isinstance(value, str | os.PathLike):
        return Path(arguments.named(name, value))
    if isinstance(value, io.RawIOBase | io.BufferedIOBase):
        return value
    raise arguments.refused(name, "a path or an open binary stream, such as sys.stdout.buffer", value)


@in_python(
    {
        "store": _store,
        "out": _out,
        "format": maybe(arguments.text),
        "graph": maybe(_graph_store),
        "instances": maybe(arguments.span),
        "overwrite": flag,
        "update": arguments.function("done"),
        "directed": maybe(flag),
        "algo": arguments.simple,
    }
)
def export(
    store: str | Path | Samples | GraphStore,
    out: str | Path | BinaryIO,
    format: str | None = None,
    *,
    graph: str | Path | GraphStore | None = None,
    instances: tuple[int, int] | str | None = None,
    threads: int | None = None,
    overwrite: bool = False,
    update: Update = lambda done: None,
    algo: Algo | None = None,
    directed: bool | None = None,
) -> dict[str, Any]:
    """Write a sample or a graph as a file of another format.

    The file is written whole or not at all; vertices have their original ids where the format has ids. A sample as
    Parquet is a folder of files, ``part-00000.parquet`` and so on in the order of instances, where the store has more
    than 128 MiB: several threads write it. To an open stream, bytes go as they are made, and Parquet is one file.

    Args:
        store: Path of a sample store or of a graph store, one that is open, which may be in memory, a file of edges, or
            a dataset's name.
        out: Path of the file to write, or an open binary stream, such as ``sys.stdout.buffer``, which stays open.
        format: Of samples text, csv, npy, parquet, graphml, pyg or torch; of graphs text, csv, matrix-market, parquet,
            metis, graphml, npz or ids. None: as the suffix of ``out`` says; of a stream, text.
        graph: Of samples, the graph store or its path, for formats that say where edges are in it. None: where it was
            sampled, if it is still there. A virtual sample is drawn from it.
        instances: Of samples, write the instances from the first number to before the second alone, two numbers or
            text such as ``"0:1000"``. None: all.
        threads: Number of threads; no byte depends on it. None: one for each processor.
        overwrite: Replace a file that is at ``out``, or a folder of Parquet files that csaw wrote.
        update: Called with the number of instances, or of a graph's stored edges, written so far.
        algo: Of virtual samples, ``FILE.py:CLASS`` where csaw does not ship their algorithm.
        directed: Of a file of edges or a dataset, whether a row is an edge in one direction. None: as its header or the
            dataset says, otherwise yes.

    Returns:
        A summary as plain data: ``out`` (``-`` for a stream), ``format``, ``bytes``, what was written, and
        ``left_out``, the reason for each thing that the file lacks.

    Raises:
        OptionError: A format that is unknown or cannot hold the store, or bytes that would go to a terminal.
        StoreError: A store that is missing or damaged, or an ``out`` that cannot be written.
        BrokenPipeError: A stream whose reader has closed it.
    """
    crew = processors() if threads is None else options()["threads"].check("threads", threads)
    target = PathTarget(Path(out), overwrite) if isinstance(out, str | os.PathLike) else StreamTarget(out)
    if not isinstance(store, Samples | GraphStore) and is_graph_argument(os.fspath(store)):
        store = open_graph(resolve(os.fspath(store), directed=directed))
    elif directed is not None:
        raise OptionError("directed: only for a file of edges or a dataset; leave it out")
    if isinstance(store, GraphStore):
        for name, given in (("--graph", graph), ("--instances", instances), ("--algo", algo)):
            if given is not None:
                raise OptionError(f"{name}: only for a sample store, found a graph store")
        return export_graph(store, target, target.format(GRAPHS, format), crew, update)
    samples = (
        store
        if isinstance(store, Samples)
        else open_samples(store, graph.path if isinstance(graph, GraphStore) else graph, algo)
    )
    if instances is not None:
        assert not isinstance(instances, str)  # it has been read
        samples = part_of(samples, *instances)
    return export_samples(samples, target, target.format(SAMPLES, format), graph, crew, update)
