"""The graph of an evaluation on the devices that measures run on, and a folder for stores that are made of a window of
it, such as its undirected one.

The folder is removed with the window: the same one is rarely needed again, and there are many.
"""

import os
import re
import shutil
import socket
import tempfile
import time
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from csaw.engine.analytics.computations import BOTH_WAYS, SHARED, SPREAD
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.cuda.footprints import has_room
from csaw.engine.analytics.evaluation import profiles
from csaw.engine.analytics.evaluation.options import EvaluateOptions
from csaw.engine.analytics.measure import Findings, Measure
from csaw.engine.analytics.network import Network
from csaw.engine.analytics.spread import Spread, memory_of, place
from csaw.engine.analytics.unfinished import Unfinished
from csaw.engine.devices import devices
from csaw.engine.devices.devices import Devices
from csaw.engine.plan.choices import Residency
from csaw.engine.plan.footprint import NOTHING
from csaw.partition import GraphStore
from csaw.partition.base.cache import cache_dir, make_folder, written_here
from csaw.partition.base.file_locks import lock
from csaw.partition.errors import BudgetError, OptionError
from csaw.partition.graph.views import Windowed

if TYPE_CHECKING:
    from csaw.engine.analytics.cuda.network import DeviceNetwork


PREFIX, DRAFT = "window-", ".csaw-window-"
DRAFT_SECONDS = 3600.0  # far longer than a process takes to lock what it has made


class WindowFolder:
    """A new folder in the cache, removed by ``close``. What a killed process has left is removed when one is made.

    Its name ends with that of the host: locks of folders hold on their own host alone, where several share a disk, so
    that each host removes none but its own.
    """

    def __init__(self) -> None:
        base = cache_dir() / "networks"
        make_folder(base)
        here = f"@{_host()}"
        for left in [*base.glob(f"{PREFIX}*{here}"), *filter(_is_old, base.glob(f"{DRAFT}*{here}"))]:
            if _is_left(left):
                shutil.rmtree(left, ignore_errors=True)
        with written_here(base):
            made = Path(tempfile.mkdtemp(prefix=DRAFT, suffix=here, dir=base))
        self.lock = os.open(made, os.O_RDONLY | os.O_DIRECTORY)
        lock(self.lock)  # where the file system has no locks, no folder is taken for left
        self.path = made.rename(base / f"{PREFIX}{made.name.removeprefix(DRAFT)}")  # seen once it is locked

    def close(self) -> None:
        """Remove the folder with all that is in it."""
        if self.lock >= 0:
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self.lock)
            self.lock = -1


def _host() -> str:
    """The name of this host, of characters that a file name and a pattern can have."""
    return re.sub(r"[^A-Za-z0-9.-]", "_", socket.gethostname())


def _is_old(draft: Path) -> bool:
    """Whether a folder without its lasting name was made so long ago that its process was killed."""
    try:
        return time.time() - draft.stat().st_mtime > DRAFT_SECONDS
    except OSError:
        return False


def _is_left(folder: Path) -> bool:
    """Whether no process holds the lock of a folder."""
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        return lock(handle)
    except BlockingIOError:
        return False
    finally:
        os.close(handle)


