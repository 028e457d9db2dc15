"""The graph of an evaluation on the devices that measures run on."""

from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Self

import numpy as np

from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.evaluation import profiles
from csaw.engine.analytics.evaluation.options import EvaluateOptions
from csaw.engine.analytics.kept import NOTHING
from csaw.engine.analytics.measure import LARGE, NARROW, SHARED, Findings, Measure
from csaw.engine.analytics.network import Network
from csaw.engine.analytics.unfinished import Unfinished
from csaw.engine.analytics.window_folder import WindowFolder
from csaw.engine.devices import devices
from csaw.engine.plan.residency import Residency
from csaw.partition import GraphStore
from csaw.partition.errors import BudgetError, OptionError
from csaw.partition.graph.windowed import Windowed


class Networks:
    """The graph in host memory, and on the GPUs that were asked for; loaded when a measure first reads it."""

    def __init__(self, store: GraphStore, wish: EvaluateOptions) -> None:
        self.store, self.wish = store, wish
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
        except BaseException:
            self._remove_folder()
            raise

    @cached_property
    def gpu(self) -> Network:
        """The graph on the first GPU, which hands parts of divided works to the others."""
        import cupy

        from csaw.engine.analytics.cuda.network import DeviceNetwork

        self.of_caller, wish = cupy.cuda.Device(), self.wish
        return DeviceNetwork(
            self.store,
            self.gpus[0],
            others=self.gpus[1:],
            gpu_memory=wish.gpu_memory,
            memory=wish.memory,
            threads=wish.threads,
            derived=self._derived,
            residency=wish.residency,
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
        network = self.gpu if self.gpus and not self._why_not(one) else self.host
        network.keep(one.keeps(network.device, self.store.directed))
        return network

    def findings(self, one: Measure) -> Findings:
        """Return the findings of a measure of the graph.

        On the CPU, where it may take minutes, it goes on where it was interrupted.
        """
        self.host.keep_unfinished(profiles.unfinished(self.store.identity, one))
        try:
            return one.findings(self.of(one))
        finally:
            self.host.keep_unfinished(Unfinished())

    def _lacks(self, one: Measure) -> list[str]:
        """Names of the modules that a measure needs and a GPU does not have, for ids as those of the graph."""
        from csaw.engine.analytics.cuda.network import DeviceNetwork

        wanted = one.computes(self.store.directed)
        return DeviceNetwork.lacks(wanted) + (sorted(NARROW.intersection(wanted)) if self.is_wide else [])

    @property
    def is_wide(self) -> bool:
        """Whether ids take 64 bits, as from 2^32 vertices on."""
        return np.dtype(self.store.id_dtype).itemsize == 8

    def _why_not(self, one: Measure) -> str:
        """The reason for which a measure does not run on the GPU; empty where it does."""
        if lacking := self._lacks(one):
            many = " that take 2^32 vertices" if self.is_wide and NARROW.issuperset(lacking) else ""
            return f"it has no kernels for GPUs{many}"
        return (
            "" if not devices.is_auto(self.wish.device) or self._has_room(one) else "the GPU has no room for its rows"
        )

    def _has_room(self, one: Measure) -> bool:
        """Whether the GPU has room for a measure that needs all rows there."""
        from csaw.engine.analytics.cuda.device_room import has_room

        found = [import_module(f"csaw.engine.analytics.cuda.{name}") for name in one.computes(self.store.directed)]
        needing = [module.more_bytes for module in found if hasattr(module, "more_bytes")]
        if not needing:
            return True
        try:
            self.gpu.keep(one.keeps(self.gpu.device, self.store.directed))
        except BudgetError:
            return False
        return all(has_room(self.gpu, more) for more in needing)

    def aside(self, one: Measure) -> str:
        """Words to add to the name of a measure: where it runs, if not where all others do."""
        if self.gpus and (why := self._why_not(one)):
            return f", on the CPU, since {why}"
        if len(self.gpus) < 2:
            return ""
        return f", on {len(self.gpus)} GPUs" if self._shares(one) else ", on the first GPU alone"

    def _shares(self, one: Measure) -> bool:
        """Whether several GPUs share a measure, by the size of the graph and where its rows are now."""
        wanted = one.computes(self.store.directed)
        return one.needs_only(SHARED, self.store.directed) or any(map(self._is_shared, LARGE.intersection(wanted)))

    def _is_shared(self, what: str) -> bool:
        return bool(import_module(f"csaw.engine.analytics.cuda.{what}").pays(self.gpu))

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
            "graph": "in memory"
            if network.resident
            else f"in {len(network.cut.partitions):,} blocks, one after the other",
            "graph_bytes": network.edges * network.edge_bytes,
            "measure_bytes": network.kept_bytes,
            "memory": network.budget,
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.host.close()
            if "gpu" in vars(self):
                self.gpu.close()
                self.of_caller.use()  # in place of the first GPU of the network
        finally:
            self._remove_folder()
