"""The needs of a run: what it reads of its graph.

Found once, from graph, algorithm and request, and read by plan, backends and bench.
"""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from csaw.engine.api import hooks
from csaw.engine.api.algorithm import Algorithm, Walk
from csaw.engine.api.hooks import FAR, OTHER
from csaw.engine.api.rules import Clocks, VertexLayer, WholeClusters
from csaw.engine.plan.bias_bounds import asks_on_return
from csaw.engine.plan.choices import ALIAS_IDS, Collision, GraphLayout, Method
from csaw.engine.plan.contracts import Store
from csaw.engine.plan.selection import cases_of, from_whole_rows, may_be_hopeless, return_apart, tables_of
from csaw.partition.errors import OptionError
from csaw.partition.graph.edge_columns import TIME_ORDER, WEIGHT, EdgeColumn, instead_of_times

CTPS_PICKS = 32  # most distinct picks of a vertex from running sums: a GPU draws them in the lanes of one warp
QUESTIONS = (
    4  # most that a walker of a streamed graph leaves for later: candidates of a step, each accepted if an edge exists
)
WEIGHT_BYTES, SUM_BYTES = WEIGHT.dtype.itemsize, 8  # of an edge's weight, and of a running sum


@dataclass(frozen=True)
class EdgeBytes:
    """Bytes that an edge takes in each of the places where it can be."""

    id: int
    """A vertex id: 4, or 8 in a graph whose ids take 64 bits."""
    stored: int
    """In the graph store, counting only what the run reads: the neighbor, and the edge columns that are read."""
    kept: int
    """In host memory for a GPU, and over the bus: as in a slot."""
    reserved: int
    """On the CPU, as a plan reserves them, apart from running sums; with a rejection walk's weights, even if they are
    dropped later.
    """
    loaded: int
    """On the CPU while its partition is loaded, apart from running sums: ``reserved`` without the weights that are
    dropped.
    """
    piece: int
    """On a GPU, in a slot of a streamed graph or a part of a pooled one, apart from running sums."""
    tables: int = 1
    """Alias tables of the graph: each edge has an entry in each."""

    @property
    def alias(self) -> int:
        """Bytes of its entries in alias tables that consist of vertex ids."""
        return ALIAS_IDS * self.id * self.tables

    def in_slot(self, layout: GraphLayout) -> int:
        """Bytes of an edge in a slot of a streamed graph in ``layout``: sums are built there, beside rows."""
        return self.piece + (SUM_BYTES if layout.has_sums else 0)

    def built(self, layout: GraphLayout) -> int:
        """Bytes that a GPU builds for each edge beside its row, for a graph that is resident in ``layout``."""
        return layout.built_bytes(self.id) * (self.tables if layout.has_alias_tables else 1)

    def in_partition(self, layout: GraphLayout) -> int:
        """Bytes of an edge on the CPU while its partition is loaded in ``layout``; running sums replace weights."""
        return self.id + SUM_BYTES if layout.has_sums else self.loaded


def question_bytes(id_bytes: int) -> int:
    """Bytes that a walker's questions take: candidates, coins, their number, the trial, and the vertex that needs no
    answer.
    """
    return QUESTIONS * (id_bytes + 8) + 1 + 4 + 8


