"""The options of an evaluation, declared once for Python and the command line."""

import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Self

from csaw.engine.analytics.exchange import Exchange
from csaw.engine.analytics.measure import Measure, Wanted, find, names, owners
from csaw.engine.api.hook_language import placed
from csaw.engine.api.option import Bytes, Option
from csaw.engine.api.registry import code_of, module_of
from csaw.engine.plan.choices import Residency
from csaw.engine.plan.options import MOST_THREADS, declared
from csaw.partition.base.arguments import whole
from csaw.partition.base.plain_data import Values
from csaw.partition.base.quoting import meant, quoted
from csaw.partition.errors import OptionError, UnknownNameError

WHAT, WHERE = "What to evaluate", "Where it runs"
FORMATS = ("text", "csv", "latex")
"""Forms of the table."""
LISTS = ("triangles", "support")
"""The kinds of lists, which listing.py makes."""
MOST_WINDOWS = 10_000


@dataclass(frozen=True)
class EvaluateOptions:
    """The options of an evaluation, beside those of its measures.

    OptionError names the first that is out of its range.
    """

    measures: tuple[Wanted, ...] | None = declared(
        None,
        WHAT,
        "measures to compute, separated by commas: names, or FILE.py:CLASS for a custom measure [default: "
        "the quick ones that need no option]",
        object,
    )
    as_: str = declared(
        "drawn",
        WHAT,
        "how to compare a sample: as the graph of its drawn edges (drawn), as the graph of all edges among "
        "its vertices (induced), or by the graph's values at its vertices, counted once per visit (visits)",
        choices=("drawn", "induced", "visits"),
    )
    per_instance: bool = declared(
        False,
        WHAT,
        "measure each instance of a sample separately and show means with standard errors, instead of measuring all "
        "instances together",
        bool,
    )
    estimate: bool = declared(
        False,
        WHAT,
        "estimate the graph's numbers from the visited vertices, corrected for the probability that the "
        "algorithm visits each",
        bool,
    )
    burn_in: int | None = declared(
        None,
        WHAT,
        "number of steps at the start of each walk that --estimate ignores, because they still depend on the "
        "source [default: a tenth of the longest walk]",
        int,
        low=0,
    )
    labels: tuple[str, ...] | None = declared(
        None,
        WHAT,
        "names of the samples in tables and plots, separated by commas, in the order of the samples "
        "[default: their file names]",
        object,
    )
    until: object = declared(
        None,
        WHAT,
        "measure the graph of all vertices and the edges up to this time, given as in the graph's input: a "
        "number or an ISO 8601 date [default: edges of any time]",
        object,
    )
    between: object = declared(
        None,
        WHAT,
        "measure the graph of the edges between two times, both included, such as 2026-11-01,2026-11-30 "
        "[default: edges of any time]",
        object,
    )
    windows: int | None = declared(
        None,
        WHAT,
        "measure the graph in this many time windows of equal length, from its first edge to its last or to "
        "--until, or within --between, and print a line for each [default: one window]",
        int,
        low=1,
        high=MOST_WINDOWS,
    )
    every: object = declared(
        None,
        WHAT,
        "measure the graph in time windows of this length, such as 7d, 12h, 30min or 90s if times are dates, "
        "otherwise a number; the first window starts at --between, or at the last multiple of the length "
        "that is not after the first edge; the last window has full length unless --until or --between ends "
        "it [default: one window]",
        object,
    )
    cumulative: bool = declared(
        False,
        WHAT,
        "start every window of --windows or --every where the first one starts, to measure a growing graph",
        bool,
    )
    versions: tuple[int, ...] | None = declared(
        None,
        WHAT,
        "versions of the graph to measure, such as 1,2; the table has a column for each [default: only the newest]",
        object,
    )
    refresh: bool = declared(False, WHAT, "measure the graph again instead of using cached results", bool)

    device: str | None = declared(
        "auto",
        WHERE,
        "device to measure on: auto, cpu, cuda, cuda:1 or cuda:0,1; several GPUs share the measures that can "
        "be divided, and the first does the others; auto takes the first GPU, if there is one, or several "
        "connected GPUs if the graph fits only in all of them together",
        object,
    )
    memory: int | None = declared(
        None,
        WHERE,
        "host memory to use, such as 4GiB; a larger graph is read in blocks [default: the free memory]",
        Bytes,
        low=1,
    )
    gpu_memory: int | None = declared(
        None, WHERE, "memory of each GPU to use, such as 40GiB [default: nine tenths of the free memory]", Bytes, low=1
    )
    residency: Residency | None = declared(
        None,
        WHERE,
        "where the graph is kept during measuring: in the memory of the device (resident), spread over "
        "several GPUs (pooled), in host memory, from which a GPU loads blocks (streamed), or on disk (disk) "
        "[default: the first that fits]",
        choices=tuple(Residency),
    )
    exchange: Exchange | None = declared(
        None,
        WHERE,
        "if several GPUs share a graph, which of them receive the new value of a vertex: those that need it "
        "(selective), or all (broadcast) [default: selective for searches, shortest paths and custom "
        "measures, otherwise what moves fewer bytes]",
        choices=tuple(Exchange),
    )
    threads: int | None = declared(
        None, WHERE, "number of CPU threads [default: one per processor]", int, low=1, high=MOST_THREADS
    )

    def __post_init__(self) -> None:
        for name, option in options().items():
            value = getattr(self, name)
            if value is not None or option.default is not None:
                object.__setattr__(self, name, option.check(name.strip("_"), value))
        for name, what, kinds in (
            ("measures", "names of measures", (str, type, Measure)),
            ("labels", "names of samples", (str,)),
        ):
            value = getattr(self, name)
            if isinstance(value, kinds) and not isinstance(value, str):
                value = (value,)
            if not isinstance(value, str | list | tuple | None) or not all(
                isinstance(one, kinds) for one in value or ()
            ):
                raise OptionError(
                    f"--{name}: expected {what}, separated by commas, or a list of them, found {quoted(value)}"
                )
            split = tuple(one.strip() for one in value.split(",")) if isinstance(value, str) else value
            object.__setattr__(self, name, split)
        if self.versions is not None:
            object.__setattr__(self, "versions", _numbers(self.versions))

    @property
    def several(self) -> str:
        """The option that asks for several windows of time or versions, empty where none does.

        OptionError where two do, or where windows are cumulative of which there is one.
        """
        if self.versions is not None and (self.windows, self.every) != (None, None):
            raise OptionError("--versions: expected --versions or several windows, found both; leave one out")
        if self.windows is not None and self.every is not None:
            raise OptionError("--windows: expected --windows or --every, found both; leave one out")
        if self.cumulative and self.windows is None and self.every is None:
            raise OptionError(
                "--cumulative: expected --windows or --every with it, found neither; for a single graph, use --until T"
            )
        asked = {"--windows": self.windows, "--every": self.every, "--versions": self.versions}
        return next((flag for flag, value in asked.items() if value is not None), "")

    @classmethod
    def of(cls, given: Values) -> tuple[Self, Values]:
        """Split ``given`` into the options of an evaluation and those of its measures."""
        known = options()
        return cls(**{name: given[name] for name in given if name in known}), {
            name: given[name] for name in given if name not in known
        }


