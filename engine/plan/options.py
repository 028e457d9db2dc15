"""The options that every algorithm's run has: each declared once, for the command line, for Python and for both their
help texts.
"""

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Self, TypeVar

from csaw.engine.api.option import Bias, Bytes, Option, flag_of
from csaw.engine.plan.choices import DETECTORS, Collision, GraphLayout, Method, Residency
from csaw.partition.base.plain_data import OptionValue, Values
from csaw.partition.errors import OptionError

if TYPE_CHECKING:
    from csaw.engine.plan.contracts import (
        Store,
    )  # imported for types alone: it takes the time of importing NumPy, which a command's help does not need

SAMPLE, RUN, OUTPUT, BASELINES = (
    "What to sample",
    "Where and how it runs (no byte of the sample depends on it)",
    "Output",
    "Baselines of the papers, for comparison",
)
MOST_THREADS = 4096
FOR_GPUS = ", ".join(layout for layout in GraphLayout if layout.needs_gpu)
TYPES: dict[type, str] = {
    int: "int",
    bool: "bool",
    str: "str",
    Bytes: "int of bytes, or str such as '4GiB'",
    Bias: "str, or a function such as lambda e: e.weight * 2",
}


@dataclass(frozen=True)
class Policy:
    """Parts of scheduling that can be switched off, to compare with C-SAW's baselines (figure 13).

    None changes a byte of the sample.
    """

    batching: bool = True  # all instances in a launch, not one
    workload_aware: bool = True  # load partitions by how many instances wait for them, not in order
    balancing: bool = True  # one launch over all partitions, not a stream for each
    in_place: bool = True  # rows that few instances wait for are read without loading their partitions


T = TypeVar("T")


def declared(default: T, group: str, help: str, kind: type = str, **limits: OptionValue) -> T:
    """Declare a field of RunOptions. If ``default`` is None, the help text says what happens without the option."""
    metadata = {"option": Option(default, help, kind, group=group, **limits)}
    return field(default=default, metadata=metadata)  # a field of the dataclass stands for its value


