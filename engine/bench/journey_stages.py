"""The commands of a journey from a text of edges to samples in another format, with the files of each."""

from collections.abc import Iterator
from importlib.util import find_spec

from csaw.engine.bench.context import Context
from csaw.engine.bench.journey_once import OF_CUDA, OF_NUMBA, first_use, of_large_graph
from csaw.engine.bench.stage import Places, Stage

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


def walks_in_memory(context: Context) -> int:
    """Walks from each vertex that are sampled to memory."""
    return GPU_WALKS if context.on_gpu else 1


def on_all(context: Context) -> str:
    """The name of the stage that samples to memory on all GPUs."""
    return f"{IN_MEMORY}, {len(context.devices)} GPUs"
