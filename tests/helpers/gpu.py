"""What tests on a GPU share: every algorithm, method and layout; graphs with every trouble in them; and a skip where
there is no GPU.
"""

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from csaw.engine.algorithm import Walk
from csaw.engine.api import registry
from csaw.engine.cuda.device import Device, open_device
from csaw.engine.plan.choices import DETECTORS
from csaw.partition.errors import DeviceError, MissingDependencyError
from helpers.cases import OPTIONS
from helpers.graphs import SQUARE, TIMELESS, TROUBLED, WideStore, heavy_store, random_store, store_of
from helpers.machine import Lack, lacking, need_package

ROOT = Path(__file__).parents[2]
LOADED = """
import sys
from csaw.cli.main import cli
cli.main(sys.argv[1:], standalone_mode=False)
print("imported:", *sorted({"numba", "scipy.sparse"} & sys.modules.keys()))
"""
NEAR = "(4 if e.dst == e.prev else 1 if e.prev < 0 or e.is_neighbor(e.prev, e.dst) else 0.5)"
MORE = [
    *(
        ("deepwalk", {"induced": True, "walk_length": 9, "layout": layout})
        for layout in ("alias", "table", "entries", "csr")
    ),
    ("node2vec", {"induced": True, "walk_length": 9, "p": 0.3, "q": 3.0}),
    ("neighbor", {"induced": True, "fanout": (5, 3), "bias": "none"}),
    ("neighbor", {"induced": True, "fanout": (2, 2), "bias": "degree"}),
    ("layer", {"induced": True, "depth": 2, "neighbor_size": 5}),
    ("forest-fire", {"induced": True, "weighted": False}),
    ("multidimensional", {"induced": True, "frontier_size": 3, "instances": 20, "walk_length": 40}),
    ("random-node", {"induced": True, "frontier_size": 3, "instances": 20}),
    ("cluster-gcn", {"clusters_per_batch": 5, "instances": 60}),
    ("cluster-gcn", {"clusters_per_batch": 1, "instances": 60, "weighted": False}),
    ("labor", {"frontier_size": 3, "fanout": (-1, 2, 5)}),
    ("labor", {"frontier_size": 1, "fanout": (1, 0), "induced": True}),
    ("ladies", {"frontier_size": 3, "layer_sizes": (5, 4), "replace": False}),
    ("ladies", {"frontier_size": 3, "layer_sizes": (5, 0, 4), "normalize": "row"}),
    ("ladies", {"frontier_size": 3, "layer_sizes": (500, 500), "replace": False, "weighted": False}),
    ("ladies", {"induced": True, "frontier_size": 3, "layer_sizes": (5,), "normalize": "none"}),
    ("fastgcn", {"frontier_size": 3, "layer_sizes": (90, 80), "weighted": False}),
    ("fastgcn", {"frontier_size": 3, "layer_sizes": (90,), "edge_bias": "e.weight * (1 + e.dst_degree) ** -0.75"}),
    ("hgt", {"num_samples": (7, 4), "seeds_per_batch": 16}),
    ("hgt", {"num_samples": (3, 0, 500), "seeds_per_batch": 5, "shuffle": True, "epochs": 2}),
    ("layer", {"unique": True, "depth": 3, "neighbor_size": 5, "frontier_size": 2}),
    ("layer", {"unique": True, "depth": 2, "neighbor_size": 400, "frontier_size": 3, "weighted": False}),
    ("layer", {"depth": None, "total": 200, "neighbor_size": 5, "frontier_size": 2}),
    ("layer", {"depth": None, "total": 200, "neighbor_size": 5, "frontier_size": 2, "weighted": False}),
    ("neighbor", {"unique": True, "fanout": (5, 3)}),
    ("snowball", {"unique": True, "neighbor_size": 3, "depth": 3}),
    ("snowball", {"unique": True, "neighbor_size": -1, "weighted": False}),
    ("neighbor", {"fanout": (5, 3), "replace": True}),
    ("neighbor", {"fanout": (-1, 3)}),
    ("neighbor", {"fanout": (7,), "bias": "none"}),
    ("neighbor", {"fanout": (40, 2), "bias": "none"}),
    ("neighbor", {"fanout": (3, 3), "bias": "degree", "select": "keys"}),
    ("neighbor", {"fanout": (3, 3), "select": "its", "replace": True}),
    ("neighbor", {"fanout": ()}),
    *(("neighbor", {"fanout": (3, 3), "select": "its", "collision": c}) for c in ("bipartite", "repeated", "updated")),
    *(
        ("neighbor", {"fanout": (40, 3), "select": "its", "collision": c, "detect": d})
        for c in ("bipartite", "repeated")
        for d in DETECTORS
    ),
    ("neighbor", {"fanout": (400, 2), "select": "its", "detect": "strided"}),
    ("neighbor", {"fanout": (400, 2), "select": "its", "detect": "linear"}),
    ("minibatch", {"fanout": (4, 3), "seeds_per_batch": 16, "weighted": False}),
    ("minibatch", {"fanout": (5, -1), "seeds_per_batch": 8, "weighted": False, "disjoint": True}),
    (
        "minibatch",
        {"fanout": (3, 4), "seeds_per_batch": 16, "weighted": False, "replace": True, "shuffle": True, "epochs": 2},
    ),
    ("minibatch", {"fanout": (70, 2), "seeds_per_batch": 7, "bias": "none", "drop_last": True}),
    ("minibatch", {"fanout": (5, 3), "seeds_per_batch": 16, "replace": True, "disjoint": True}),
    ("minibatch", {"fanout": (5, 3), "seeds_per_batch": 16, "replace": True, "bias": "none"}),
    ("minibatch", {"fanout": (4, 0, 3), "seeds_per_batch": 9, "bias": "none"}),
    (
        "minibatch",
        {"fanout": (4, 3, 2), "seeds_per_batch": 5, "bias": "none", "disjoint": True, "shuffle": True, "epochs": 2},
    ),
    ("minibatch", {"fanout": (3, 3), "seeds_per_batch": 16, "select": "keys", "bias": "degree"}),
    ("snowball", {"neighbor_size": 3, "select": "its"}),
    ("forest-fire", {"select": "its", "depth": 3, "detect": "contiguous"}),
    ("node2vec", {"select": "its", "walk_length": 8}),
    ("node2vec", {"p": 4.0, "q": 0.25}),
    ("node2vec", {"p": 0.3, "q": 3.0, "layout": "csr"}),
    ("node2vec", {"p": 0.3, "q": 3.0, "layout": "table"}),
    ("node2vec", {"p": 1e9, "q": 1e9, "walk_length": 6}),
    ("deepwalk", {"edge_bias": f"e.weight / max(e.dst_degree, 1) * {NEAR}", "walk_length": 8}),
    ("deepwalk", {"edge_bias": f"(1 + e.dst_degree) ** -0.5 * {NEAR}", "walk_length": 8, "weighted": False}),
    ("node2vec", {"p": 1e-30, "q": 1e30, "walk_length": 6, "layout": "table"}),
    ("node2vec", {"p": 1e12, "q": 1e-12, "walk_length": 6, "weighted": False}),
    ("node2vec", {"p": 1e12, "walk_length": 6, "weighted": False, "layout": "csr"}),
    ("forest-fire", {"burn_prob": 0.999999999999}),
    ("deepwalk", {"layout": "alias"}),
    ("deepwalk", {"layout": "table"}),
    ("deepwalk", {"layout": "entries"}),
    ("deepwalk", {"layout": "csr"}),
    ("deepwalk", {"select": "its"}),
    ("deepwalk", {"walk_length": 0}),
    ("ppr", {"walk_length": 8}),
    ("ppr", {"termination_prob": 0.02}),
    ("ppr", {"termination_prob": 0.02, "select": "its"}),
    ("neighbor", {"fanout": (5, 3), "replace": True, "transit_parallel": "on"}),
    ("neighbor", {"fanout": (6, 3), "bias": "none", "transit_parallel": "on"}),
    ("neighbor", {"fanout": (3, 4), "bias": "degree", "transit_parallel": "on"}),
    ("neighbor", {"fanout": (3, 4), "bias": "degree", "layout": "csr"}),
    ("neighbor", {"fanout": (2, 2), "select": "its", "replace": True}),
    ("snowball", {"neighbor_size": 3, "weighted": False, "depth": 4}),
    ("forest-fire", {"weighted": False, "depth": 4}),
    ("biased", {"edge_bias": "e.weight / (e.dst_degree + 1)"}),
    ("biased", {"edge_bias": "e.weight + int(e.weight * 1e300) + math.floor(e.weight * math.nan) + round(e.weight)"}),
    (
        "biased",
        {"edge_bias": "e.weight * (1 + e.dst_degree) ** -0.75 + math.exp(-e.weight) * math.log(2 + e.src_degree)"},
    ),
    (
        "node2vec",
        {"edge_bias": "e.weight ** 0.3 if e.is_neighbor(e.prev, e.dst) else e.weight ** 2", "walk_length": 10},
    ),
    # bounds that are read from the text: of the weight, of none, without the way back, with more on it
    (
        "deepwalk",
        {"edge_bias": "e.weight * (2 if e.dst_degree > e.src_degree else 1) * (0.5 if e.dst == e.prev else 1)"},
    ),
    ("deepwalk", {"edge_bias": "1 if e.prev < 0 or e.is_neighbor(e.prev, e.dst) else 0.25", "layout": "csr"}),
    ("deepwalk", {"edge_bias": "0 if e.dst == e.prev else 1"}),
    ("deepwalk", {"edge_bias": "e.weight * (8 if e.dst == e.prev else 1 + e.depth % 3)", "layout": "table"}),
    ("snowball", {"neighbor_size": 2, "edge_bias": "e.weight * e.src_degree"}),
    ("layer", {"depth": 2, "neighbor_size": 3, "bias": "degree"}),
    ("multidimensional", {"frontier_size": 3, "instances": 20, "walk_length": 40, "edge_bias": "e.weight"}),
    (
        "multidimensional",
        {"frontier_size": 3, "instances": 20, "walk_length": 40, "edge_bias": "e.weight", "layout": "csr"},
    ),
    ("multidimensional", {"frontier_size": 70, "instances": 3, "walk_length": 700}),
    (
        "multidimensional",
        {"frontier_size": 70, "instances": 30, "walk_length": 300, "weighted": False, "layout": "entries"},
    ),
]
ON_A_GPU = ("layout", "detect", "transit_parallel")
TREES = [
    *(("forest-fire", {"weighted": False, "burn_prob": 0.7, "depth": depth}) for depth in (0, 1, 2, 3, 4)),
    *(("forest-fire", {"weighted": False, "burn_prob": 0.9, "depth": depth}) for depth in (1, 2)),
    *(("forest-fire", {"weighted": False, "burn_prob": chance}) for chance in (0.0, 1e-12)),
    ("snowball", {"weighted": False, "neighbor_size": 0}),
    ("snowball", {"weighted": False, "neighbor_size": 2}),
    ("snowball", {"weighted": False, "neighbor_size": 40}),
    ("snowball", {"weighted": False, "neighbor_size": 70, "depth": 1}),
    ("layer", {"weighted": False, "neighbor_size": 10}),
    ("layer", {"weighted": False, "neighbor_size": 1, "depth": 4}),
    ("layer", {"weighted": False, "neighbor_size": 3, "depth": 3, "frontier_size": 2}),
    ("layer", {"weighted": False, "neighbor_size": 40, "depth": 3, "frontier_size": 5}),
    ("layer", {"weighted": False, "neighbor_size": 0}),
    ("layer", {"weighted": False, "neighbor_size": 6, "depth": 12, "frontier_size": 2, "total": 15}),
    ("layer", {"neighbor_size": 6, "depth": 12, "frontier_size": 2, "total": 15}),
    *(("random-edge", {"neighbor_size": size, "instances": 5}) for size in (0, 3, 100, 1000)),
]
BEYOND_A_BLOCK = [
    ("forest-fire", {"weighted": False, "burn_prob": 0.95, "depth": 3, "instances": 20}),
    ("layer", {"weighted": False, "neighbor_size": 5000, "frontier_size": 3}),
    ("layer", {"weighted": False, "neighbor_size": 4, "select": "keys"}),
    ("random-edge", {"neighbor_size": 5000, "instances": 5}),
    ("random-edge", {"neighbor_size": 50, "instances": 5, "select": "keys"}),
]
LINKS = [
    ("links", {"num_negatives": 5, "skip_full": True, "negative_bias": "degree"}),
    ("links", {"num_negatives": 2, "skip_full": True, "allow_self": True, "sources": "all"}),
    ("links", {"num_negatives": 40, "skip_full": True, "sources": [0, 1, 0, 0, 2, 1, 1, 0], "negative_bias": "degree"}),
]
CASES = [(name, OPTIONS.get(name, {})) for name in TIMELESS] + MORE + TREES + BEYOND_A_BLOCK + LINKS


