"""One file a suite; the folder is the registry. A suite reproduces an experiment of a paper and is a module with

    CLAIM               what the paper claims, in a sentence
    rows(context)       figures as they are measured: see bench_row.py
    verdict(rows)       a Verdict: whether the claim holds here, with the number found
    PUBLISHED           optional: the figures of others that the claim is about, each with its machine, which the
                        verdict names beside this one
    PEER_NAMES          optional: the names of peers that --peer may give
    X                   optional: the column on the plot's horizontal axis; without it, bars

Its name on the command line is the file's, with hyphens.
"""

import pkgutil
from importlib import import_module
from types import ModuleType

from csaw.partition.base.quoting import meant
from csaw.partition.errors import UnknownNameError


def names() -> list[str]:
    """Every suite's name on the command line."""
    return sorted(module.name.replace("_", "-") for module in pkgutil.iter_modules(__path__))


def load(name: str) -> ModuleType:
    """The suite called ``name``."""
    if name not in names():
        raise UnknownNameError(
            f"--suite: no suite called {name!r}; there are {', '.join(names())}, or all{meant(name, names())}"
        )
    return import_module(f"{__name__}.{name.replace('-', '_')}")
