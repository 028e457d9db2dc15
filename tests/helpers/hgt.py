"""Mini-batches of hgt: the names of what many of the same seeds draw, and a slow definition of one."""

from collections import defaultdict

import numpy as np

import csaw
from csaw.engine.draws.random import neg_log, pool_word
from csaw.partition.graph.types import RELATION


def drawn(store, sources, times, **options):
    """The names of the drawn vertices of many mini-batches of the same seeds, each in the order of its draws."""
    given = {"sources": sources * times, "seeds_per_batch": len(sources), "device": "cpu", "progress": False}
    sample = csaw.sample(store, algo="hgt", **given | options)
    names = sample.names(np.arange(store.vertices))
    for k in range(sample.instances):
        yield tuple(names[sample.group(k, k + 1)["n_id"][len(sources) :]].tolist())


def defined(store, numbers, seeds, instance, seed, early=lambda time: True):
    """The nodes and edges of a mini-batch by the definition, with integers of Python and one vertex at a time.

    numbers: of each type, how many vertices each layer draws. early: whether an edge of a time counts.
    """
    graph, types = store.load([RELATION, *([] if store.time is None else [store.time])]), store.types
    at = [0] * store.edges if store.time is None else graph.columns[store.time.name].tolist()
    relation = graph.columns[RELATION.name].tolist()
    rows = defaultdict(lambda: defaultdict(list))
    for v in range(store.vertices):
        for edge in filter(lambda one: early(at[one]), range(graph.indptr[v], graph.indptr[v + 1])):
            rows[v][relation[edge]].append((int(graph.indices[edge]), edge))
    kind = [int(types.of(np.array([v]))[0]) for v in range(store.vertices)]
    nodes, layer, budgets, fresh = list(seeds), [0] * len(seeds), defaultdict(int), sorted(set(seeds))
    for depth in range(len(numbers[types.names[0]])):
        for v in fresh:
            for ends in rows[v].values():
                for u, _ in ends:
                    budgets[u] += (1 << 71) // len(ends)
        able = {u: b for u, b in budgets.items() if u not in nodes}
        fresh = []
        for number, name in enumerate(types.names):
            times = []
            for u in sorted(u for u in able if kind[u] == number):
                word = pool_word(np.uint64(seed), np.uint64(instance), np.uint64(depth), np.uint64(u))
                value = float(able[u] >> 31) + float(able[u] & (1 << 31) - 1) / 2**31
                times.append((neg_log(np.uint64(word)) / (value * value), u))
            fresh += [u for _, u in sorted(times)[: numbers[name][depth]]]
        nodes, layer = nodes + fresh, layer + [depth + 1] * len(fresh)
    edges = []
    for col, v in enumerate(nodes):
        for r in sorted(rows[v]):
            for place, (u, edge) in enumerate(rows[v][r]):
                if u in nodes and nodes.index(v) == col:
                    row = nodes.index(u)
                    edges.append((max(layer[row], layer[col], 1) - 1, col, r, place, row, edge))
    return nodes, layer, sorted(edges)
