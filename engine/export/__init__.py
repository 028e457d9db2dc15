"""Samples and graphs as files of other programs' formats: :mod:`csaw.engine.export.registry` says what a format is, and
where they are.
"""

import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO

from csaw.datasets.resolve import is_graph_argument, resolve
from csaw.engine.export.parts import write_parts
from csaw.engine.export.registry import GRAPHS, SAMPLES, chosen, formats
from csaw.engine.plan.options import options
from csaw.engine.samples import Samples, open_samples
from csaw.engine.samples.files import begin_writing
from csaw.engine.samples.numbers import obstacle
from csaw.partition import GraphStore, open_graph
from csaw.partition.arrays.replace import cannot_be_written, check_export, new_file
from csaw.partition.base.parallel import processors
from csaw.partition.errors import OptionError, StoreError

__all__ = ["export", "formats"]

EARLY = 1 << 25  # bytes of a file that the disk gets at a time, while the rest is made
Update = Callable[[int], None]


def export(
    store: str | Path | Samples | GraphStore,
    out: str | Path,
    format: str | None = None,
    *,
    graph: str | Path | None = None,
    instances: tuple[int, int] | None = None,
    threads: int | None = None,
    overwrite: bool = False,
    update: Update = lambda done: None,
    algo: str | type | None = None,
) -> dict[str, Any]:
    """Write a sample or a graph as a file of another format.

    The file is written whole or not at all; vertices have their original ids where the format has ids. A sample as
    Parquet is a folder of files, ``part-00000.parquet`` and so on in the order of instances, where the store has more
    than 128 MiB: several threads write it.

    store: path of a sample store or of a graph store, one that is open, which may be in memory, a file of edges, or a
    dataset's name. out: path of the file to write.
    format: of samples text, csv, npy, parquet, graphml, pyg or torch; of graphs text, csv, matrix-market, parquet,
    metis, graphml, npz or ids (default: None, as the suffix of ``out`` says).
    graph: of samples, path of the graph store, for formats that say where edges are in it (default: None, where it was
    sampled, if it is still there). A virtual sample is drawn from it.
    algo: of virtual samples, ``FILE.py:CLASS`` where csaw does not ship their algorithm (default: None).
    instances: of samples, write the instances from the first number to before the second alone (default: None, all of
    them).
    threads: number of threads; no byte depends on it (default: None, one for each processor).
    overwrite: replace a file that is at ``out``, or a folder of Parquet files that csaw wrote (default: False).
    update: called with the number of instances, or of a graph's stored edges, written so far.

    Returns a summary as plain data; ``left_out`` gives the reason for each thing that the file lacks. OptionError for a
    format that is unknown or cannot hold the store, StoreError where a store is missing or damaged or ``out`` cannot be
    written.
    """
    crew = processors() if threads is None else options()["threads"].check("threads", threads)
    out = Path(out)
    check_export(out, overwrite)
    if not isinstance(store, Samples | GraphStore) and is_graph_argument(os.fspath(store)):
        store = open_graph(resolve(os.fspath(store)))
    if isinstance(store, GraphStore):
        for name, given in (("--graph", graph), ("--instances", instances), ("--algo", algo)):
            if given is not None:
                raise OptionError(f"{name}: expected with a sample store alone, found with a graph store")
        return _export_graph(store, out, chosen(GRAPHS, out, format), crew, overwrite, update)
    samples = store if isinstance(store, Samples) else open_samples(store, graph, algo)
    if instances is not None:
        samples = _part(samples, *instances)
    return _export_samples(samples, out, chosen(SAMPLES, out, format), graph, crew, overwrite, update)


def _export_samples(
    samples: Samples, out: Path, format: str, graph: str | Path | None, crew: int, overwrite: bool, update: Update
) -> dict[str, Any]:
    module = formats()[format]
    more, left_out = _graph(samples, module, graph)

    def write(file: BinaryIO, update: Update) -> None:
        module.write(samples, file, out.name, update, crew, **more)

    said = {"samples": str(samples.path), "out": str(out), "format": format, "instances": samples.instances}
    if hasattr(module, "parts"):
        wrote = write_parts(samples, module, out, crew, overwrite, update)
    else:
        wrote = {"bytes": _written(out, write, overwrite, update)}
    return said | wrote | {"left_out": left_out}


def _export_graph(
    store: GraphStore, out: Path, format: str, crew: int, overwrite: bool, update: Update
) -> dict[str, Any]:
    from csaw.engine.export.edges import Edges, left_out

    module, edges = formats(GRAPHS)[format], Edges(store, crew)
    size = _written(out, lambda file, update: module.write(edges, file, out.name, update), overwrite, update)
    said = {"graph": str(store.path), "out": str(out), "format": format, "vertices": store.vertices}
    return said | {"edges": edges.written, "bytes": size, "left_out": left_out(edges, module.HOLDS)}


def _written(out: Path, write: Callable[[BinaryIO, Update], None], overwrite: bool, update: Update) -> int:
    """The bytes of the new file ``out``."""
    try:
        with new_file(out, overwrite=overwrite) as file:
            write(file, _begins_early(file, update))
    except StoreError:
        raise
    except OSError as error:
        raise cannot_be_written(out, error) from error
    return out.stat().st_size


def _part(samples: Samples, first: int, last: int) -> Samples:
    if first == last:
        raise OptionError(
            "--instances: expected FIRST:LAST with FIRST < LAST, the number of the first instance to "
            f"write and the one after the last, found {first}:{last}"
        )
    return samples.part(first, last)


def _begins_early(file: BinaryIO, update: Callable[[int], None]) -> Callable[[int], None]:
    """``update``, which also lets the disk begin with what has been written: else it waits for the end, when the file
    is synced.
    """
    begun = 0

    def updated(done: int) -> None:
        nonlocal begun
        if (end := file.tell()) - begun >= EARLY:
            begin_writing(file.fileno(), begun, end - begun)
            begun = end
        update(done)

    return updated


def _graph(samples: Samples, format: ModuleType, given: str | Path | None) -> tuple[dict[str, Any], dict[str, str]]:
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
        return {"graph": open_graph(given)}, {}
    where = samples.manifest.get("graph", {}).get("path")
    if not where:
        return {}, {"e_id": f"{samples.path} does not say where its graph is; name it with --graph"}
    try:
        store = open_graph(where)
    except StoreError as error:
        return {}, {"e_id": f"{error}, or name the graph with --graph"}
    reason = obstacle(samples, store)
    return ({}, {"e_id": reason}) if reason else ({"graph": store}, {})
