"""How many edges a sample has, and each of its instances: counted group by group while it is written, and kept with its results."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from csaw.engine.samples.layout import bits

SIZES = "sizes"  # where they are in the results, signed
LEAST_VERTICES = "least_vertices"
Sizes = dict[str, Any]
"""``edges``, ``instances``, ``least`` and ``most`` edges of one of these, and of walks with a limit how many ``ended_early``; of subgraphs that have vertices of their own
``least_vertices`` of one."""


def edges_of(arrays: dict[str, np.ndarray], nothing: int) -> np.ndarray:
    """Edges of each instance of a group, int64; an id that is ``nothing`` is none."""
    if "lengths" in arrays:
        return arrays["lengths"].astype(np.int64)
    if "edge_counts" in arrays:
        return arrays["edge_counts"].astype(np.int64)
    if "counts" in arrays:
        return arrays["counts"].astype(np.int64)
    from csaw.engine.samples.kernels import count_present

    counts = np.zeros(len(arrays["hop_0"]), np.int64)
    for name, hop in arrays.items():
        if name != "hop_0":
            count_present(bits(np.ascontiguousarray(hop)), bits(nothing, hop.dtype), counts)
    return counts


def sizes_of(arrays: dict[str, np.ndarray], nothing: int) -> Sizes:
    """The sizes of a group of at least one instance."""
    edges = edges_of(arrays, nothing)
    sizes = {"edges": int(edges.sum()), "instances": edges.size, "least": int(edges.min()), "most": int(edges.max())}
    walks = arrays.get("walks")
    limited = walks is not None and walks.ndim == 2
    early = {"ended_early": int((edges < walks.shape[1] - 1).sum())} if walks is not None and limited else {}
    met = {LEAST_VERTICES: int(arrays["vertex_counts"].min())} if "vertex_counts" in arrays else {}
    return sizes | early | met


def total(groups: Iterable[Sizes | None], layout: str) -> Sizes | None:
    """The sizes of all groups together; None where those of one are not known."""
    every = list(groups)
    if any(sizes is None for sizes in every):
        return None
    known = [sizes for sizes in every if sizes is not None]
    added = ("edges", "instances", *(("ended_early",) if layout == "walks" else ()))
    return {
        **{name: sum(sizes[name] for sizes in known) for name in added},
        "least": min((sizes["least"] for sizes in known), default=0),
        "most": max((sizes["most"] for sizes in known), default=0),
        **(
            {LEAST_VERTICES: min(sizes[LEAST_VERTICES] for sizes in known)}
            if known and all(LEAST_VERTICES in sizes for sizes in known)
            else {}
        ),
    }
