#!/usr/bin/env python3
"""Write package/__init__.pyi, by which type checkers and editors know the options of each algorithm.

PYTHONPATH=tests/_src python scripts/make_stub.py
"""

from collections.abc import Iterable
from pathlib import Path

from csaw.engine.api import registry
from csaw.engine.api.option import Bias, Bytes, Fanout, Option, PerType
from csaw.engine.plan.options import options as run_options

STUB = Path(__file__).parents[1] / "package" / "__init__.pyi"
TYPES = {
    float: "SupportsFloat | str",
    int: "SupportsIndex | str",
    bool: "bool",
    str: "str",
    tuple: "Sequence[int] | str",
    Fanout: "Sequence[int] | Mapping[str, Sequence[int]] | Mapping[tuple[str, str, str], Sequence[int]] | str",
    PerType: "Sequence[int] | Mapping[str, Sequence[int]] | str",
    Bytes: "SupportsIndex | str",
    Bias: "str | Callable[[EdgeView], float]",
    object: "Any",
}
LENGTH = "SupportsFloat | str | timedelta | timedelta64"
TIMES = {"time": "SupportsFloat | str | date | datetime64", "length": LENGTH, "scale": LENGTH}
HEAD = """\
# Written by scripts/make_stub.py from the declarations of options; run that, and do not edit this.
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from typing import Any, Literal, SupportsFloat, SupportsIndex, TypedDict, Unpack, overload

from numpy import datetime64, timedelta64

from csaw import algorithm as algorithm
from csaw import cli as cli
from csaw import engine as engine
from csaw import loader as loader
from csaw import measure as measure
from csaw.commands import Place, Progress
from csaw.commands import graph as graph
from csaw.datasets import DatasetsModule
from csaw.engine.algorithm import Algorithm
from csaw.engine.analytics.evaluation.evaluate import Evaluation as Evaluation
from csaw.engine.api.algorithm import EdgeView
from csaw.engine.runs.sample_stream import Stream as Stream
from csaw.engine.samples import Samples as Samples
from csaw.engine.stores import open_samples as open_samples
from csaw.engine.stores.export import export as export
from csaw.evaluation import evaluate as evaluate
from csaw.evaluation import list_support as list_support
from csaw.evaluation import list_triangles as list_triangles
from csaw.partition import GraphStore as GraphStore
from csaw.partition import PartitionModule
from csaw.partition import open_graph as open_graph
from csaw.partition.errors import CsawError as CsawError
from csaw.stores import algorithms as algorithms
from csaw.stores import append as append
from csaw.stores import changed as changed
from csaw.stores import compact as compact
from csaw.stores import info as info
from csaw.stores import refresh as refresh
from csaw.stores import seal as seal
from csaw.stores import verify as verify

__version__: str
datasets: DatasetsModule
partition: PartitionModule
"""
SAMPLE = """\
@overload
def sample(
    graph: object,
    out: Place | None = None,
    {algo},
    directed: bool | None = None,
    virtual: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress = None,
    **options: {options},
) -> Samples: ...
"""
NAMED = """\
def {name}(
    graph: object,
    out: Place | None = None,
    *,
{own}    **options: Unpack[_Sample],
) -> Samples: ...
"""
OF_SAMPLE = {  # what sample takes beside the options of a run
    "directed": "bool | None",
    "virtual": "bool",
    "resume": "bool",
    "overwrite": "bool",
    "progress": "Progress",
}
STREAM = """\
@overload
def stream(
    graph: object,
    {algo},
    directed: bool | None = None,
    on_device: bool = False,
    rank: int = 0,
    world: int = 1,
    **options: {options},
) -> Stream: ...
"""


def stub() -> str:
    """The text of the stub."""
    known = {name: _types(registry.find(name).options()) for name in registry.names()}
    groups: dict[str, list[str]] = {}  # algorithms that have the same options
    for name, options in known.items():
        same = next((group for group, names in groups.items() if known[names[0]] == options), None)
        groups.setdefault(same or f"_{registry.find(name).__name__}", []).append(name)
    of_all: dict[str, str] = {}
    for options in known.values():
        for name, kind in options.items():
            of_all[name] = " | ".join(dict.fromkeys([*of_all.get(name, kind).split(" | "), *kind.split(" | ")]))
    run = _types(run_options() | {one.alias: one for one in run_options().values() if one.alias})
    parts = [HEAD, _options("_Run", run, "TypedDict, total=False")]
    for group, names in groups.items():
        parts.append(_options(group, known[names[0]], "_Run, total=False"))
    parts.append(_options("_OfAll", of_all, "_Run, total=False"))
    by_place = SAMPLE.replace("out: Place | None = None", "out: Place | None")
    for function, begin, end in ((SAMPLE, "*,\n    ", ""), (STREAM, "", ",\n    *")):
        for group, names in groups.items():
            words = f"algo: Literal[{_listed(names)}]" + ' = "deepwalk"' * ("deepwalk" in names)
            parts.append(function.format(algo=begin + words + end, options=f"Unpack[{group}]"))
        parts.append(function.format(algo=f"{begin}algo: type[Algorithm] | Algorithm{end}", options="Any"))
        parts.append(function.format(algo=f"{begin}algo: str{end}", options="Unpack[_OfAll]"))
        if function is SAMPLE:
            parts.append(by_place.format(algo="algo: str,\n    *", options="Unpack[_OfAll]"))
    parts.append(_options("_Sample", OF_SAMPLE, "_Run, total=False"))
    return "\n".join([*parts, *map(_named, known)])


def _named(name: str) -> str:
    """The function of one algorithm, with its own options and their defaults."""
    own = registry.find(name).options()
    lines = [f"    {key}: {kind} = {_default(own[key])}" for key, kind in _types(own).items()]
    return NAMED.format(name=name.replace("-", "_"), own="".join(f"{line},\n" for line in lines))


def _default(one: Option) -> str:
    return f'"{one.default}"' if isinstance(one.default, str) else repr(one.default)


def _listed(words: Iterable[str]) -> str:
    return ", ".join(f'"{word}"' for word in words)


def _types(options: dict[str, Option]) -> dict[str, str]:
    return {name: _type(one) for name, one in options.items()}


def _type(one: Option) -> str:
    """The type of an option's values, which may be text as on the command line."""
    kind = f"Literal[{_listed(map(str, one.choices))}]" if one.choices else TIMES.get(one.reads, TYPES[one.kind])
    return f"{kind} | None" if kind != "Any" and (one.none or one.default is None) else kind


def _options(name: str, types: dict[str, str], base: str) -> str:
    lines = [f"    {key}: {kind}" for key, kind in types.items()] or ["    pass"]
    return "\n".join([f"class {name}({base}):", *lines, ""])


if __name__ == "__main__":
    STUB.write_text(stub())
