"""The options of an evaluation, declared once for Python and the command line."""

from dataclasses import dataclass, fields
from typing import Any, Self

from csaw.engine.analytics.exchange import Exchange
from csaw.engine.analytics.measure import Measure, Wanted
from csaw.engine.api.option import Bytes, Option
from csaw.engine.plan.options import MOST_THREADS, declared
from csaw.engine.plan.residency import Residency
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError

WHAT, WHERE = "What to evaluate", "Where it runs"
FORMATS = ("text", "csv", "latex")
"""Forms of the table."""
LISTS = ("triangles", "support")
"""The kinds of lists, which evaluation/listing.py makes."""
MOST_WINDOWS = 10_000


@dataclass(frozen=True)
class EvaluateOptions:
    """The options of an evaluation, beside those of its measures.

    OptionError names the first that is out of its range.
    """

    measures: tuple[Wanted, ...] | None = declared(
        None,
        WHAT,
        "names of measures, or FILE.py:CLASS for one of your own, separated by commas [default: the quick ones that "
        "need no option]",
        object,
    )
    as_: str = declared(
        "drawn",
        WHAT,
        "how a sample is compared: as the graph of the edges that were drawn, as the graph of all edges among its "
        "vertices (induced), or by the graph's own numbers of its vertices, each as often as it was visited (visits)",
        choices=("drawn", "induced", "visits"),
    )
    instances: str = declared(
        "union",
        WHAT,
        "measure all instances of a sample together, or each by itself, with means and their standard errors",
        choices=("union", "each"),
    )
    estimate: bool = declared(
        False,
        WHAT,
        "estimate the graph's numbers from the visited vertices, corrected for the chance that the algorithm visits "
        "each",
        bool,
    )
    burn_in: int | None = declared(
        None,
        WHAT,
        "first steps of each walk that --estimate leaves out, in which a walk still depends on its source "
        "[default: a tenth of the longest walk]",
        int,
        low=0,
    )
    labels: tuple[str, ...] | None = declared(
        None,
        WHAT,
        "names of the samples in tables and plots, separated by commas, in the order of the samples [default: the "
        "names of their files]",
        object,
    )
    until: object = declared(
        None,
        WHAT,
        "measure the graph of the edges that have this time or an earlier one, among all vertices: a time as the "
        "graph's input has it, a number or a date of ISO 8601 [default: edges of any time]",
        object,
    )
    between: object = declared(
        None,
        WHAT,
        "measure the graph of the edges from the first of two times to the last, both included, such as "
        "2026-11-01,2026-11-30 [default: edges of any time]",
        object,
    )
    windows: int | None = declared(
        None,
        WHAT,
        "measure the graph in so many windows of time of equal length, from its first edge to its last or to --until, "
        "or as --between says, and print a line for each [default: one window]",
        int,
        low=1,
        high=MOST_WINDOWS,
    )
    every: object = declared(
        None,
        WHAT,
        "measure the graph in windows of this length, in place of their number: such as 7d, 12h, 30min or 90s where "
        "times are dates, else a number; the first begins as --between says, or at a multiple of it, not after the "
        "first edge; the last is whole, too, unless --until or --between ends it [default: one window]",
        object,
    )
    cumulative: bool = declared(
        False, WHAT, "let each of the windows of --windows or --every begin with the first one, as a graph grows", bool
    )
    refresh: bool = declared(False, WHAT, "measure the graph anew, in place of what is kept of it in the cache", bool)

    device: str | None = declared(
        "auto",
        WHERE,
        "device to measure on: auto, cpu, cuda, cuda:1 or cuda:0,1; several GPUs share the measures that can be "
        "divided, and the first does the others; auto takes the first GPU if there is one, and all that it reaches if "
        "these hold the graph and the first does not",
        object,
    )
    memory: int | None = declared(
        None,
        WHERE,
        "host memory to use, such as 4GiB; a larger graph is read block by block [default: the free memory]",
        Bytes,
        low=1,
    )
    gpu_memory: int | None = declared(
        None, WHERE, "memory of each GPU to use, such as 40GiB [default: nine tenths of the free memory]", Bytes, low=1
    )
    residency: Residency | None = declared(
        None,
        WHERE,
        "place of the graph while it is measured: in the memory of the device (resident), spread over several GPUs, "
        "each of which has a part of it (pooled), in host memory, from which a GPU gets one block after the other "
        "(streamed), or in its store (disk) [default: the first that fits]",
        choices=tuple(Residency),
    )
    exchange: Exchange | None = declared(
        None,
        WHERE,
        "GPUs that hear of a vertex whose numbers changed, where several share a graph: those that need it "
        "(selective), or all (broadcast) [default: selective for searches, shortest paths and measures of your own, "
        "otherwise what moves fewer bytes]",
        choices=tuple(Exchange),
    )
    threads: int | None = declared(
        None, WHERE, "number of threads on the CPU [default: one for each processor]", int, low=1, high=MOST_THREADS
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

    @property
    def several(self) -> str:
        """The option that asks for several windows of time, empty where none does.

        OptionError where two do, or where windows are cumulative of which there is one.
        """
        if self.windows is not None and self.every is not None:
            raise OptionError("--windows: expected --windows or --every, found both; leave one out")
        if self.cumulative and self.windows is None and self.every is None:
            raise OptionError(
                "--cumulative: expected --windows or --every with it, found neither; --until T is one graph"
            )
        return "--windows" if self.windows is not None else "--every" if self.every is not None else ""

    @classmethod
    def of(cls, given: dict[str, Any]) -> tuple[Self, dict[str, Any]]:
        """Split ``given`` into the options of an evaluation and those of its measures."""
        known = options()
        return cls(**{name: given[name] for name in given if name in known}), {
            name: given[name] for name in given if name not in known
        }


def options() -> dict[str, Option]:
    """Every option by name, in the order of its declaration."""
    return {one.name: one.metadata["option"] for one in fields(EvaluateOptions)}
