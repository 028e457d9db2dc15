"""Samples to other programs' formats; a file or a folder for each, and this folder is the registry.

A format has ``SUFFIXES`` and ``write(samples, file, name, update, threads)``, which streams into an open binary file; ``name`` is the file's final name.
The file's bytes do not depend on ``threads``.
One with ``NUMBERS_EDGES`` takes the graph store besides, or None, for the places of edges in it.
"""

import pkgutil
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from csaw.engine.plan.options import options
from csaw.engine.samples import Samples, open_samples
from csaw.engine.samples.files import begin_writing
from csaw.engine.samples.numbers import obstacle
from csaw.partition import open_graph
from csaw.partition.errors import OptionError, StoreError
from csaw.partition.parallel import processors
from csaw.partition.replace import FILE, cannot_be_written, check, new_file

EARLY = 1 << 25  # bytes of a file that the disk gets at a time, while the rest is made


def formats() -> dict[str, Any]:
    """Every format by name."""
    return {found.name: import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__)}


def format_of(out: Path) -> str:
    """The format whose suffix the file name has."""
    known = {suffix: name for name, module in formats().items() for suffix in module.SUFFIXES}
    for suffix, name in known.items():
        if out.name.endswith(suffix):
            return name
    raise OptionError(f"{out}: expected a name ending in {', '.join(sorted(known))}, or --format {'|'.join(formats())}")


def export(samples_path: str | Path | Samples, out: str | Path, format: str | None = None, *, graph: str | Path | None = None, instances: tuple[int, int] | None = None, threads: int | None = None,
           overwrite: bool = False, update: Callable[[int], None] = lambda done: None) -> dict[str, Any]:  # fmt: skip
    """Write a sample store as a file of another format. The file is written whole or not at all.

    samples_path: the sample store, or open samples, which may be in memory. out: path of the file to write.
    format: text, npy, parquet, pyg or torch (default: None, as the suffix of ``out`` says).
    graph: path of the graph store, for formats that say where edges are in it (default: None, where it was sampled, if it is still there).
        A virtual sample is drawn from it.
    instances: write the instances from the first number to before the second alone (default: None, all of them).
    threads: number of threads; no byte depends on it (default: None, one for each processor).
    overwrite: replace a file that is at ``out`` (default: False). update: called with the number of instances written so far.

    Returns a summary as plain data; ``left_out`` gives the reason for each array that is missing. OptionError for a format that is unknown, StoreError
    where a store is missing or damaged or ``out`` cannot be written.
    """
    crew = processors() if threads is None else options()["threads"].check("threads", threads)
    out = Path(out)
    check(out, FILE, overwrite)
    samples = samples_path if isinstance(samples_path, Samples) else open_samples(samples_path, graph)
    if instances is not None:
        samples = _part(samples, *instances)
    chosen = format or format_of(out)
    if chosen not in formats():
        raise OptionError(f"--format: expected one of {', '.join(formats())}, found {chosen!r}")
    more, left_out = _graph(samples, formats()[chosen], graph)
    try:
        with new_file(out, overwrite=overwrite) as file:
            formats()[chosen].write(samples, file, out.name, _begins_early(file, update), crew, **more)
    except StoreError:
        raise
    except OSError as error:
        raise cannot_be_written(out, error) from error
    size = out.stat().st_size
    return {
        "samples": str(samples.path),
        "out": str(out),
        "format": chosen,
        "instances": samples.instances,
        "bytes": size,
        "left_out": left_out,
    }


def _part(samples: Samples, first: int, last: int) -> Samples:
    if first == last:
        raise OptionError(
            f"--instances: expected FIRST:LAST with FIRST < LAST, the number of the first instance to write and the one after the last, found {first}:{last}"
        )
    return samples.part(first, last)


def _begins_early(file: BinaryIO, update: Callable[[int], None]) -> Callable[[int], None]:
    """``update``, which also lets the disk begin with what has been written: else it waits for the end, when the file is synced."""
    begun = 0

    def updated(done: int) -> None:
        nonlocal begun
        if (end := file.tell()) - begun >= EARLY:
            begin_writing(file.fileno(), begun, end - begun)
            begun = end
        update(done)

    return updated


def _graph(samples: Samples, format: Any, given: str | Path | None) -> tuple[dict[str, Any], dict[str, str]]:
    """The graph as an argument of the format's ``write``, and the reason if its edges' places are left out for lack of it."""
    if not getattr(format, "NUMBERS_EDGES", False):
        if given is not None and not samples.is_virtual:
            raise OptionError("--graph: expected with --format pyg or torch, for the places of edges in the graph")
        return {}, {}
    if samples.layout == "batches":  # its e_id is stored
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
