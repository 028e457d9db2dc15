"""The commands of a journey from a text of edges to samples in another format, with the files of each.

Stages are its units: csaw commands, each in a process of its own. Some are run once: the first ones after csaw was
installed, and samples of a graph that the memory does not hold, with weights and about half of it in memory. What takes
seconds the first time and nothing the second (compiling, page-locking, reading) is in their time.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from csaw.datasets.spec import parse_rmat
from csaw.engine.bench.context import Context
from csaw.engine.bench.graphs import expected


class Places(NamedTuple):
    """The folders of a turn: of the disk that is measured, and in memory."""

    disk: Path
    memory: Path

    @property
    def text(self) -> Path:
        return self.disk / "edges.txt"

    @property
    def graph(self) -> Path:
        return self.disk / "graph.zarr"

    @property
    def weighted(self) -> Path:
        return self.disk / "weighted.zarr"

    @property
    def walks(self) -> Path:
        return self.disk / "walks.zarr"

    def gzip(self, name: str) -> Path:
        """The text as the gzip file of the stage ``name``."""
        return self.disk / f"{name.split(', ')[1].replace(' ', '-')}.txt.gz"


@dataclass(frozen=True)
class Stage:
    """One csaw command, in a process of its own, so that imports and the start of a device count.

    ``counts`` is the file whose bytes the rate counts; without one it counts commands. ``start`` is the limit of a
    command that has nothing but its start: its name and Python code. ``beside``: the stage that its goal refers to.
    ``missing``: the reason why it cannot be measured here. ``first``: it begins with an empty cache. ``cold``: its
    inputs are dropped from the page cache before it. ``sampling``: the sampling in it has a row of its own; ``plan``:
    so has the comparison of its seconds with those that its plan expected.
    """

    name: str
    command: tuple[str, ...]
    reads: tuple[Path, ...] = ()
    leaves: Path | None = None
    counts: Path | None = None
    start: tuple[str, str] | None = None
    beside: str = ""
    missing: str = ""
    first: bool = False
    cold: bool = False
    sampling: bool = False
    plan: bool = False

    @property
    def rows(self) -> list[str]:
        """The works of the rows that come of it."""
        return [self.name] + [sampling_of(self.name)] * self.sampling + [plan_of(self.name)] * self.plan


def sampling_of(name: str) -> str:
    """The work of the sampling in a stage: the graph is brought to where it is drawn, and drawn from."""
    return f"{name}, sampling alone"


def plan_of(name: str) -> str:
    """The work of a stage beside the seconds that its plan expected."""
    return f"{name}, beside its plan"


def needed(every: list[Stage], only: str, packed_from: dict[Path, Path]) -> list[Stage]:
    """The stages that have a row with ``only`` in its name, and those that they need.

    These are the stages that their goals refer to, and those that make the files that they read. ``packed_from`` has
    the source of each file that no stage makes.
    """
    found, names, files = list[Stage](), set[str](), set[Path]()
    for stage in reversed(every):
        if any(only in row for row in stage.rows) or stage.name in names or stage.leaves in files:
            found.append(stage)
            names.add(stage.beside)
            files |= {packed_from.get(file, file) for file in stage.reads}
    return found[::-1]


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
    of = replace(parse_rmat(spec), undirected=1, weights=1)
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


HELP, SMALL, GENERATE = "help of sample", "sample, 34 vertices", "generate text"
TEXT, MIDDLE_MEMORY, SMALL_MEMORY = "partition text", "partition text, --memory 2GiB", "partition text, small --memory"
MEMBERS, MEMBER = "partition gzip, 16 members", "partition gzip, one member"
SAMPLED, IN_MEMORY = "sample, node2vec p=.5 q=2", "sample to memory, node2vec p=.25 q=4"
TO_TEXT, TO_NPY, TO_PARQUET, VERIFY, INFO = "export to text", "export to .npy", "export to Parquet", "verify", "info"
WALKS = ("--algo", "node2vec", "--p", ".5", "--q", "2", "--walk-length", "80")
HARD_WALKS = ("--algo", "node2vec", "--p", ".25", "--q", "4", "--walk-length", "80")
GPU_WALKS = 6  # walks from each vertex in memory on GPUs: 2 G steps at the scale that GPUs are given
OF_CLICK = ("a start of Python and Click", "import click")
EVALUATED = "evaluate {}"
NEW_EDGES, APPENDED, REFRESHED = "generate new edges", "append as many edges as vertices", "refresh after that"
MEASURES = ("components", "hops", "core", "triangles")


def stages(context: Context, places: Places, spec: str, small_memory: str) -> list[Stage]:
    """The stages of one turn in their order.

    The text is made from ``spec``; ``small_memory`` is the value of --memory that makes csaw deal edges by way of the
    disk.
    """
    text, graph, walks = places.text, places.graph, places.walks
    where = ("--device", context.kind, "--threads", str(context.threads))
    small = ("sample", "karate", str(places.disk / "small.zarr"), "--device", context.kind)
    return [
        Stage(HELP, ("sample", "--help"), start=OF_CLICK),
        Stage(SMALL, small, start=OF_CUDA if context.on_gpu else OF_NUMBA),
        Stage(GENERATE, ("datasets", "generate", spec, str(text)), (), text, text),
        *_partitions(context, places, small_memory),
        Stage(
            SAMPLED, ("sample", str(graph), str(walks), *WALKS, *where), (graph,), walks, walks, beside=SMALL, plan=True
        ),
        *_exports(places, context.threads),
        Stage(VERIFY, ("verify", str(walks)), (walks, graph)),
        Stage(INFO, ("info", str(walks)), (walks,), start=OF_CLICK),
        *_in_memory(context, places),
        *_evaluated(context, places),
        *_grown(places, spec, where),
        *of_large_graph(context, places, spec),
        *first_use(context, places),
    ]


def _partitions(context: Context, places: Places, small_memory: str) -> Iterator[Stage]:
    """``csaw partition`` of the text and of its gzip files; every rate counts bytes of plain text."""
    budgets = {MIDDLE_MEMORY: ("--memory", "2GiB"), SMALL_MEMORY: ("--memory", small_memory)}
    for number, name in enumerate((TEXT, MIDDLE_MEMORY, SMALL_MEMORY, MEMBERS, MEMBER)):
        source = places.gzip(name) if name in (MEMBERS, MEMBER) else places.text
        out = places.disk / f"graph{number}.zarr" if number else places.graph
        options = ("--undirected", "--threads", str(context.threads), *budgets.get(name, ()))
        yield Stage(
            name,
            ("partition", str(source), str(out), *options),
            (source,),
            out,
            places.text,
            beside=TEXT if name in (MIDDLE_MEMORY, MEMBERS, MEMBER) else "",
        )


def _exports(places: Places, threads: int) -> Iterator[Stage]:
    missing = "" if find_spec("pyarrow") else "Parquet needs pyarrow: pip install pyarrow"
    for name, suffix in ((TO_TEXT, "txt"), (TO_NPY, "npy"), (TO_PARQUET, "parquet")):
        out = places.walks.with_suffix(f".{suffix}")
        command = ("export", str(places.walks), str(out), "--threads", str(threads))
        yield Stage(name, command, (places.walks,), out, out, missing=missing if name == TO_PARQUET else "")


def _in_memory(context: Context, places: Places) -> Iterator[Stage]:
    """``csaw sample`` to memory, on one device and, if there are several, on all of them."""
    several = "cuda:" + ",".join(str(gpu.number) for gpu in context.devices)
    named = {IN_MEMORY: context.kind} | ({on_all(context): several} if len(context.devices) > 1 else {})
    for number, (name, device) in enumerate(named.items()):
        out = places.memory / f"walks{number}.zarr"
        options = (*HARD_WALKS, "--num-walks", str(walks_in_memory(context)), "--device", device)
        command = ("sample", str(places.graph), str(out), *options, "--threads", str(context.threads))
        yield Stage(name, command, (places.graph,), out, out, beside=IN_MEMORY if number else SMALL)


def _evaluated(context: Context, places: Places) -> Iterator[Stage]:
    """``csaw evaluate`` of the graph by one measure, without what is kept of it in the cache."""
    where = ("--device", context.kind, "--threads", str(context.threads))
    for measure in MEASURES:
        command = ("evaluate", str(places.graph), "--measures", measure, "--refresh", *where)
        yield Stage(EVALUATED.format(measure), command, (places.graph,))


def _grown(places: Places, spec: str, where: tuple[str, ...]) -> Iterator[Stage]:
    """An append to the graph, of so many edges that all partitions change, and the walks brought up to date with it."""
    text = places.disk / "new-edges.txt"
    new = replace(parse_rmat(spec), edge_factor=1, seed=parse_rmat(spec).seed + 1)
    yield Stage(NEW_EDGES, ("datasets", "generate", str(new), str(text)), (), text, text)
    yield Stage(APPENDED, ("append", str(places.graph), str(text)), (places.graph, text), beside=TEXT)
    yield Stage(REFRESHED, ("refresh", str(places.walks), *where), (places.walks, places.graph), beside=SAMPLED)


def walks_in_memory(context: Context) -> int:
    """Walks from each vertex that are sampled to memory."""
    return GPU_WALKS if context.on_gpu else 1


def on_all(context: Context) -> str:
    """The name of the stage that samples to memory on all GPUs."""
    return f"{IN_MEMORY}, {len(context.devices)} GPUs"
