"""Where a run takes place: on the device that the user named, or on the one that is expected to end the whole run
first, by the rates of this machine.

Rates are measured in a fraction of a second when a plan first depends on them, and kept: see kept_rates.py.
"""

import logging
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from csaw.engine.devices.devices import Devices, first_gpu, is_auto, opened, place
from csaw.engine.devices.kept_rates import Found, entries, entry_of, keep_entries, kept, rates_of, read_entries
from csaw.engine.plan.choices import Residency
from csaw.engine.plan.plan import Plan
from csaw.engine.plan.rates import ASSUMED, GPU, GPU_SECONDS, HOST, START_SECONDS, Rates
from csaw.partition.base.cache import cache_dir
from csaw.partition.base.parallel import processors
from csaw.partition.errors import BudgetError, CsawError, OptionError

if TYPE_CHECKING:
    from csaw.engine.cuda.device import Device


log = logging.getLogger(__name__)
TABLE_BYTES, GATHERS = 128 << 20, 1 << 20  # what they touch lies beyond most caches, from one turn to the next, too
SLICE = 1 << 16  # of the gathers, timed alone: a millisecond, in which a busy machine may leave a thread in peace
FILE_BYTES, PIECE_BYTES, ROWS, READERS = 32 << 20, 1 << 20, 256, 8
SYNCED_BYTES = 8 << 20  # written at a time, and then synced
WRITE_SECONDS = 0.15  # after which the file that is read is long enough
TURNS = 5


def measured(devices: Devices = ()) -> Rates:
    """The rates of this machine and its GPUs. What has not been measured yet is measured now, and kept."""
    found, before = read_entries(), read_entries()
    for names, key in entries(devices):
        if not entry_of(found, key, names):
            log.info("measuring %s: once on this machine", key)
            found[key] = _measured_device(devices[0]) if names is GPU else _host()
    if found != before:  # an entry that is empty, because it could not be measured, is read as one that is missing
        keep_entries(found)
    return rates_of(found, devices)


def _host() -> Found:
    """Measure the host's memory and the disk of the cache folder.

    A disk that cannot be written there keeps what is assumed of it.
    """
    try:
        return {"gathers": _gathers(), **_disk()}
    except OSError as error:
        log.info("the disk is not measured: %s", error)
        return {"gathers": _gathers(), **{name: getattr(ASSUMED, name) for name in HOST if name != "gathers"}}


