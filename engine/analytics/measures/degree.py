"""Degrees: how many edges vertices have, of a directed graph in each direction apart."""

from typing import ClassVar

import numpy as np

from csaw.engine.analytics.kept import Kept
from csaw.engine.analytics.measure import Column, Distribution, Findings, Measure, Number
from csaw.engine.analytics.network import Network, on_host
from csaw.engine.plan.contracts import Array

DIRECTED = {"cpu": 16, "cuda": 56}  # bytes more of a vertex where edges have directions


class Degree(Measure):
    """Distribution, mean and maximum of the degrees: of entries of rows, repeats and self loops included."""

    KEEPS: ClassVar = {"cpu": Kept(18), "cuda": Kept(32)}

    def keeps(self, device: str, directed: bool) -> Kept:
        return super().keeps(device, directed).more(DIRECTED[device] if directed else 0)

    def computes(self, directed: bool) -> tuple[str, ...]:
        return ("arriving_sums", "neighbor_sums") if directed else ()

    def findings(self, network: Network) -> Findings:
        if not network.directed:
            return _of("degree", network, network.degrees)
        arriving = network.compute("arriving_sums", values=network.xp.ones(network.vertices, np.int64))
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
