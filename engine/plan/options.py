"""The options that every algorithm's run has: each declared once, for the command line, for Python and for both their
help texts.
"""

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Self, TypeVar

from csaw.engine.api.option import Bias, Bytes, Option, flag_of
from csaw.engine.plan.layouts import GraphLayout
from csaw.engine.plan.methods import DETECTORS, Collision, Method
from csaw.engine.plan.residency import Residency
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
FOR_GPUS = " and ".join(layout for layout in GraphLayout if layout.needs_gpu)
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
        "vertices to start from: all, random:N for N different random ones, or a file of vertex ids, for "
        "mini-batches one on each line, each with a label or none, in time with a time at the end [default: all, or "
        "random ones where the algorithm asks for them]",
        object,
    )
    instances: int | None = declared(
        None,
        SAMPLE,
        "number of instances to draw, each a walk, a tree of neighbors or a subgraph [default: one for "
        "each source, times --num-walks]",
        int,
        low=1,
    )
    seed: int = declared(
        0,
        SAMPLE,
        "number that all random draws follow from: the same seed gives the same sample on any machine",
        int,
        low=0,
        high=2**64 - 1,
    )
    weighted: bool | None = declared(
        None,
        SAMPLE,
        "read the weights of the edges; unweighted counts each of them as 1 [default: weighted if the "
        "graph has weights]",
        bool,
    )
    target: OptionValue = declared(
        None,
        SAMPLE,
        "number of distinct vertices that each instance is to have, or their share of the graph, such as "
        "10%: fires are lit, and walks begin, at random vertices until it is reached, and what they draw "
        "is joined and cut there [default: none; an instance is what the algorithm draws once]",
        object,
    )
    edge_bias: str | None = declared(
        None,
        SAMPLE,
        'bias of an edge in place of that of the algorithm: an expression over e, such as "e.weight * '
        'e.dst_degree ** -0.5"',
        Bias,
    )
    columns: OptionValue = declared(
        None,
        SAMPLE,
        "data of vertices, which hooks and --edge-bias read as e.column('name', e.dst): a file NAME.npy, "
        "or a file .npz of an array for each name, of a number for each vertex in the order of dense ids, "
        "or of the array ids beside them",
        object,
    )
    induced: bool = declared(
        False,
        SAMPLE,
        "end each instance as the subgraph of the vertices that it has met: all edges among them, in place "
        "of those along which they were met",
        bool,
    )

    device: OptionValue = declared(
        "auto",
        RUN,
        "device to sample on: auto, cpu, cuda, cuda:1, or cuda:0,1 for several GPUs; auto takes the CPU or "
        "a GPU, whichever is expected to end the run first",
        object,
    )
    memory: int | None = declared(
        None,
        RUN,
        "host memory that the run may use, such as 4GiB; a graph that is larger is streamed [default: what is free]",
        Bytes,
        low=1,
    )
    gpu_memory: int | None = declared(
        None,
        RUN,
        "memory that the run may use on each GPU, such as 40GiB [default: nine tenths of what is free]",
        Bytes,
        low=1,
    )
    threads: int | None = declared(
        None, RUN, "number of threads on the CPU [default: one for each processor]", int, low=1, high=MOST_THREADS
    )
    in_flight: int | None = declared(
        None,
        RUN,
        "number of instances that are sampled at a time; in Python, also the most that a batch hands out "
        "[default: as many as the memory allows]",
        int,
        low=1,
        alias="batch_size",
    )
    residency: Residency | None = declared(
        None,
        RUN,
        "place of the graph while it is sampled: in the memory of the device, spread over several GPUs, in "
        "host memory for GPUs, or in its store [default: the first that fits]",
        choices=tuple(Residency),
    )
    layout: GraphLayout | None = declared(
        None,
        RUN,
        f"form of the graph that a step reads; {FOR_GPUS} need a GPU [default: the fastest that fits]",
        choices=tuple(GraphLayout),
    )
    transit_parallel: str = declared(
        "auto",
        RUN,
        "on a GPU, group vertices by the place of their rows before their neighbors are drawn; auto: in "
        "the hops that gain by it",
        choices=("auto", "on", "off"),
    )
    checksums: bool = declared(True, RUN, "compare every byte of the graph with its checksum when it is read", bool)

    ids: str = declared(
        "original",
        OUTPUT,
        "vertex ids in the sample: those of the input, or numbers from 0",
        choices=("original", "dense"),
    )

    select: Method | None = declared(
        None, BASELINES, "method that selects neighbors [default: the cheapest exact one]", choices=tuple(Method)
    )
    collision: Collision = declared(
        Collision.BIPARTITE,
        BASELINES,
        "on a neighbor that is already selected, --select its searches the space without its region "
        "(bipartite), draws again (repeated), or computes the sums anew without it (updated)",
        choices=tuple(Collision),
    )
    detect: str | None = declared(
        None,
        BASELINES,
        "record in which --select its looks up the neighbors that are already selected: a bitmap "
        "(contiguous, or strided on GPUs) or a list (linear) [default: the one that suits the device]",
        choices=DETECTORS,
    )
    batching: bool = declared(
        True, BASELINES, "sample all instances of a batch together; off: a GPU samples them one by one", bool
    )
    workload_aware: bool = declared(
        True, BASELINES, "load the partition that most instances wait for; off: load partitions in their order", bool
    )
    balancing: bool = declared(
        True,
        BASELINES,
        "on a GPU, serve all partitions in memory by one launch, whose blocks go where instances wait; off: launch for "
        "each partition on a stream of its own, all with the same number of blocks",
        bool,
    )
    in_place: bool = declared(
        True, BASELINES, "read rows that few instances wait for one by one; off: always load whole partitions", bool
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
                        f"{flag_of(option.alias)} is the earlier name of {flag_of(name)}; give one of them"
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
                f"--weighted: {store.path} has no weights; csaw partition FILE OUT --weight-column COLUMN makes a "
                "graph that has"
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
