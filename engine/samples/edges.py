"""Samples of any layout as lists of edges: instance, src, dst, depth."""

from collections.abc import Iterator

import numpy as np

from csaw.engine.samples import Samples

Edges = dict[str, np.ndarray]


def iter_edges(samples: Samples) -> Iterator[tuple[int, Edges]]:
    """Yield, for each group, the number of instances so far and its edges, with the ids of the store."""
    for start in range(0, samples.instances, samples.group_size):
        stop = min(start + samples.group_size, samples.instances)
        edges = edges_between(samples, start, stop)
        edges["instance"] += start
        yield stop, edges


def edges_between(samples: Samples, start: int, stop: int) -> Edges:
    """The edges of the instances start .. stop - 1, with the ids of the store; ``instance`` counts from 0."""
    by_layout = {"walks": _of_walks, "hops": _of_hops, "subgraphs": _of_subgraphs}
    return by_layout[samples.layout](samples, samples.group(start, stop))


def _of_walks(samples: Samples, arrays: dict[str, np.ndarray]) -> Edges:
    walks = arrays["walks"]
    row, step = np.nonzero(np.arange(walks.shape[1] - 1) < arrays["lengths"][:, None])
    return {"instance": row, "src": walks[row, step], "dst": walks[row, step + 1], "depth": step.astype(np.int32)}


def _of_hops(samples: Samples, arrays: dict[str, np.ndarray]) -> Edges:
    """The edges of neighbor samples, breadth first within each instance."""
    hops, pieces = list(arrays.values()), []
    for depth in range(len(hops) - 1):
        src, dst = hops[depth], hops[depth + 1]
        fanout = dst.shape[1] // max(src.shape[1], 1)
        row, column = np.nonzero(dst != dst.dtype.type(samples.fill))
        pieces.append((row, src[row, column // max(fanout, 1)], dst[row, column], np.full(row.size, depth, np.int32)))
    if not pieces:
        return _of_hops(samples, {"hop_0": hops[0], "hop_1": hops[0][:, :0]})
    edges = [np.concatenate(column) for column in zip(*pieces, strict=True)]
    order = np.argsort(edges[0], kind="stable")
    return {name: column[order] for name, column in zip(("instance", "src", "dst", "depth"), edges, strict=True)}


def _of_subgraphs(samples: Samples, arrays: dict[str, np.ndarray]) -> Edges:
    instance = np.repeat(np.arange(len(arrays["counts"])), arrays["counts"])
    return {"instance": instance, "src": arrays["src"], "dst": arrays["dst"], "depth": arrays["depth"]}
