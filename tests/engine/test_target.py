"""``--target``: instances joined from base instances are what a slow reference joins, however they are drawn."""

from dataclasses import replace
from itertools import count, pairwise

import numpy as np
import pytest
from helpers.graphs import random_store, rows_of

from csaw.engine import prepare, stream
from csaw.engine.plan.target import number_of
from csaw.engine.random import words
from csaw.engine.sample_stream import Stream

ALGORITHMS = {
    "forest-fire": {"burn_prob": 0.5},
    "snowball": {"depth": 1},
    "neighbor": {"fanout": (2, 2)},
    "layer": {"neighbor_size": 3},
    "multidimensional": {"walk_length": 5, "frontier_size": 2},
    "random-edge": {"neighbor_size": 4},
    "deepwalk": {"walk_length": 5},
    "node2vec": {"walk_length": 5, "p": 0.5, "q": 2.0},
    "jump": {"walk_length": 5},
    "restart": {"walk_length": 5},
    "metropolis-hastings": {"walk_length": 5},
    "ppr": {},
    "saint-walk": {},
}


def address(instance, j):
    """The number of base instance j, from 0, of an instance."""
    round_ = (j + 1).bit_length() - 1
    return number_of(instance, round_) + j + 1 - 2**round_


def base_job(store, algorithm, **given):
    """A stream of base instances, one by one, by their numbers."""
    job = prepare(store, algorithm, device="cpu", in_flight=1, ids="dense", target=1, **given)
    request = replace(job.plan.request, target=0, instances=2**63 - 1, induced=False)
    return Stream(replace(job, plan=replace(job.plan, request=request, induced=False, sorts_steps=False)))


def steps(bases, number):
    """The sources of a base instance, and its edges (src, dst, depth) in order."""
    [batch] = bases.draw(number, number + 1)
    arrays = {name: array.tolist() for name, array in batch.arrays().items()}
    if "walks" in arrays:
        walk = np.ravel(arrays["walks"])[: arrays["lengths"][0] + 1].tolist()
        return walk[:1], [(a, b, k) for k, (a, b) in enumerate(pairwise(walk))]
    if "hop_0" in arrays:
        hops, edges = [np.ravel(hop).tolist() for hop in arrays.values()], []
        for depth in range(len(hops) - 1):
            fanout = len(hops[depth + 1]) // len(hops[depth])
            pairs = [(hops[depth][i // fanout], v) for i, v in enumerate(hops[depth + 1])]
            edges += [(u, v, depth) for u, v in pairs if v != 2**32 - 1]
        return hops[0], edges
    edges = list(zip(arrays["src"], arrays["dst"], arrays["depth"], strict=True))
    if not arrays["sources"]:  # a set of edges, which are met in random order
        order = [words(bases.job.plan.request.seed, number, 2**32 - 1, draw)[:2] for draw in range(len(edges))]
        edges = [edge for _, edge in sorted(zip(map(tuple, order), edges, strict=True))]
    return arrays["sources"], edges


def reference(bases, instance, target, rows, whole=False, most=None):
    """The vertices, sources and edges of an instance, vertex by vertex. ``rows``: the neighbors of each vertex."""
    met, sources, edges, barren = set(), [], [], 0
    for j in count():
        if len(met) == target or barren == (most or 10**9):
            break
        before, kept, (starts, taken) = len(met), (sources[:], edges[:]), steps(bases, address(instance, j))
        for vertex in starts:
            if len(met) < target:
                met.add(vertex)
                sources.append(vertex)
        for src, dst, depth in taken:
            if len(met) == target:
                break
            met.add(src)
            if len(met) < target or dst in met:
                met.add(dst)
                edges.append((src, dst, depth))
        barren = 0 if len(met) > before else barren + 1
        if barren:
            sources, edges = kept
    if whole:
        edges = [(u, v, 0) for u in sorted(met) for v in rows[u] if v in met]
    return sorted(met), sources, [(u, v, d) for u, v, d in edges if v in rows[u]]


def drawn(store, algorithm, **given):
    """Each instance of a sample as the reference gives them."""
    out = []
    with stream(store, algorithm, ids="dense", **{"device": "cpu", **given}) as batches:
        for batch in batches:
            arrays = batch.arrays()
            ends = {n: np.cumsum(arrays[n]) for n in ("counts", "source_counts", "vertex_counts")}
            for i in range(batch.instances):

                def cut(name, by, i=i, arrays=arrays, ends=ends):
                    return arrays[name][ends[by][i] - arrays[by][i] : ends[by][i]].tolist()

                edges = list(zip(*(cut(n, "counts") for n in ("src", "dst", "depth")), strict=True))
                out.append((cut("vertices", "vertex_counts"), cut("sources", "source_counts"), edges))
    return out


@pytest.mark.parametrize("whole", [False, True], ids=["drawn", "induced"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_instances_are_what_a_slow_reference_joins(tmp_path, algorithm, whole):
    store = random_store(tmp_path / "g.zarr", vertices=80, edges=300)
    rows = {v: [u for u, _ in row] for v, row in enumerate(rows_of(store, False))}
    given = ALGORITHMS[algorithm] | {"seed": 5}
    found = drawn(store, algorithm, target=30, instances=3, induced=whole, **given)
    with base_job(store, algorithm, **given) as bases:
        expected = [reference(bases, k, 30, rows, whole or algorithm == "saint-walk") for k in range(3)]
    for (vertices, sources, edges), (met, starts, taken) in zip(found, expected, strict=True):
        assert len(vertices) == 30
        assert vertices == met
        assert edges == taken
        assert sources == (starts or (vertices if whole else []))
