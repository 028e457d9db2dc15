"""Samples that are kept in memory, with the interface of those on disk."""

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from csaw.engine.samples import Samples
from csaw.engine.samples.layout import WHOLE, elements_of, joined
from csaw.engine.samples.sizes import Sizes, sizes_of, total
from csaw.partition.arrays.words import Words

NAME = "samples in memory"  # stands for their path in messages


class KeptSamples(Samples):
    """Samples whose arrays are in memory.

    ``attributes``: those that a store of these samples would have; ``batches``: the arrays of consecutive instances, as :meth:`Samples.group` returns them, of at least one
    batch; ``words``: the string ids of the graph by dense id, None where ids are numbers. ``results``: counts and timings of what drew them.
    """

    def __init__(self, attributes: dict[str, Any], batches: Iterable[dict[str, np.ndarray]], words: Words | None, results: dict[str, Any]) -> None:  # fmt: skip
        self.path, self.checksums = Path(NAME), {}
        self.manifest, self.layout = attributes["manifest"], attributes["layout"]
        self.instances, self.group_size = attributes["instances"], attributes["group_size"]
        self.ids, self.fill = attributes["ids"], attributes["fill"]
        held = _whole(self.layout, joined(list(batches)))
        if words is not None:
            held |= {"vertex_ids": words.text, "vertex_id_offsets": words.offsets}
        self._arrays = {name: KeptRows(array) for name, array in held.items()}  # type: ignore[misc]  # files elsewhere
        self._results = results

    @property
    def results(self) -> dict[str, Any]:  # type: ignore[override]  # read once elsewhere
        return self._results

    @cached_property
    def sizes(self) -> Sizes | None:  # type: ignore[override]
        return total((sizes_of(arrays, self.fill) for _, arrays in self.iter_groups()), self.layout)

    @property
    def nbytes(self) -> int:
        """Bytes of memory that the arrays take."""
        return sum(rows.stored_bytes for rows in self._arrays.values())


class KeptRows:
    """An array in memory, with the interface of :class:`Rows`; slices are views of it."""

    chunks = 0  # files to check

    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self.shape, self.dtype, self.ndim, self.stored_bytes = array.shape, array.dtype, array.ndim, array.nbytes

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, key: Any) -> Any:
        return self.array[key]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.array, dtype, copy=copy)

    def trust(self) -> None:
        """Nothing is compared with checksums."""


def _whole(layout: str, parts: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays of a store that are made of those of all instances: bounds are running sums of counts."""
    if layout not in WHOLE:
        return parts
    made = {name: part for name, part in WHOLE[layout].items() if part in parts}
    return {
        name: np.concatenate([[0], np.cumsum(elements_of(part, parts[part]))]) if name.endswith("_ptr") else parts[part]
        for name, part in made.items()
    }