every_case = pytest.mark.parametrize(("algo", "options"), CASES, ids=[f"{a}-{i}" for i, (a, _) in enumerate(CASES)])


def device_or_skip() -> Device:
    """The first GPU; without one the calling module is skipped, with the reason."""
    __tracebackhide__ = True
    try:
        return open_device()
    except (DeviceError, MissingDependencyError) as error:
        lacking(Lack.GPU, str(error))


def need_gpus(least: int = 2) -> int:
    """How many GPUs there are; with fewer than ``least`` the calling test is skipped."""
    __tracebackhide__ = True
    import cupy

    count = cupy.cuda.runtime.getDeviceCount()
    return count if count >= least else lacking(Lack.SECOND_GPU, f"{least} GPUs are needed, this machine has {count}")


def need_torch_on_gpu() -> ModuleType:
    """PyTorch, if it was built for GPUs."""
    __tracebackhide__ = True
    torch = need_package("torch")
    return torch if torch.cuda.is_available() else lacking(Lack.GPU, "this PyTorch has no GPU")


def python(folder, *arguments, code=LOADED):
    """The output of another Python that works in ``folder``, with a cache of its own there.

    It runs the command with these arguments and prints which heavy packages it has imported; or it runs other ``code``.
    """
    path = os.pathsep.join([str(ROOT / "tests" / "_src"), *sys.path[1:]])
    env = os.environ | {"PYTHONPATH": path, "CSAW_CACHE_DIR": str(folder / "cache")}
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def brief(algo, options, steps=20):
    """The options with walks of few steps, for runs that bring partitions or rows at each of them."""
    limited = issubclass(registry.find(algo), Walk) and algo != "ppr"
    if limit := options.get("walk_length", 80 if limited else None):
        options = options | {"walk_length": min(limit, steps)}
    return options | ({"instances": 60} if options.get("termination_prob", 1) < 0.1 else {})


