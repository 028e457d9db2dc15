"""Measures: classes that describe one property of a graph.

Each file of analytics/measures has one; evaluation and the command line find it there. A measure's ``findings`` are of
four kinds. Numbers are compared by their relative error, distributions by the D-statistic, curves by the largest
distance between them, and columns, a number for each vertex, by the vertices that rank first in both.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from csaw.engine.analytics.computations import PAYS, Enough, Work, pays
from csaw.engine.api.option import Option, checked, option, options_of
from csaw.engine.plan.footprint import Footprint
from csaw.partition.base.quoting import meant, quoted
from csaw.partition.errors import OptionError, UnknownNameError

if TYPE_CHECKING:
    import numpy as np

    from csaw.engine.analytics.changes import Changes
    from csaw.engine.analytics.network import Network
    from csaw.partition import GraphStore

FIXED = 1 << 16  # bytes that most measures keep, whatever the graph


@dataclass(frozen=True)
class Number:
    """One number.

    ``method``: how it was found, where there are several ways or it is an estimate. ``error``: its standard error.
    """

    value: float
    method: str = ""
    error: float | None = None


@dataclass(frozen=True)
class Distribution:
    """How often each value occurs: ``values`` [n] rise, ``counts`` [n] are positive.

    ``label``: what the values are, for a plot.
    """

    values: "np.ndarray"
    counts: "np.ndarray"
    label: str = ""
    method: str = ""

    @cached_property
    def mean(self) -> float:
        """Mean of the values; NaN where there is none, infinite where their sum is no float."""
        import numpy as np

        total = self.counts.sum()
        with np.errstate(over="ignore", invalid="ignore"):  # of infinite sums of both signs
            return float(self.values.astype(np.float64) @ self.counts / total) if total else float("nan")


@dataclass(frozen=True)
class Curve:
    """A function by points: ``y`` [n] at ``x`` [n], which rise. ``labels``: what the axes are."""

    x: "np.ndarray"
    y: "np.ndarray"
    labels: tuple[str, str] = ("", "")
    method: str = ""


@dataclass(frozen=True)
class Column:
    """A number for each vertex, [V], in the order of dense ids.

    ``kind``: columns of a ``rank`` are compared by the vertices of the largest numbers, those of a ``value`` by their
    distribution over visits alone; a ``label``, which names a group of vertices, is not compared.

    ``ends``: the least and the largest number, where they alone are kept and ``values`` are empty.

    ``none``: the value of a vertex that has no number, such as one that a search does not reach. A vertex whose value
    is not finite has none either. Means, distributions and ends leave these vertices out.
    """

    values: "np.ndarray"
    method: str = ""
    kind: str = "rank"
    ends: tuple[float, float] | None = None
    none: float = math.inf

    @property
    def known(self) -> "np.ndarray":
        """bool [V]: whether each vertex has a number."""
        import numpy as np

        return np.isfinite(self.values) & (self.values != self.none)

    def shortened(self) -> "Column":
        """The column with its ends alone."""
        if not self.values.size:
            return self
        known = self.values[self.known]
        ends = (known.min().item(), known.max().item()) if known.size else None
        return replace(self, values=self.values[:0].copy(), ends=ends)


Finding = Number | Distribution | Curve | Column
Findings = dict[str, Finding]


class Measure:
    """Base of all measures.

    ``Measure(**values)`` checks the options and sets them as attributes; OptionError names a wrong one.

    Options are class attributes made by ``option``; those of two measures with one name are one option of the command
    line.
    """

    paper: ClassVar[str] = ""
    by_default: ClassVar[bool] = True
    """Whether it is taken when the user names no measures; those that take long, or need sources, are asked for by
    name.
    """

    KEEPS: ClassVar[dict[str, Footprint]] = {"cpu": Footprint(96, fixed=FIXED), "cuda": Footprint(96, fixed=FIXED)}
    """The memory that ``findings`` takes beside the rows, by device. Every measure states its own."""

    KEEPS_DIRECTED: ClassVar[dict[str, int]] = {}
    """Bytes more of each vertex where edges have directions, by device."""

    directions: tuple[str, ...] = ()
    """The networks that it makes of a graph's, by the names of a network's attributes, wherever it runs."""

    reads_weights: bool = False
    """Whether it reads the weights of edges, which graphs of samples do not have: samples go without it."""

    finds_columns: bool = True
    """Whether it gives a number for each vertex."""

    csaw_file: ClassVar[tuple[str, str] | None] = None
    """Of a class in a file that the user has named: FILE.py:CLASS, the path in full, and the SHA-256 of the file."""

    def __init__(self, **values: object) -> None:
        if other := sorted(values.keys() - self.options().keys()):
            has = ", ".join(self.options()) or "none"
            raise OptionError(
                f"{self.name()}: no option {other[0]}; it has {has}{meant(other[0], list(self.options()))}"
            )
        for name, value in checked(type(self), values).items():
            setattr(self, name, value)

    def check(self, store: "GraphStore") -> None:
        """Raise OptionError where the graph has not what the measure reads; asked before anything is measured."""

    @classmethod
    def name(cls) -> str:
        """The name on the command line: that of its file."""
        return cls.__module__.rpartition(".")[2].replace("_", "-")

    @classmethod
    def options(cls) -> dict[str, Option]:
        """All options, those of the base classes first."""
        return options_of(cls)

    def parameters(self) -> dict[str, object]:
        """Value of each option, as plain data."""
        return {name: getattr(self, name) for name in self.options()}

    def kept_by(self) -> list[object]:
        """Everything besides the graph on which findings depend: the key of their cache."""
        return [self.name(), self.parameters()]

    def computes(self, directed: bool) -> tuple[str, ...]:
        """Names of the computations that the measure needs; where a GPU lacks one, it runs on the CPU."""
        return ()

    def needs_only(self, known: frozenset[str], directed: bool) -> bool:
        """Whether the measure computes something, and nothing but what is ``known``."""
        wanted = self.computes(directed)
        return bool(wanted) and known.issuperset(wanted)

    def pays(self, network: "Network") -> bool:
        """Whether several GPUs share a computation that it needs, by the graph and where its rows are now."""
        return any(pays(what)(network) for what in PAYS.intersection(self.computes(network.directed)))

    def keeps(self, device: str, directed: bool) -> Footprint:
        """The memory that the measure keeps beside the rows on a ``device``, cpu or cuda, at most."""
        return self.KEEPS[device] + Footprint(self.KEEPS_DIRECTED.get(device, 0) if directed else 0)

    def suffices(self, network: "Network") -> int:
        """Bytes of memory of a network's device in which the measure is found for certain, rows and all."""
        kept = self.keeps(network.device, network.store.directed)
        least = [network.least_of(kept, direction) for direction in ("", *self.directions)]
        return max(*least, *(work.suffices(network, kept) for work in self.works(network)), 0)

    def whole_bytes(self, network: "Network") -> int:
        """Bytes of memory from which on all rows that it reads or makes are in memory for certain."""
        kept = self.keeps(network.device, network.store.directed)
        rows = [network.bytes_of(kept, direction) for direction in ("", *self.directions)]
        return max(*rows, *(work.whole(network, kept) for work in self.works(network) if work.whole), 0)

    def works(self, network: "Network") -> list[Work]:
        """Its computations on the device of a network that need more than two rows in addition to what is kept."""
        known = network.works()
        return [known[what] for what in self.computes(network.store.directed) if what in known]

    def needs_all_rows(self, network: "Network") -> bool:
        """Whether it is refused on the device of a network where memory does not hold all rows."""
        return any(work.all_rows for work in self.works(network))

    def refuses_blocks(self, network: "Network") -> bool:
        """Whether it is refused on the device of a network where the user wants rows to be read block by block."""
        return network.device == "cuda" and self.needs_all_rows(network)

    def set_aside(self, network: "Network") -> None:
        """Set aside the memory that it keeps; BudgetError, with the bytes that suffice, where there is too little."""
        enough = Enough(partial(self.suffices, network), self.needs_all_rows(network))
        network.keep(self.keeps(network.device, network.store.directed), enough)

    def findings(self, network: "Network") -> Findings:
        """Return the findings of a graph, by name."""
        raise NotImplementedError

    def updated(self, network: "Network", kept: Findings, changes: "Changes") -> Findings:
        """Return the same findings as ``findings``, made of those that are ``kept`` of an earlier version of the graph
        and of the ``changes`` since. Raises MeasuredAnew where that cannot be done.
        """
        raise NotImplementedError


