"""This machine: its processor, and the memory that this process may use."""

import os
import platform
from pathlib import Path

INTERPRETER_BYTES = 256 << 20  # of memory that Python, Numba and the compiled kernels take: not part of --memory


def available_bytes() -> int:
    """Bytes of memory that are available without swapping."""
    try:
        with open("/proc/meminfo") as lines:
            found = next(line for line in lines if line.startswith("MemAvailable"))
        return int(found.split()[1]) * 1024 * 9 // 10
    except (OSError, StopIteration):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def processor_name() -> str:
    """The processor's name, from the first line of /proc/cpuinfo that has one."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
