"""Algorithms of a user's own with random attributes, sizes and hooks.

Each is refused in a sentence that names it, or its sample is drawn and verified.

Bodies of hooks come from lists, so that kernels are compiled once and found again. Nothing goes on for ever: a command
that takes too long is a failure.
"""

import shutil
from pathlib import Path
from random import Random

from fuzz import child, warm
from fuzz.judge import Failure, refusal_or_failure, wrong_result

SECONDS = 60.0  # kernels of a class may have to be compiled
RUBBISH = [
    "None",
    "3.5",
    "-1",
    "'bogus'",
    "b'1'",
    "()",
    "[1, 2]",
    "{}",
    "10**30",
    "float('nan')",
    "1j",
    "2",
    "len",
    "print",
]
TRUTH = ["True", "False"]
NUMBERS = ["1", "2", "3", "7", "0"]
BASES = {
    "Walk": 5,
    "Traversal": 9,
    "MiniBatches": 2,
    "ChosenBias, Traversal": 1,
    "Node2vec": 1,
    "Neighbor": 1,
    "Layer": 1,
    "ForestFire": 1,
    "Snowball": 1,
    "Multidimensional": 2,
    "Ladies": 1,
    "Fastgcn": 1,
    "RandomEdge": 1,
    "RandomNode": 1,
    "Labor": 1,
    "ClusterGcn": 1,
    "Minibatch": 1,
    "Ppr": 1,
}
EVERY = {
    "sources_from": ["'all'", "'random'", "'connected'", "'distinct'", "'every'", "'clusters'"],
    "ends_induced": TRUTH,
    "visits": ["'degree'", "''"],
    "sized_by": ["''", "'nothing'"],
    "paper": ["'mine'"],
}
OF_WALKS = {
    "walk_length": ["0", "3", "6", "None"],
    "num_walks": ["1", "2"],
    "layout": ["'walks'", "'hops'"],
    "expected_steps": ["lambda self: 3.0"],
}
OF_TRAVERSALS = {
    "layout": ["'subgraphs'", "'hops'", "'batches'"],
    "visited_once": TRUTH,
    "revisits": TRUTH,
    "collective": TRUTH,
    "induced": TRUTH,
    "each_edge_once": TRUTH,
    "draws_from": ["'edges'", "'neighbors'", "'vertices'"],
    "shares_draws": TRUTH,
    "unique": TRUTH,
    "total": ["None", *NUMBERS],
    "clocks": TRUTH,
    "frontier_size": NUMBERS,
    "pool_size": ["None", *NUMBERS],
    "frontier_replace": TRUTH,
    "replace": TRUTH,
    "walk_length": ["4", "None"],
    "depth": ["None", "2"],
    "geometric": ["None", "0.5", "lambda self: 0.5", "lambda self: 0.0"],
    "normalize": ["'none'"],
}
OF_BATCHES = {
    "seeds_per_batch": NUMBERS,
    "epochs": ["1", "2"],
    "shuffle": TRUTH,
    "drop_last": TRUTH,
    "disjoint": TRUTH,
    "draws_seeds": TRUTH,
    "norms": ["None", "'x'"],
}
SIZES = ["(2,)", "(2, 2)", "(1,)", "(-1,)", "(3, 1)", "()", "(2, -1)", "(0,)", "(0, 2)", "(-1, -1)", "(40,)", "[2, 1]"]
WRONG_SIZES = [
    "2",
    "None",
    "'ab'",
    "(1.0,)",
    "(-2,)",
    "(True,)",
    "(10**30,)",
    "{2}",
    "1 // 0",
    "(self.nothing,)",
    "range(2)",
    "(2**62, 2)",
    "((1, 2),)",
    "iter((1,))",
]
BIASES = [
    "1.0",
    "e.weight",
    "e.weight",
    "e.dst_degree",
    "e.weight * e.weight",
    "2.0 if e.dst == e.prev else 1.0",
    "1 // e.depth",
    "e.weight / (1 + e.depth % 2)",
    "e.dst % (e.depth + 1)",
    "e.weight if e.depth % 2 == 0 else 1.0",
    "e.dst_degree if e.depth < 3 else e.weight * (2 + e.prev)",
    "e.weight * (e.depth // 2 % 3)",
]
WRONG_BIASES = [
    "None",
    "'a'",
    "(1.0, 2.0)",
    "[1.0]",
    "True",
    "1j",
    "math.nan",
    "-1.0",
    "1 / 0",
    "1.0 / (e.depth - e.depth)",
    "e",
    "e.nothing",
    "self.nothing",
    "math.sin(1.0)",
    "e.random()",
    "e.weight.real.x",
    "undefined",
    "e.column('x', e.dst)",
    "e.path(1)",
    "math.sqrt(e.weight - 100.0)",
    "math.inf",
    "math.log(0.0)",
    "lambda: 1",
]
PLACES = [
    "e.dst",
    "e.src",
    "-1",
    "e.source",
    "e.dst if e.random() < 0.7 else -1",
    "e.random_vertex()",
    "e.dst if e.depth < 2 else e.source",
]
WRONG_PLACES = [
    "None",
    "'a'",
    "e.dst + 10**6",
    "-5",
    "e.dst / 0",
    "(e.dst,)",
    "True",
    "math.nan",
    "e.dst + 0.5",
    "1j",
    "e.vertices",
]
RATES = ["v.degree", "1.0", "v.degree * v.degree", "v.id + 1", "1.0 + v.depth", "0.0", "2.0 + v.prev", "v.id % 3"]
WRONG_RATES = ["None", "-1.0", "'a'", "v.weight", "v.dst_degree", "v.dst", "1 / 0", "math.nan"]
WRONG_RANGES = [
    "None",
    "(2.0, 1.0, 1.0)",
    "'abc'",
    "(1.0,)",
    "1 / 0",
    "(0.0, math.inf, 1.0)",
    "(0.0, float('nan'), 1.0)",
]
BOUNDED = [  # bounds that biases of second order keep on all GRAPHS
    ("(1.0, 1.0, 2.0)", "e.weight * (2.0 if e.dst == e.prev else 1.0)"),
    ("(0.5, 1.0, 1.0)", "e.weight if e.is_neighbor(e.prev, e.dst) else e.weight / (1 + (e.dst != e.prev))"),
    ("(0.0625, 10.0, 20.0)", "e.weight * (20.0 if e.dst == e.prev else e.weight)"),
    ("(0.0, 1.0, 0.0)", "0.0 if e.dst == e.prev else e.weight"),
]
TOGETHER: list[tuple[dict[str, list[str]], list[str]]] = [  # attributes of one kind of traversal, and its sizes
    ({"clocks": ["True"], "visited_once": ["False"], "walk_length": ["4", "0"], "frontier_size": NUMBERS}, ["(1,)"]),
    (
        {"layout": ["'hops'"], "visited_once": ["False"], "replace": TRUTH},
        ["(2, 2)", "(3,)", "(2, -1)", "()", "(0, 2)"],
    ),
    (
        {
            "draws_from": ["'neighbors'", "'vertices'"],
            "collective": ["True"],
            "visited_once": ["False"],
            "replace": TRUTH,
            "frontier_size": ["1", "2"],
        },
        ["(2, 2)", "(3,)", "()", "(0, 2)"],
    ),
    (
        {"sources_from": ["'every'"], "collective": ["True"], "visited_once": ["False"], "each_edge_once": TRUTH},
        ["(2,)", "(-1,)", "(0,)", "(40,)"],
    ),
    ({"induced": ["True"], "sources_from": ["'distinct'"], "frontier_size": ["1", "2", "3"]}, ["(-1,)"]),
    (
        {"shares_draws": ["True"], "visited_once": ["False"], "frontier_size": ["1", "2"]},
        ["(2, 2)", "(-1,)", "(1, 0)", "()"],
    ),
    (
        {"geometric": ["lambda self: 0.5", "lambda self: 0.0"], "visited_once": TRUTH, "replace": TRUTH},
        ["(-1,)", "(-1, -1)", "()"],
    ),
    ({"unique": ["True"], "collective": TRUTH, "frontier_size": ["1", "2"]}, ["(2, 2)", "(-1,)", "(40,)"]),
    (
        {"collective": ["True"], "total": ["3", "None"], "frontier_size": ["1", "2"], "revisits": TRUTH},
        ["(2, 2)", "(1,) * 9", "(-1, -1)", "(-1, 2)"],
    ),
    (
        {"revisits": ["True"], "visited_once": TRUTH, "replace": TRUTH, "frontier_size": ["1", "2"]},
        ["(2, 2, 2)", "(-1, 1)", "(1,)"],
    ),
    ({"depth": ["None"], "revisits": TRUTH, "replace": TRUTH}, ["(2,) * 3", "(-1,)", "(1,)"]),
    (
        {"pool_size": ["1", "3"], "frontier_size": ["1", "2"], "visited_once": TRUTH, "frontier_replace": TRUTH},
        ["(2, 2, 2)", "(1,) * 9", "(-1, 1)", "(0, 2)"],
    ),
    (
        {"pool_size": ["3"], "frontier_size": ["2"], "collective": TRUTH, "unique": TRUTH, "total": ["None", "4"]},
        ["(2, 2, 2)", "(1,) * 9"],
    ),
    ({"sources_from": ["'clusters'"], "ends_induced": ["True"], "frontier_size": ["1", "2"]}, ["()"]),
    (
        {
            "ends_induced": ["True"],
            "sources_from": ["'random'", "'connected'"],
            "frontier_size": ["1", "3"],
            "visited_once": TRUTH,
        },
        ["(2, 2)", "(1,)"],
    ),
]
ARITIES = ["(self, {0})"] * 90 + [
    "(self)",
    "()",
    "(self, {0}, more)",
    "(self, *{0})",
    "(self, {0}, *more)",
    "(self, *, {0})",
]
HEAD = """import math
from csaw.engine.algorithm import ChosenBias, MiniBatches, Traversal, Walk, option
from csaw.engine.algorithms.cluster_gcn import ClusterGcn
from csaw.engine.algorithms.fastgcn import Fastgcn
from csaw.engine.algorithms.forest_fire import ForestFire
from csaw.engine.algorithms.labor import Labor
from csaw.engine.algorithms.ladies import Ladies
from csaw.engine.algorithms.layer import Layer
from csaw.engine.algorithms.minibatch import Minibatch
from csaw.engine.algorithms.multidimensional import Multidimensional
from csaw.engine.algorithms.neighbor import Neighbor
from csaw.engine.algorithms.node2vec import Node2vec
from csaw.engine.algorithms.ppr import Ppr
from csaw.engine.algorithms.random_edge import RandomEdge
from csaw.engine.algorithms.random_node import RandomNode
from csaw.engine.algorithms.snowball import Snowball


class Mine({base}):
    "An algorithm of a user's own."
"""
WALKS, BATCHES = ("Walk", "Node2vec", "Ppr"), ("MiniBatches", "Minibatch")
GRAPHS = {
    "directed": "0 1 1\n0 2 2\n0 3 0.5\n1 0 1\n1 2 4\n1 1 2\n2 0 3\n2 1 1\n2 3 5\n3 2 1\n3 4 1\n3 0 0.25\n4 0 1\n",
    "square": "# Undirected graph\n0 1 1\n1 2 2\n2 3 3\n3 0 4\n0 2 5\n3 4 0.5\n",
    "plain": "0 1\n0 2\n1 2\n2 0\n2 3\n3 0\n3 1\n",
}
NAMES = ("mine", "Mine", "--", "g.zarr", "the bias of edge", "the vertex bias of", "update or dead_end at")


