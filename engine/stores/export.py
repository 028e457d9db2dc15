"""Exports a store by its path, or one that is open."""

import io
import os
from pathlib import Path
from typing import BinaryIO

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
from csaw.partition.base.plain_data import Record
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
        "part": maybe(arguments.span),
        "changed_since": maybe(arguments.whole()),
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
    part: tuple[int, int] | str | None = None,
    changed_since: int | None = None,
    threads: int | None = None,
    overwrite: bool = False,
    update: Update = lambda done: None,
    algo: Algo | None = None,
    directed: bool | None = None,
) -> Record:
    """Write a sample or a graph as a file of another format.

    The file is written completely or not at all; vertices have their original ids if the format has ids. If a sample as
    Parquet exceeds 128 MiB, it is a folder of files, ``part-00000.parquet`` and so on in the order of instances, which
    several threads write. An open stream gets bytes as they are made, and Parquet is one file.

    Args:
        store: Path of a sample store or a graph store, an open one, which may be in memory, a file of edges, or the
            name of a dataset.
        out: Path of the file to write, or an open binary stream, such as ``sys.stdout.buffer``, which stays open.
        format: For samples text, csv, npy, parquet, arrow, graphml, pyg or torch; for graphs text, csv,
            matrix-market, parquet, arrow, metis, graphml, npz or ids. None: from the suffix of ``out``; for a stream,
            text.
        graph: For samples, the graph store or its path, for formats with the positions of edges. None: the path when it
            was sampled, if it still exists. A virtual sample is drawn from it.
        part: For samples, write only the instances from the first number up to, but not including, the second: two
            numbers, or text such as ``"0:1000"``. None: all.
        changed_since: For samples, write only the instances that may be other ones than those of a sample of this
            version of the graph store, by its number. None: all.
        threads: Number of threads; the output does not depend on it. None: one per processor.
        overwrite: Replace a file at ``out``, or a folder of Parquet files that csaw wrote.
        update: Called with the number of instances, or of stored edges of a graph, written so far.
        algo: For virtual samples, ``FILE.py:CLASS`` if their algorithm does not come with csaw.
        directed: Whether a row of a file or dataset is an edge in one direction only. None: from its header or the
            dataset, otherwise True.

    Returns:
        A summary as plain data: ``out`` (``-`` for a stream), ``format``, ``bytes``, what was written, and
        ``left_out``, the reason for each thing that the file cannot store.

    Raises:
        OptionError: A format that is unknown or cannot store the data, or binary output to a terminal.
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
        for name, given in (
            ("--graph", graph),
            ("--part", part),
            ("--changed-since", changed_since),
            ("--algo", algo),
        ):
            if given is not None:
                raise OptionError(f"{name}: only for a sample store, found a graph store")
        return export_graph(store, target, target.format(GRAPHS, format), crew, update)
    samples = (
        store
        if isinstance(store, Samples)
        else open_samples(store, graph.path if isinstance(graph, GraphStore) else graph, algo)
    )
    if part is not None:
        assert not isinstance(part, str)  # it has been read
        samples = part_of(samples, *part)
    if changed_since is not None:
        from csaw.engine.runs.comparison import changed_since as changed

        if part is not None:
            raise OptionError("--part: leave it out with --changed-since, which chooses the instances")
        samples = samples.chosen(changed(samples, changed_since, algo=algo))
    return export_samples(samples, target, target.format(SAMPLES, format), graph, crew, update)
