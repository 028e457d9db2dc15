"""Degrees: how many edges vertices have, of a directed graph in each direction apart."""

from typing import ClassVar

import numpy as np

from csaw.engine.analytics.changes import Changes
from csaw.engine.analytics.measure import FIXED, Column, Distribution, Findings, Measure, Number
from csaw.engine.analytics.network import Network, on_host
from csaw.engine.plan.contracts import Array
from csaw.engine.plan.footprint import Footprint


class Degree(Measure):
    """Distribution, mean and maximum of the degrees, counting repeated edges and self loops."""

    KEEPS: ClassVar = {"cpu": Footprint(18, fixed=FIXED), "cuda": Footprint(32, fixed=FIXED)}
    KEEPS_DIRECTED: ClassVar = {"cpu": 16, "cuda": 56}

    def computes(self, directed: bool) -> tuple[str, ...]:
        return ("arriving_sums", "neighbor_sums") if directed else ()

    def findings(self, network: Network) -> Findings:
        if not network.directed:
            return _of("degree", network, network.degrees)
        arriving = network.compute("arriving_sums", values=network.xp.ones(network.vertices, np.int64))
        return _of("out-degree", network, network.degrees) | _of("in-degree", network, arriving)

    def updated(self, network: Network, kept: Findings, changes: Changes) -> Findings:
        if not network.directed:
            return self.findings(network)  # offsets tell all, without a look at the rows
        arriving, before = np.zeros(network.vertices, np.int64), kept["in-degree of vertices"]
        assert isinstance(before, Column)
        arriving[: before.values.size] = before.values
        np.add.at(arriving, changes.entries.neighbors, changes.entries.more)
        return _of("out-degree", network, network.degrees) | _of("in-degree", network, arriving)


def _of(name: str, network: Network, degrees: Array) -> Findings:
    counts = on_host(network.xp.bincount(degrees))
    values = np.flatnonzero(counts)
    found = Distribution(values, counts[values], name)
    return {
        name: found,
        name + " of vertices": Column(on_host(degrees)),
        f"mean {name}": Number(found.mean),
        f"largest {name}": Number(int(values.max(initial=0))),
    }