class Classes:
    """A few small graphs; ``case`` writes a class, draws a sample by it, and verifies that."""

    def __init__(self, folder: Path) -> None:
        self.whole = folder / "whole" / "classes"
        self.whole.mkdir(parents=True)
        for name, text in GRAPHS.items():
            (self.whole / f"{name}.txt").write_text(text)
            directed = ["--undirected"] if name == "square" else ["--directed"]
            warm.must(
                "partition",
                f"{name}.txt",
                f"{name}.zarr",
                *directed,
                "--num-clusters",
                "2",
                "--clustering",
                "random",
                folder=self.whole,
            )
        for algorithm in ("deepwalk", "neighbor", "layer", "multidimensional"):
            warm.must(
                "sample",
                "square.zarr",
                "out.zarr",
                "--algo",
                algorithm,
                "--instances",
                "9",
                "--overwrite",
                folder=self.whole,
            )
            warm.csaw("verify", "out.zarr", folder=self.whole)

    def case(self, random: Random, place: Path) -> list[Failure]:
        """One class."""
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        (place / "g.zarr").symlink_to(self.whole / f"{random.choice(sorted(GRAPHS))}.zarr")
        text = a_class(random)
        (place / "mine.py").write_text(HEAD.format(base=text[0]) + text[1])
        command = ["sample", "g.zarr", "out.zarr", "--algo", "mine.py:Mine", "--seed", str(random.randrange(99))]
        command += ["--instances", random.choice(["40", "200"])] if text[0] not in BATCHES else []
        ended = child.csaw(*command, folder=place, seconds=SECONDS)
        failure = refusal_or_failure(ended, NAMES)
        if not failure and ended.code == 0:
            failure = verified(ended, place)
        if not failure:
            return []
        return [
            Failure(
                failure.kind, failure.where, failure.command, f"class Mine({text[0]}):\n{text[1]}\n{failure.detail}"
            )
        ]


