"""Degree assortativity: whether vertices of many edges have neighbors of many edges (Newman 2002)."""

import math
from typing import ClassVar

import numpy as np

from csaw.engine.analytics.measure import FIXED, Curve, Findings, Measure, Number
from csaw.engine.analytics.network import Network, on_host
from csaw.engine.plan.footprint import Footprint

NEITHER = float("nan")  # where all edges have ends of one degree, or there is none


class Assortativity(Measure):
    """The correlation of the degrees of an edge's ends, and the mean degree of neighbors by degree.

    Of the simple undirected graph (Newman, Physical Review Letters 89:208701, 2002); of a directed graph also the
    correlation of the out- or in-degree of where an edge leaves with the out- or in-degree of where it leads, of
    entries of rows as they are stored (Foster, Foster, Grassberger and Paczuski, PNAS 107(24), 2010). Sums are of
    integers, of any size.
    """

    directions = ("undirected",)
    KEEPS: ClassVar = {"cpu": Footprint(34, fixed=FIXED), "cuda": Footprint(68, fixed=FIXED)}
    KEEPS_DIRECTED: ClassVar = {"cpu": 38, "cuda": 48}
    finds_columns = False
    paper = "Newman 2002"

    def computes(self, directed: bool) -> tuple[str, ...]:
        return ("neighbor_sums",)

    def findings(self, network: Network) -> Findings:
        found = _undirected(network.undirected)
        return found | _directed(network) if network.directed else found


def _undirected(network: Network) -> Findings:
    from csaw.engine.analytics.cpu.kernels.sums import sum_by_key

    degrees = on_host(network.degrees)
    sums = on_host(network.compute("neighbor_sums", values=network.degrees))
    counts = np.bincount(degrees)
    of_degree = np.zeros(counts.size, np.int64)
    sum_by_key(degrees, sums, of_degree)
    values = np.flatnonzero(counts)
    values = values[values > 0]
    means = of_degree[values] / (values * counts[values])
    return {
        "assortativity": Number(_correlation(degrees, degrees, degrees, degrees, sums)),
        "neighbor degree": Curve(values, means, ("degree", "mean degree of neighbors")),
    }


def _directed(network: Network) -> Findings:
    every = network.xp.ones(network.vertices, "int64")
    ends = {"out": network.degrees, "in": network.compute("arriving_sums", values=every)}
    degrees = {name: on_host(values) for name, values in ends.items()}
    found: Findings = {}
    for there, values in ends.items():
        sums = on_host(network.compute("neighbor_sums", values=values))
        for here, of_here in degrees.items():
            correlation = _correlation(degrees["out"], of_here, degrees["in"], degrees[there], sums)
            found[f"assortativity {here}-{there}"] = Number(correlation)
    return found


def _correlation(
    leaving: np.ndarray, here: np.ndarray, arriving: np.ndarray, there: np.ndarray, sums: np.ndarray
) -> float:
    """Correlate, over all edges, ``here`` of the vertex that an edge leaves with ``there`` of the one where it leads.

    All arrays are int64 [V]. ``leaving`` and ``arriving``: numbers of edges; ``sums``: of ``there``, over all vertices
    to which edges of a vertex lead.
    """
    edges = int(leaving.sum())
    sum_here, sum_there = _total(leaving, here), _total(arriving, there)
    spread_here = edges * _total(leaving, here * here) - sum_here**2
    spread_there = edges * _total(arriving, there * there) - sum_there**2
    if not spread_here or not spread_there:
        return NEITHER
    return (edges * _total(here, sums) - sum_here * sum_there) / math.sqrt(spread_here * spread_there)


def _total(x: np.ndarray, y: np.ndarray) -> int:
    """Sum the products of integers that are not negative, in 128 bits."""
    from csaw.engine.analytics.cpu.kernels.sums import sum_products

    high, low = sum_products(0, x.size, x.view(np.uint64), y.view(np.uint64))
    return int(high) << 64 | int(low)
