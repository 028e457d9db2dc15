"""Samples as objects of other libraries: pandas, networkx and SciPy, which are imported when one is asked for."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from csaw.engine.samples.edges import are_alone, edge_columns, numbered_edges
from csaw.engine.samples.layouts.layout import TIME
from csaw.engine.samples.opened import OpenedSamples
from csaw.partition.base.libraries import needed

if TYPE_CHECKING:
    import networkx
    import pandas
    import scipy.sparse


class Drawn(NamedTuple):
    """The edges of all instances together, each once.

    ``ids`` [n]: the vertices, ascending; ``src``, ``dst`` int64 [edges]: numbers of them; ``times`` int64 [edges]: how
    often each was drawn.
    """

    ids: np.ndarray
    src: np.ndarray
    dst: np.ndarray
    times: np.ndarray


def to_pandas(samples: OpenedSamples) -> "pandas.DataFrame":
    """A row for each vertex of a walk, or for each edge."""
    return needed("pandas").DataFrame(_steps(samples) if samples.has_walks else _edges(samples))


def to_networkx(samples: OpenedSamples) -> "networkx.Graph":
    """The sampled vertices and edges of all instances as one graph."""
    nx, drawn = needed("networkx"), _drawn(samples)
    directed = samples.manifest.get("graph", {}).get("directed", True)
    ends = np.column_stack([drawn.src, drawn.dst])
    names, graph = samples.names(drawn.ids).tolist(), nx.DiGraph() if directed else nx.Graph()
    pairs, place = np.unique(ends if directed else np.sort(ends, axis=1), axis=0, return_inverse=True)
    counts = np.bincount(place.ravel(), drawn.times, len(pairs)).astype(np.int64)
    graph.add_nodes_from(names)
    graph.add_edges_from(
        (names[u], names[v], {"count": count}) for (u, v), count in zip(pairs.tolist(), counts.tolist(), strict=True)
    )
    return graph


def to_scipy(samples: OpenedSamples) -> "tuple[scipy.sparse.csr_array, np.ndarray]":
    """How often each edge was drawn, as a matrix, and the ids of its rows and columns."""
    drawn = _drawn(samples)
    shape = (drawn.ids.size, drawn.ids.size)
    matrix = needed("scipy.sparse").coo_array((drawn.times, (drawn.src, drawn.dst)), shape).tocsr()
    return matrix, samples.names(drawn.ids)


def _steps(samples: OpenedSamples) -> dict[str, Any]:
    """The columns of a row for each vertex of each walk."""
    arrays = samples.group(0, samples.instances)
    edges, vertices = samples.layout.edges(arrays, samples.fill), samples.layout.visits(arrays, samples.fill, 0)
    assert vertices is not None
    held = samples.layout.edges_of_each(arrays, samples.fill) + 1
    step = np.arange(vertices.size) - np.repeat(np.cumsum(held) - held, held)
    columns = {
        "instance": np.repeat(samples.numbers(np.arange(held.size)), held),
        "step": step,
        "vertex": samples.names(vertices),
    }
    if TIME in edges:
        times = np.zeros(step.size, np.int64)
        times[step > 0] = edges[TIME]
        columns[TIME] = _masked(times, step == 0)
    return columns


def _edges(samples: OpenedSamples) -> dict[str, Any]:
    """The columns of a row for each edge."""
    edges = numbered_edges(samples, 0, samples.instances)
    columns: dict[str, Any] = {name: edges[name] for name in edge_columns(samples)}
    alone = are_alone(edges)
    columns |= {name: samples.names(edges[name]) for name in ("src", "dst")}
    if samples.layout.lists_lonely:
        columns |= {name: _masked(columns[name], alone) for name in columns if name not in ("instance", "src")}
    return columns


def _masked(values: np.ndarray, missing: np.ndarray) -> Any:
    """A column of pandas without the ``missing`` values, whose type does not depend on whether there are any."""
    pandas = needed("pandas")
    column = pandas.array(values, pandas.StringDtype() if values.dtype == object else None)
    column[missing] = pandas.NA
    return column


def _drawn(samples: OpenedSamples) -> Drawn:
    ends: list[np.ndarray] = []
    alone: list[np.ndarray] = []
    for _, arrays in samples.iter_groups():
        edges = samples.layout.edges(arrays, samples.fill)
        ends.append(np.stack([edges["src"], edges["dst"]]))
        alone += [vertices for _, vertices in samples.layout.members(arrays, samples.fill)]
    both = np.concatenate([np.empty((2, 0), samples.vertex_dtype), *ends], axis=1)
    ids, number = np.unique(np.concatenate([both.ravel(), *alone]), return_inverse=True)
    src, dst = number[: both.size].reshape(both.shape)
    pairs, counts = np.unique(src * np.int64(ids.size) + dst, return_counts=True)
    return Drawn(ids, *np.divmod(pairs, np.int64(max(ids.size, 1))), counts)
