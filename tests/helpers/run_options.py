"""Values at the interesting ends of each option of a run, and samples that stay small whatever they are."""

import numpy as np
from fuzz.options import COMMON, COMPILED

from csaw.engine.api import registry
from csaw.engine.api.option import PerType
from csaw.engine.plan.options import options
from helpers import cases

OWN = {
    "sources": ["all", "random:1", "random:5", "random:34", "good.ids", [5], [3, 3], [0, 1, 2, 3, 33], []],
    "instances": [1, 2, 7, 100, 1000],
    "weighted": [True, False],
    "edge_bias": ["1", "0", "e.weight * e.dst_degree ** -0.5", "e.dst % 2", "1 if e.src < e.dst else 0", "e.depth"],
    "columns": ["of the graph"],
    "metapath": ["writes,cites"],
    "memory": ["100KB", "1MiB"],
    "threads": [1, 2, 3],
    "in_flight": [1, 2, 7, 100_000],
}
"""Values that mostly run; those of the fuzzer mostly do not."""
FUZZED = {name.removeprefix("--").replace("-", "_"): values for name, values in (COMMON | COMPILED).items()}
SLOW = {"sources": ["random:" + "9" * 5000]}  # looked at elsewhere
SMALL = {
    **cases.OPTIONS,
    "forest-fire": {"burn_prob": 0.4},
    "random-node": {"frontier_size": 6, "instances": 10},
    "random-edge": {"neighbor_size": 9, "instances": 10},
    "layer": {"depth": 3, "neighbor_size": 5},
    "ladies": {"frontier_size": 4, "layer_sizes": (6, 5)},
    "fastgcn": {"frontier_size": 4, "layer_sizes": (9, 8)},
    "labor": {"fanout": (4, 3), "frontier_size": 6},
    "saint-edge": {"frontier_size": 6, "instances": 10},
    "saint-walk": {"frontier_size": 5, "instances": 10},
    "saint-multidimensional": {"frontier_size": 4, "walk_length": 20, "instances": 10},
    "links": {"num_negatives": 2, "instances": 10, "skip_full": True},
    "saint-node": {"subgraph_nodes": 9, "instances": 10},
}
"""Options of algorithms for a graph of some tens of vertices."""
ENDS = {int: ["0", "1", "2", "5", "50"], float: ["0", "0.25", "0.5", "1", "4"], tuple: ["3,2", "0", "-1", "1,0", "40"]}
ENDS[PerType] = ["3,2", "0", "1,0", "40"]
TIMES = {"start_time": ["0", "5"], "last_time": ["0", "12"], "time_window": ["0", "4"]}


def small(algo):
    """The options with which an algorithm draws a small sample."""
    walks = {"walk_length": 20} if "walk_length" in registry.find(algo).options() and algo != "ppr" else {}
    return walks | SMALL.get(algo, {})


def values_of(name, option):
    """Values of an option of a run."""
    if option.kind is bool and name not in OWN:
        return [True, False]
    if option.choices:
        return [str(choice) for choice in option.choices]
    return [*OWN.get(name, ()), *(one for one in FUZZED.get(name, ()) if one not in SLOW.get(name, ()))]


def run_values():
    """The values of every option of a run, by its name."""
    return {name: values_of(name, option) for name, option in options().items()}


def own_values(algo):
    """Values of the options of an algorithm, by their names."""
    found = {}
    for name, option in registry.find(algo).options().items():
        if option.choices:
            found[name] = [str(choice) for choice in option.choices]
        elif option.kind is bool:
            found[name] = [True, False]
        else:
            found[name] = [*(ENDS.get(option.kind) or TIMES.get(name, ())), *["none"] * bool(option.none)]
    return {name: values for name, values in found.items() if values}


def given(algo, chosen, vertices):
    """The arguments of ``csaw.sample`` for some options, with the columns of data that they read."""
    wanted = small(algo) | chosen
    if wanted.pop("columns", None) or "column(" in str(wanted.get("edge_bias", "")):
        wanted["columns"] = {"x": np.arange(vertices) / 7.0}
    return wanted