def on_cpu(options):
    """The options without those that only a GPU has."""
    return {name: value for name, value in options.items() if name not in ON_A_GPU}


def hub_store(path, weighted):
    """A vertex with more neighbors than a large block has threads, several times over."""
    rng = np.random.default_rng(3)
    edges = [(0, v, float(rng.integers(0, 9))) for v in range(1, 5000)]
    edges += [(int(u), int(v), 1.5) for u, v in rng.integers(1, 5000, (3000, 2)) if u < v]
    return store_of(path, sorted(set(edges)), directed=False, vertices=5001, weighted=weighted)


def ends_store(path):
    """Weights from one end of 32-bit floats to the other, whose squares in 32 bits would be 0, rounded or infinite."""
    rng = np.random.default_rng(8)
    pairs = np.unique(np.sort(rng.integers(0, 90, (700, 2))), axis=0).tolist()
    weights = 10.0 ** rng.choice([-44, -38, -25, -23, -19, 0, 19, 20, 30, 36], len(pairs)) * rng.uniform(
        1, 2, len(pairs)
    )
    return store_of(path, [(u, v, w) for (u, v), w in zip(pairs, weights, strict=True)], directed=False, vertices=90)


def dense_store(path):
    """Rows of hundreds, most of what they hold seen after a few neighbors; self loops."""
    edges = [(u, v, 1.0) for u in range(300) for v in range(u, 300) if (7 * u + 3 * v) % 4]
    return store_of(path, edges, directed=False, vertices=300, weighted=False)


