"""Option values at their ends, on a graph of a few vertices: a sample that fits its law, a store of the edges meant, or
a refusal.

``Options`` keeps to a few algorithms and to values that run-time arguments take; ``Algorithms`` has all of them, and
``Kernels`` draws values for which new code is compiled, seconds each.
"""

import shutil
from pathlib import Path
from random import Random

from csaw.engine.api import registry
from csaw.engine.plan.options import options
from fuzz import child, meant, warm
from fuzz.faults import tree
from fuzz.judge import Failure, refusal_or_failure, wrong_result

SECONDS = 20.0  # every run here is small, whatever its options
EDGES = [
    (0, 1, 1.0),
    (0, 2, 2.0),
    (0, 3, 0.0),
    (1, 0, 1.0),
    (1, 2, 4.0),
    (1, 1, 2.0),
    (2, 0, 3.0),
    (2, 1, 1.0),
    (2, 3, 5.0),
    (3, 2, 1.0),
    (3, 4, 1.0),
    (3, 5, 0.25),
    (5, 0, 0.0),
    (4, 3, 2.0),
    (4, 0, 1.0),
]
GRAPHS = {  # what the weights of EDGES are multiplied with, edge by edge
    "usual": [1.0],
    "none": [],
    "huge": [6e37],
    "wide": [6e37, 1e-38],
    "tiny": [1e-45, 1e-38],
}
TIMED, CLUSTERED = "timed", "clustered"  # the graph whose edges have times, and the one that is cut into clusters
NEEDS = {"temporal": TIMED, "cluster-gcn": CLUSTERED}  # the graph that an algorithm cannot do without
BROKEN = ["", "abc", "\u00b2", "1_0", "0x10", "--", "nan", "None", "1e400", "9" * 5000, "1,2"]
REALS = [
    "0",
    "-0",
    "5e-324",
    "1e-310",
    "1e-300",
    "1e-30",
    "1e-10",
    "0.5",
    "1",
    "2",
    "1e30",
    "1e300",
    "1e308",
    "1.7976931348623157e308",
    "inf",
    "-inf",
    "-1",
    "0.999999999999",
    "0.9999999999999999",
    "1.0000000000000002",
    "1e-17",
]
COUNTS = [
    "-1",
    "0",
    "1",
    "2",
    "3",
    "50",
    "1.5",
    "+3",
    " 3",
    "-2147483649",
    str(1 << 62),
    str((1 << 63) - 1),
    str(1 << 63),
    str(1 << 64),
    "1" + "0" * 30,
]
DEPTHS = [*COUNTS, "65535", "65536", "300"]
FANOUTS = [
    "3,2",
    "-1,-1",
    "0",
    "1,0",
    "-2",
    "",
    ",",
    "1,,2",
    "1;2",
    "2147483648",
    "9" * 30,
    "1000000,1000000,1000000",
    "1," * 40 + "1",
    "1.5",
    " 2, 2",
]
SIZES = [
    "0",
    "1",
    "1KiB",
    "4000",
    "-1",
    "1GiB",
    "1e3",
    "abc",
    "\u221e",
    "9" * 20 + "GiB",
    "nan",
    "",
    "1.5KiB",
    "0x10",
    "GiB",
    "1 GiB",
]
SOURCES = [
    "all",
    "random:0",
    "random:-1",
    "random:1",
    "random:3",
    "random:1000",
    "random:" + "9" * 30,
    "random:abc",
    "random:",
    "random:1.5",
    "random:\u00b2",
    "random:" + "9" * 5000,
    "",
    "nofile",
    ".",
    "good.ids",
    "bad.ids",
    "bytes.ids",
    "empty.ids",
    "long.ids",
    "/dev/null",
]
TARGETS = ["1", "3", "5", "6", "7", "10%", "100%", "0", "0%", "-1", "101%", "1e-9%", "%", "abc", "1.5", "9" * 30]
IDS = {
    "good.ids": b"0\n3\n",
    "bad.ids": b"0 77\n",
    "bytes.ids": b"\xff\xfe0\n",
    "empty.ids": b"",
    "long.ids": b"9" * 5000 + b"\n",
}
# what keeps a sample small
SMALL = {
    "walk_length": "20",
    "frontier_size": "2",
    "fanout": "3,2",
    "num_samples": "3,2",
    "neighbor_size": "2",
    "clusters_per_batch": "2",
}
ENDS = {int: COUNTS, float: REALS, tuple: FANOUTS}  # values of an option of an algorithm, by its type