@dataclass(frozen=True)
class Needs:
    """The parts of the graph that a run reads, and the ways in which it can draw.

    They depend on graph, algorithm and request, not on the device.
    """

    weighted: bool
    """Whether weights count: those of the graph, which a rejection walk may not read, or factors in their place."""
    second_order: bool
    """Whether a bias asks if an edge exists: a step then reads the previous vertex's row beside its own."""
    asks_members: bool
    """Whether any hook asks if an edge exists."""
    asks_far: bool
    """Whether a hook may ask for an edge of a vertex whose row a streamed graph does not bring."""
    asks_back: bool
    """Whether a rejection walk asks for an edge from the previous vertex to itself, where it goes back to it."""
    asks_later: bool
    """Whether a rejection walk asks for nothing but edges from the previous vertex to candidates.

    On a streamed graph it then draws on while a row
    that has such an edge is not in memory, and asks when it is: either end's row on an undirected graph."""
    reads_path: bool
    """Whether a hook reads vertices of the walk by ``path``, so that walks are kept in memory from their sources on."""
    weights: bool
    """Whether weights of edges are read, by sampling or to build its tables."""
    alias_tables: bool
    """Whether alias tables are read: of biases, or of the weights that a rejection walk proposes by.

    A streamed or pooled graph keeps no neighbors
    beside them, because their entries begin with the neighbors in the order of rows."""
    return_apart: bool
    """Whether a rejection walk draws the return edge apart, because its bias may exceed the bound of the others."""
    row_weights: bool
    """Whether the sum of each row's weights is read, to draw the return edge apart."""
    weighs_members: bool
    """Whether hash tables of rows, if the plan uses them, hold weights too, to look up that of the return edge."""
    single_weights: bool
    """Whether a rejection walk looks up weights beside its alias tables: of return edges, or of a whole row."""
    may_be_hopeless: bool
    """Whether a step of a rejection walk may have to be drawn from its whole row, because trials hardly ever accept."""
    running_sums: bool
    """Whether neighbor samples may be drawn by searching in running sums of biases, made once for the whole graph."""
    batch_sums: bool
    """Whether mini-batches that a CPU draws may search in such sums."""
    clock_sums: bool
    """Whether walkers with clocks may search in such sums."""
    independent_picks: bool
    """Whether a traversal's picks are independent draws from whole rows, each in constant time."""
    in_pools: bool
    """Whether picks come from an instance's whole pool by number, whatever vertex they belong to."""
    columns: bool
    """Whether vertices are drawn by the sums of the biases of all edges to them."""
    clusters: bool
    """Whether instances are made of clusters of vertices, whose members are listed."""
    everywhere: bool
    """Whether an instance picks from all edges of the graph by number, so that nothing lists its sources."""
    timed: bool
    """Whether instances know the times of their edges."""
    edge_columns: tuple[EdgeColumn, ...]
    """Edge columns beside weights that are read, in the order in which kernels number them."""
    edge: EdgeBytes
    """Bytes of memory that an edge takes."""
    cases: tuple[int, ...] = ()
    """The number of the alias table for each depth of a walk whose bias depends on it; empty otherwise."""

    @property
    def stored_columns(self) -> tuple[EdgeColumn, ...]:
        """All edge columns that the run reads from the store."""
        return (*((WEIGHT,) if self.weights else ()), *self.edge_columns)

    @property
    def table_depths(self) -> tuple[int, ...]:
        """The depth whose bias each alias table is made of."""
        return tuple(map(self.cases.index, range(self.edge.tables))) if self.cases else (0,)

    @property
    def partitions_at_once(self) -> int:
        """Partitions that a step on a streamed graph reads at the same time."""
        return 2 if self.second_order and not self.asks_later else 1


def find_needs(store: Store, algorithm: Algorithm, *, weighted: bool, select: Method, collision: Collision) -> Needs:
    """Find the needs of a run on ``store``. ``weighted``: whether edge weights count.

    OptionError if the bounds of a rejection walk bound nothing, or if a hook cannot be compiled.
    """
    bias = hooks.edge_bias(algorithm, weighted, store.hook_columns)
    others = list(filter(None, hooks.others(algorithm, weighted, store.hook_columns).values()))
    others_read = frozenset[str]().union(*(hook.reads for hook in others))
    edge_columns = _columns_read(store, algorithm, bias.columns.union(*(hook.columns for hook in others)), select)
    weighted = weighted and (select is not Method.REJECTION or "weight" in bias.reads | others_read)
    second_order, others_ask = "is_neighbor" in bias.reads, "is_neighbor" in others_read
    rule, in_pools = algorithm.rule, algorithm.rule.together and select is Method.UNIFORM
    apart, hopeless = return_apart(algorithm, select), may_be_hopeless(algorithm, select)
    in_sums = select.by_sums and collision is not Collision.UPDATED and bias.static and _picks_in_sums(algorithm)
    of_edges = {
        "weights": weighted and ("weight" in bias.reads | others_read or _proposes_by_weight(algorithm, select)),
        "alias_tables": select is Method.ALIAS or (weighted and _proposes_by_weight(algorithm, select)),
        "single_weights": weighted and (apart or hopeless),
    }
    return Needs(
        weighted=weighted,
        second_order=second_order,
        reads_path="path" in bias.reads | others_read,
        asks_members=second_order or others_ask,
        asks_far=others_ask or FAR in bias.reads or (isinstance(rule, Clocks) and second_order),
        asks_back=_asks_back(algorithm, select, second_order),
        asks_later=second_order and _proposes_by_weight(algorithm, select) and not hopeless and OTHER not in bias.reads,
        return_apart=apart,
        row_weights=weighted and apart,
        weighs_members=weighted and apart and not store.multigraph,
        may_be_hopeless=hopeless,
        running_sums=in_sums and rule.layout == "hops",
        batch_sums=in_sums and rule.layout == "batches",
        clock_sums=isinstance(rule, Clocks) and select.by_sums and bias.static,
        independent_picks=_independent_picks(algorithm, select),
        in_pools=in_pools,
        columns=isinstance(rule, VertexLayer) and rule.from_graph,
        clusters=isinstance(rule, WholeClusters),
        everywhere=in_pools and rule.everywhere,
        timed=_is_timed(algorithm),
        edge_columns=edge_columns,
        edge=_edge_bytes(store, select, edge_columns, tables_of(algorithm, select), **of_edges),
        cases=cases_of(algorithm, select),
        **of_edges,
    )


