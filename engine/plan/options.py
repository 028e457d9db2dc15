"""The options of a run, whatever its algorithm: each declared once, for the command line, for Python and for what either says of them."""

from dataclasses import dataclass, field, fields
from typing import Any, Self

from csaw.engine.contracts import Store
from csaw.engine.option import Bytes, Option
from csaw.engine.plan.detectors import DETECTORS
from csaw.engine.plan.layouts import GraphLayout
from csaw.engine.plan.methods import Collision, Method
from csaw.engine.plan.residency import Residency
from csaw.partition.errors import OptionError

SAMPLE, RUN, OUTPUT, BASELINES = (
    "What to sample",
    "Where and how it runs (no byte of the sample depends on it)",
    "Output",
    "Baselines of the papers, for comparison",
)
MOST_THREADS = 4096


@dataclass(frozen=True)
class Policy:
    """What scheduling may do, for comparison with C-SAW's baselines (figure 13): each makes a run faster and changes no byte of it."""

    batching: bool = True  # all instances in a launch, not one
    workload_aware: bool = True  # most waiting first and kept, not all in order
    balancing: bool = True  # one launch over all partitions, not a stream each
    in_place: bool = True  # what few wait for is read where it is, or row by row


def declared(default: Any, group: str, help: str, kind: type = str, **limits: Any) -> Any:
    """A field of RunOptions. None as its default stands for what the help says."""
    return field(default=default, metadata={"option": Option(default, help, kind, group=group, **limits)})


@dataclass(frozen=True)
class RunOptions:
    """What a user asks for beside the algorithm's own options; OptionError names the first that is out of its range.

    ``plan`` and ``prepare`` take what is here as checked. Sources are checked with the graph, the device where it is looked for.
    """

    # fmt: off
    sources: Any = declared(None, SAMPLE, "vertices to start from: all, random:N, a file of vertex ids, or an array [default: mostly all]", object)
    instances: int | None = declared(None, SAMPLE, "samples to draw [default: by the sources]", int, low=1)
    seed: int = declared(0, SAMPLE, "same seed, same sample, on any machine", int, low=0, high=2**64 - 1)
    weighted: bool | None = declared(None, SAMPLE, "use edge weights [default: if there are any]", bool)
    edge_bias: str | None = declared(None, SAMPLE, 'bias of an edge, one line over e, such as "e.weight * e.dst_degree ** -0.5"')

    device: Any = declared("auto", RUN, "auto, cpu, cuda, cuda:1, or cuda:0,1; auto is a GPU if it holds the graph", object)
    memory: int | None = declared(None, RUN, "memory to use, such as 4GiB; a larger graph is streamed [default: what is free]", Bytes, low=1)
    gpu_memory: int | None = declared(None, RUN, "the same for each GPU [default: nine tenths of what is free]", Bytes, low=1)
    threads: int | None = declared(None, RUN, "threads [default: all processors]", int, low=1, high=MOST_THREADS)
    batch_size: int | None = declared(None, RUN, "instances in flight [default: by the memory]", int, low=1)
    residency: Residency | None = declared(None, RUN, "where the graph is: on each GPU (or in memory), over several GPUs, in host memory, in the store [default: the first that fits]",
                                     choices=tuple(Residency))
    layout: GraphLayout | None = declared(None, RUN, "form of the graph that a step reads; entries and alias are for GPUs [default: the fastest that fits]",
                                  choices=tuple(GraphLayout))
    transit_parallel: str = declared("auto", RUN, "on a GPU, draw the neighbors of vertices that are near each other together; auto: in hops that gain by it",
                                     choices=("auto", "on", "off"))
    checksums: bool = declared(True, RUN, "compare every byte that is read of the graph with its checksum", bool)

    ids: str = declared("original", OUTPUT, "vertex ids to write: those of the input, or numbers from 0", choices=("original", "dense"))

    select: Method | None = declared(None, BASELINES, "selection method [default: the cheapest exact one]", choices=tuple(Method))
    collision: Collision = declared(Collision.BIPARTITE, BASELINES, "what --select its does about a neighbor that is selected already: bipartite region search, draw again, update the sums",
                              choices=tuple(Collision))
    detect: str | None = declared(None, BASELINES, "how it finds out that a neighbor is selected already: by a bitmap (strided is for GPUs) or a list",
                                  choices=DETECTORS)
    batching: bool = declared(True, BASELINES, "off: on a GPU, sample an instance at a time", bool)
    workload_aware: bool = declared(True, BASELINES, "off: stream partitions in their order", bool)
    balancing: bool = declared(True, BASELINES, "off: on a GPU, as many threads for every partition", bool)
    in_place: bool = declared(True, BASELINES, "off: load whole partitions even for a few rows", bool)
    # fmt: on

    def __post_init__(self) -> None:
        for name, option in options().items():
            value = getattr(self, name)
            if value is not None or option.default is not None:
                object.__setattr__(self, name, option.check(name, value))

    @classmethod
    def of(cls, given: dict[str, Any]) -> tuple[Self, dict[str, Any]]:
        """The run's options among ``given``, and the others, which are the algorithm's."""
        known = options()
        others = {name: value for name, value in given.items() if name not in known}
        return cls(**{name: value for name, value in given.items() if name in known}), others

    @property
    def policy(self) -> Policy:
        """Which parts of scheduling are switched on."""
        return Policy(self.batching, self.workload_aware, self.balancing, self.in_place)

    def weighs(self, store: Store) -> bool:
        """Whether edge weights count; OptionError when they are asked for and ``store`` has none."""
        if self.weighted and not store.weighted:
            raise OptionError(f"--weighted: {store.path} has no weights; partition it again with --weight-column")
        return store.weighted if self.weighted is None else self.weighted


def options() -> dict[str, Option]:
    """Every option of a run by name, in the order of its declaration."""
    return {one.name: one.metadata["option"] for one in fields(RunOptions)}


def described(known: dict[str, Option]) -> str:
    """A line for each option, for a docstring."""
    lines = []
    for name, option in known.items():
        choices = f" ({', '.join(option.choices)})" if option.choices else ""
        default = "" if option.default is None else f" [default: {option.default}]"
        lines.append(f"    {name}: {option.help}{choices}{default}")
    return "\n".join(lines)