Wanted: TypeAlias = str | type[Measure] | Measure
"""A measure, as a caller has it: a name, FILE.py:CLASS, or a class or an instance of the user's own."""


def seed_option() -> int:
    """Declare the option of measures that draw at random, which all of them share."""
    return option(
        0, help="seed of random draws in measures: sources, sketches, wedges", kind=int, low=0, high=2**64 - 1
    )


def names() -> list[str]:
    """Return the name of each measure on the command line."""
    package = import_module("csaw.engine.analytics.measures")
    return sorted(found.name.replace("_", "-") for found in iter_modules(package.__path__))


def find(name: str) -> type[Measure]:
    """Return the measure called ``name``; raises UnknownNameError where there is none."""
    if name not in names():
        raise UnknownNameError(
            f"--measures: no measure called {quoted(name)}; there are {', '.join(names())}{meant(name, names())}"
        )
    module = import_module(f"csaw.engine.analytics.measures.{name.replace('-', '_')}")
    return next(
        one
        for one in vars(module).values()
        if isinstance(one, type) and issubclass(one, Measure) and one.__module__ == module.__name__
    )


def owners(option: str) -> list[str]:
    """Return the names of the measures that have an option."""
    return [name for name in names() if option in find(name).options()]


def options_of_all() -> dict[str, Option]:
    """Return the options of all measures by name; the help of each begins with the measures that have it."""
    found: dict[str, Option] = {}
    for name in names():
        found |= {key: one for key, one in find(name).options().items() if key not in found}
    return {key: replace(one, help=f"of {', '.join(owners(key))}: {one.help}") for key, one in found.items()}
