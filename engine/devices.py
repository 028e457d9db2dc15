"""Where a run takes place: the CPU, or one or more GPUs."""

import logging
import re
from collections.abc import Callable
from typing import Any

from csaw.partition.errors import BudgetError, DeviceError, MissingDependencyError, OptionError
from csaw.partition.shown import quoted

log = logging.getLogger(__name__)
Devices = tuple[Any, ...]  # of engine/cuda/device.py; none: the CPU


def place(device: Any, planned: Callable[[Devices], Any] | None = None) -> Devices:
    """The GPUs that ``device`` names: auto, cpu, cuda, cuda:1, cuda:0,1. ``auto`` is a GPU if there is one and ``planned`` finds room on it."""
    if device == "cpu":
        return ()
    if not isinstance(device, str) and hasattr(device, "free_bytes"):
        return (device,)  # what open_device returned
    device = quoted(device) if not isinstance(device, str) else device
    if device not in ("auto", "cuda") and not re.fullmatch(r"cuda:\d+(,\d+)*", device):
        raise OptionError(f"--device: expected auto, cpu, cuda, cuda:1 or cuda:0,1, found {quoted(device)}")
    numbers = dict.fromkeys(int(n) for n in device.partition(":")[2].split(",") if n) or {0: None}
    from csaw.engine.cuda.device import open_device

    try:
        gpus = tuple(open_device(number) for number in numbers)
        if planned:
            planned(gpus)
        return gpus
    except (MissingDependencyError, DeviceError, BudgetError) as error:
        if device != "auto":
            raise
        level = logging.DEBUG if isinstance(error, MissingDependencyError) else logging.INFO
        log.log(level, "sampling on the CPU: %s", error)
    return ()
