"""Samples and graphs as files of other programs' formats: :mod:`csaw.engine.export.registry` says what a format is, and
where they are.
"""

import io
import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO

from csaw.datasets.resolve import is_graph_argument, resolve
from csaw.engine.api.registry import Algo
from csaw.engine.export.lacking import lacking
from csaw.engine.export.registry import GRAPHS, SAMPLES, formats
from csaw.engine.export.targets import PathTarget, StreamTarget, Target
from csaw.engine.plan.options import options
from csaw.engine.samples import Samples, open_samples
from csaw.engine.samples.edges import edge_columns
from csaw.engine.samples.layouts.declared import TIME
from csaw.engine.samples.numbers import obstacle
from csaw.partition import GraphStore, open_graph
from csaw.partition.base import arguments
from csaw.partition.base.arguments import flag, maybe
from csaw.partition.base.parallel import processors
from csaw.partition.base.python_names import in_python, of_caller
from csaw.partition.errors import OptionError, RepeatedEdgesError, StoreError

__all__ = ["export", "formats"]

Update = Callable[[int], None]


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
    instances: tuple[int, int] | None = None,
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
        instances: Of samples, write the instances from the first number to before the second alone. None: all.
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
        raise OptionError("directed: expected with a file of edges or a dataset alone; leave it out")
    if isinstance(store, GraphStore):
        for name, given in (("--graph", graph), ("--instances", instances), ("--algo", algo)):
            if given is not None:
                raise OptionError(f"{name}: expected with a sample store alone, found with a graph store")
        return _export_graph(store, target, target.format(GRAPHS, format), crew, update)
    samples = (
        store
        if isinstance(store, Samples)
        else open_samples(store, graph.path if isinstance(graph, GraphStore) else graph, algo)
    )
    if instances is not None:
        samples = _part(samples, *instances)
    return _export_samples(samples, target, target.format(SAMPLES, format), graph, crew, update)


def _export_samples(
    samples: Samples, target: Target, format: str, graph: str | Path | GraphStore | None, crew: int, update: Update
) -> dict[str, Any]:
    module = formats()[format]
    more, left_out = _graph(samples, module, graph)
    left_out = left_out | lacking(samples, module.LACKS)

    def write(file: BinaryIO, update: Update) -> None:
        module.write(samples, file, target.name, update, crew, **more)

    said = {"samples": str(samples.path), "out": target.said, "format": format, "instances": samples.instances}
    try:
        is_cut = hasattr(module, "parts")
        wrote = target.write_parts(samples, module, crew, update) if is_cut else target.write(write, update)
    except RepeatedEdgesError as error:  # before anything was written
        if graph is not None:
            raise
        more, left_out = {}, left_out | {"e_id": str(error)}
        wrote = target.write(write, update)
    return said | wrote | {"left_out": _said(left_out)}


def _export_graph(store: GraphStore, target: Target, format: str, crew: int, update: Update) -> dict[str, Any]:
    from csaw.engine.export.edges import Edges, left_out

    module = formats(GRAPHS)[format]
    edges = Edges(store, crew, module.HOLDS)
    wrote = target.write(lambda file, update: module.write(edges, file, target.name, update), update)
    said = {"graph": str(store.path), "out": target.said, "format": format, "vertices": store.vertices}
    return said | {"edges": edges.written, **wrote, "left_out": _said(left_out(edges, module.HOLDS))}


def _said(left_out: dict[str, str]) -> dict[str, str]:
    """The reasons in words of the caller."""
    return {name: of_caller(reason) for name, reason in left_out.items()}


def _part(samples: Samples, first: int, last: int) -> Samples:
    if first == last:
        raise OptionError(
            "--instances: expected FIRST:LAST with FIRST < LAST, the number of the first instance to "
            f"write and the one after the last, found {first}:{last}"
        )
    return samples.part(first, last)


def _graph(
    samples: Samples, format: ModuleType, given: str | Path | GraphStore | None
) -> tuple[dict[str, Any], dict[str, str]]:
    """The graph as an argument of the format's ``write``, and the reason if its edges' places are left out for lack of
    it.
    """
    if not getattr(format, "NUMBERS_EDGES", False):
        if given is not None and not samples.is_virtual:
            raise OptionError("--graph: expected with --format pyg or torch, for the places of edges in the graph")
        return {}, {}
    if "e_id" in samples:
        return {}, {}
    if given is not None:
        return {"graph": given if isinstance(given, GraphStore) else open_graph(given)}, {}
    where = samples.manifest.get("graph", {}).get("path")
    if not where:
        return {}, {"e_id": f"{samples.path} does not say where its graph is; name it with --graph"}
    try:
        store = open_graph(where)
    except StoreError as error:
        return {}, {"e_id": f"{error}, or name the graph with --graph"}
    reason = obstacle(samples, store, in_time=TIME in edge_columns(samples))
    return ({}, {"e_id": reason}) if reason else ({"graph": store}, {})