class Networks:
    """The graph in host memory, and on the GPUs that were asked for; loaded when a measure first reads it.

    ``alone``: whether no other process of the same evaluation may be on this machine; else GPUs that the user has not
    named are left to the others.
    """

    def __init__(self, store: GraphStore, wish: EvaluateOptions, *, alone: bool = True) -> None:
        self.store, self.wish, self.alone = store, wish, alone
        self.gpus = devices.first_gpu() if devices.is_auto(wish.device) else devices.place(wish.device)
        residency = self._on_host(wish.residency)
        self.folder = WindowFolder() if isinstance(store, Windowed) else None
        try:
            self.host = HostNetwork(
                store,
                memory=wish.memory,
                threads=wish.threads,
                derived=self._derived,
                residency=residency,
                kept=NOTHING,
            )
            self.gpus, self.residency = self._placed()
        except BaseException:
            if "host" in vars(self):
                self.host.close()
            self._remove_folder()
            raise

    def _placed(self) -> tuple[Devices, Residency | None]:
        """The GPUs that measure, and where the graph must be on them, or None.

        OptionError where the user wants it on several GPUs, or an exchange between them, and there are not several.
        """
        wish, found = self.wish, (self.gpus, self.wish.residency)
        takes_more = self.alone and devices.is_auto(wish.device)
        if self.gpus:
            found = place(
                self.store,
                lambda: self.host.offsets,
                self.gpus,
                more=partial(devices.opened, self.gpus[0].peers if takes_more else ()),
                residency=wish.residency,
                gpu_memory=wish.gpu_memory,
            )
        if wish.exchange and len(found[0]) < 2:
            raise OptionError(
                f"--exchange {wish.exchange}: expected several GPUs; name them, as in --device cuda:0,1, or leave "
                "it out"
            )
        return found

    @property
    def is_pooled(self) -> bool:
        """Whether the graph is spread over the GPUs."""
        return self.residency is Residency.POOLED

    @cached_property
    def gpu(self) -> "DeviceNetwork":
        """The graph on the first GPU, which hands parts of divided works to the others."""
        return self._opened(self.residency)

    @cached_property
    def beside(self) -> "DeviceNetwork":
        """The graph of measures that need all rows: in the memory of a GPU if it fits there, else in blocks."""
        return self._opened(None)

    def _opened(self, residency: Residency | None) -> "DeviceNetwork":
        import cupy

        from csaw.engine.analytics.cuda.network import DeviceNetwork
        from csaw.engine.analytics.cuda.pooled_network import PooledNetwork

        if "of_caller" not in vars(self):
            self.of_caller = cupy.cuda.Device()
        wish = self.wish
        kind = PooledNetwork if residency is Residency.POOLED else DeviceNetwork
        return kind(
            self.store,
            self.gpus[0],
            others=self.gpus[1:],
            gpu_memory=wish.gpu_memory,
            memory=wish.memory,
            threads=wish.threads,
            derived=self._derived,
            residency=residency,
            exchange=wish.exchange,
            kept=NOTHING,
        )

    @property
    def _derived(self) -> Path | None:
        """The folder for stores that are made of the graph; None: the cache, which keeps them."""
        return None if self.folder is None else self.folder.path

    def _remove_folder(self) -> None:
        if self.folder is not None:
            self.folder.close()

    def _on_host(self, wanted: Residency | None) -> Residency | None:
        """The residency of the graph on the host, where ``wanted`` is that of the measures.

        Beside a GPU it is for measures without kernels there.
        """
        if self.gpus:
            return wanted if wanted is Residency.DISK else None
        if wanted is not None and not wanted.on_cpu:
            raise OptionError(
                f"--residency {wanted} is for GPUs; on the CPU, use {Residency.RESIDENT} or {Residency.DISK}"
            )
        return wanted

    def of(self, one: Measure) -> Network:
        """Return the network for a measure: on the GPU where it can run there, else on the host.

        A GPU that the user names runs it, or says why it cannot. Memory is set aside for what the measure keeps.
        Raises BudgetError where there is too little.
        """
        if not self.gpus or self._why_not(one):
            network: Network = self.host
        else:
            network = self._on_gpus(one)
            self._make_room(network)
        one.set_aside(network)
        return network

    def _on_gpus(self, one: Measure) -> "DeviceNetwork":
        return self.gpu if self._spreads(one) else self.beside

    def _spreads(self, one: Measure) -> bool:
        """Whether a measure runs over the graph as it is on the GPUs."""
        if not self.is_pooled:
            return True
        able = SPREAD.issuperset(one.computes(self.store.directed))
        return able and (self.wish.residency is Residency.POOLED or self._has_room_spread(one))

    def _has_room_spread(self, one: Measure) -> bool:
        """Whether a measure has room on each GPU beside its share of the rows."""
        kept = one.keeps("cuda", self.store.directed)
        size = kept.bytes(self.store.vertices, self.store.edges, np.dtype(self.store.id_dtype).itemsize)
        return size + self._share_bytes <= memory_of(self.gpus, self.wish.gpu_memory)

    @cached_property
    def _share_bytes(self) -> int:
        """Bytes of the rows on each GPU of a spread graph."""
        return Spread.of_store(self.store, self.host.offsets, len(self.gpus)).bytes_of_rows(self.store)

    def findings(self, one: Measure) -> Findings:
        """Return the findings of a measure of the graph.

        On the CPU, where it may take minutes, it goes on where it was interrupted.
        """
        self.host.keep_unfinished(profiles.unfinished(self.store.identity, one))
        try:
            return one.findings(self.of(one))
        finally:
            self.host.keep_unfinished(Unfinished())

    def _make_room(self, wanted: Network) -> None:
        """Give back the rows of a network on the GPUs that is not ``wanted``."""
        for name in {"gpu", "beside"} & vars(self).keys():
            other: DeviceNetwork = vars(self)[name]
            if other is wanted:
                continue
            for one in (other, *other.made_networks().values()):
                one.withdraw()

    def _lacks(self, one: Measure) -> list[str]:
        """Names of the computations that a measure needs and a GPU does not have."""
        from csaw.engine.analytics.cuda.network import DeviceNetwork

        return DeviceNetwork.lacks(one.computes(self.store.directed))

    def _why_not(self, one: Measure) -> str:
        """The reason for which a measure does not run on the GPU; empty where it does."""
        if self._lacks(one):
            return "it has no kernels for GPUs"
        return (
            "" if not devices.is_auto(self.wish.device) or self._has_room(one) else "the GPU has no room for its rows"
        )

    def _has_room(self, one: Measure) -> bool:
        """Whether the GPU has room for a measure that needs all rows there, or for what is kept of 2^32 vertices."""
        network = self._on_gpus(one)
        needing = [work.more for work in one.works(network) if work.more is not None]
        if not needing and self.store.id_dtype.itemsize < 8:
            return True
        try:
            one.set_aside(network)
        except BudgetError:
            return False
        return all(has_room(network, more) for more in needing)

    def aside(self, one: Measure) -> str:
        """Words to add to the name of a measure: where it runs, if not where all others do."""
        if self.gpus and (why := self._why_not(one)):
            return f", on the CPU, since {why}"
        if len(self.gpus) < 2:
            return ""
        all_rows = "" if self._spreads(one) else ", by way of all rows"
        return (f", on {len(self.gpus)} GPUs" if self._shares(one) else ", only on the first GPU") + all_rows

    def _shares(self, one: Measure) -> bool:
        """Whether several GPUs share a measure, by the size of the graph and where its rows are now."""
        wanted = one.computes(self.store.directed)
        network = self.of(one)
        if BOTH_WAYS.intersection(wanted) and network.would_be_in_turn:
            return False
        return one.needs_only(SHARED, self.store.directed) or one.pays(network)

    def _device(self, one: Measure) -> str:
        """The device of a measure, as ``--device`` names it."""
        if self.of(one) is self.host:
            return "cpu"
        used = self.gpus if self._shares(one) else self.gpus[:1]
        return f"cuda:{','.join(str(gpu.number) for gpu in used)}"

    def plan(self, one: Measure) -> dict[str, object]:
        """Say where a measure would run, and where the graph would be."""
        network = self.of(one)
        return {
            "device": self._device(one),
            "graph": self._place(network, one),
            "graph_bytes": network.edges * network.edge_bytes,
            "measure_bytes": network.kept_bytes,
            "memory": network.memory,
        }

    def _place(self, network: Network, one: Measure) -> str:
        """Where a network's rows are while a measure reads them, and where those that it makes of them are."""
        if self.is_pooled and network is vars(self).get("gpu"):
            return f"spread over {len(self.gpus)} GPUs"
        enough = one.suffices(network)
        refused = f", or refused: {enough:,} bytes are enough" * (enough > network.memory)
        if network.must_stream:
            if one.refuses_blocks(network):
                return f"refused: all rows must be in memory; leave out --residency {network.residency}"
        elif one.needs_all_rows(network):
            return f"in memory{refused}"
        if network.resident:
            perhaps = ", rows made of it perhaps in blocks" * (one.whole_bytes(network) > network.memory)
            return f"in memory{perhaps}{refused}"
        blocks = len(network.cut.partitions)
        return f"in {blocks:,} blocks, one after the other{refused}" if blocks > 1 else f"in one block{refused}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.host.close()
            for network in {"gpu", "beside"} & vars(self).keys():
                vars(self)[network].close()
        finally:
            if "of_caller" in vars(self):
                self.of_caller.use()  # in place of the first GPU of the network
            self._remove_folder()