def verified(ended: child.Ended, place: Path) -> Failure | None:
    """What is wrong with what ``csaw verify`` says of the sample."""
    told = child.csaw("verify", "out.zarr", "--algo", "mine.py:Mine", folder=place, seconds=SECONDS)
    if told.code == 0:
        return None
    failure = refusal_or_failure(told, ("out.zarr",), (0, 3))
    if failure:
        return Failure(failure.kind, f"verify after sample: {failure.where}", failure.command, failure.detail)
    wrong = "".join(line for line in told.out.splitlines(True) if not line.startswith("ok")) or told.error
    return wrong_result(ended, "verify refuses it" if told.code == 1 else f"verify ends with {told.code}", wrong)


def a_class(random: Random) -> tuple[str, str]:
    """The bases of a class, and its body."""
    base = random.choices(list(BASES), list(BASES.values()))[0]
    table = EVERY | (OF_WALKS if base in WALKS else OF_TRAVERSALS | OF_BATCHES if base in BATCHES else OF_TRAVERSALS)
    names = random.sample(sorted(table), random.choice([0, 1, 1, 2, 2, 3, 4]))
    sizes = SIZES
    if base == "Traversal" and random.random() < 0.6:
        wanted, sizes = random.choice(TOGETHER)
        table, names = table | wanted, [*wanted, *random.sample(sorted(table), random.choice([0, 0, 0, 1]))]
    lines = [f"{name} = {_one(random, table[name], RUBBISH, 0.03)}" for name in dict.fromkeys(names)]
    if base in WALKS and "walk_length" not in names and base != "Ppr":
        lines.append("walk_length = 5")
    if base in ("Traversal", "MiniBatches", "ChosenBias, Traversal") or random.random() < 0.15:
        lines += _method("sizes", "(self)", _one(random, sizes, WRONG_SIZES, 0.08))
    lines += _hooks(random, base in WALKS, "pool_size" in names)
    return base, "".join(f"    {line}\n" for line in lines)


