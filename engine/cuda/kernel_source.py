"""The source that is compiled for a plan: files, constants, hooks.

Needs no GPU, so that it can be compiled and tested without one.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from csaw.engine.api.hooks import Hook
from csaw.engine.api.rules import Steps
from csaw.engine.cuda.compile import cubin
from csaw.engine.cuda.hook_code import OF_SAMPLERS, Signature
from csaw.engine.plan.batch_kind import BatchKind
from csaw.engine.plan.choices import CODES as DETECT
from csaw.engine.plan.choices import GraphLayout, Method
from csaw.engine.plan.needs import QUESTIONS
from csaw.engine.schedule.specialization import WEIGHT, Specialization
from csaw.partition.errors import OptionError
from csaw.partition.graph.edge_columns import DTYPES, EdgeColumn

MOST_COLUMNS = 15  # whose types fit a constant of 64 bits
FILES = {
    BatchKind.WALKS: ("walk.cu", "walk_arrays.cu"),
    BatchKind.UNLIMITED_WALKS: ("walk.cu", "walk_arrays.cu"),
    BatchKind.CLUSTERS: (),
    BatchKind.CLOCK_WALKS: ("clocks.cu",),
    BatchKind.WHOLE_MINIBATCHES: ("minibatches.cu",),
    BatchKind.MINIBATCHES: ("select.cu",),
    BatchKind.MINIBATCHES_IN_TIME: ("neighbors_in_time.cu",),
    BatchKind.IN_TIME: ("neighbors_in_time.cu",),
    BatchKind.HOP_TABLES_IN_TIME: ("hops_in_time.cu", "transits.cu"),
    BatchKind.SHARED_DRAWS_IN_TIME: ("lists_in_time.cu",),
    BatchKind.POOLS_IN_TIME: ("lists_in_time.cu", "rows.cu"),
    BatchKind.SHARED_DRAWS: ("shared.cu",),
    BatchKind.LAYERS: ("rows.cu", "layers.cu"),
    BatchKind.UNIQUE: ("select.cu",),
    BatchKind.TREES: ("trees.cu",),
    BatchKind.HOP_TABLES: ("hops.cu", "transits.cu"),
    BatchKind.POOLS: ("select.cu", "pools.cu"),
    BatchKind.FRONTIERS: ("select.cu",),
}
"""The files that the batches of each kind need."""
COUNT_BUSY = {"walk.cu", "select.cu", "neighbors_in_time.cu"}
"""The files whose kernels can count how long multiprocessors work."""


@dataclass(frozen=True)
class Unit:
    """Some .cu files specialized for one algorithm, or for one measure of the user's own.

    ``signatures``: of the hooks that the files call, by name. ``launched``: the kernels among those of the files that
    are wanted; None: all.
    """

    files: tuple[str, ...]
    constants: dict[str, int]
    hooks: list[Hook]
    params: tuple[float, ...]
    signatures: Mapping[str, Signature] = field(default_factory=lambda: OF_SAMPLERS)
    launched: tuple[str, ...] | None = None

    def compile(self, architecture: str) -> Path:
        """The cubin for an architecture such as ``sm_90``."""
        return cubin(self.files, self.constants, self.hooks, self.params, architecture, self.signatures, self.launched)


def compile_all(units: Sequence[Unit], architecture: str) -> None:
    """Compile what the cache lacks of these units, each in a thread of its own, which NVRTC and nvJitLink let run."""
    wanted = [unit for unit in units if unit.launched != ()]
    with ThreadPoolExecutor(len(units)) as threads:
        list(threads.map(lambda unit: unit.compile(architecture), wanted))


def counts_busy(backend: Specialization) -> bool:
    """Whether the kernels that sample count how long multiprocessors work, over partitions of a streamed graph."""
    return backend.streamed and bool(COUNT_BUSY & set(FILES[backend.plan.kind]))


def kernels_of(backend: Specialization) -> Unit:
    """The source of the kernels that sample."""
    lists = ("lists.cu",) if backend.plan.lists_members else ()
    in_time = ("temporal.cu",) if backend.select is Method.TIME and isinstance(backend.rule, Steps) else ()
    by_sums = ("sums.cu",) if backend.streamed and backend.plan.graph_layout.has_sums else ()
    files = *FILES[backend.plan.kind], *in_time, *by_sums, *lists
    return Unit(files, _constants(backend), backend.hooks(), backend.params, launched=_launched(backend))


def walk_kernel(backend: Specialization) -> str:
    """The kernel that draws walks."""
    if backend.select in (Method.REJECTION, Method.TIME):
        return "walk_by_rejection" if backend.select is Method.REJECTION else "walk_by_time"
    return "walk_by_edge" if backend.select.exact_number else "walk_by_row"


def hop_kernel(backend: Specialization) -> str:
    """The kernel that draws a hop of tables."""
    if backend.rule.replace:
        return "hop_with_replacement"
    return "hop_distinct_by_sums" if backend.plan.graph_layout.has_sums else "hop_distinct"


def _launched(backend: Specialization) -> tuple[str, ...] | None:
    """The kernels of a plan, where its files have others for other plans that take long to compile; None: all."""
    lists = ("list_rows",) if backend.plan.lists_members else ()
    if backend.plan.kind is BatchKind.HOP_TABLES:
        return hop_kernel(backend), "group_count", "group_scatter", "ungroup", *lists
    if not isinstance(backend.rule, Steps):
        return None
    return (
        walk_kernel(backend),
        "count_walks",
        *lists,
        *(("count_waiting",) if backend.streamed or backend.unlimited else ()),
        *(("gather_round",) if backend.unlimited else ()),
        *(("answer_questions",) if backend.asks_later else ()),
        *(("fill_times",) if backend.needs.timed else ()),
    )


def builder_of(backend: Specialization) -> Unit:
    """The source of the kernels that build the graph's layout.

    Alias tables are made of biases; for rejection, of weights. What reads none is compiled without them, once for all
    algorithms.
    """
    layout = backend.plan.graph_layout
    weighed: tuple[str, ...] = ("build_ctps",) if layout.has_sums else ()
    if layout.has_alias_tables:
        weighed = "list_long", "build_alias", "fill_long"
    launched = (
        *weighed,
        *(("build_entries",) if layout is GraphLayout.ENTRIES else ()),
        *(("build_events",) if layout is GraphLayout.EVENTS else ()),
        *{"filter": ("build_bloom",), "hash": ("build_members",)}.get(backend.plan.membership, ()),
        *(("copy_rows",) if backend.streamed else ()),
    )
    files = ("build.cu", "build_events.cu") if layout is GraphLayout.EVENTS else ("build.cu",)
    constants = _constants(backend) | {"NEIGHBOR_WEIGHTS": backend.needs.weights, "BUILDS": True}
    if not weighed:
        unread = dict.fromkeys(("NEIGHBOR_WEIGHTS", "EDGE_COLUMNS", "EDGE_TYPES"), 0)
        return Unit(files, constants | unread, [], (), launched=launched)
    bias = WEIGHT if backend.select is Method.REJECTION else backend.bias
    return Unit(files, constants, [bias], backend.params, launched=launched)


def sparse_pools(backend: Specialization) -> bool:
    """Whether kernels store the complement of each pool: SPARSE in engine/cuda/kernels/select.cu."""
    c = backend.constants()
    return bool(
        c.get("POOLED") and c["UNIFORM"] and c["SELECT"] == "uniform" and not (c["INDUCED"] or c["EACH_EDGE_ONCE"])
    )


def edge_types(columns: Sequence[EdgeColumn]) -> int:
    """The types of edge columns for kernels: for each, four bits with the place of its type in DTYPES.

    OptionError for more columns than kernels can tell apart.
    """
    if len(columns) > MOST_COLUMNS:
        raise OptionError(f"hooks read {len(columns)} edge columns; on GPUs they can read at most {MOST_COLUMNS}")
    return sum(DTYPES.index(column.dtype.name) << 4 * number for number, column in enumerate(columns))


def _constants(backend: Specialization) -> dict[str, int]:
    own = {
        "PIECES": backend.plan.residency.in_pieces,
        "STREAMED": backend.streamed,
        "MEMBERSHIP": backend.needs.second_order,
        "ASKS_LATER": backend.asks_later,
        "QUESTIONS": QUESTIONS,
        "UNLIMITED": backend.unlimited,
        "BUILDS": False,
        "EDGE_TYPES": edge_types(backend.needs.edge_columns),
        "MEMBER_WEIGHTS": backend.weighs_members,
        "LAYOUT": backend.plan.graph_layout.code,
        "WIDE": backend.store.id_dtype.itemsize == 8,
    }
    if not isinstance(backend.rule, Steps):
        own |= {"DISJOINT": bool(getattr(backend.algorithm, "disjoint", False))}
        own |= {"SELECTS_FRONTIER": backend.rule.waiting is not None}
        own |= {"GEOMETRIC": backend.rule.coins, "EVERYWHERE": backend.needs.everywhere}
    constants = backend.constants() | own
    constants |= {
        "SELECT": backend.select.code,
        "COLLISION": backend.plan.collision.code,
        "DETECT": DETECT[backend.plan.detect],
    }
    return {name: int(value) for name, value in constants.items()}
