"""Checks of the numbers in a sample's arrays, as they are read: lengths, bounds, counts and names that another program
wrote must not mislead or crash.
"""

from pathlib import Path

import numpy as np

from csaw.engine.api.algorithm import MOST_STEPS
from csaw.engine.samples.files import refuse


def check_minibatches(where: Path, arrays: dict[str, np.ndarray]) -> None:
    """Raise StoreError unless the arrays of mini-batches agree: counts of hops with those of nodes, edges and seeds,
    and numbers of nodes with their number.
    """
    nodes, edges = arrays["node_counts"], arrays["edge_counts"]
    for name, counts in (("hop_nodes", nodes), ("hop_edges", edges)):
        if (arrays[name] < 0).any() or (arrays[name].sum(axis=1) != counts).any():
            refuse(where / name, "counts of hops that sum up to those of their mini-batch", "others")
    if (arrays["hop_nodes"][:, 0] != arrays["seed_counts"]).any():
        refuse(where / "hop_nodes", "a first hop of all seeds", "another number of them")
    most = np.repeat(nodes, edges)
    for name in ("row", "col"):
        if ((arrays[name] < 0) | (arrays[name] >= most)).any():
            refuse(where / name, "numbers of nodes of the same mini-batch", "others")


def check_lengths(where: Path, lengths: np.ndarray, longest: int) -> None:
    """Raise StoreError unless all ``lengths`` of walks are 0 to ``longest`` steps."""
    low, high = lengths.min(initial=0), lengths.max(initial=0)
    if low < 0 or high > longest:
        refuse(where, f"lengths from 0 to {longest}", low if low < 0 else high)


def check_walk_pointer(where: Path, pointer: np.ndarray) -> None:
    """Raise StoreError unless each walk between two bounds has from one vertex to the most that a walk can have."""
    sizes = np.diff(pointer)
    low, high = sizes.min(initial=1), sizes.max(initial=1)
    if low < 1 or high > MOST_STEPS + 1:
        refuse(where, f"walks of 1 to {MOST_STEPS + 1:,} vertices", low if low < 1 else high)


def check_pointer(where: Path, pointer: np.ndarray, size: int, *, first: bool, last: bool) -> None:
    """Raise StoreError unless a part of an array of bounds rises within 0 .. ``size``.

    ``first``, ``last``: whether it has the first bound, which is 0, or the last, ``size``.
    """
    falls = (np.diff(pointer) < 0).any()
    inside = pointer[0] >= 0 and pointer[-1] <= size
    if falls or not inside or (first and pointer[0] != 0) or (last and pointer[-1] != size):
        refuse(where, f"bounds that increase from 0 to {size:,}", f"{pointer[0]} to {pointer[-1]}")


def check_names(where: Path, ids: np.ndarray, names: int) -> None:
    """Raise StoreError unless all ``ids`` are below ``names``, the number of string ids."""
    if ids.size and not 0 <= int(ids.min()) <= int(ids.max()) < names:
        refuse(where, f"vertices from 0 to {names - 1}, which have names", ids.max())
