"""Footprints: the memory that the parts of a run, and measures, take; and the budget that is left."""

from collections.abc import Mapping
from dataclasses import astuple, dataclass
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING

from csaw.partition.base.quoting import counted
from csaw.partition.errors import BudgetError

if TYPE_CHECKING:
    from csaw.engine.plan.limits import Shape  # imports NumPy, which a command's help does not need

PARTS = {
    "offsets": "offsets of rows, 8 bytes a vertex",
    "places": "partitions of vertices, a fifth of a byte a vertex",
    "row_sums": "sums of rows' weights, 8 bytes a vertex",
    "vertex_columns": "columns of data of vertices, 8 bytes a vertex each",
    "columns": "norms of columns, 16 bytes a vertex and some edges at a time",
    "clusters": "vertices by cluster, 24 bytes a vertex",
    "negatives": "biases of negatives by degree, 24 bytes a vertex",
    "first_times": "vertices by the time of their first edge, 48 bytes a vertex and some edges at a time",
    "ids": "original ids, until they are written",
    "edge_numbers": "numbers of edges in the store, 4 or 8 bytes an edge",
    "chunks": "unpacking compressed chunks",
    "filters": "filters of edges, a byte an edge",
    "members": "hash tables of rows, 8 bytes an edge, 16 with weights",
    "table_scratch": "making the tables of a piece",
    "events": "edges in the order by time, and which may follow each, 16 to 36 bytes an edge",
    "landing": "the piece that comes next",
    "start_edges": "edges by time, at which walks start",
    "paths": "steps of walks on their way to disk",
    "candidates": "candidates that are selected from",
}
"""The names of MemoryPlan.fixed, in words."""

LISTED_EDGES = 1 << 22  # of whole rows, listed at a time
PIECE, PIECE_BYTES = 1 << 20, 40  # edges whose times are read together, and the bytes that each of them takes
RANGE = 1 << 18  # vertices whose rows a streamed graph brings together, to add up columns
COLUMNS_BYTES = 40  # of an edge that is listed, and of a vertex of a range, while columns are added up


@dataclass(frozen=True, slots=True)
class Footprint:
    """The most memory that a part of a run, or a measure, takes at a time.

    vertex: bytes for each vertex. edge: bytes for each edge, an entry of a row. fixed: bytes for all else.
    ids, edge_ids: vertex ids for each vertex and for each edge, in addition to these bytes. An id takes 4 bytes, or 8
    in a graph of 2^32 vertices or more.
    """

    vertex: int = 0
    edge: int = 0
    fixed: int = 0
    ids: int = 0
    edge_ids: int = 0

    def bytes(self, vertices: int, edges: int, id_bytes: int = 0) -> int:
        """Bytes for a graph of so many vertices and edges, with ids of ``id_bytes`` bytes."""
        of_vertices = vertices * (self.vertex + self.ids * id_bytes)
        return of_vertices + edges * (self.edge + self.edge_ids * id_bytes) + self.fixed

    def __add__(self, other: "Footprint") -> "Footprint":
        return Footprint(*map(add, astuple(self), astuple(other)))


NOTHING = Footprint()


def parts_of(shape: "Shape") -> dict[str, int]:
    """Bytes of the parts that any residency needs on any device."""
    store, needs = shape.store, shape.needs
    summed = COLUMNS_BYTES * (min(store.edges, LISTED_EDGES) + min(store.vertices, RANGE))
    parts = {
        "offsets": Footprint(vertex=8, fixed=8),
        "row_sums": Footprint(vertex=8) if needs.row_weights else NOTHING,
        "vertex_columns": Footprint(fixed=shape.algorithm.vertex_columns.nbytes),
        "columns": Footprint(vertex=16, fixed=summed) if needs.columns else NOTHING,
        "clusters": Footprint(vertex=24) if needs.clusters else NOTHING,
        "negatives": Footprint(vertex=24) if by_degree(shape) else NOTHING,
        "first_times": Footprint(vertex=48, fixed=PIECE_BYTES * min(store.edges, PIECE)) if as_of(shape) else NOTHING,
        "edge_numbers": Footprint(edge=8 if store.stored.edges >= 2**32 else 4) if store.relation_rows else NOTHING,
    }
    return {name: part.bytes(store.vertices, store.edges) for name, part in parts.items()}


def by_degree(shape: "Shape") -> bool:
    """Whether negatives are drawn by degree."""
    return getattr(shape.algorithm, "negative_bias", "none") == "degree"


def as_of(shape: "Shape") -> bool:
    """Whether negatives are drawn as of the time of their link."""
    return getattr(shape.algorithm, "negative_time", None) is not None


def host_parts_of(shape: "Shape") -> dict[str, int]:
    """Bytes of the parts that any run needs in the memory of the host, whatever draws it."""
    starts = shape.sources.start_edges
    return {"start_edges": 0 if starts is None else starts.bytes}


def fit(parts: Mapping[str, int], memory: int, path: Path, option: str, otherwise: str = "") -> int:
    """Return the budget: the bytes of ``memory`` that are left beside ``parts``, which are bytes by name.

    ``option``: the option that sets the memory. ``otherwise``: other ways out than to raise it. BudgetError if the
    parts do not fit.
    """
    budget = memory - sum(parts.values())
    if budget < 0:
        raise refuse_least(parts, memory, path, option, otherwise)
    return budget


def refuse_least(parts: Mapping[str, int], memory: int, path: Path, option: str, otherwise: str = "") -> BudgetError:
    """Return the error for memory that does not hold ``parts``, the least that a run needs; arguments as in ``fit``."""
    listed = [f"{size:,} for {PARTS.get(name, name)}" for name, size in parts.items() if size]
    need = sum(parts.values())
    return BudgetError(
        f"{path}: this run needs at least {need:,} bytes: {'; '.join(listed)}. The limit is "
        f"{counted(memory, 'byte')}; raise {option} to {need:,}{otherwise}"
    )
