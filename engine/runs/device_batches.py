"""Finished batches in the memory of the GPU that drew them, with the ids of a sample store."""

from dataclasses import dataclass

import numpy as np

from csaw.engine.plan.contracts import Array
from csaw.engine.samples.identifiers import Identifiers
from csaw.engine.samples.ids import all_ones
from csaw.engine.samples.layouts import VERTEX, SampleLayout, kind_of
from csaw.engine.schedule.backend import ALL


@dataclass(frozen=True)
class OnDevice:
    """Arrays of a batch in the memory of a GPU."""

    held: dict[str, Array]
    layout: SampleLayout

    def arrays(self, rows: slice) -> dict[str, Array]:
        return self.held if rows == ALL else self.layout.rows(self.held, rows)

    def on_device(self) -> dict[str, Array]:
        return self.held


class DeviceIdentifiers:
    """The conversion of dense ids to those of a store, in the memory of the GPU that has drawn them.

    The original ids are copied there once.
    """

    def __init__(self, identifiers: Identifiers) -> None:
        self.identifiers = identifiers
        self.tables: dict[int, Array] = {}

    def of(self, arrays: dict[str, Array]) -> dict[str, Array]:
        """The arrays of a batch, with the ids and element types of a store.

        The device that holds them must be the current one.
        """
        return {name: self._converted(name, array) for name, array in arrays.items()}

    def _converted(self, name: str, array: Array) -> Array:
        if is_on_host(array):  # it had to make room on its device
            return self.identifiers.converted(name, array)
        table = self.identifiers.table_of(name)
        if table is None:
            return self._typed(name, array)
        found = self._on_device_of(array, table)[array.clip(None, table.size - 1)]
        found[array == array.dtype.type(all_ones(array.dtype))] = self.identifiers.fill
        return found

    def _typed(self, name: str, array: Array) -> Array:
        """The same as ``Identifiers`` does on the host."""
        dtype, fill = self.identifiers.type_of(name)
        if kind_of(name) != VERTEX:
            return array.astype(dtype, copy=False)
        if array.dtype.itemsize == dtype.itemsize:
            return array.view(dtype)
        out = array.astype(dtype)
        out[array == array.dtype.type(all_ones(array.dtype))] = fill
        return out

    def _on_device_of(self, array: Array, table: np.ndarray) -> Array:
        """The table of original ids on the GPU that holds ``array``."""
        device = array.device.id
        if device not in self.tables:
            from csaw.engine.cuda.memory import on_device

            self.tables[device] = on_device(table)
        return self.tables[device]


def is_on_host(array: Array) -> bool:
    """Whether an array is in host memory."""
    return isinstance(array, np.ndarray)