def _of(name: str) -> tuple[dict[str, list[str]], list[str]]:
    """The options of an algorithm with strange values for each, and the words that keep its sample small.

    Those with choices are COMPILED.
    """
    own = registry.find(name).options()
    flags = {key: "--" + key.replace("_", "-") for key in own}
    strange = {
        flags[key]: DEPTHS if key == "depth" else ENDS[one.kind]
        for key, one in own.items()
        if one.kind in ENDS and not one.choices
    }
    return strange, [word for key, value in SMALL.items() if key in own for word in (flags[key], value)]


ALGORITHMS = {name: _of(name) for name in registry.names()}
COMMON = {
    "--seed": [*COUNTS, str((1 << 64) - 1)],
    "--threads": [*COUNTS, "1000000"],
    "--in-flight": COUNTS,
    "--memory": SIZES,
    "--gpu-memory": SIZES,
    "--sources": SOURCES,
    "--instances": ["-1", "0", "1", "7", "1.5", str(1 << 63), str(1 << 64), "9" * 30],
    "--target": TARGETS,
    "--option": ["p", "p=1", "=", "x=\u00b2"],
    "--device": ["cpu", "", "cpu:1", "gpu", "cuda:99", "cuda:", "cuda:-1", "cuda:0,0", "auto"],
    "--ids": ["dense", "original", "x"],
}
COMPILED = {
    **{
        f"--{name}": list(map(str, one.choices))
        for name, one in options().items()
        if name in ("select", "collision", "detect", "layout", "residency")
    },
    "--bias": ["weight", "degree", "none", "x"],
    "--edge-bias": [
        "1/0",
        "e.weight % 0",
        "(x := 5)",
        "None",
        "'a'",
        "e.weight ** -0.5",
        "e.weight * 1e308",
        "-1",
        "0",
        "nan",
        "float('nan')",
        "e.dst_degree ** 1000",
        "e.foo",
        "import os",
        "__import__('os')",
        "e.weight if e.depth > 2 else 0",
        "lambda: 1",
        "[1]",
        "",
        "1e-320",
        "exp(1000)",
        "log(0)",
        "e.random()",
        "1 if e.prev == e.dst else 0",
        "e.is_neighbor(e.prev, e.dst)",
        "9" * 400,
        "e",
        "True",
        "x",
        "e.src_degree // 0",
        "1 << 70",
        "2 ** 2000",
        "e.weight\n+1",
        "1;2",
        "e.weight / 0.0",
        "(1, 2)",
        "yield 1",
    ],
}
INGEST = {
    "--partitions": COUNTS,
    "--partition-size": SIZES,
    "--memory": [*SIZES, "16MiB"],
    "--skip-lines": COUNTS,
    "--weight-column": [*COUNTS, "none", "auto", "4"],
    "--source-column": ["a", "", "1", "source"],
    "--target-column": ["a", "2"],
    "--edge-column": [
        "time:int64=3",
        "time:float32=3",
        "a",
        "",
        ":",
        "=",
        "a:b=c",
        "src:int8=3",
        "a:int8:s=1",
        "a:int8=9",
    ],
    "--time-column": ["9", "", "1", "a", "time", "-1"],
    "--time-format": ["iso", "x", ""],
    "--time-decimals": COUNTS,
    "--id-type": ["int", "x"],
    "--balance": ["vertices", "x"],
    "--compression": ["none", "x"],
    "--duplicates": ["first", "x"],
}


