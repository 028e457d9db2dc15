"""The strings behind the dense ids that samples of a graph with string ids have."""

from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from csaw.engine.samples.check_numbers import check_names
from csaw.engine.samples.identifiers import NOTHING
from csaw.partition.arrays.words import Words


def names_of(
    vertices: ArrayLike, words: Words | None, fill: int, where: Path, dtype: DTypeLike = np.object_
) -> np.ndarray:
    """The ids of the input for ``vertices`` of samples: the strings that ``words`` has for them.

    Args:
        vertices: dense ids of any shape.
        words: the string ids by dense id; None where the ids are numbers, which stay as they are.
        fill: the value of an entry without a vertex, whose string is empty; -1 has none either.
        where: the samples, for errors.
        dtype: of the strings.

    Returns:
        An array of the same shape.

    Raises:
        StoreError: a number has no string.
    """
    ids = np.asarray(vertices)
    if words is None:
        return ids
    out = np.full(ids.shape, "", dtype)
    absent = [np.asarray(nothing).astype(ids.dtype) for nothing in (fill, NOTHING)]
    present = (ids != absent[0]) & (ids != absent[1])
    check_names(where, ids[present], len(words))
    out[present] = words[ids[present]]
    return out
