"""The GPUs of this machine and their properties.

CuPy is imported here first, so errors about missing software are raised here.
"""

import sys
from dataclasses import dataclass
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType

from csaw.engine.cuda.compile import INSTALL
from csaw.partition.base.cache import check_cupy
from csaw.partition.errors import DeviceError, MissingDependencyError

# CuPy imports these for every operator between one of its arrays and a number, and uses nothing of them. They bring
# scipy.sparse, which takes .2 s.
UNUSED = "cupyx.linalg", "cupyx.scipy.special"


@dataclass(frozen=True)
class Device:
    """A GPU: its number, name, architecture (such as ``sm_90``), number of multiprocessors,
    and free memory in bytes.
    """

    number: int
    name: str
    architecture: str
    processors: int
    free_bytes: int
    peers: tuple[int, ...] = ()  # GPUs whose memory it can read


def open_device(number: int = 0) -> Device:
    """Open GPU ``number``.

    DeviceError if there is none, MissingDependencyError if the packages to use it are not installed.
    """
    missing = [module for module in ("cupy", "numba_cuda", "cuda.core") if not _installed(module)]
    if missing:
        raise MissingDependencyError(f"no GPU can be used: {', '.join(missing)} is not installed; {INSTALL}")
    check_cupy()
    import cupy

    for name in UNUSED:
        import_later(name)
    try:
        return _opened(number)
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise DeviceError(f"GPU {number} cannot be used: {error}; check nvidia-smi, or pass --device cpu") from error


def import_later(name: str) -> None:
    """Have imports of a module succeed at once; it is loaded when one of its attributes is first read."""

    def attribute(of: str) -> object:
        if sys.modules.get(name) is standing_in:
            del sys.modules[name]
        return getattr(import_module(name), of)

    standing_in = ModuleType(name)
    vars(standing_in).update(__getattr__=attribute, __spec__=ModuleSpec(name, None))
    sys.modules.setdefault(name, standing_in)


def _opened(number: int) -> Device:
    import cupy

    runtime = cupy.cuda.runtime
    count = runtime.getDeviceCount()
    if number >= count:
        raise DeviceError(f"--device cuda:{number}: expected 0 to {count - 1}; this machine has {count} GPU(s)")
    properties = runtime.getDeviceProperties(number)
    with cupy.cuda.Device(number):
        free = runtime.memGetInfo()[0] + cupy.get_default_memory_pool().free_bytes()
    peers = tuple(n for n in range(count) if n != number and runtime.deviceCanAccessPeer(number, n))
    architecture = f"sm_{properties['major']}{properties['minor']}"
    return Device(number, properties["name"].decode(), architecture, properties["multiProcessorCount"], free, peers)


def _installed(module: str) -> bool:
    try:
        found = find_spec(module)
        return found is not None and found.origin is not None  # a folder of that name is no package
    except ModuleNotFoundError:  # its parent package is missing
        return False
