"""Rates of a machine that plans count on: measured once on each machine (engine/devices/choice.py), and assumed where
they have not been.
"""

import os
import platform
from dataclasses import dataclass, fields
from pathlib import Path

# This machine: its processor, and the memory that this process may use.

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


# Rates that plans count on.

START_SECONDS = 0.4  # of a command, with imports and kernels, all warm
GPU_SECONDS = 0.6  # beyond that, of a run on a GPU: libraries, kernels and memory
ROUND_SECONDS = 4e-4  # of the host, from one load of a GPU's partitions to the next (docs/contributing/tuning.md)
BUS_REACH = 512 << 20  # bytes of host memory whose pages a GPU's reads over the bus find translated: seen on an H100


@dataclass(frozen=True)
class Rates:
    """How much a machine does in a second.

    A plan is a function of these and of the request; no byte of a sample depends on them.
    """

    gathers: float = 40e6
    """Reads from random places of the host's memory, by one thread."""
    disk_bytes: float = 1.5e9
    """Bytes read in order from the disk."""
    cached_bytes: float = 6e9
    """Bytes that one thread reads of a file that the system holds in memory, as what it has read before."""
    disk_writes: float = 1e9
    """Bytes written to the disk and synced."""
    disk_reads: float = 23e3
    """Reads of a few bytes from random places of the disk."""
    bus_bytes: float = 50e9
    """Bytes copied from page-locked memory to a GPU."""
    bus_reads: float = 0.6e9
    """Reads of a GPU from random places of BUS_REACH bytes of the host's memory."""
    far_reads: float = 0.045e9
    """The same beyond that, where addresses have to be translated first."""
    device_gathers: float = 30e9
    """Reads of a GPU from random places of its own memory."""
    assumed: tuple[str, ...] = ()
    """The names of those that have not been measured on this machine."""

    @property
    def row_bytes(self) -> float:
        """Cost of reading one row anywhere on the disk, as bytes read in order in the same time."""
        return self.disk_bytes / self.disk_reads

    @property
    def disk_cost(self) -> float:
        """Cost of reading a byte from the disk, as bytes copied to a GPU in the same time."""
        return self.bus_bytes / self.disk_bytes

    @property
    def round_bytes(self) -> float:
        """Cost of a round between loads to a GPU, as bytes copied to it in the same time."""
        return ROUND_SECONDS * self.bus_bytes

    def pick_bytes(self, table: int) -> float:
        """Cost of a pick that is drawn in place over the bus from a graph of ``table`` bytes, as bytes copied to a GPU
        in the same time.

        A pick reads one place. Reads from 64 MiB to 16 GiB took within a third of what this says
        (docs/contributing/tuning.md).
        """
        near = min(BUS_REACH / max(table, 1), 1.0)
        return self.bus_bytes * (near / self.bus_reads + (1 - near) / self.far_reads)


HOST = ("gathers", "disk_bytes", "cached_bytes", "disk_writes", "disk_reads")
GPU = ("bus_bytes", "bus_reads", "far_reads", "device_gathers")
ASSUMED = Rates(assumed=HOST + GPU)
assert {*HOST, *GPU, "assumed"} == {field.name for field in fields(Rates)}
