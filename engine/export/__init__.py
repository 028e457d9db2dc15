"""Samples and graphs as files of other programs' formats: :mod:`csaw.engine.export.targets` says what a format
is.
"""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import BinaryIO

from csaw.engine.export.common import lacking
from csaw.engine.export.targets import GRAPHS, Target, formats
from csaw.engine.samples import Samples
from csaw.engine.samples.edges import edge_columns, obstacle
from csaw.engine.samples.layouts.layout import TIME
from csaw.partition import GraphStore, open_graph
from csaw.partition.base.plain_data import Record
from csaw.partition.base.python_names import of_caller
from csaw.partition.errors import OptionError, RepeatedEdgesError, StoreError
from csaw.partition.graph.versions import drawn_from

__all__ = ["Update", "export_graph", "export_samples", "formats", "part_of"]

Update = Callable[[int], None]


def export_samples(
    samples: Samples, target: Target, format: str, graph: str | Path | GraphStore | None, crew: int, update: Update
) -> Record:
    """Write samples to a target; ``graph``: their graph store, open or its path, where somebody has named it."""
    module = formats()[format]
    more, left_out = _graph(samples, module, graph)
    left_out = left_out | lacking(samples, module.LACKS, crew)

    def write(file: BinaryIO, update: Update) -> None:
        module.write_samples(samples, file, target.name, update, crew, **more)

    said = {"samples": str(samples.path), "out": target.said, "format": format, "instances": samples.instances}
    try:
        is_cut = hasattr(module, "parts")
        wrote = target.write_parts(samples, module, crew, update) if is_cut else target.write(write, update)
    except RepeatedEdgesError as error:  # before anything was written
        if graph is not None:
            raise
        more, left_out = {}, left_out | {"e_id": str(error)}
        wrote = target.write(write, update)
    return said | wrote | {"left_out": _said(left_out)}


def export_graph(store: GraphStore, target: Target, format: str, crew: int, update: Update) -> Record:
    """Write a graph to a target."""
    from csaw.engine.export.graph_rows import Edges, left_out

    module = formats(GRAPHS)[format]
    edges = Edges(store, crew, module.HOLDS)
    wrote = target.write(lambda file, update: module.write_graph(edges, file, target.name, update), update)
    said = {"graph": str(store.path), "out": target.said, "format": format, "vertices": store.vertices}
    return said | {"edges": edges.written, **wrote, "left_out": _said(left_out(edges, module.HOLDS))}


def _said(left_out: dict[str, str]) -> dict[str, str]:
    """The reasons in words of the caller."""
    return {name: of_caller(reason) for name, reason in left_out.items()}


def part_of(samples: Samples, first: int, last: int) -> Samples:
    """The instances from number ``first`` to before ``last``. OptionError where there are none."""
    if first == last:
        raise OptionError(
            "--part: expected FIRST:LAST with FIRST < LAST, where LAST is one more than the last instance "
            f"to write, found {first}:{last}"
        )
    return samples.part(first, last)


def _graph(
    samples: Samples, format: ModuleType, given: str | Path | GraphStore | None
) -> tuple[dict[str, GraphStore], dict[str, str]]:
    """The graph as an argument of the format's ``write_samples``, and the reason if its edges' places are left out for
    lack of it.
    """
    if not getattr(format, "NUMBERS_EDGES", False):
        if given is not None and not samples.is_virtual:
            raise OptionError("--graph: only for --format pyg or torch, for the positions of edges in the graph")
        return {}, {}
    if "e_id" in samples:
        return {}, {}
    wanted = samples.manifest.get("request", {}).get("fingerprint")
    if given is not None:
        return {"graph": given if isinstance(given, GraphStore) else open_graph(drawn_from(given, wanted))}, {}
    where = samples.manifest.get("graph", {}).get("path")
    if not where:
        return {}, {"e_id": f"{samples.path} does not contain the path of its graph; give it with --graph"}
    try:
        store = open_graph(drawn_from(where, wanted))
    except (StoreError, OptionError) as error:  # of a path that no store can have
        return {}, {"e_id": f"{error}, or name the graph with --graph"}
    reason = obstacle(samples, store, in_time=TIME in edge_columns(samples))
    return ({}, {"e_id": reason}) if reason else ({"graph": store}, {})
