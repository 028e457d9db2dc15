"""The functions for the commands that look at stores. They return as plain data what the commands print."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from csaw.commands import graph as graph_of
from csaw.engine.api import registry
from csaw.engine.api.registry import Algo
from csaw.engine.cluster.shards import seal_sample
from csaw.engine.samples import Samples
from csaw.engine.samples.check import checksums_of
from csaw.engine.samples.describe import identified
from csaw.engine.samples.files import digest
from csaw.engine.stores.describe import describe_store
from csaw.engine.stores.verify import verify as verify_sample
from csaw.engine.verify import Report, verify_graph
from csaw.partition import GraphStore, open_graph
from csaw.partition.arrays.nodes import require_store
from csaw.partition.base import arguments
from csaw.partition.base.arguments import flag, maybe
from csaw.partition.base.plain_data import OptionValue, Record
from csaw.partition.base.progress import progress as shown_progress
from csaw.partition.base.progress import wanted
from csaw.partition.base.python_names import in_python
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError, StoreError
from csaw.partition.graph.attributes import is_graph
from csaw.partition.graph.versions import base_of
from csaw.partition.graph.versions import compact as drop_others
from csaw.partition.graph.views import Windowed

if TYPE_CHECKING:
    import numpy as np

    from csaw.partition.ingestion.append_options import AppendOptions

Place = str | os.PathLike[str]
Store = Place | Samples | GraphStore
STORES = {"store": arguments.graph, "graph": arguments.graph, "algo": arguments.simple}
"""Readers of the arguments that several functions have."""


@in_python(STORES | {"progress": maybe(arguments.progress())})
def verify(
    store: Store,
    graph: object = None,
    *,
    columns: OptionValue = None,
    algo: Algo | None = None,
    progress: bool | None = None,
) -> Report:
    """Check that a sample or a graph store is correct, as ``csaw verify`` does.

        report = csaw.verify("walks.zarr")
        print(report.ok, [check.name for check in report.checks if not check.ok])

    Args:
        store: A sample store or a graph store on disk: its path, or open.
        graph: The graph that was sampled, as :func:`csaw.graph` takes it (default: None, the path of its store when it
            was sampled).
        columns: The columns of vertex data with which the sample was drawn, as for :func:`csaw.sample` (default: None).
        algo: The algorithm that drew the sample, if it does not come with csaw: ``FILE.py:CLASS``, or the class.
            Without it (default: None), csaw does not test what needs it. csaw never runs code because a store names it.
        progress: True, show the current check, as one changing line on a terminal and as lines elsewhere; False,
            nothing (default: None, a line in Jupyter and nothing elsewhere).

    Returns:
        A Report: ``ok``, whether no check has failed; ``checks``, each with its name, status, p-value and details; and
        ``as_dict()``, the plain data that ``csaw verify --json`` prints.

    Raises:
        StoreError: A store cannot be opened, or the algorithm is another than drew the sample.
        OptionError: The columns or the algorithm are not those of the sample, or ``store`` is not a store on disk.
    """
    place = _place_of(store, "store")
    if is_graph(place):
        if given := [name for name, one in (("graph", graph), ("columns", columns), ("algo", algo)) if one is not None]:
            raise OptionError(f"{given[0]}: only for samples, but {place} is a graph store; leave it out")
        with shown_progress(f"verifying {place}", enabled=wanted(progress)):
            return verify_graph(place)
    require_store(place)
    if algo is None and isinstance(store, Samples):
        algo = store.algo
    with shown_progress(f"verifying {place}", enabled=wanted(progress)):
        return verify_sample(place, _sampled(graph), columns=columns, algo=algo)


@in_python(STORES | {"full": flag})
def info(
    store: Store,
    graph: Place | GraphStore | None = None,
    *,
    full: bool = False,
    algo: Algo | None = None,
    version: int | None = None,
) -> Record:
    """Describe a graph store or a sample store, as ``csaw info`` does.

        csaw.info("web.zarr")["vertices"]
        csaw.info("walks.zarr")["parameters"]

    Args:
        store: A sample store or a graph store on disk: its path, or open.
        graph: For a virtual sample, the graph store that it is drawn from (default: None, its path when it was
            sampled).
        full: Read the whole store: count the degrees of a graph, or the edges of each instance of a sample (default:
            False).
        algo: For a virtual sample whose algorithm does not come with csaw, ``FILE.py:CLASS`` or the class (default:
            None).
        version: For the path of a graph store, the number of the version (default: None, the newest).

    Returns:
        The plain data that ``csaw info --json`` prints.

    Raises:
        StoreError: The store cannot be opened.
        OptionError: ``store`` is not a store on disk.
    """
    where = None if graph is None else _place_of(graph, "graph")
    own = store.algo if isinstance(store, Samples) else algo
    return describe_store(_place_of(store, "store"), full, own, where, version)


def algorithms() -> Record:
    """List the built-in algorithms, as ``csaw algorithms`` does.

        csaw.algorithms()["node2vec"]["options"]  # {'walk_length': 80, 'num_walks': 1, 'p': 1.0, 'q': 1.0}

    Returns:
        For the name of each algorithm, its ``paper`` and its ``options``, which are defaults by name.
    """
    return registry.described()


@in_python({"out": arguments.path("a sample store"), "graph": arguments.graph})
def seal(out: Place, graph: Place | GraphStore | None = None) -> Record:
    """Finish a sample after all of its shards are drawn, as ``csaw seal`` does.

    The last shard does this by itself, unless it was killed.

    Args:
        out: The path that the sample will have.
        graph: The graph store that is sampled (default: None, its path when it was sampled).

    Returns:
        The summary of the run as plain data, as ``csaw seal --json`` prints it.

    Raises:
        StoreError: Groups are missing or damaged (the error names them); there is no such sample; the graph is missing
            or a different one; or a run is still writing there.
    """
    where = None if graph is None else _place_of(graph, "graph")
    done = {name: value for name, value in seal_sample(Path(out), where).items() if name != "plan"}
    return {**identified(Path(out)), **done}


@in_python(
    {
        **dict.fromkeys(("graph", "edges"), arguments.graph),
        **dict.fromkeys(("remove", "again"), flag),
        "directed": maybe(flag),
        "duplicates": maybe(arguments.one_of("first", "sum", "last", "keep", "error")),
        "self_loops": maybe(arguments.one_of("keep", "drop")),
        "edge_columns": maybe(arguments.columns),
        "progress": maybe(arguments.progress("done", "total")),
    },
    edge_column="edge_columns",
)
def append(
    graph: Place | GraphStore,
    edges: object,
    *,
    progress: "bool | Callable[[int, int], None] | None" = None,
    **options: Unpack["AppendOptions"],
) -> GraphStore:
    """Append edges to a graph store, or remove edges from it, as a new version, as ``csaw append`` does.

        csaw.append("web.zarr", "new-edges.txt")
        csaw.append("web.zarr", [(17, 4), (17, 5)], remove=True)
        csaw.append("messages.zarr", pandas_table, source_column="from", target_column="to", duplicates="keep")

    Vertices keep their dense ids, and new ones follow. Stores that are open stay at their version.

    Args:
        graph: The graph store: its path, or open.
        edges: Path of a file or a folder, a list of paths, or a graph in memory, as :func:`csaw.graph` accepts it. A
            table with ``__arrow_c_stream__`` is read in batches and takes the options of files, too. For a graph with
            several types of vertices, a dict of relations and files such as
            ``{("author", "writes", "paper"): "new.csv"}``, or a HeteroData.
        progress: True, a bar on a terminal and lines elsewhere; False, nothing; a function, which is called with the
            number of bytes read and the total (default: None, a bar in Jupyter and nothing elsewhere).
        **options: Options of ``csaw append``, with the same values: ``remove=True``, ``duplicates="sum"``,
            ``self_loops="drop"``, ``again=True``, and those that say how files are read. A graph in memory takes
            ``weights``, ``edge_columns``, ``time``, ``vertex_ids``, ``source_column``, ``target_column`` and
            ``directed`` instead, as :func:`csaw.graph` does.

    Returns:
        The newest version, open; its ``report["append"]`` says what was appended. It is the version before if the edges
        change nothing.

    Raises:
        OptionError: An option is unknown, out of its range, or contradicts the store.
        FormatError: A row is not an edge; the message has file and line. Or an edge is there already, with
            ``duplicates="error"``. Or a graph with several types would get a new vertex of another type than the last.
        StoreError: There is no such store, another process writes there, or the disk is full. Or the newest version was
            made by appending the same edges, and ``again`` is not given.
        BudgetError: ``memory`` is too little.
    """
    from csaw.partition.ingestion.making import grow  # brings Numba

    return grow(_base_of(graph), edges, progress=progress, **options).store


@in_python(
    {
        "sample": arguments.graph,
        "out": maybe(arguments.path("a sample store")),
        "graph": arguments.graph,
        "version": maybe(arguments.whole()),
        "overwrite": flag,
        "progress": maybe(arguments.progress("done", "total")),
    }
)
def refresh(
    sample: Place | Samples,
    out: Place | None = None,
    *,
    graph: Place | GraphStore | None = None,
    version: int | None = None,
    algo: Algo | None = None,
    overwrite: bool = False,
    progress: "bool | Callable[[int, int], None] | None" = None,
    **options: OptionValue,
) -> Samples:
    """Bring a stored sample up to date with the newest version of its graph, as ``csaw refresh`` does.

        csaw.append("web.zarr", "new-edges.txt")
        walks = csaw.refresh("walks.zarr")
        print(walks.results["refreshed"]["drawn"])

    The instances whose sources or rows have changed are drawn again, the others copied. All bytes are those of a sample
    that is drawn from the new version from the beginning. A virtual sample stays virtual, and nothing is drawn.

    Args:
        sample: The sample store: its path, or open.
        out: Path of the sample store to write (default: None, it replaces the sample).
        graph: The graph store to draw from: its path, or open (default: None, that of the sample).
        version: The number of the version to draw from (default: None, the newest).
        algo: ``FILE.py:CLASS`` or the class of an algorithm that does not come with csaw (default: None).
        overwrite: Replace the sample store at ``out``.
        progress: True, a bar on a terminal and lines elsewhere; False, nothing; a function, which is called with the
            number of finished instances and the total (default: None, a bar in Jupyter and nothing elsewhere).
        **options: Options of a run that change no byte, such as ``device`` and ``memory``; ``sources``, if the sample
            does not have all of them; and ``columns``, if it was drawn with columns of vertex data.

    Returns:
        The sample, open. Its ``results["refreshed"]`` has the numbers of instances that were ``drawn`` and ``kept``, of
        ``rows`` that have changed, and ``why`` all were drawn, if they were.

    Raises:
        OptionError: Columns of data are missing, or the sample lacks some of its sources.
        StoreError: The sample is damaged, or its graph is missing; or ``out`` cannot be written.
        BudgetError: There is too little memory.
        DeviceError: A device cannot be used.
    """
    from csaw.engine.runs.comparison import compare
    from csaw.engine.runs.refresh import refresh as bring_up_to_date
    from csaw.engine.stores import open_samples
    from csaw.partition.base.progress import progress_of

    algo = sample.algo if algo is None and isinstance(sample, Samples) else algo
    where = None if graph is None else _place_of(graph, "graph")
    place = _place_of(sample, "sample")
    found = compare(place, where, version, algo=algo, **options)
    with progress_of(progress, "sampling", found.instances, "instances") as update:
        results = bring_up_to_date(found, None if out is None else Path(out), overwrite=overwrite, progress=update)
    samples = open_samples(place if out is None else Path(out), algo=algo)
    samples.results["refreshed"] = results["refreshed"]  # the store has that of an earlier time if nothing has changed
    return samples


@in_python({"sample": arguments.graph, "since": arguments.whole()})
def changed(sample: Place | Samples, since: int, *, algo: Algo | None = None, **options: OptionValue) -> "np.ndarray":
    """Return the numbers of the instances that have changed since an earlier version of the graph.

        csaw.refresh("walks.zarr")
        walks = csaw.open_samples("walks.zarr")
        new = walks.chosen(csaw.changed(walks, since=3))

    Args:
        sample: The sample store: its path, or open.
        since: The number of a version of the graph store before that of the sample.
        algo: ``FILE.py:CLASS`` or the class of an algorithm that does not come with csaw (default: None).
        **options: As for :func:`csaw.refresh`.

    Returns:
        int64, ascending: the instances that are other ones than in a sample of that version, and those that only read
        rows that have changed. All of them, where csaw cannot tell from rows.

    Raises:
        OptionError: ``since`` is a later version than that of the sample, or as for :func:`csaw.refresh`.
        StoreError: A version of the graph is missing, or as for :func:`csaw.refresh`.
    """
    from csaw.engine.runs.comparison import changed_since
    from csaw.engine.stores import open_samples

    algo = sample.algo if algo is None and isinstance(sample, Samples) else algo
    return changed_since(open_samples(_place_of(sample, "sample"), algo=algo), since, algo=algo, **options)


@in_python({"graph": arguments.graph, "version": maybe(arguments.whole())})
def compact(graph: Place | GraphStore, version: int | None = None) -> Record:
    """Drop all versions of a graph store but one, as ``csaw compact`` does.

    Samples of other versions stay readable, but cannot be verified or resumed any more.

    Args:
        graph: The graph store: its path, or open.
        version: The number of the version to keep (default: None, the newest).

    Returns:
        The plain data that ``csaw compact --json`` prints.

    Raises:
        StoreError: There is no such store or version, or another process writes there.
        OptionError: ``graph`` is not a store on disk.
    """
    return drop_others(_base_of(graph), version)


def _base_of(graph: Place | GraphStore) -> Path:
    """The path of a graph store on disk with all of its versions."""
    place = _place_of(graph, "graph")
    return base_of(place) if isinstance(graph, GraphStore) else place


def _sampled(graph: object) -> Path | GraphStore | None:
    if graph is None or isinstance(graph, GraphStore):
        return graph
    return Path(graph) if isinstance(graph, str | os.PathLike) else graph_of(graph)


def _place_of(store: Store, name: str) -> Path:
    """The path of a store. OptionError for what is not on disk as a whole, and for what is no store."""
    if isinstance(store, str | os.PathLike):
        return Path(store)
    in_memory = isinstance(store, GraphStore) and (store.stored.in_memory or isinstance(store.stored, Windowed))
    in_part = isinstance(store, Samples) and not (store.is_virtual or store.checksums)
    if in_memory or in_part or not isinstance(store, Samples | GraphStore):
        raise OptionError(
            f"{name}: expected a store on disk, or its path, found {quoted(store)}; write it to disk first"
        )
    _check_same(store)
    return store.address if isinstance(store, GraphStore) else store.path


def _check_same(store: Samples | GraphStore) -> None:
    """StoreError if the path of an open store now has another store."""
    if isinstance(store, GraphStore):
        held, read = store.stored.identity, lambda: open_graph(store.address).identity
    else:
        held, read = store.source.identity, lambda: digest(checksums_of(store.path))
    try:
        found = read()
    except StoreError:  # left to what reads the store, which says what is wrong
        return
    if found != held:
        raise StoreError(f"{store.path} has been replaced since it was opened; open it again")
