"""Compiled kernels on a device, and the one place that launches them.

Arguments keep the types that the kernels declare: an int is an i64, a float a double; anything else comes as a NumPy
scalar, an array (its address) or a struct.
"""

import cupy
import numpy as np

from csaw.engine.cuda.compile import Unit
from csaw.engine.cuda.declarations import BLOCK, BLOCK_PICKS, STAGED_PARENTS, parameters
from csaw.engine.cuda.device import Device

MOST_SHARED = 8  # CUDA's number of a kernel's attribute: bytes of shared memory that a launch may ask for,
SHARED_UNASKED = 40 << 10  # where these and those that it declares are more than 48 KiB


class Kernels:
    """The functions of some .cu files, compiled for one algorithm and loaded on the current device: a module of its
    own, with its own GRAPH. Of a unit without kernels that are launched, nothing is compiled.
    """

    def __init__(self, unit: Unit, device: Device) -> None:
        self.device, self.empty = device, unit.launched == ()
        self.module = cupy.cuda.Module()  # RawModule would share one module among all who load the same file
        if not self.empty:
            self.module.load_file(str(unit.compile(device.architecture)))
        self.functions: dict[str, cupy.cuda.Function] = {}
        self.fitting: dict[tuple[str, int], int] = {}
        self.params = parameters(unit.params)

    def launch(
        self,
        name: str,
        blocks: int | tuple[int, ...],
        block: int | tuple[int, ...],
        *arguments: object,
        shared: int = 0,
    ) -> None:
        """Queue a kernel on the current stream, with ``blocks`` blocks of ``block`` threads; with 0 blocks, do nothing.

        ``shared``: bytes of shared memory of a block, beside those that the kernel declares.
        """
        grid = (blocks,) if isinstance(blocks, int) else blocks
        if min(grid) > 0:
            shape, function = (block,) if isinstance(block, int) else block, self.function(name)
            if shared > SHARED_UNASKED:
                cupy.cuda.driver.funcSetAttribute(function.ptr, MOST_SHARED, shared)
            function(grid, shape, tuple(_argument(a) for a in arguments), shared_mem=shared)

    def function(self, name: str) -> "cupy.cuda.Function":
        """The kernel of this name."""
        if name not in self.functions:
            self.functions[name] = self.module.get_function(name)
        return self.functions[name]

    def resident(self, name: str, block: int) -> int:
        """Number of blocks of ``block`` threads that can run this kernel on the device at the same time."""
        if (name, block) not in self.fitting:
            fitting = cupy.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(self.function(name).ptr, block, 0)
            self.fitting[name, block] = fitting * self.device.processors
        return self.fitting[name, block]

    def staged(self, parents: int, size: int) -> int:
        """Parents of a block of a hop in which each of ``parents`` picks ``size`` neighbors: enough picks to keep it
        busy, few enough that every multiprocessor gets two blocks.
        """
        return max(1, min(STAGED_PARENTS, BLOCK_PICKS // max(size, 1), parents // (2 * self.device.processors)))

    def over(self, name: str, threads: int, *arguments: object, block: int = BLOCK) -> None:
        """Launch a kernel with about a thread for each of ``threads`` items.

        The kernel strides over items beyond the launch.
        """
        self.launch(name, min(-(-threads // block), 2**31 - 1), block, *arguments)

    def set_graph(self, graph: np.ndarray) -> None:
        """Fill the module's own copy of ``GRAPH``, if there are kernels to read it."""
        if not self.empty:
            self.array("GRAPH", graph.nbytes, np.uint8).set(graph.view(np.uint8).ravel())

    def array(self, name: str, size: int, dtype: type) -> cupy.ndarray:
        """A global array of the module."""
        place = self.module.get_global_var(name)
        memory = cupy.cuda.UnownedMemory(place, size * np.dtype(dtype).itemsize, self.module, self.device.number)
        return cupy.ndarray(size, dtype, cupy.cuda.MemoryPointer(memory, 0))


def _argument(value: object) -> object:
    if value is None:
        return np.uint64(0)
    if isinstance(value, (bool, int)):
        return np.int64(value)
    return np.float64(value) if type(value) is float else value
