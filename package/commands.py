"""The functions for commands: a graph in any form, options as on the command line, and progress."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from csaw.datasets.given import opened, to_sample
from csaw.engine.api import registry
from csaw.engine.api.registry import Algo
from csaw.engine.plan.options import options as run_options
from csaw.engine.runs.draw import draw_samples
from csaw.engine.runs.execute import execute
from csaw.engine.runs.job import Job, prepare
from csaw.engine.runs.one_way import remedy_of, warn
from csaw.engine.runs.sample_stream import Stream
from csaw.engine.runs.sample_stream import stream as stream_store
from csaw.engine.runs.virtual import commit_virtual
from csaw.engine.samples import Samples
from csaw.engine.samples.place import begun_on, check_place
from csaw.engine.stores import open_samples
from csaw.partition import GraphStore
from csaw.partition.base import arguments
from csaw.partition.base.arguments import flag, maybe
from csaw.partition.base.plain_data import OptionValue
from csaw.partition.base.progress import progress_of
from csaw.partition.base.python_names import in_python
from csaw.partition.base.quoting import quoted
from csaw.partition.base.stages import SAMPLING
from csaw.partition.errors import OptionError
from csaw.partition.graph.in_memory import InMemory
from csaw.partition.ingestion.ingest_options import GraphOptions, known
from csaw.signatures import with_options

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Place = str | os.PathLike[str]
Progress = bool | Callable[[int, int], None] | None
GRAPH = {
    "graph": arguments.graph,
    "directed": maybe(flag),
    **dict.fromkeys(("device", "algo"), arguments.simple),
    "target": maybe(arguments.amount),
}
"""Readers of the arguments that many functions have."""
COUNTED = maybe(arguments.progress("done", "total"))


@in_python(
    {"data": arguments.graph, "directed": maybe(flag), "reverse": flag, "edge_columns": maybe(arguments.columns)},
    edge_column="edge_columns",
)
def graph(
    data: object = None,
    *,
    indptr: "ArrayLike | None" = None,
    indices: "ArrayLike | None" = None,
    weights: "ArrayLike | None" = "auto",
    edge_columns: "Mapping[str, ArrayLike] | Sequence[str] | None" = None,
    **how: Unpack[GraphOptions],
) -> GraphStore:
    """Open ``data`` as a graph, as :func:`sample` and other functions do with their first argument.

        csaw.graph("web.zarr"), csaw.graph("edges.txt.gz"), csaw.graph("karate"), csaw.graph("rmat:scale=12")
        csaw.graph(networkx.karate_club_graph()), csaw.graph(pandas_table), csaw.graph(data.edge_index, directed=True)
        csaw.graph(indptr=indptr, indices=indices, weights=None)

    ``csaw.partition`` writes a graph to disk. The same edges have the same fingerprint as with ``csaw partition``, so
    samples have the same bytes. Vertex ids are 64-bit integers or strings. Samples keep integer ids; string ids become
    numbers, which :meth:`Samples.names` translates back.

    These objects in memory are graphs:

    - networkx, igraph: a graph. Vertices without edges are kept. Weights are the edge attribute ``weight``, or 1 if an
      edge has none.
    - scipy.sparse: a matrix [V, V]. Entry (i, j) is an edge from i to j. Its values are weights, unless they are bools
      or all 1. Several entries at one position are added, as in SciPy, unless ``duplicates`` or times are given.
    - PyTorch Geometric: an ``edge_index``, a tensor [2, edges], or a Data object, with ``edge_weight`` as weights.
      Edges have the direction of ``edge_index``. Or a TemporalData, whose ``t`` are the times of the edges. Or a
      HeteroData: node 5 of the type ``paper`` is the vertex ``paper:5``, and edge types are relations.
    - pandas, and any library with Arrow's ``__arrow_c_stream__``, such as polars, DuckDB, narwhals and pyarrow: a table
      with two or three columns, or with more columns if their names identify the ends, by the rules of ``csaw
      partition``; also lazy frames of polars, and data sets of pyarrow.
    - NumPy: an array of edges [edges, 2], or [edges, 3] with weights.
    - Python: a list of ``(source, target)`` or ``(source, target, weight)``; a tuple of columns, ``(sources,
      targets)``; or a dict of neighbors, ``{0: [1, 2], 1: [2]}`` or ``{0: {1: weight, 2: weight}}``.

    Args:
        data: path of a graph store or of a file of edges; the name of a dataset, or a specification such as
            ``rmat:scale=12``; or an object in memory, as above.
        indptr: offsets of CSR rows, [V + 1], instead of ``data``; not copied if rows are sorted and the element types
            fit.
        indices: neighbors in CSR rows, [E]; not copied in the same case.
        weights: ``auto``, as above; ``none`` or None; the name of an edge attribute or of a column; or an array [edges]
            in the order of the object's edges.
        edge_columns: further numbers of the edges, which hooks read as ``e.NAME``. Either a mapping from names, or
            ``NAME:DTYPE:UNITS``, to arrays [edges] in the order of the object's edges, such as ``{"time": times}``; or
            a list of names of table columns or edge attributes, with ``=COLUMN`` appended if the name differs there.
            Both directions of an undirected edge get its numbers; an edge that replaces repeated ones gets those of the
            first.
        **how: ``directed`` (default: from the object, the file's header or the dataset, otherwise True; False stores
            each edge in both directions; not for a graph store). Only for objects: ``duplicates`` ("first"; "sum",
            which counts edges without weights as 1; "keep"; or "error"; by default multigraphs, igraph, CSR arrays and
            an ``edge_index`` keep repeated edges, other objects keep the first), ``self_loops`` ("keep" or "drop") and
            ``reverse`` (False), as for ``csaw partition``; ``time``, times of the edges, which ``temporal`` walks
            follow: an array [edges] of integers or dates, or the name of a table column or edge attribute (default: the
            times of a TemporalData, otherwise none); with times, repeated edges are kept; ``vertex_ids``, original ids
            [V] if vertices are numbers; and ``source_column`` and ``target_column`` of a table, as names or numbers
            from 1.

    Returns:
        An open GraphStore.

    Raises:
        OptionError: an option is unknown or impossible, or ``data`` is not a graph.
        FormatError: the edges are malformed.
        StoreError: a store is missing or damaged, or weights are negative or not finite.
    """
    if indptr is not None or indices is not None:
        if data is not None or indptr is None or indices is None:
            raise OptionError("graph: expected either data, or indptr and indices together")
        if isinstance(weights, str) and weights not in ("auto", "none"):
            raise OptionError(f"weights: CSR arrays: expected an array [E] or none, found {quoted(weights)}")
        held = None if isinstance(weights, str) else weights
        if not how and not isinstance(edge_columns, Sequence):
            return InMemory("CSR arrays in memory", indptr, indices, held, edge_columns=edge_columns)
        from csaw.partition.ingestion.given_graph import graph_in_memory
        from csaw.partition.ingestion.objects import edges_of_csr

        return graph_in_memory(edges_of_csr(indptr, indices, held), edge_columns=edge_columns, **known(how))
    if isinstance(data, GraphStore | str | os.PathLike):
        directed = how.pop("directed", None)
        if how or edge_columns or not (isinstance(weights, str) and weights == "auto"):
            name = next(iter(how), "edge_columns" if edge_columns else "weights")
            takes = "takes time_column" if name == "time" else "takes it"
            raise OptionError(f"{name}: only for graphs in memory; csaw.partition(file, out, ...) {takes}")
        return opened(data, directed)
    from csaw.partition.ingestion.given_graph import graph_in_memory

    return graph_in_memory(data, weights=weights, edge_columns=edge_columns, **known(how))


@in_python(
    GRAPH
    | {
        "out": maybe(arguments.path("a sample store")),
        "virtual": flag,
        "resume": flag,
        "overwrite": flag,
        "progress": COUNTED,
    }
)
def sample(
    graph: object,
    out: Place | None = None,
    algo: Algo = "deepwalk",
    *,
    directed: bool | None = None,
    virtual: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress = None,
    **options: OptionValue,
) -> Samples:
    """Draw a sample, and open it: in memory, or in the store ``out``.

        csaw.sample("karate", algo="node2vec", p=0.5, walk_length=20, seed=7).walks[:10]
        csaw.sample(networkx_graph, algo="neighbor", fanout="25,10", sources="random:100").pyg()
        csaw.sample("web.zarr", "walks.zarr", algo="node2vec", num_walks=10, memory="4GiB")
        csaw.sample("karate", algo=MyWalk, edge_bias=lambda e: e.dst_degree ** 0.5)

    Args:
        graph: a path, a name or an object, as :func:`csaw.graph` takes it.
        out: path of the sample store to write; None keeps the samples in memory. Both have the same bytes.
        algo: the name of an algorithm (:func:`csaw.algorithms` lists them), ``FILE.py:CLASS``, or a class or an
            instance, built-in or custom, from a file or a notebook cell. The source of a custom class is stored with
            the sample. ``options`` override the options of an instance.
        directed: whether an edge of a file, a dataset or an object has one direction; False reads each in both. None:
            from the header, the dataset or the object, otherwise True.
        virtual: store only the request; the sample is drawn whenever ``out`` is read, and has the same bytes.
        resume: finish the sample that an interrupted run of the same request left at ``out``.
        overwrite: replace the sample store at ``out``.
        progress: True, a bar on a terminal and lines elsewhere; False, nothing; a function, which is called with the
            number of finished instances and the total. By default there is a bar in Jupyter and nothing elsewhere.
        **options: options of the algorithm, such as ``p=0.5``, and of any run, below; with the values of the command
            line or of Python, such as "25,10" or (25, 10).

    Returns:
        The open samples. ``len()`` is the number of instances, a loop yields them one by one, and ``samples[10:20]`` is
        a part.

    Raises:
        OptionError: an option is unknown or out of range, or a class or function cannot be stored with the sample.
        UnknownNameError: there is no algorithm ``algo``.
        StoreError: the graph is missing or damaged, or ``out`` is there already.
        BudgetError: there is too little memory.
        BiasError: a bias is not a finite number of at least 0.
        DeviceError: a device cannot be used.
    """
    if out is None:
        asked = {"virtual": virtual, "resume": resume, "overwrite": overwrite}
        if flag := next(filter(asked.get, asked), None):
            raise OptionError(
                f"{flag}: needs out, the path of the sample store; without out, samples are kept in memory"
            )
    elif os.fspath(out) in registry.names():
        raise OptionError(
            f"out: {os.fspath(out)!r} is the name of an algorithm; pass algo={os.fspath(out)!r}, or "
            f"out=./{os.fspath(out)} for a store of that name"
        )
    elif virtual and resume:
        raise OptionError("virtual: it stores only a request, which is written at once; leave out resume")
    else:
        check_place(Path(out), resume=resume, overwrite=overwrite)
    found = to_sample(graph, directed, options.get("memory"))
    if out is not None and resume and not isinstance(found, GraphStore):
        found = begun_on(found, Path(out))
    job = prepare(found, algo, measure=True, **options)
    own, how = algo if job.plan.request.code else None, {"resume": resume, "overwrite": overwrite}
    samples = _drawn(job, own, out, progress, virtual=virtual, **how)
    if directed is None and not virtual:
        warn(samples.results, remedy_of(graph))
    return samples


def _drawn(job: Job, own: Algo | None, out: Place | None, progress: Progress, *, virtual: bool, **how: bool) -> Samples:
    """The samples of a job. ``own``: the user's algorithm, if it is not one of csaw's."""
    if out is not None and virtual:
        commit_virtual(job, Path(out), overwrite=how["overwrite"])
        return open_samples(Path(out), algo=own)
    with progress_of(progress, SAMPLING, job.plan.request.instances, "instances") as update:
        if out is None:
            return draw_samples(job, update)
        execute(job, Path(out), progress=update, **how)
    return open_samples(Path(out))


@in_python(GRAPH | {"on_device": flag, "rank": arguments.whole(), "world": arguments.whole(1)})
def stream(
    graph: object,
    algo: Algo = "deepwalk",
    *,
    directed: bool | None = None,
    on_device: bool = False,
    rank: int = 0,
    world: int = 1,
    **options: OptionValue,
) -> Stream:
    """Draw a sample without keeping it, and iterate over its finished batches in order of instance.

    csaw draws the next batch while you work on the last one.

        with csaw.stream("web.zarr", "node2vec", p=0.5, num_walks=10, seed=7, in_flight=4096) as walks:
            for batch in walks:
                train(batch["walks"])

    Args:
        graph: a path, a name or an object, as :func:`csaw.graph` takes it.
        algo: as for :func:`sample`.
        directed: as for :func:`sample`.
        on_device: on a GPU, leave the arrays in its memory, as CuPy arrays, which PyTorch, CuPy and JAX accept through
            DLPack without a copy. By default they are NumPy arrays.
        rank: number of this process among those that train together, starting at 0.
        world: number of processes that train together, each of which draws its part.
        **options: as for :func:`sample`; ``in_flight`` is the largest number of instances in a batch.

    Returns:
        A :class:`Stream`.

    Raises:
        OptionError: ``rank`` or ``world`` is out of range, and as for :func:`sample`.
        CsawError: as for :func:`sample`.
    """
    found = to_sample(graph, directed, options.get("memory"))
    made = stream_store(found, algo, on_device=on_device, rank=rank, world=world, **options)
    made.remedy = remedy_of(graph) if directed is None else ""
    return made


with_options(sample, run_options(), "Options of any run", of_algorithms=True)
with_options(stream, run_options(), "Options of any run", of_algorithms=True)