def repeated_store(path):
    """Every edge many times over."""
    pairs = np.sort(np.random.default_rng(5).integers(0, 12, (900, 2)), axis=1)
    return store_of(path, [(int(u), int(v), 1.0) for u, v in pairs], directed=False, vertices=12)


GRAPHS = {
    "weighted": lambda path: random_store(path, partitions=3),
    "plain": lambda path: random_store(path, weighted=False),
    "directed": lambda path: random_store(path, directed=True, edges=900),
    "troubled": lambda path: store_of(path, TROUBLED, directed=True, vertices=7),
    "square": lambda path: store_of(path, SQUARE, directed=False),
    "hub": lambda path: hub_store(path, True),
    "dense": dense_store,
    "heavy": heavy_store,
    "repeated": repeated_store,
    "wide": lambda path: WideStore(random_store(path, seed=2)),
    "no edges": lambda path: store_of(path, [], directed=False, vertices=6),
    "one loop": lambda path: store_of(path, [(0, 0, 1)], directed=True),
}


def usable(store, algo, options):
    """The options, fitted to the graph."""
    options = dict(options)
    if algo in ("random-node", "layer") and "frontier_size" in options:  # which are different vertices
        options["frontier_size"] = min(options["frontier_size"], store.vertices)
    if algo == "saint-edge" and store.edges == 0:
        options["sources"] = "all"  # without an edge it has no vertex to start from by itself
    if algo == "links" and (store.vertices < 3 or store.edges == 0):
        options["sources"] = [0, store.vertices - 1]  # both ends of a link that is given
    if algo == "cluster-gcn":
        options["clusters_per_batch"] = min(options["clusters_per_batch"], store.clusters.count)
    if options.get("drop_last") and store.vertices < options["seeds_per_batch"]:
        options["seeds_per_batch"] = store.vertices
    if options.get("layout") == "csr" and algo in ("neighbor", "multidimensional"):
        return options
    table = options.get("layout") in ("table", "alias")
    if (table and not store.weighted) or (options.get("layout") in ("csr", "entries") and store.weighted):
        options["weighted"] = False
        options.pop("layout") if table else None
    if store.id_dtype.itemsize == 8:
        options.pop("transit_parallel", None)
    if store.id_dtype.itemsize == 8 and options.get("layout") in ("entries", "alias"):
        options.pop("layout")
    if store.max_degree > 200 and algo in (
        "random-edge",
        "snowball",
        "minibatch",
        "neighbor",
        "forest-fire",
        "random-node",
    ):
        options["instances"] = min(options.get("instances", 60), 60 if algo != "random-edge" else 2)
        options.pop("epochs", None)  # which would be another number
    return options