class Options:
    """Graphs with weights of every size; ``case`` gives a command one or two strange values."""

    algorithms: tuple[str, ...] = ("deepwalk", "node2vec", "neighbor", "forest-fire")
    choices = COMMON
    ingests = 0.25  # share of cases that partition

    def __init__(self, folder: Path) -> None:
        self.whole = folder / "whole" / "options"
        self.whole.mkdir(parents=True)
        for name, factors in GRAPHS.items():
            text = rows_of(factors)
            (self.whole / f"{name}.txt").write_text(text)
            warm.must("partition", f"{name}.txt", f"{name}.zarr", folder=self.whole)
            for algorithm in self.algorithms if name in ("usual", "none") else ():
                if algorithm not in NEEDS:
                    self._sampled(name, algorithm)
        times = "".join(f"{a} {b} {k * 7 % 5}\n" for k, (a, b, _) in enumerate(EDGES * 2))
        (self.whole / f"{TIMED}.txt").write_text(times)
        warm.must("partition", f"{TIMED}.txt", f"{TIMED}.zarr", "--time-column", "3", folder=self.whole)
        usual = "usual.txt", f"{CLUSTERED}.zarr"
        warm.must("partition", *usual, "--num-clusters", "4", "--undirected", folder=self.whole)
        for algorithm in sorted(NEEDS.keys() & set(self.algorithms)):
            self._sampled(NEEDS[algorithm], algorithm)
        for file, ids in IDS.items():
            (self.whole / file).write_bytes(ids)

    def _sampled(self, graph: str, algorithm: str) -> None:
        """Draw and verify a sample, whose kernels the cases then have."""
        out, small = f"{algorithm}.zarr", ALGORITHMS[algorithm][1]
        warm.must("sample", f"{graph}.zarr", out, "--algo", algorithm, *small, "--overwrite", folder=self.whole)
        warm.csaw("verify", out, folder=self.whole)

    def case(self, random: Random, place: Path) -> list[Failure]:
        """One command."""
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        for file in self.whole.iterdir():
            if file.is_file() or file.stem in (*GRAPHS, *NEEDS.values()):
                (place / file.name).symlink_to(file)
        name = random.choice(sorted(GRAPHS))
        failure = partition(random, name, place) if random.random() < self.ingests else self.sample(random, name, place)
        return [failure] if failure else []

    def sample(self, random: Random, name: str, place: Path) -> Failure | None:
        algorithm = random.choice(self.algorithms)
        own, small = ALGORITHMS[algorithm]
        given = [
            word
            for flag in _some(self.choices, random, own)
            for word in (flag, _value(flag, self.choices | own, random))
        ]
        in_time = "--time-strategy" in given or "--negative-time" in given
        name = TIMED if in_time else NEEDS.get(algorithm, name)
        command = ["sample", f"{name}.zarr", "out.zarr", "--algo", algorithm, *small, *given]
        large = endless(given)
        ended = child.csaw(*command, *["--dry-run"] * bool(large), folder=place, seconds=SECONDS)
        if (failure := refusal_or_failure(ended, named(given, name))) or ended.code:
            return failure
        if large:
            return (
                wrong_result(ended, "more instances than have numbers", ended.out[:200]) if large >= 1 << 64 else None
            )
        return _lawful(ended, place) or self.same_again(command, place, random)

    def same_again(self, command: list[str], place: Path, random: Random) -> Failure | None:
        """Another number of threads and of instances in flight changes no byte."""
        if random.random() < 0.5 or {"--threads", "--in-flight", "--memory"} & set(command):
            return None
        before = tree(place / "out.zarr", without=("results",))
        ended = child.csaw(*command, "--overwrite", "--threads", "3", "--in-flight", "2", folder=place, seconds=SECONDS)
        if ended.code == 0 and tree(place / "out.zarr", without=("results",)) == before:
            return None
        return wrong_result(ended, "another batch size, another sample", ended.error[-300:])