def _gathers() -> float:
    """Reads a second of one thread from random places, while each processor has such a thread."""
    table, count = np.ones(TABLE_BYTES // 4, np.uint32), processors()  # not zeros: they would all be one page
    places = np.random.default_rng(0).integers(0, table.size, GATHERS)

    def least(room: np.ndarray) -> float:
        slices = [places[begin : begin + SLICE] for begin in range(0, GATHERS, SLICE)] * TURNS
        return min(_seconds(lambda some=some: np.take(table, some, out=room, mode="clip")) for some in slices)  # type: ignore[misc]

    with ThreadPoolExecutor(count) as threads:
        return SLICE / max(threads.map(least, [np.empty(SLICE, table.dtype) for _ in range(count)]))


def _disk() -> Found:
    """Measure the bytes written a second and synced, the bytes read a second, and the reads a second.

    Bytes are read in order, and reads come from random places, of a file that the system does not hold in memory; and
    one thread reads the bytes once more while it does, into memory that the system has to clear.
    """
    with _file() as (file, size, written):
        places = np.random.default_rng(0).permutation(size >> 12)[:ROWS] << 12
        in_order = _reading(file, np.arange(0, size, PIECE_BYTES), PIECE_BYTES, os.POSIX_FADV_SEQUENTIAL)
        again = _least(lambda: os.preadv(file, [np.empty(size, np.uint8).data], 0))
        rows = _reading(file, places, 1, os.POSIX_FADV_RANDOM)
    of_bytes = {"disk_bytes": size / in_order, "cached_bytes": size / again, "disk_writes": written}
    return of_bytes | {"disk_reads": len(places) / rows}


@contextmanager
def _file() -> Iterator[tuple[int, int, float]]:
    """A file of noise, written to the disk, that is gone afterwards: its descriptor, its size, and the bytes that were
    written a second.
    """
    cache_dir().mkdir(parents=True, exist_ok=True)
    noise, size = np.random.default_rng(0).bytes(SYNCED_BYTES), 0
    clock = time.perf_counter()
    with tempfile.TemporaryFile(dir=cache_dir(), buffering=0) as file:
        while size < FILE_BYTES and (not size or time.perf_counter() - clock < WRITE_SECONDS):
            size += os.write(file.fileno(), noise)
            os.fdatasync(file.fileno())
        yield file.fileno(), size >> 12 << 12, size / (time.perf_counter() - clock)


def _reading(file: int, places: np.ndarray, size: int, advice: int) -> float:
    """Seconds to read ``size`` bytes at each place, by several threads, as partitions and rows are read."""

    def forget() -> None:
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.posix_fadvise(file, 0, 0, advice)

    def read(some: np.ndarray) -> None:
        for begin in some.tolist():
            os.pread(file, size, begin)

    shares = np.array_split(places, READERS)
    with ThreadPoolExecutor(READERS) as threads:
        return _least(lambda: list(threads.map(read, shares)), forget)


def _measured_device(device: "Device") -> Found:
    """Measure a GPU. One without memory for that keeps what is assumed, and is measured another time."""
    from csaw.engine.cuda.rates import device_rates

    try:
        return device_rates(device)
    except MemoryError as error:
        log.info("GPU %d is not measured: %s", device.number, error)
        return {}


def _least(run: Callable[[], object], before: Callable[[], None] = lambda: None) -> float:
    """The least seconds of a few turns: what else the machine does can only add to them."""
    found = []
    for _ in range(TURNS):
        before()
        found.append(_seconds(run))
    return min(found)


def _seconds(run: Callable[[], object]) -> float:
    clock = time.perf_counter()
    run()
    return time.perf_counter() - clock


CPU = "the CPU"
NOT_OPENED = "not opened, which would take longer than this run"
WHERE = {
    Residency.RESIDENT: "in memory",
    Residency.POOLED: "with a share of the graph on each",
    Residency.HOST: "streamed",
    Residency.DISK: "from disk",
}
Planned = Callable[[Devices, Rates], Plan]


@dataclass(frozen=True)
class Choice:
    """The devices of a run, the rates that its plan counts on, and where it could have taken place: the seconds that a
    plan expects, or why there is none.
    """

    devices: Devices
    rates: Rates
    ways: dict[str, float | str] = field(default_factory=dict)


def choose(device: str | object, planned: Planned, measure: bool) -> Choice:
    """Choose the devices of a run.

    ``device``: what the user named, or auto. ``planned`` makes the plan for GPUs, or for the CPU without any.
    ``measure``: whether to measure rates that are not known and on which the plan depends.
    """
    if not is_auto(device):
        devices = place(device)
        return Choice(devices, _rates(devices, planned, measure))
    if measure and (here := _at_once(planned)):
        return here
    first = first_gpu()
    if not first:
        return Choice((), _rates((), planned, measure))
    return _fastest(planned, first, measured(first) if measure else kept(first))


def _at_once(planned: Planned) -> Choice | None:
    """The CPU, where it ends before a GPU would have begun, which takes some tenths of a second to open."""
    rates = kept()
    try:
        plan = planned((), rates)
    except (BudgetError, OptionError):
        return None
    if plan.residency.streams or plan.expected["seconds"] > START_SECONDS + GPU_SECONDS:
        return None
    return Choice((), rates, {_name((), plan): plan.expected["seconds"], "a GPU": NOT_OPENED})


def _rates(devices: Devices, planned: Planned, measure: bool) -> Rates:
    """The rates for a plan on these devices; it depends on them if the graph is streamed."""
    rates = kept(devices)
    return measured(devices) if measure and planned(devices, rates).residency.streams else rates


def _fastest(planned: Planned, first: Devices, rates: Rates) -> Choice:
    """The way that is expected to take least time: the CPU, the first GPU, and if the graph does not fit there all GPUs
    that it reaches.
    """
    plans: dict[Devices, Plan] = {}
    refused: dict[Devices, CsawError] = {}

    def consider(devices: Devices) -> None:
        try:
            plans[devices] = planned(devices, rates)
        except (BudgetError, OptionError) as error:
            refused[devices] = error

    consider(())
    consider(first)
    if first[0].peers and not (first in plans and plans[first].residency is Residency.RESIDENT):
        consider((*first, *opened(first[0].peers)))
    if not plans:
        raise refused[first] if isinstance(refused[first], OptionError) else refused[()]
    ways: dict[str, float | str] = {_name(devices, plan): plan.expected["seconds"] for devices, plan in plans.items()}
    ways |= {_device(devices): str(error) for devices, error in refused.items()}
    return Choice(min(plans, key=lambda devices: plans[devices].expected["seconds"]), rates, ways)


def _name(devices: Devices, plan: Plan) -> str:
    return f"{_device(devices)} {WHERE[plan.residency]}"


def _device(devices: Devices) -> str:
    return f"GPU {','.join(str(gpu.number) for gpu in devices)} ({devices[0].name})" if devices else CPU
