"""The ids of a graph after some of its own vertices and some new ones were named: those that it has keep their dense
ids, and new ones follow after the last.
"""

from typing import NamedTuple

import numpy as np

from csaw.partition.arrays.words import Words
from csaw.partition.errors import FormatError
from csaw.partition.graph.attributes import Partitioner
from csaw.partition.graph.store import GraphStore

METHOD = "append"
"""The partitioner of a store whose original ids do not rise because vertices were appended."""


class GrownIds(NamedTuple):
    """The vertices after an append.

    Attributes:
        dense: int64, the dense id of each vertex of the new edges; -1 for one that the graph lacks and does not get.
        vertices: number of all vertices.
        ids: the original ids of all, as a store keeps them; None where they are the dense ones.
        partitioner: what numbered the vertices; None where their ids rise.
    """

    dense: np.ndarray
    vertices: int
    ids: np.ndarray | Words | None
    partitioner: Partitioner | None


def grown_ids(base: GraphStore, new: GraphStore, add: bool) -> GrownIds:
    """The vertices of ``base`` after those of ``new`` were added, in their order; unless ``add``, it gets none.

    Raises:
        FormatError: integers of both do not fit in one 64-bit type.
    """
    named, partitioner = new.stored_ids(), base.attributes.get("partitioner")
    wanted = np.arange(new.vertices) if named is None else named
    dense, there = base.find_ids(wanted)
    if not add:
        return GrownIds(np.where(there, dense, -1), base.vertices, base.stored_ids(), partitioner)
    others = np.flatnonzero(~there)
    dense[others] = base.vertices + np.arange(others.size)
    ids, rising = base.stored_ids(), True
    if others.size and isinstance(wanted, Words):
        assert isinstance(ids, Words)
        ids, rising = _joined_words(ids, wanted.take(others))
    elif others.size:
        assert not isinstance(ids, Words)
        ids, rising = _joined(base, ids, wanted[others])
    how = partitioner if partitioner is not None or rising else Partitioner(method=METHOD)
    return GrownIds(dense, base.vertices + others.size, ids, how)


def _joined(base: GraphStore, ids: np.ndarray | None, more: np.ndarray) -> tuple[np.ndarray | None, bool]:
    """Integers with ``more``, which rise, behind them; and whether all rise, if the first do."""
    if ids is None and np.array_equal(more, base.vertices + np.arange(more.size)):
        return None, True
    held = np.arange(base.vertices) if ids is None else ids
    lowest = min(int(held.min(initial=0)), int(more[0]))
    highest = max(int(held.max(initial=0)), int(more[-1]))
    if lowest < 0 and highest >= 2**63:
        raise FormatError(
            f"{base.base}: expected ids that fit in one 64-bit type, found some below 0 and some of 2^63 or more; "
            "make the store again with --id-type string"
        )
    dtype = np.dtype(np.uint64 if highest >= 2**63 else np.int64)
    joined = np.concatenate([held.astype(dtype), more.astype(dtype)])
    last = joined[base.vertices - 1 : base.vertices + 1]
    return joined, base.vertices == 0 or bool(last[0] < last[1])


def _joined_words(ids: Words, more: Words) -> tuple[Words, bool]:
    """Words with ``more``, which rise, behind them; and whether all rise, if the first do."""
    offsets = np.concatenate([ids.offsets, ids.offsets[-1] + more.offsets[1:]])
    joined = Words(offsets, np.concatenate([ids.text, more.text]))
    last = [bytes(word) for word in joined.encoded(np.arange(max(len(ids) - 1, 0), len(ids) + 1))]
    return joined, last == sorted(last)
