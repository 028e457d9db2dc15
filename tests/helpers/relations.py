"""Graphs of several types, and ways to select from each of their relations by itself."""

import numpy as np

import csaw
from helpers.machine import need_package

SIZES = {"a": 300, "b": 900, "c": 12}
RELATIONS = "a-to_b-b", "b-to_c-c", "b-to_b-b", "c-from_b-b"
FANOUT = {"a-to_b-b": (3, 2), "to_c": (2, 0), "b-to_b-b": (4, 3), "b-rev_to_b-a": (-1, 2), "rev_to_c": (1, 1)}
FIXED = FANOUT | {"b-rev_to_b-a": (5, 2)}  # without -1
WAYS = {
    "uniform": {"weighted": False, "fanout": FIXED},
    "all": {"weighted": False, "fanout": FANOUT},
    "weighted": {"fanout": FANOUT},
    "replace": {"replace": True, "fanout": FIXED},
    "replace-uniform": {"replace": True, "fanout": FIXED, "weighted": False},
    "disjoint": {"disjoint": True, "fanout": FIXED, "weighted": False},
    "sums": {"fanout": FIXED},
    "its": {"select": "its", "fanout": FANOUT},
}


def partitioned(folder, files, name="g", **options):
    """The graph of these relations, whose rows are given as text."""
    given = {}
    for relation, rows in files.items():
        (folder / f"{relation}.txt").write_text(rows)
        given[relation] = folder / f"{relation}.txt"
    return csaw.partition(given, folder / f"{name}.zarr", duplicates="keep", progress=False, **options)


def random_graph(folder, **options):
    """A random graph of three types with weights; two relations lead from b to b, and two from c to b."""
    draw, files = np.random.default_rng(4), {}
    for relation in RELATIONS:
        one, other = SIZES[relation[0]], SIZES[relation[-1]]
        src, dst = draw.integers(0, one, 4000), draw.integers(0, other, 4000) ** 2 // other
        files[relation] = "".join(f"{x} {y} {x % 4 / 4 + 0.25}\n" for x, y in zip(src, dst, strict=True))
    return partitioned(folder, files, reverse_relations=True, **options)


TIMED = {
    "uniform": {"time_strategy": "uniform", "fanout": FANOUT},
    "last": {"time_strategy": "last", "fanout": FIXED},
    "strict": {"time_strategy": "uniform", "time_order": "strict", "time_window": 20, "fanout": FIXED},
    "replace": {"time_strategy": "uniform", "replace": True, "fanout": FIXED},
}
"""Ways to select in time."""
SEEDS = {"ids": [f"b:{k}" for k in range(200)], "time": [k % 60 for k in range(200)]}


def graph_in_time(folder, **options):
    """The random graph without weights, with times of which many are equal."""
    draw, files = np.random.default_rng(5), {}
    for relation in RELATIONS:
        ends = (draw.integers(0, SIZES[relation[end]], 4000) for end in (0, -1))
        lines = "".join(f"{x},{y},{t}\n" for x, y, t in zip(*ends, draw.integers(0, 50, 4000), strict=True))
        files[relation] = f"source,target,time\n{lines}"
    return partitioned(folder, files, reverse_relations=True, time_column="time", **options)


WAYS_OF_HOPS = {name: WAYS[name] for name in ("uniform", "replace", "replace-uniform", "sums")} | {
    "its": {"select": "its", "fanout": FIXED},
    "zero": {"fanout": {"to_c": (1, 0), "b-to_b-b": (0, 2), "rev_to_c": (0, 3)}},
}
"""Ways to select in tables of hops, which have a place for each neighbor."""
WAYS_OF_SUBGRAPHS = {
    "all": WAYS["all"],
    "weighted": WAYS["weighted"],
    "unique": {"unique": True, "fanout": FIXED},
    "unique-all": {"unique": True, "fanout": FANOUT, "weighted": False},
}
"""Ways to select any number of neighbors, which tables have no places for."""
TIMED_HOPS = {
    "uniform": {"time_strategy": "uniform", "fanout": FIXED},
    "previous": {"time_strategy": "uniform", "time_against": "previous", "fanout": FIXED},
    "last": TIMED["last"],
    "strict": TIMED["strict"],
    "replace": TIMED["replace"],
}


def exported(sample, folder, types):
    """The edges of a sample as its CSV has them; its .pt has as many of each relation."""
    pandas, torch, data = map(need_package, ("pandas", "torch", "torch_geometric.data"))
    csaw.export(sample, folder / "e.csv")
    rows = pandas.read_csv(folder / "e.csv")
    rows = rows[rows["depth"] >= 0]
    csaw.export(sample, folder / "e.pt")
    held = data.HeteroData(torch.load(folder / "e.pt", weights_only=True))
    counts = rows["relation"].value_counts()
    for number, kind in enumerate(types.edge_types):
        assert held[kind].edge_index.shape[1] == counts.get(number, 0)
    return rows


def other_relation(arrays):
    """The edges of one relation, said to be of another."""
    arrays["relation"][arrays["relation"] == 2] = 1
    return arrays


def no_relation(arrays):
    """An edge of a relation that the graph has not."""
    arrays["relation"][3] += 200
    return arrays


def other_target(arrays):
    """An edge to another vertex of the same relation."""
    places = np.flatnonzero(arrays["relation"] == 2)
    arrays["dst"][places[5]] = arrays["dst"][places[99]]
    return arrays
