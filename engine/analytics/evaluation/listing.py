"""Files of a graph's triangles, or of its edges with the triangles of each: ``csaw evaluate --write-list``."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypedDict

import numpy as np

from csaw.engine.analytics.computations import Enough
from csaw.engine.analytics.evaluation.in_window import in_window
from csaw.engine.analytics.evaluation.networks import Networks
from csaw.engine.analytics.evaluation.options import LISTS, EvaluateOptions, options
from csaw.engine.analytics.network import Network
from csaw.engine.api.option import Option
from csaw.engine.devices.devices import is_auto
from csaw.engine.export.graph_rows import Column, Listed
from csaw.engine.export.targets import LISTINGS, PathTarget, formats
from csaw.engine.plan.choices import Residency
from csaw.engine.plan.footprint import Footprint
from csaw.partition import GraphStore, open_graph
from csaw.partition.base.progress import Progress, Update
from csaw.partition.base.quoting import meant, quoted
from csaw.partition.errors import OptionError

Pieces = Iterator[tuple[int, list[np.ndarray]]]
OPTIONS = ("until", "between", "device", "gpu_memory", "memory", "residency", "threads")
"""The options of an evaluation that lists have, too."""

# On the CPU as of a count of triangles; on a GPU where rows begin, their lengths, and what is sorted to find repeats.
KEPT = {"cpu": Footprint(48, fixed=1 << 19), "cuda": Footprint(24, fixed=1 << 20)}


class List(NamedTuple):
    """A kind of list: its title, its columns, and the function that makes its rows."""

    title: str
    columns: tuple[Column, ...]
    pieces: Callable[[Network], Pieces]


class Summary(TypedDict):
    """A list that was written: of which graph, and the file with its format, rows and bytes."""

    graph: str
    list: str
    out: str
    format: str
    vertices: int
    rows: int
    bytes: int


def _triangles(network: Network) -> Pieces:
    for done, table in network.function("triangle_list")(network):
        yield done, list(table.T)


def _support(network: Network) -> Pieces:
    for done, *columns in network.function("support_list")(network):
        yield done, columns


KINDS = {
    "triangles": List(
        "Triangles",
        (
            Column("u", "vertex of the triangle with the lowest dense id", True),
            Column("v", "vertex of the triangle with the next dense id", True),
            Column("w", "vertex of the triangle with the highest dense id", True),
        ),
        _triangles,
    ),
    "support": List(
        "Edges and the triangles of each",
        (
            Column("source", "end of the edge with the lower dense id", True),
            Column("target", "end of the edge with the higher dense id", True),
            Column("triangles", "number of triangles that the edge is in", False),
        ),
        _support,
    ),
}


def list_options() -> dict[str, Option]:
    """The options of lists by name."""
    return {name: options()[name] for name in OPTIONS}


def write_list(
    graph: str | Path | GraphStore,
    what: str,
    out: str | Path,
    *,
    overwrite: bool = False,
    begin: Callable[[int], Update] = lambda total: lambda done: None,
    **given: object,
) -> Summary:
    """Write a list about the simple undirected graph: without directions, self loops and repeats.

    Rows are in the order of dense ids, of the first column, then the second, then the third, and have original ids.
    They depend on the graph alone. The file is written whole or not at all; memory holds some rows at a time.

    Args:
        graph: a graph store or its path.
        what: ``triangles``, each once, or ``support``, each edge once with the number of its triangles.
        out: path of the file; its suffix says the format, .txt, .csv, either with .gz, .npy or .parquet.
        overwrite: replace the file at ``out``.
        begin: called with the number of entries of the rows that are to be read; it returns a function that is called
            with how many are done.
        **given: those of OPTIONS, as of an evaluation.

    Raises:
        OptionError: an option is unknown or out of its range, or the format cannot hold the ids.
        StoreError: a store is missing or damaged, or ``out`` cannot be written.
        BudgetError: ``memory`` does not hold the longest row a few times, or a GPU not all rows.
    """
    if what not in LISTS:
        raise OptionError(f"--write-list: expected {' or '.join(LISTS)}, found {quoted(what)}{meant(what, LISTS)}")
    wish = _wish(given)
    target = PathTarget(Path(out), overwrite)
    format = target.format(LISTINGS, None)
    store = in_window(graph if isinstance(graph, GraphStore) else open_graph(graph), wish, beside="--write-list")
    kind = KINDS[what]
    with Networks(store, wish) as networks:
        simple = _simple(networks)
        listed = Listed(store, kind.title, kind.columns, kind.pieces(simple), networks.host.threads)
        wrote = target.write(
            lambda file, update: formats(LISTINGS)[format].write_list(listed, file, target.name, update),
            begin(simple.edges),
        )
    return {
        "graph": str(store.path),
        "list": what,
        "out": target.said,
        "format": format,
        "vertices": store.vertices,
        "rows": listed.rows,
        "bytes": wrote["bytes"],
    }


def _simple(networks: Networks) -> Network:
    """The simple undirected graph on the GPU that the user names, or on the host."""
    if len(networks.gpus) > 1:
        raise OptionError(
            f"--device {networks.wish.device}: a list is made on one GPU; choose one, as in --device cuda:0"
        )
    network: Network = networks.gpu if networks.gpus else networks.host
    kept, work = KEPT[network.device], network.works()["triangle_list"]
    network.keep(kept, Enough(partial(work.suffices, network, kept), network.device == "cuda"))
    return network.undirected


def entries_on(shown: Progress) -> Callable[[int], Update]:
    """Make the argument ``begin`` of :func:`write_list` that counts on a bar."""

    def begin(total: int) -> Update:
        shown.begin("listing", total, "entries")
        return shown

    return begin


def _wish(given: dict[str, object]) -> EvaluateOptions:
    """The options of a list, which is made on the CPU, or on a GPU that the user names."""
    if unknown := sorted(given.keys() - set(OPTIONS)):
        flag = unknown[0].strip("_").replace("_", "-")
        raise OptionError(
            f"--{flag} cannot be combined with --write-list, which accepts only "
            f"{', '.join('--' + name.replace('_', '-') for name in OPTIONS)}; leave it out"
        )
    wish = EvaluateOptions.of(given)[0]
    if is_auto(wish.device) or wish.device == "cpu":
        return replace(wish, device="cpu")
    if wish.residency not in (None, Residency.RESIDENT):
        raise OptionError(
            f"--residency {wish.residency}: a list that is made on a GPU needs all rows in its memory; leave it out, "
            "or pass --device cpu"
        )
    return wish
