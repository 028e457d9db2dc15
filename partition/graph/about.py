"""The metadata that viewers such as xarray read of the arrays of a graph store: names of dimensions, and attributes as
the CF conventions call them.

Dimensions of partitions have other names than those of the whole store: below one name, xarray wants one length.
"""

from collections.abc import Iterable

from csaw.partition.arrays.nodes import About
from csaw.partition.graph.attributes import STRING
from csaw.partition.graph.edge_columns import EdgeColumn

NUMBER, COUNT = "1", "count"  # units: of ids, weights and shares, and of what is counted
ARRAYS = {
    "indptr": (
        "row_bound",
        COUNT,
        "where the row of each vertex of the partition begins among its edges, and the end of the last row",
    ),
    "indices": ("edge", NUMBER, "dense id of the vertex that each edge of the partition leads to"),
    "weights": ("edge", NUMBER, "weight of each edge of the partition"),
    "time_order": ("edge", NUMBER, "place in its row of the edge that comes next by time, row after row"),
    "edge_ids": ("edge", NUMBER, "number of each edge of the partition in the input, from 0"),
    "vertex_ids": ("vertex", NUMBER, "original id of each vertex, by dense id"),
    "vertex_id_offsets": (
        "id_bound",
        COUNT,
        "where the original id of each vertex begins in vertex_ids, and the end of the last one",
    ),
    "clusters": ("vertex", NUMBER, "cluster of each vertex, by dense id"),
}
TEXT = ("byte", NUMBER, "text of all original ids, one after the other, in UTF-8")
"""Of ``vertex_ids`` where these are strings."""


def about(name: str, id_kind: str, fingerprint: str, columns: Iterable[EdgeColumn] = (), **made: str | int) -> About:
    """Describe the array ``name``, a path in the store.

    ``fingerprint``: of the graph; ``columns``: its edge columns beside weights and edge ids; ``made``: the algorithm
    and the seed that made the array, of clusters.
    """
    own = name.rpartition("/")[2]
    further = {
        column.array: ("edge", column.units, f"{column.name} of each edge of the partition") for column in columns
    }
    dimension, units, said = TEXT if own == "vertex_ids" and id_kind == STRING else (ARRAYS | further)[own]
    return About((dimension,), {"long_name": said, "units": units, **made, "fingerprint": fingerprint})
