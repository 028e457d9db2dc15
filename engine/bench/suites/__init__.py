"""The suites of ``csaw bench``. Each reproduces an experiment, of a paper or csaw's own.

A module has those that are read together, in a table SUITES: a Suite (engine/bench/context.py) by each name.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from csaw.partition.base.quoting import meant
from csaw.partition.errors import UnknownNameError

if TYPE_CHECKING:
    from csaw.engine.bench.context import Suite

MODULES = {  # by module, so that names are known before any is imported
    "from_disk": ("from-disk",),
    "gunrock": ("gunrock", "triangle-ways"),
    "ingest": ("ingest",),
    "journey": ("journey",),
    "measures": ("ranking", "traversal", "triangles"),
    "out_of_memory": ("out-of-memory",),
    "own": ("own-biases", "own-measures"),
    "papers": ("instances", "neighbor-size", "scaling", "selection", "transit"),
    "peers": ("peers",),
    "relations": ("relations",),
    "sampling": ("in-time", "layers", "links", "neighbors", "overview", "walks"),
    "scale_out": ("scale-out",),
    "training": ("training",),
}


def names() -> list[str]:
    """Every suite's name on the command line."""
    return sorted(name for suites in MODULES.values() for name in suites)


def load(name: str) -> "Suite":
    """The suite called ``name``."""
    for module, suites in MODULES.items():
        if name in suites:
            return import_module(f"{__name__}.{module}").SUITES[name]
    raise UnknownNameError(
        f"--suite: no suite called {name!r}; there are {', '.join(names())}, or all{meant(name, names())}"
    )
