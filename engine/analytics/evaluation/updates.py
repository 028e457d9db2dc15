"""Findings of a version of a graph store, brought up to date from those that are kept of an earlier version."""

import logging
from collections.abc import Iterator
from contextlib import suppress

from csaw.engine.analytics.changes import Changes, MeasuredAnew
from csaw.engine.analytics.evaluation import profiles
from csaw.engine.analytics.evaluation.networks import Networks
from csaw.engine.analytics.measure import Findings, Measure
from csaw.engine.devices import devices
from csaw.partition import GraphStore, open_graph
from csaw.partition.errors import BudgetError, StoreError
from csaw.partition.graph.versions import numbered

log = logging.getLogger(__name__)
OWN = "csaw.engine.analytics.measures."


class Updates:
    """Brings findings of the graph of ``networks`` up to date, on the CPU. Versions are compared once for all."""

    def __init__(self, networks: Networks) -> None:
        self.networks, self.store = networks, networks.store
        self.changes: dict[str, Changes] = {}

    def findings(self, one: Measure) -> Findings | None:
        """The findings of a measure, digit for digit as it would find them anew, or None; a remark says which.

        None without a remark if no findings of an earlier version are kept, or the measure cannot use them.
        """
        able = type(one).__module__.startswith(OWN) and type(one).updated is not Measure.updated
        if type(self.store) is not GraphStore or not able:
            return None
        for number, old in self._earlier():
            if (kept := profiles.read(old.identity, one)) is not None:
                try:
                    found = self._updated(one, old, kept)
                    log.info("%s: brought up to date from version %d", one.name(), number)
                    return found
                except (MeasuredAnew, BudgetError, StoreError) as error:
                    why = "there is too little memory for an update" if isinstance(error, BudgetError) else error
                    log.info("%s: measured anew, because %s", one.name(), why)
                    return None
        return None

    def _earlier(self) -> Iterator[tuple[int, GraphStore]]:
        """Earlier versions, the latest first; those that cannot be opened are left out."""
        for number, _ in reversed(numbered(self.store.base) if self.store.version else []):
            if number < self.store.version:
                with suppress(StoreError):
                    yield number, open_graph(self.store.base, version=number)

    def _updated(self, one: Measure, old: GraphStore, kept: Findings) -> Findings:
        from csaw.engine.analytics.cpu.changes import HostChanges, room_of

        if self.networks.gpus and not devices.is_auto(self.networks.wish.device):
            raise MeasuredAnew("--device names a GPU")
        host = self.networks.host
        host.keep(one.keeps("cpu", host.directed) + room_of(host))
        changes = self.changes.setdefault(old.identity, HostChanges(old, host))
        return one.updated(host, kept, changes)