def _proposes_by_weight(algorithm: Algorithm, select: Method) -> bool:
    """Whether neighbors are proposed by weight; traversals propose any edge."""
    return select is Method.REJECTION and isinstance(algorithm, Walk)


def _asks_back(algorithm: Algorithm, select: Method, second_order: bool) -> bool:
    rejects = second_order and select is Method.REJECTION
    return rejects and isinstance(algorithm, Walk) and asks_on_return(algorithm)


def _columns_read(
    store: Store, algorithm: Algorithm, by_hooks: Collection[str], select: Method
) -> tuple[EdgeColumn, ...]:
    """The edge columns beside weights that are read: those of these names, and in time the times.

    OptionError for an algorithm in time where edges have no times.
    """
    read = tuple(column for column in store.hook_columns if column.name in by_hooks)
    if not _is_timed(algorithm):
        return read
    if store.stored.time is None:
        from csaw.partition.graph.in_memory import InMemory  # brings Numba

        stored = "the store with csaw partition FILE OUT --time-column COLUMN, or in Python with time="
        way = "the graph with csaw.graph(data, time=times)" if isinstance(store, InMemory) else stored
        raise OptionError(
            f"{store.path}: expected times of the edges for {algorithm.name()}, found "
            f"{instead_of_times(store.hook_columns)}; make {way}"
        )
    time = () if store.stored.time in read else (store.stored.time,)
    return (*read, *time, *(TIME_ORDER,) * (select is Method.TIME))


def _is_timed(algorithm: Algorithm) -> bool:
    """Whether an algorithm reads the times of edges by itself, whatever its hooks read."""
    if isinstance(algorithm, Walk):
        return algorithm.timed
    return any(getattr(algorithm, name, None) is not None for name in ("time_strategy", "negative_time"))


def _edge_bytes(
    store: Store,
    select: Method,
    beside: Collection[EdgeColumn],
    tables: int,
    *,
    weights: bool,
    alias_tables: bool,
    single_weights: bool,
) -> EdgeBytes:
    """Bytes of an edge of ``store`` for a run with these needs (explained at Needs).

    ``beside``: the edge columns beside weights, which no run reads any more once alias tables are made, of which there
    are ``tables``.
    """
    further = sum(column.dtype.itemsize for column in beside)
    item = np.dtype(store.id_dtype).itemsize
    stored, alias = item + (WEIGHT_BYTES if weights else 0) + further, ALIAS_IDS * item * tables
    on_host = alias if alias_tables else item + further
    piece = alias + (WEIGHT_BYTES if single_weights else 0) if alias_tables else stored
    weighed = weights and (select is Method.REJECTION or not alias_tables)
    still_weighed = weights and (single_weights or not alias_tables)
    return EdgeBytes(
        id=item,
        stored=stored,
        kept=piece,
        reserved=on_host + (WEIGHT_BYTES if weighed else 0),
        loaded=on_host + (WEIGHT_BYTES if still_weighed else 0),
        piece=piece,
        tables=tables,
    )


def _independent_picks(algorithm: Algorithm, select: Method) -> bool:
    """Whether a traversal draws a fixed number of neighbors with replacement, from all neighbors of a vertex."""
    if not from_whole_rows(algorithm) or not algorithm.rule.replace:
        return False
    return select.exact_number and min(algorithm.sizes(), default=0) >= 0


def _picks_in_sums(algorithm: Algorithm) -> bool:
    """Whether one thread can draw a vertex's picks from running sums: they may repeat, or are few."""
    if not from_whole_rows(algorithm) or algorithm.rule.layout not in ("hops", "batches"):
        return False
    sizes = algorithm.sizes()
    return min(sizes, default=0) >= 0 and (algorithm.rule.replace or max(sizes, default=0) <= CTPS_PICKS)


def filter_words(edges: int) -> int:
    """64-bit words of the filters that tell whether an edge exists: 8 bits an edge, and two
    words of room at the end.
    """
    return edges // 8 + 2


def member_slots(edges: int, vertices: int) -> int:
    """Slots of 4 bytes in the hash tables of all rows, at least half of them empty."""
    return 2 * edges + 8 * (vertices + 1)


def answer_bytes(store: Store, needs: Needs) -> dict[str, int]:
    """Bytes of each way to find out whether an edge exists, beside the rows."""
    tables = 4 * member_slots(store.edges, store.vertices) * (2 if needs.weighs_members else 1)
    return {"search": 0, "filter": store.edges, "hash": tables}
