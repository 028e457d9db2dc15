"""The limits of this machine: gathers from random places, copies to a GPU, synced writes to the disk."""

import datetime
import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from csaw.engine.bench import KERNELS
from csaw.engine.bench.bench_row import MACHINE, Row, figure
from csaw.engine.plan.rates import processor_name
from csaw.engine.schedule.workers import WRITERS
from csaw.partition.arrays.files import sync_folder
from csaw.partition.base.quoting import format_size
from csaw.partition.base.version import VERSION

if TYPE_CHECKING:
    from csaw.engine.cuda.device import Device

# Of tables on a GPU: one far beyond any cache, one as large as the arrays of a graph of 10^9 edges.
CEILING_BYTES = (2 << 30, 32 << 30)
CHAINS = 4000  # walkers of C-SAW's figure 9, too few to hide the latency of a gather
CHAINED = f"gathers one after the other, {CHAINS} side by side"
COPIES = "copies to the GPU, pinned"
HOST_CEILING_BYTES = 256 << 20
COPY_BYTES = 1 << 30
FILE_BYTES = 32 << 20  # of a file in the plain write, as a group of a sample store has


def about(device: "Device | None", threads: int, command: str) -> Row:
    """The first bench row: the command, the machine, and how many processes wanted a processor before it began."""
    name = processor_name() if device is None else device.name
    return {
        "suite": MACHINE,
        "csaw": VERSION,
        "device": name,
        "threads": threads,
        "command": command,
        "date": datetime.date.today().isoformat(),
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 1),
    }


@contextmanager
def held_to(threads: int) -> Iterator[None]:
    """Hold this thread, and all processes that it starts meanwhile, to as many processors as the run has threads.

    So a program that takes all processors that it finds is measured with those that the first row names.
    """
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(allowed)[:threads])
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def limits(device: "Device | None", threads: int) -> list[Row]:
    """Measure random gathers from independent addresses, by all processors at once, or by a GPU.

    On a GPU (``device``) also copies from page-locked memory.
    """
    return [_host_gathers(threads)] if device is None else _device_limits(device)


def timed(call: Callable[[], object], repeats: int, wait: Callable[[], object] = lambda: None) -> list[float]:
    """The seconds of each repeat, after one that does not count. ``wait``: until the device is done."""
    call()
    wait()
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        call()
        wait()
        seconds.append(time.perf_counter() - began)
    return seconds


def _rates(
    run: Callable[[], None], amount: float, wait: Callable[[], None] = lambda: None, repeats: int = 3
) -> list[float]:
    """The rates of runs that each handle ``amount``."""
    return [amount / seconds for seconds in timed(run, repeats, wait)]


def _limit(work: str, rates: list[float], unit: str) -> Row:
    """The bench row of a limit: the highest rate that was seen."""
    return {"suite": MACHINE, "work": work, **figure(rates, unit), "rate": max(rates)}


def _device_limits(device: "Device") -> list[Row]:
    import cupy

    with cupy.cuda.Device(device.number):
        wait = cupy.cuda.get_current_stream().synchronize
        found = [*_device_gathers(device, wait), _device_copies(wait)]
        cupy.get_default_memory_pool().free_all_blocks()
    return found


def _device_gathers(device: "Device", wait: Callable[[], None]) -> Iterator[Row]:
    import cupy

    from csaw.engine.cuda.compile import Unit
    from csaw.engine.cuda.launch import Kernels

    kernels = Kernels(Unit((str(KERNELS / "ceiling.cu"),), {}, [], ()), device)
    blocks, block, rounds = 16 * device.processors, 256, 64
    for size in [size for size in CEILING_BYTES if size <= device.free_bytes // 2] or [device.free_bytes // 4]:
        table = cupy.zeros(size // 4, np.uint32)
        run = partial(kernels.launch, "gather_16", blocks, block, size // 16, table, rounds, table)
        rates = _rates(run, blocks * block * rounds * 8, wait, 5)
        yield _limit(f"gathers from {format_size(size)}", rates, "gathers/s")
    steps = 2000
    # Small blocks, because a warp waits for the slowest of its gathers.
    block = -(-CHAINS // kernels.resident("chase_16", 1))
    run = partial(kernels.launch, "chase_16", CHAINS // block, block, size // 16, table, steps, table)
    yield _limit(CHAINED, _rates(run, CHAINS // block * block * steps, wait, 5), "gathers/s")


def _device_copies(wait: Callable[[], None]) -> Row:
    import cupy

    pinned = np.frombuffer(cupy.cuda.alloc_pinned_memory(COPY_BYTES), np.uint8, COPY_BYTES)
    there = cupy.empty(COPY_BYTES, np.uint8)
    return _limit(COPIES, _rates(lambda: there.set(pinned), COPY_BYTES, wait), "bytes/s")


def _host_gathers(threads: int) -> Row:
    from csaw.engine.bench.gather import gather

    # Not zeros: pages never written would all be one page, in the cache.
    table = np.ones(HOST_CEILING_BYTES // 4, np.uint32)
    count = threads << 22
    rates = _rates(lambda: gather(table, threads, count // threads), count)
    return _limit(f"gathers from {format_size(HOST_CEILING_BYTES)}", rates, "gathers/s")


def plain_write(folder: Path, size: int) -> float:
    """Seconds to write files of 32 MiB, ``size`` bytes in all, and sync each.

    As many are written at a time as a sample store writes.
    """
    noise = np.random.default_rng(0).bytes(min(FILE_BYTES, size))  # a file system may skip zeros
    with tempfile.TemporaryDirectory(dir=folder) as name, ThreadPoolExecutor(WRITERS) as writers:
        parts = [noise] * (size // len(noise)) + ([noise[: size % len(noise)]] if size % len(noise) else [])
        began = time.perf_counter()
        list(writers.map(lambda part: _write_synced(Path(name, str(part[0])), part[1]), enumerate(parts)))
        sync_folder(Path(name))
        return time.perf_counter() - began


def plain_read(files: Iterable[Path]) -> float:
    """Seconds to read files whole, in pieces of 32 MiB by as many threads as write.

    Files that were just written are in the page cache.
    """
    sizes = [(file, file.stat().st_size) for file in files]
    pieces = [
        (file, begin, min(FILE_BYTES, size - begin)) for file, size in sizes for begin in range(0, size, FILE_BYTES)
    ]
    with ThreadPoolExecutor(WRITERS) as readers:
        began = time.perf_counter()
        list(readers.map(_read_piece, pieces))
        return time.perf_counter() - began


def forget(folder: Path) -> None:
    """Drop a folder's files from the page cache."""
    for file in folder.rglob("*"):
        if file.is_file():
            descriptor = os.open(file, os.O_RDONLY)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)


def _read_piece(piece: tuple[Path, int, int]) -> None:
    file, begin, size = piece
    with open(file, "rb", buffering=0) as source:
        source.seek(begin)
        room = memoryview(bytearray(size))
        while room and (found := source.readinto(room)):
            room = room[found:]


def _write_synced(path: Path, data: bytes) -> None:
    with open(path, "wb", buffering=0) as file:
        view = memoryview(data)
        while view:
            view = view[file.write(view) :]
        os.fsync(file.fileno())