def _numbers(given: object) -> tuple[int, ...]:
    """The numbers of versions: as text with commas between them, as one number, or several."""
    each = given.split(",") if isinstance(given, str) else given if isinstance(given, list | tuple) else [given]
    texts = [one.strip() if isinstance(one, str) else one for one in each]
    found = [int(one) if isinstance(one, str) and re.fullmatch("[0-9]{1,18}", one) else one for one in texts]
    numbers = tuple(whole()("--versions", one) for one in found)
    if len(set(numbers)) < max(len(numbers), 1):
        raise OptionError(f"--versions: expected different numbers of versions, such as 1,2, found {quoted(given)}")
    return numbers


READING = ("degree", "components", "triangles", "core", "hops", "assortativity", "pagerank")
"""The usual measures in the order in which a reader asks for them; others come behind, in that of their names."""


def options() -> dict[str, Option]:
    """Every option by name, in the order of its declaration."""
    return {one.name: one.metadata["option"] for one in fields(EvaluateOptions)}


# The measures of an evaluation: those of the folder measures by their names, and classes of the user's own.

FLAG = "--measures"


def chosen(wanted: Sequence[Wanted] | None, values: Mapping[str, object]) -> list[Measure]:
    """Make the measures that are ``wanted``, or those taken by default, with their options out of ``values``.

    Raises OptionError for an option that none of them has, and for two of one name.
    """
    usual = [kind for kind in map(find, names()) if kind.by_default]
    usual.sort(key=lambda kind: READING.index(kind.name()) if kind.name() in READING else len(READING))
    given = [kind_of(one) for one in wanted] if wanted else usual
    kinds = [one for one in given if isinstance(one, type)]
    known = {name for kind in kinds for name in kind.options()}
    if other := sorted(values.keys() - known):
        flag, able = other[0].replace("_", "-"), owners(other[0])
        if not able:
            raise OptionError(f"--{flag}: neither an evaluation nor a measure has this option{meant(flag, options())}")
        raise OptionError(
            f"--{flag}: no chosen measure has this option; choose one that has it with --measures: {', '.join(able)}"
        )
    made = [
        one if isinstance(one, Measure) else one(**{name: values[name] for name in one.options() if name in values})
        for one in given
    ]
    _refuse_same_names(made)
    return made