def _hooks(random: Random, walks: bool, pools: bool) -> list[str]:
    lines = []
    if random.random() < 0.75:
        lines += _hook(random, "edge_bias", "e", _one(random, BIASES, WRONG_BIASES, 0.15))
    if random.random() < (0.3 if walks or pools else 0.05):
        lines += _hook(random, "update", "e", _one(random, PLACES, WRONG_PLACES, 0.3))
    if random.random() < (0.2 if walks else 0.03):
        place = random.choice(["-1", "v.source", "v.random_vertex()", "v.dst", "v.dst_degree", "v.id", "None"])
        lines += _hook(random, "dead_end", "v", place)
    if random.random() < (0.03 if walks else 0.6 if pools else 0.06):
        lines += _hook(random, "vertex_bias", "v", _one(random, RATES, WRONG_RATES, 0.3))
    if random.random() < (0.2 if walks else 0.02):
        bounds, bias = random.choice(BOUNDED)
        lines += _method("bias_range", "(self)", _one(random, [bounds], WRONG_RANGES, 0.2))
        lines += _method("edge_bias", "(self, e)", bias)  # in place of another
    return lines


def _one(random: Random, right: list[str], wrong: list[str], share: float) -> str:
    return random.choice(wrong if random.random() < share else right)


def _hook(random: Random, name: str, view: str, value: str) -> list[str]:
    return _method(name, random.choice(ARITIES).format(view), value)


def _method(name: str, arguments: str, value: str) -> list[str]:
    return [f"def {name}{arguments}:", f"    return {value}"]
