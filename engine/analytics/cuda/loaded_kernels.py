"""Kernels that networks on GPUs have loaded."""

from collections.abc import Callable
from pathlib import Path

import cupy

from csaw.engine.cuda.device import Device
from csaw.engine.cuda.kernel_source import Unit
from csaw.engine.cuda.launch import Kernels

FOLDER = Path(__file__).with_name("kernels")


class LoadedKernels:
    """Kernels by GPU and by name, each compiled and loaded once."""

    def __init__(self) -> None:
        self.by_gpu: dict[int, dict[str, Kernels]] = {}

    def of(self, name: str, gpu: Device, make: Callable[[], Kernels]) -> Kernels:
        """The kernels of this name on a GPU: those that ``make`` made there first."""
        loaded = self.by_gpu.setdefault(gpu.number, {})
        if name not in loaded:
            loaded[name] = make()
        return loaded[name]

    def of_file(self, file: str, constants: dict[str, int], gpu: Device) -> Kernels:
        """The kernels of ``kernels/FILE.cu`` with these constants."""
        name = " ".join([file, *(f"{key}={value}" for key, value in sorted(constants.items()))])
        return self.of(name, gpu, lambda: Kernels(Unit((str(FOLDER / f"{file}.cu"),), constants, [], ()), gpu))

    def clear(self) -> None:
        """Unload all kernels."""
        for number, kernels in self.by_gpu.items():
            with cupy.cuda.Device(number):
                kernels.clear()
