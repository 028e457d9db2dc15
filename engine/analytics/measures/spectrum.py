"""The spectrum: the largest singular values of a graph's matrix, and the singular vector of the largest."""

from typing import ClassVar

import numpy as np

from csaw.engine.analytics.iterations import kept
from csaw.engine.analytics.measure import FIXED, Column, Curve, Findings, Measure, Number
from csaw.engine.analytics.network import Network
from csaw.engine.api.option import option
from csaw.engine.plan.footprint import Footprint
from csaw.partition.errors import BudgetError

METHOD = "Lanczos (ARPACK) from a fixed vector"
POINTS = 16  # of the curve of network values, for each tenfold of ranks


class Spectrum(Measure):
    """The largest singular values by rank, and the network values (Leskovec and Faloutsos, KDD 2006).

    The network values are the parts that vertices have in the left singular vector of the largest, by rank. Of an
    undirected graph the singular values are the absolute eigenvalues of the simple graph's matrix; of a directed graph
    repeats and self loops count as they are stored. Floats: the last bits may be others on another machine.
    """

    directions = ("undirected", "incoming")
    KEEPS: ClassVar = {"cpu": kept(20), "cuda": Footprint(72, fixed=FIXED)}
    KEEPS_DIRECTED: ClassVar = {"cuda": 16}
    paper = "Leskovec and Faloutsos 2006"
    by_default = False
    spectrum_size: int = option(20, help="number of leading singular values", low=1, high=1000)

    def keeps(self, device: str, directed: bool) -> Footprint:
        return kept(self.spectrum_size) if device == "cpu" else super().keeps(device, directed)

    def _require_host_memory(self, network: Network) -> None:
        """Raise BudgetError where a GPU multiplies, and host memory does not hold the vectors of ARPACK."""
        if network.device == "cpu":
            return
        allowed = network.host.memory  # type: ignore[attr-defined]
        needed = kept(self.spectrum_size).bytes(network.vertices, 0, network.id_dtype.itemsize)
        if needed > allowed:
            raise BudgetError(
                f"{network.store.path}: a spectrum of {self.spectrum_size} values needs {needed:,} bytes of host "
                f"memory, but only {allowed:,} are allowed; raise --memory to {needed:,}, or lower --spectrum-size"
            )

    def computes(self, directed: bool) -> tuple[str, ...]:
        return ("spectrum",)

    def findings(self, network: Network) -> Findings:
        self._require_host_memory(network)
        graph = network if network.directed else network.undirected
        values, vector = graph.compute("spectrum", count=self.spectrum_size)
        parts = -np.sort(-np.abs(vector))
        ranks = np.unique((10 ** (np.arange(1 + POINTS * np.log10(max(parts.size, 1)) // 1) / POINTS)).astype(np.int64))
        ranks = ranks[ranks <= parts.size]
        return {
            "singular values": Curve(np.arange(1, 1 + values.size), values, ("rank", "singular value"), METHOD),
            "network values": Curve(ranks, parts[ranks - 1], ("rank", "network value"), METHOD),
            "network value": Column(np.abs(vector), METHOD),
            "largest singular value": Number(float(values.max(initial=0)), METHOD),
        }
