"""The formats of exports: those of samples in the folder ``samples``, those of graphs in ``graphs``, those of lists in
``listings``; a file or a folder for each, and these folders are the registry.

A format has ``SUFFIXES``, of file names that choose it, ``IS_BINARY = True`` where it is no text, and ``write``, which
streams into an open binary file, or a pipe, whose bytes do not depend on ``threads``:

samples  ``write(samples, file, name, update, threads)``; ``name`` is the file's final name. One with ``NUMBERS_EDGES``
         takes the graph store besides, or None, for the places of edges in it. Instead of ``write`` a format may have
         ``parts(samples)``, spans of instances, and ``write_part(samples, file, start, stop, update)``: several spans
         are a folder of files. ``LACKS`` names what a file has no place for, as
         :mod:`csaw.engine.export.lacking` does.
graphs   ``write(edges, file, update)``; ``edges`` is what :mod:`csaw.engine.export.edges` makes of a graph store.
         ``HOLDS`` names what a file can say of ``ids`` (the original ones; ``numbers`` where it counts vertices from
         1), ``names`` (that ids are words), ``edge_ids``, ``edge_columns``, ``vertices`` (those without an
         edge) and ``direction`` (that edges have none).

listings ``write(listed, file, name, update)``; ``listed`` is a :class:`csaw.engine.export.listed.Listed`.

A format's file imports Numba, pyarrow and their like where it writes: asking which formats there are must stay cheap.
"""

import pkgutil
from importlib import import_module
from pathlib import Path
from types import ModuleType

from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError

SAMPLES, GRAPHS, LISTINGS = "samples", "graphs", "listings"


def formats(of: str = SAMPLES) -> dict[str, ModuleType]:
    """Every format of samples, of graphs or of lists by name."""
    room = import_module(f"csaw.engine.export.{of}")
    found = (one.name for one in pkgutil.iter_modules(room.__path__))
    return {name.replace("_", "-"): import_module(f"{room.__name__}.{name}") for name in found}


def known(of: str, format: str) -> str:
    """The name of a format; OptionError where there is none called so."""
    if format not in (names := formats(of)):
        raise OptionError(
            f"--format: expected one of {', '.join(names)}, which are the formats of {of}, found {quoted(format)}"
        )
    return format


def is_binary(of: str, format: str) -> bool:
    """Whether files of a format are bytes, and no text that a terminal could show."""
    return bool(getattr(formats(of)[format], "IS_BINARY", False))


def chosen(of: str, out: Path, format: str | None) -> str:
    """The format that is asked for, or else the one whose suffix the file name has; OptionError where there is none."""
    if format is not None:
        return known(of, format)
    suffixes = {suffix: name for name, module in formats(of).items() for suffix in module.SUFFIXES}
    for suffix, name in suffixes.items():
        if out.name.endswith(suffix):
            return name
    raise OptionError(
        f"{out}: expected a name ending in {', '.join(sorted(suffixes))}"
        + ("" if of == LISTINGS else f", or --format {'|'.join(formats(of))}, which are the formats of {of}")
    )
