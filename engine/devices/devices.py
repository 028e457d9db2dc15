"""Where a run takes place: the CPU, or one or more GPUs."""

import ctypes
import logging
import re
import threading
from collections.abc import Iterable
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING

from csaw.partition.base.plain_data import OptionValue
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import DeviceError, MissingDependencyError, OptionError

if TYPE_CHECKING:
    from csaw.engine.cuda.device import Device

log = logging.getLogger(__name__)
AUTO = "auto"
CUDA = re.compile(r"cuda(:\d+(,\d+)*)?")  # names of GPUs
DRIVER, SUCCESS = "libcuda.so.1", 0
Devices = tuple["Device", ...]  # none: the CPU


def begin_to_open(device: object) -> None:
    """Make the contexts of the GPUs that ``device`` names in a thread, which takes CUDA some tenths of a second, while
    a command imports what it needs and opens the graph.

    What goes wrong is said when the GPUs are opened. The thread is waited for at the end: a process must not end inside
    the driver.
    """
    named = is_auto(device) or (isinstance(device, str) and CUDA.fullmatch(device))
    if named and find_spec("cupy"):
        threading.Thread(target=_make_contexts, args=(_numbers(str(device)),)).start()


def _make_contexts(numbers: Iterable[int]) -> None:
    """Make the contexts that CuPy takes later, by the driver alone: importing CuPy holds up other threads."""
    with suppress(Exception):
        driver = ctypes.CDLL(DRIVER)
        driver.cuInit(0)
        for number in numbers:
            gpu, context = ctypes.c_int(), ctypes.c_void_p()
            if driver.cuDeviceGet(ctypes.byref(gpu), number) == SUCCESS:
                driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), gpu)


def _numbers(device: str) -> tuple[int, ...]:
    """The GPUs of ``cuda:0,1``; the first where none is named."""
    return tuple(dict.fromkeys(int(n) for n in device.partition(":")[2].split(",") if n)) or (0,)


def is_auto(device: object) -> bool:
    """Whether the device is left to csaw."""
    return isinstance(device, str) and device == AUTO


def place(device: OptionValue) -> Devices:
    """The GPUs that ``device`` names: cpu, cuda, cuda:1, cuda:0,1, or what open_device returned."""
    if isinstance(device, str) and device == "cpu":
        return ()
    if not isinstance(device, str) and hasattr(device, "free_bytes"):
        return (device,)
    device = quoted(device) if not isinstance(device, str) else device
    if not CUDA.fullmatch(device):
        raise OptionError(f"--device: expected auto, cpu, cuda, cuda:1 or cuda:0,1, found {quoted(device)}")
    return opened(_numbers(device))


def opened(numbers: Iterable[int]) -> Devices:
    """The GPUs of these numbers. DeviceError or MissingDependencyError if one cannot be used."""
    from csaw.engine.cuda.device import open_device

    return tuple(open_device(number) for number in numbers)


def first_gpu() -> Devices:
    """The first GPU; none if it cannot be used, for a reason that is logged."""
    try:
        return opened((0,))
    except (MissingDependencyError, DeviceError) as error:
        level = logging.DEBUG if isinstance(error, MissingDependencyError) else logging.INFO
        log.log(level, "no GPU is used: %s", error)
        return ()
