"""Commands of a journey as a user runs them, once: the first ones after csaw was installed, and samples of a graph that
the memory does not hold.

What takes seconds the first time and nothing the second (compiling, page-locking, reading) is in them, as each is a
process of its own. The graph that does not fit has weights, and about half of it fits.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from csaw.datasets.spec import parse_spec
from csaw.engine.bench.context import Context
from csaw.engine.bench.graphs import expected
from csaw.engine.bench.stage import Places, Stage

OF_NUMBA = ("a start of Python, NumPy and Numba", "import numpy, numba")
OF_CUDA = ("a start of Python, NumPy, CuPy and CUDA", "import numpy, cupy; cupy.zeros(1)")
FIRST_USE, STREAMED, FROM_DISK = "first use, {}", "sample from the host, {}", "sample from disk, {}"
FIRST_ALGORITHMS = ("deepwalk", "neighbor", "layer", "forest-fire", "ladies", "minibatch", "ppr")
FIRST_MEASURE = "triangles"
WEIGHTED = "generate a weighted store"
EDGE_BYTES = 8  # of an id and a weight
GPU_SHARE, HOST_SHARE = 0.45, 0.6  # of the bytes of all edges, on a GPU and in the host's memory


class Drawn(NamedTuple):
    """A sample of a graph that does not fit: its options, and from how many vertices it is drawn."""

    options: tuple[str, ...]
    sources: int
    sources_on_gpu: int


WALK = ("--walk-length", "20")
DRAWN = {
    "deepwalk": Drawn(("--algo", "deepwalk", *WALK), 100_000, 400_000),
    "node2vec p=.5 q=2": Drawn(("--algo", "node2vec", "--p", ".5", "--q", "2", *WALK), 100_000, 400_000),
    "10 x 5": Drawn(("--algo", "neighbor", "--fanout", "10,5"), 20_000, 400_000),
}


def first_use(context: Context, places: Places) -> Iterator[Stage]:
    """The first command on a machine, by algorithm, and the first evaluation; with --quick one of them."""
    where, start = ("--device", context.kind), OF_CUDA if context.on_gpu else OF_NUMBA
    for name in FIRST_ALGORITHMS[: 1 if context.quick else None]:
        out = places.disk / f"first-{name}.zarr"
        yield Stage(
            FIRST_USE.format(name), ("sample", "karate", str(out), "--algo", name, *where), start=start, first=True
        )
    if not context.quick:
        command = ("evaluate", "karate", "--measures", FIRST_MEASURE, *where)
        yield Stage(FIRST_USE.format(f"evaluate {FIRST_MEASURE}"), command, start=start, first=True)


def of_large_graph(context: Context, places: Places, spec: str) -> Iterator[Stage]:
    """Samples of a weighted graph of which about half fits: from the host's memory on a GPU, and from its store."""
    of = replace(parse_spec(spec), undirected=1, weights=1)
    yield Stage(WEIGHTED, ("datasets", "generate", str(of), str(places.weighted)), (), places.weighted)
    vertices, edges = expected(of)
    on_gpu = ("--gpu-memory", _size(GPU_SHARE * edges)) if context.on_gpu else ()
    budgets = {STREAMED: on_gpu, FROM_DISK: (*on_gpu, "--memory", _size(HOST_SHARE * edges))}
    for title, budget in budgets.items():
        missing = "it needs a GPU; --device cuda:0 names one" if title == STREAMED and not context.on_gpu else ""
        for number, (name, one) in enumerate(DRAWN.items()):
            count = min(one.sources_on_gpu if context.on_gpu else one.sources, int(vertices / 2))
            out = places.disk / f"{'host' if title == STREAMED else 'disk'}-{number}.zarr"
            how = ("--weighted", "--sources", f"random:{count}", *budget, "--device", context.kind)
            command = ("sample", str(places.weighted), str(out), *one.options, *how, "--threads", str(context.threads))
            yield Stage(
                title.format(name),
                command,
                (places.weighted,),
                out,
                missing=missing,
                cold=title == FROM_DISK,
                sampling=True,
                plan=True,
            )


def streamed(title: str) -> list[str]:
    """The names of the stages that sample a graph which does not fit; ``title``: STREAMED or FROM_DISK."""
    return [title.format(name) for name in DRAWN]


def _size(edges: float) -> str:
    """Bytes of so many edges, as the command line takes them."""
    return f"{round(edges * EDGE_BYTES) >> 10}KiB"