@dataclass(frozen=True)
class RunOptions:
    """The options of a run, beside those of its algorithm. OptionError names the first one that is out of its range.

    ``sources`` is checked later, with the graph, and ``device`` when the device is opened.
    """

    sources: OptionValue = declared(
        None,
        SAMPLE,
        "vertices to start from: all, random:N for N different random vertices, type:NAME for all vertices of a "
        "type or type:NAME:N for N of them, or a file of vertex ids; for "
        "mini-batches, the file has one id per line, optionally followed by a label; with a time strategy, each line "
        "ends with a time [default: all, or random vertices if the algorithm needs them]",
        object,
    )
    instances: int | None = declared(
        None,
        SAMPLE,
        "number of instances to draw; an instance is a walk, a tree of neighbors or a subgraph [default: one "
        "per source, times --num-walks]",
        int,
        low=1,
    )
    seed: int = declared(
        0,
        SAMPLE,
        "seed of all random draws: the same seed gives the same sample on any machine",
        int,
        low=0,
        high=2**64 - 1,
    )
    weighted: bool | None = declared(
        None,
        SAMPLE,
        "use the weights of the edges, or treat every weight as 1 [default: weighted if the graph has weights]",
        bool,
    )
    target: OptionValue = declared(
        None,
        SAMPLE,
        "number of distinct vertices in each instance, or their share of the graph, such as 10%: csaw starts "
        "again from random vertices until each instance has that many [default: none; the algorithm runs "
        "once per instance]",
        object,
    )
    edge_bias: str | None = declared(
        None,
        SAMPLE,
        "bias of an edge, which replaces the algorithm's: an expression over e, such as \"e.weight * "
        'e.dst_degree ** -0.5"; for ladies, fastgcn and saint-node, the squared entry of their matrix',
        Bias,
    )
    metapath: str | None = declared(
        None,
        SAMPLE,
        "types and relations that steps or hops follow in turn, on a graph of several types, such as "
        "author,writes,paper,rev_writes,author; sources are then all vertices of the first type",
    )
    columns: OptionValue = declared(
        None,
        SAMPLE,
        "data of vertices, which hooks and --edge-bias read as e.column('name', e.dst): a file NAME.npy, or "
        "an .npz file with one array per name; arrays have one number per vertex, in the order of dense ids "
        "or of an array ids in the same file",
        object,
    )
    induced: bool = declared(
        False,
        SAMPLE,
        "return all edges among the vertices that an instance reached, instead of only the edges that it followed",
        bool,
    )

    device: OptionValue = declared(
        "auto",
        RUN,
        "device to sample on: auto, cpu, cuda, cuda:1, or cuda:0,1 for several GPUs; auto takes the CPU or a "
        "GPU, whichever should finish first",
        object,
    )
    memory: int | None = declared(
        None,
        RUN,
        "host memory that the run may use, such as 4GiB; a larger graph is streamed [default: the free memory]",
        Bytes,
        low=1,
    )
    gpu_memory: int | None = declared(
        None,
        RUN,
        "memory that the run may use on each GPU, such as 40GiB [default: nine tenths of the free memory]",
        Bytes,
        low=1,
    )
    threads: int | None = declared(
        None, RUN, "number of CPU threads [default: one per processor]", int, low=1, high=MOST_THREADS
    )
    in_flight: int | None = declared(
        None,
        RUN,
        "number of instances to sample at a time; in Python, also the largest number in a batch [default: as "
        "many as the memory allows]",
        int,
        low=1,
        alias="batch_size",
    )
    residency: Residency | None = declared(
        None,
        RUN,
        "where the graph is kept during sampling: in the memory of the device (resident), spread over "
        "several GPUs (pooled), in host memory for a GPU (streamed), or on disk (disk) [default: the first "
        "that fits]",
        choices=tuple(Residency),
    )
    layout: GraphLayout | None = declared(
        None,
        RUN,
        f"layout of the graph in memory; for GPUs only: {FOR_GPUS} [default: the fastest that fits]",
        choices=tuple(GraphLayout),
    )
    transit_parallel: str = declared(
        "auto",
        RUN,
        "on a GPU, group vertices by the location of their rows before drawing neighbors; auto does so for "
        "hops that benefit",
        choices=("auto", "on", "off"),
    )
    checksums: bool = declared(True, RUN, "compare the graph with its checksums when it is read", bool)

    ids: str = declared(
        "original",
        OUTPUT,
        "vertex ids in the sample: those of the input, or numbers from 0",
        choices=("original", "dense"),
    )

    select: Method | None = declared(
        None, BASELINES, "method to select neighbors [default: the cheapest exact one]", choices=tuple(Method)
    )
    collision: Collision = declared(
        Collision.BIPARTITE,
        BASELINES,
        "what --select its does if it draws a neighbor again: search outside that neighbor's region "
        "(bipartite), draw again (repeated), or compute the sums without it (updated)",
        choices=tuple(Collision),
    )
    detect: str | None = declared(
        None,
        BASELINES,
        "how --select its remembers the neighbors that it has selected: in a bitmap (contiguous, or strided "
        "on GPUs) or in a list (linear) [default: the one that suits the device]",
        choices=DETECTORS,
    )
    batching: bool = declared(
        True, BASELINES, "sample all instances of a batch together; if off, a GPU samples them one by one", bool
    )
    workload_aware: bool = declared(
        True, BASELINES, "load the partition that most instances wait for; if off, load partitions in order", bool
    )
    balancing: bool = declared(
        True,
        BASELINES,
        "on a GPU, serve all partitions in memory with one launch, whose blocks go where instances wait; if "
        "off, launch each partition on a separate stream, all with the same number of blocks",
        bool,
    )
    in_place: bool = declared(
        True, BASELINES, "read single rows if few instances wait for them; if off, always load whole partitions", bool
    )

    def __post_init__(self) -> None:
        for name, option in options().items():
            value = getattr(self, name)
            if value is not None or option.default is not None:
                object.__setattr__(self, name, option.check(name, value))

    @classmethod
    def of(cls, given: Values) -> tuple[Self, Values]:
        """Split ``given`` into the options of a run and those of its algorithm."""
        known = options()
        for name, option in known.items():
            if option.alias in given:
                if given.get(name) is not None:
                    raise OptionError(
                        f"{flag_of(option.alias)} is the earlier name of {flag_of(name)}; give only one of them"
                    )
                given = {name if key == option.alias else key: value for key, value in given.items()}
        others = {name: value for name, value in given.items() if name not in known}
        return cls(**{name: value for name, value in given.items() if name in known}), others

    @property
    def policy(self) -> Policy:
        """Which parts of scheduling are switched on."""
        return Policy(self.batching, self.workload_aware, self.balancing, self.in_place)

    def weighs(self, store: "Store") -> bool:
        """Whether edge weights count; OptionError when they are asked for and ``store`` has none."""
        if self.weighted and not store.weighted:
            raise OptionError(
                f"--weighted: {store.path} has no weights; make a graph with weights with csaw partition FILE OUT "
                "--weight-column COLUMN"
            )
        return store.weighted if self.weighted is None else self.weighted


def options() -> dict[str, Option]:
    """Every option of a run by name, in the order of its declaration."""
    return {one.name: one.metadata["option"] for one in fields(RunOptions)}


def described(known: dict[str, Option]) -> str:
    """The text of a docstring with a line for each option: name, help, type or choices, range and default."""
    lines = []
    for name, option in known.items():
        text, _, default = option.help.partition(" [default: ")
        kind = " | ".join(repr(str(one)) for one in option.choices) if option.choices else TYPES.get(option.kind, "")
        value = str(option.default) if option.choices else option.default
        default = default.removesuffix("]") if default else "" if option.default is None else repr(value)
        notes = filter(None, (kind, option.interval, default and f"default: {default}"))
        lines.append(f"    {name}: {text} ({'; '.join(notes)}).")
    return "\n".join(lines)
