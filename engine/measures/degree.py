"""Degrees: how many edges vertices have, of a directed graph in each direction apart."""

import numpy as np

from csaw.engine.measure import Column, Distribution, Findings, Measure, Number
from csaw.engine.network import Network


class Degree(Measure):
    """Distribution, mean and maximum of the degrees: of entries of rows, repeats and self loops included."""

    def findings(self, network: Network) -> Findings:
        if not network.directed:
            return _of("degree", network)
        return _of("out-degree", network) | _of("in-degree", network.incoming)


def _of(name: str, network: Network) -> Findings:
    counts = network.xp.bincount(network.degrees)
    counts = counts if isinstance(counts, np.ndarray) else counts.get()
    values = np.flatnonzero(counts)
    found = Distribution(values, counts[values], name)
    column = network.degrees if network.xp is np else network.degrees.get()
    return {
        name: found,
        name + " of vertices": Column(column),
        f"mean {name}": Number(found.mean),
        f"largest {name}": Number(int(values.max(initial=0))),
    }
