"""Memory that a run needs beside edges and samples in flight, part by part.

A budget that does not hold it is an error.
"""

from pathlib import Path

from csaw.engine.plan.limits import Shape
from csaw.partition.errors import BudgetError

PARTS = {
    "offsets": "offsets of rows, 8 bytes a vertex",
    "places": "partitions of vertices, a fifth of a byte a vertex",
    "row_sums": "sums of rows' weights, 8 bytes a vertex",
    "vertex_columns": "columns of data of vertices, 8 bytes a vertex each",
    "columns": "norms of columns, 16 bytes a vertex and some edges at a time",
    "clusters": "vertices by cluster, 24 bytes a vertex",
    "ids": "original ids, until they are written",
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
RANGE = 1 << 18  # vertices whose rows a streamed graph brings together, to add up columns
CLUSTER_BYTES = 24  # of a vertex while vertices are sorted by cluster


def parts_of(shape: Shape) -> dict[str, int]:
    """Bytes of the parts that any residency needs on any device."""
    vertices, edges, needs = shape.store.vertices, shape.store.edges, shape.needs
    return {
        "offsets": 8 * (vertices + 1),
        "row_sums": 8 * vertices if needs.row_weights else 0,
        "vertex_columns": shape.algorithm.vertex_columns.nbytes,
        "columns": _columns_bytes(vertices, edges) if needs.columns else 0,
        "clusters": CLUSTER_BYTES * vertices if needs.clusters else 0,
    }


def host_parts_of(shape: Shape) -> dict[str, int]:
    """Bytes of the parts that any run needs in the memory of the host, whatever draws it."""
    starts = shape.sources.start_edges
    return {"start_edges": 0 if starts is None else starts.bytes}


def _columns_bytes(vertices: int, edges: int) -> int:
    """Bytes of the norms of columns, and of making them."""
    return 16 * vertices + 40 * min(edges, LISTED_EDGES) + 40 * min(vertices, RANGE)


def refuse_least(path: Path, budget: int, option: str, parts: dict[str, int], otherwise: str = "") -> BudgetError:
    """The error for a ``budget`` that does not hold the least that a run needs, which is ``parts``: bytes by what they
    are for.

    ``option``: the option to raise. ``otherwise``: other ways out.
    """
    listed = [f"{size:,} for {PARTS.get(name, name)}" for name, size in parts.items() if size]
    need = sum(parts.values())
    return BudgetError(
        f"{path}: the least that this run needs is {need:,} bytes: {'; '.join(listed)}. {budget:,} are "
        f"allowed; raise {option} to {need:,}{otherwise}"
    )