class Algorithms(Options):
    """The same for every algorithm."""

    algorithms = tuple(sorted(ALGORITHMS))


class Kernels(Algorithms):
    """The same for what is compiled: methods, layouts, expressions."""

    choices, ingests = COMPILED, 0.0


def rows_of(factors: list[float]) -> str:
    """EDGES as text, with weights times ``factors`` in turn, or without weights."""
    return "".join(
        f"{a} {b}{f' {w * factors[k % len(factors)]!r}' if factors else ''}\n" for k, (a, b, w) in enumerate(EDGES)
    )


def named(given: list[str], name: str) -> tuple[str, ...]:
    """What an error about these options may hold: an option as it is typed, its value, or the graph."""
    values = [word for word in given[1::2] if len(word) > 2]
    also = (
        ["edge_bias", "the bias of edge"] * ("--edge-bias" in given)
        + ["GPU"] * ("--device" in given)
        + ["is not an option of"] * ("--option" in given)
    )
    return (*given[::2], *values, *also, "the weight in the sample", f"{name}.zarr", f"{name}.txt", "out.zarr")


def endless(given: list[str]) -> int:
    """The instances asked for, or walks from every source, where no disk would hold them; such
    a run is only planned.
    """
    counts = [
        value for flag, value in zip(given[::2], given[1::2], strict=True) if flag in ("--instances", "--num-walks")
    ]
    return max((int(value) for value in counts if value.isdecimal() and len(value) in range(19, 4000)), default=0)


def _some(choices: dict[str, list[str]], random: Random, own: dict[str, list[str]]) -> list[str]:
    """One to three options."""
    every = sorted(own) * 2 + sorted(choices)
    return sorted(set(random.sample(every, random.choice([1, 1, 2, 3]))))


def _value(flag: str, choices: dict[str, list[str]], random: Random) -> str:
    return random.choice(BROKEN) if random.random() < 0.08 and flag != "--sources" else random.choice(choices[flag])


def _lawful(ended: child.Ended, place: Path) -> Failure | None:
    """The sample's own check: intact, along edges, by its law."""
    verified = child.csaw("verify", "out.zarr", folder=place, seconds=SECONDS)
    if verified.code == 0:
        return None
    failure = refusal_or_failure(verified, ("out.zarr",), (0, 3))
    if failure:
        return Failure(
            failure.kind, f"verify after sample: {failure.where}", " ".join(ended.arguments)[:300], failure.detail
        )
    return wrong_result(
        ended, "verify refuses it", "".join(line for line in verified.out.splitlines(True) if not line.startswith("ok"))
    )


def partition(random: Random, name: str, place: Path) -> Failure | None:
    """The same for ``csaw partition``."""
    flags = sorted(set(random.sample(sorted(INGEST), random.choice([1, 1, 2]))))
    given = [word for flag in flags for word in (flag, _value(flag, INGEST, random))]
    ended = child.csaw("partition", f"{name}.txt", "out.zarr", *given, folder=place, seconds=SECONDS)
    if (failure := refusal_or_failure(ended, named(given, name))) or ended.code:
        return failure
    chosen = dict(zip(given[::2], given[1::2], strict=True))
    rows = [line.split() for line in (place / f"{name}.txt").read_text().splitlines()][
        int(chosen.get("--skip-lines", "0")) :
    ]
    weighted = name != "none" and chosen.get("--weight-column") != "none"
    weighted = weighted and not chosen.get("--edge-column", "").endswith("=3")  # then the third column is no weight
    edges: list[meant.Edge] = [(int(row[0]), int(row[1]), float(row[2]) if weighted else 1.0) for row in rows]
    if meant.read(place / "out.zarr") == meant.build(edges, directed=True, weighted=weighted):
        return None
    return wrong_result(ended, f"another graph with {' '.join(flags)}", str(meant.read(place / "out.zarr")))
