"""Where a run takes place: the CPU, or one or more GPUs."""

import logging
import re
import threading
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from csaw.partition.base.plain_data import OptionValue
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import DeviceError, MissingDependencyError, OptionError

if TYPE_CHECKING:
    from csaw.engine.cuda.device import Device

log = logging.getLogger(__name__)
AUTO = "auto"
Devices = tuple["Device", ...]  # none: the CPU


def begin_to_open(device: object) -> None:
    """Open the GPUs that ``device`` names in a thread, while what a run needs is imported: that takes CUDA some tenths
    of a second.

    What goes wrong is said when they are opened again.
    """
    if isinstance(device, str) and device != "cpu":
        threading.Thread(target=_open, args=(device,), daemon=True).start()


def _open(device: str) -> None:
    with suppress(Exception):
        import cupy

        for number in _numbers(device):
            with cupy.cuda.Device(number):
                cupy.cuda.runtime.free(0)


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
    if device != "cuda" and not re.fullmatch(r"cuda:\d+(,\d+)*", device):
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
