"""The source that is compiled for a plan: files, constants, hooks. Needs no GPU, so that it can be compiled and tested without one."""

from dataclasses import dataclass
from pathlib import Path

from csaw.engine.api.algorithm import Walk
from csaw.engine.api.hooks import Hook
from csaw.engine.batches.minibatches import frontiers
from csaw.engine.cuda.compile import cubin
from csaw.engine.plan.detectors import CODES as DETECT
from csaw.engine.plan.hop_tables import PICKS, in_tables
from csaw.engine.plan.methods import Method
from csaw.engine.plan.needs import QUESTIONS
from csaw.engine.plan.residency import Residency
from csaw.engine.schedule.specialization import WEIGHT, Specialization

TREE_EDGES = 1 << 15  # most edges of an instance that one block draws alone,
POOL_EDGES = 1 << 12  # and if every pick is compared with all picks before it
FIRE_SPREAD = 16  # room for a fire, as a multiple of the mean: of 10^5 fires none needs a second launch
SPARE_EDGES = 64
MOST_CELLS = 1 << 31  # of all hops of a mini-batch


@dataclass(frozen=True)
class Unit:
    """Some .cu files specialised for one algorithm."""

    files: tuple[str, ...]
    constants: dict[str, int]
    hooks: list[Hook]
    params: tuple[float, ...]

    def compile(self, architecture: str) -> Path:
        """The cubin for an architecture such as ``sm_90``."""
        return cubin(self.files, self.constants, self.hooks, self.params, architecture)


def kernels_of(backend: Specialization) -> Unit:
    """The source of the kernels that sample."""
    lists = ("lists.cu",) if backend.plan.lists_members else ()
    return Unit((*_files(backend), *lists), _constants(backend), backend.hooks(), backend.params)


def builder_of(backend: Specialization) -> Unit:
    """The source of the kernels that build the graph's layout. Alias tables are made of biases; for rejection, of weights."""
    rejection = backend.select is Method.REJECTION
    constants = _constants(backend) | {"NEIGHBOR_WEIGHTS": backend.needs.weights, "BUILDS": True}
    return Unit(("build.cu",), constants, [WEIGHT if rejection else backend.bias], backend.params)


def sparse_pools(backend: Specialization) -> bool:
    """Whether kernels store the complement of each pool: SPARSE in select.cu."""
    c = backend.constants()
    return bool(
        c.get("POOLED") and c["UNIFORM"] and c["SELECT"] == "uniform" and not (c["INDUCED"] or c["EACH_EDGE_ONCE"])
    )


def tree_span(backend: Specialization) -> int:
    """Edges to reserve for an instance that one block draws through all depths (trees.cu); 0: draw depth by depth instead.

    Trees suit samples with uniform picks that stay small. An estimate suffices: an instance that outgrows it is drawn again with more room.
    """
    if not _has_trees(backend):
        return 0
    a, sizes = backend.algorithm, backend.plan.sizes
    width = expected = 0.0 if backend.needs.everywhere else float(getattr(a, "frontier_size", 1))
    chance = a.geometric() if a.geometric is not None else 0.0
    for size in sizes:
        width = size if backend.needs.in_pools else width * (size if a.geometric is None else chance / (1.0 - chance))
        expected += width
    span = SPARE_EDGES + expected * (1 if a.geometric is None else FIRE_SPREAD)
    return int(span) if span <= (POOL_EDGES if backend.needs.in_pools else TREE_EDGES) else 0


def _has_trees(backend: Specialization) -> bool:
    """Whether trees.cu can draw this run's samples."""
    a, c, sizes, needs = backend.algorithm, backend.constants(), backend.plan.sizes, backend.needs
    if (
        isinstance(a, Walk)
        or a.clocks
        or a.draws_from != "edges"
        or a.shares_draws
        or a.is_unlimited
        or a.revisits
        or backend.streamed
        or (
            needs.everywhere and backend.plan.residency is Residency.POOLED
        )  # trees.cu searches offsets, and those of pieces have the piece's number in them
        or backend.plan.drawn_layout != "subgraphs"
        or backend.store.max_degree >= 2**32
    ):
        return False
    if not 0 < len(sizes) < (2 if needs.everywhere else 2**16) or (a.geometric is None and min(sizes) < 0):
        return False
    once = c["EACH_EDGE_ONCE"] and (a.visited_once or not needs.in_pools)
    return bool(c["UNIFORM"] and c["SELECT"] == "uniform") and not (c["INDUCED"] or once)


def whole_minibatches(backend: Specialization) -> bool:
    """Whether minibatches.cu takes this plan's mini-batches through all hops: uniform picks, few of each node, from a graph that is not streamed."""
    plan, a = backend.plan, backend.algorithm
    if plan.drawn_layout != "batches" or backend.streamed or plan.select is not Method.UNIFORM or not plan.sizes:
        return False
    if not all(size >= 0 and (a.replace or size <= PICKS["cuda"]) for size in plan.sizes):
        return False
    widths = frontiers(plan.sizes, a.seeds_per_batch, backend.store.vertices * (a.seeds_per_batch if a.disjoint else 1))
    return sum(width * size for width, size in zip(widths, plan.sizes, strict=True)) < MOST_CELLS


def _files(backend: Specialization) -> tuple[str, ...]:
    if isinstance(backend.algorithm, Walk):
        return ("walk.cu",)
    if backend.algorithm.clocks:
        return ("clocks.cu",)
    if whole_minibatches(backend):
        return ("minibatches.cu",)
    if backend.algorithm.shares_draws:
        return ("shared.cu",)
    if backend.algorithm.draws_from != "edges":
        return ("rows.cu", "layers.cu")
    if tree_span(backend):
        return ("trees.cu",)
    if in_tables(backend.plan, backend.algorithm):
        return ("hops.cu", "transits.cu")
    return ("select.cu", "pools.cu") if backend.needs.in_pools else ("select.cu",)


def _constants(backend: Specialization) -> dict[str, int]:
    own = {
        "PIECES": backend.plan.residency.in_pieces,
        "STREAMED": backend.streamed,
        "MEMBERSHIP": backend.needs.second_order,
        "ASKS_LATER": backend.asks_later,
        "QUESTIONS": QUESTIONS,
        "UNLIMITED": backend.unlimited,
        "BUILDS": False,
        "MEMBER_WEIGHTS": backend.weighs_members,
        "LAYOUT": backend.plan.graph_layout.code,
        "WIDE": backend.store.id_dtype.itemsize == 8,
    }
    if not isinstance(backend.algorithm, Walk):
        own |= {"DISJOINT": bool(getattr(backend.algorithm, "disjoint", False))}
        own |= {"GEOMETRIC": backend.algorithm.geometric is not None, "EVERYWHERE": backend.needs.everywhere}
    constants = backend.constants() | own
    constants |= {
        "SELECT": backend.select.code,
        "COLLISION": backend.plan.collision.code,
        "DETECT": DETECT[backend.plan.detect],
    }
    return {name: int(value) for name, value in constants.items()}