def name_of(wanted: Wanted) -> str:
    """The name that findings of a measure stand under, as a caller has the measure: of FILE.py:CLASS, the class."""
    if not isinstance(wanted, str):
        return wanted.name()
    return wanted.rpartition(":")[2] if ".py" in wanted else wanted


def kind_of(wanted: Wanted) -> type[Measure] | Measure:
    """Return the class, or the instance, of a measure.

    UnknownNameError where there is none; OptionError where the user's own file fails.
    """
    if isinstance(wanted, Measure):
        _checked(type(wanted))
        return wanted
    if isinstance(wanted, type) and issubclass(wanted, Measure):
        return _checked(wanted)
    if not isinstance(wanted, str):
        raise OptionError(f"{FLAG}: expected names, FILE.py:CLASS or classes of measures, found {quoted(wanted)}")
    return class_of(wanted) if ".py" in wanted else find(wanted)


def class_of(wanted: str) -> type[Measure]:
    """Return the class that FILE.py:CLASS names, which says so in ``csaw_file``; errors as for :func:`kind_of`."""
    text, digest = code_of(wanted, FLAG)
    file, _, name = wanted.partition(":")
    module = module_of(file, text, FLAG)
    kinds = {key: one for key, one in vars(module).items() if inspect.isclass(one) and issubclass(one, Measure)}
    if name not in kinds:
        own = [key for key, one in kinds.items() if one.__module__ == module.__name__]
        there = f"; there are {', '.join(own)}" if own else ""
        raise UnknownNameError(
            f"{FLAG}: {file} has no class called {quoted(name)} that derives from csaw.engine.measure.Measure"
            f"{there}{meant(name, own)}"
        )
    found = _checked(kinds[name])
    if found.__module__ == module.__name__:
        found.csaw_file = (f"{Path(file).absolute()}:{name}", digest)
    return found


def _checked(kind: type[Measure]) -> type[Measure]:
    """The class, unless an option of it is called as one of csaw's, or its own ``__init__`` could leave out checks."""
    if not kind.__init__.__module__.startswith("csaw.engine."):
        raise placed(
            OptionError(
                f"{kind.name()}.__init__: a measure must not define it; declare options with option(), and "
                "compute the initial value of a vertex in start"
            ),
            kind.__init__,
        )
    if taken := sorted(kind.options().keys() & options().keys()):
        raise OptionError(f"{kind.name()}.{taken[0]}: every evaluation has an option of this name; choose another one")
    for name, one in kind.options().items():
        if any(inspect.isroutine(vars(base).get(name)) for base in kind.__mro__):
            raise OptionError(f"{kind.name()}.{name}: every measure has a method of this name; choose another one")
        for owner in owners(name):
            if find(owner).options()[name].kind is not one.kind:
                raise OptionError(
                    f"{kind.name()}.{name}: csaw's {owner} has an option of this name and another type; choose another "
                    "one"
                )
    return kind


def _refuse_same_names(measures: list[Measure]) -> None:
    """OptionError about two measures that write findings under one name, unless they are the same."""
    seen: dict[str, Measure] = {}
    for one in measures:
        other = seen.setdefault(one.name(), one)
        if type(other) is not type(one) or other.parameters() != one.parameters():
            raise OptionError(
                f"{FLAG}: two measures are called {one.name()}, so their findings would have the same name; "
                "rename a class, or evaluate one after the other"
            )
