"""The functions for ``csaw evaluate``: measures of a graph and its samples, and lists of a graph on disk."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from csaw.commands import COUNTED, GRAPH, Place, Progress
from csaw.commands import graph as graph_of
from csaw.datasets.given import opened
from csaw.engine.analytics.evaluation.evaluate import Evaluation
from csaw.engine.analytics.evaluation.listing import Summary, entries_on, list_options, write_list
from csaw.engine.analytics.evaluation.options import options as evaluate_options
from csaw.engine.analytics.evaluation.over_versions import evaluate_several
from csaw.engine.analytics.measure import options_of_all as measure_options
from csaw.engine.samples import Samples
from csaw.partition.base import arguments
from csaw.partition.base.arguments import maybe
from csaw.partition.base.plain_data import OptionValue
from csaw.partition.base.progress import progress as shown_progress
from csaw.partition.base.progress import steps, wanted
from csaw.partition.base.python_names import in_python
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError
from csaw.signatures import with_options

LISTED = GRAPH | {"out": arguments.path("the file to write"), "overwrite": arguments.flag, "progress": COUNTED}
"""Readers of the arguments of lists."""


@in_python(GRAPH | {"progress": maybe(arguments.progress("doing"))})
def evaluate(
    graph: object,
    samples: Samples | Place | Sequence[Samples | Place] = (),
    *,
    directed: bool | None = None,
    progress: bool | Callable[[str], object] | None = None,
    **options: OptionValue,
) -> Evaluation:
    """Measure a graph, and how well samples preserve it.

        csaw.evaluate("karate") fires = csaw.sample("web.zarr", algo="forest-fire") csaw.evaluate("web.zarr", [fires,
        "walks.zarr"], measures="degree,triangles") csaw.evaluate("web.zarr", measures=[Label, "components"]) # Label: a
        custom class csaw.evaluate("messages.zarr", measures="degree", every="7d").table("csv") # a line for each week

    Args:
        graph: a path, a name or an object, as :func:`csaw.graph` takes it.
        samples: samples of that graph, one or several: paths of sample stores, open samples, or samples in memory.
            Without any, the result is the profile of the graph.
        directed: of the graph, as for :func:`sample`.
        progress: True, a line that changes on a terminal and lines elsewhere; False, nothing; a function, which is
            called with the name of what is being measured. By default there is a line in Jupyter and nothing elsewhere.
        **options: options of measures, such as ``damping=0.9``, and of any evaluation, below.

    Returns:
        The results: ``rows()`` is their table, ``profile`` what is known of the graph, ``as_dict()`` plain data. With
        ``windows`` or ``every``, ``windows`` is a list with the results of each window; with ``versions``, ``versions``
        has those of each version by its number.

    Raises:
        OptionError: an option is unknown or out of its range.
        UnknownNameError: a measure is unknown.
        StoreError: a store is missing or damaged, or a sample is of another graph.
        BudgetError: a measure needs more memory.
    """
    try:
        several: list[object] = [samples] if isinstance(samples, Samples | str | os.PathLike) else list(samples)
    except TypeError:
        several = [samples]
    known = [one for one in several if isinstance(one, Samples | str | os.PathLike)]
    if len(known) < len(several):
        raise OptionError(
            f"samples: expected open samples or paths of sample stores, one or a list, found {quoted(samples)}"
        )
    given = [one if isinstance(one, Samples) else Path(arguments.named("samples", one)) for one in known]
    found = opened(graph, directed, options.get("memory"))
    name = os.fspath(graph) if isinstance(graph, str | os.PathLike) else ""
    if callable(progress):
        return replace(evaluate_several(found, given, progress=progress, **options), named=name)
    with steps("measuring", enabled=wanted(progress)) as update:
        return replace(evaluate_several(found, given, progress=update, **options), named=name)


@in_python(LISTED)
def list_triangles(
    graph: object,
    out: Place,
    *,
    directed: bool | None = None,
    overwrite: bool = False,
    progress: Progress = None,
    **options: OptionValue,
) -> Summary:
    """Write all triangles of a graph to a file, each once, with the original ids of its vertices.

        csaw.list_triangles("web.zarr", "triangles.npy")
        numpy.load("triangles.npy", mmap_mode="r")  # [triangles, 3]

    Directions, self loops and repeated edges are ignored. The dense ids of a row are u < v < w, and rows are sorted by
    u, then v, then w, so the file depends only on the graph. Memory holds only some triangles at a time.

    Args:
        graph: a path, a name or an object, as :func:`csaw.graph` takes it.
        out: path of the file: .txt, .csv, both also with .gz, .npy or .parquet.
        directed: of the graph, as for :func:`sample`.
        overwrite: replace the file at ``out``.
        progress: as for :func:`sample`, counting entries of rows.
        **options: options of any list, below.

    Returns:
        A summary as plain data, with the numbers of ``rows`` and ``bytes``.

    Raises:
        OptionError: an option is unknown or out of its range, or the format cannot store the ids.
        StoreError: a store is missing or damaged, or ``out`` cannot be written.
        BudgetError: the memory does not hold a few of the longest rows.
    """
    return _listed(graph, "triangles", out, directed, overwrite, progress, options)


@in_python(LISTED)
def list_support(
    graph: object,
    out: Place,
    *,
    directed: bool | None = None,
    overwrite: bool = False,
    progress: Progress = None,
    **options: OptionValue,
) -> Summary:
    """Write all edges of a graph to a file, each once, with the number of triangles that it is in, its support.

        csaw.list_support("web.zarr", "support.parquet")
        pandas.read_parquet("support.parquet")  # columns source, target, triangles

    The graph is taken without directions, self loops and repeats. The dense id of an edge's source is below that of its
    target, and rows are in the order of sources, then targets.

    Args:
        graph: as for :func:`list_triangles`.
        out: as for :func:`list_triangles`.
        directed: as for :func:`list_triangles`.
        overwrite: as for :func:`list_triangles`.
        progress: as for :func:`list_triangles`.
        **options: options of any list, below.

    Returns:
        A summary as plain data, with the numbers of ``rows`` and ``bytes``.

    Raises:
        CsawError: as for :func:`list_triangles`.
    """
    return _listed(graph, "support", out, directed, overwrite, progress, options)


def _listed(
    graph: object,
    what: str,
    out: Place,
    directed: bool | None,
    overwrite: bool,
    progress: Progress,
    options: dict[str, OptionValue],
) -> Summary:
    found = graph_of(graph, directed=directed)
    if callable(progress):
        return write_list(
            found, what, Path(out), overwrite=overwrite, begin=lambda total: partial(_tell, progress, total), **options
        )
    with shown_progress("listing", enabled=wanted(progress)) as shown:
        return write_list(found, what, Path(out), overwrite=overwrite, begin=entries_on(shown), **options)


def _tell(progress: Callable[[int, int], None], total: int, done: int) -> None:
    progress(done, total)


with_options(evaluate, evaluate_options(), "Options of any evaluation")
with_options(evaluate, measure_options(), "Options of measures")
with_options(list_triangles, list_options(), "Options of any list")
with_options(list_support, list_options(), "Options of any list")
