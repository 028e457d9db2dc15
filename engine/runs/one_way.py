"""Walks that die because each undirected edge was listed once, and the graph was read as directed."""

import logging
import os
from collections.abc import Mapping
from pathlib import Path

from csaw.engine.api.algorithm import Walk
from csaw.engine.api.termination import follows_edges, may_end
from csaw.engine.runs.job import Job
from csaw.engine.samples.layouts.layout import Sizes
from csaw.engine.schedule.batch_loop import FinishedBatch
from csaw.partition import GraphStore
from csaw.partition.base.plain_data import Record
from csaw.partition.graph.reciprocity import looked_at, reciprocity

log = logging.getLogger("csaw")
AGAIN = "make the graph again with directed=False"
ONE_WAY = "one_way"
"""The entry of a summary that says how many walks of a finished sample met a dead end, and of how many, where most of
them did in a directed graph in which no edge has its opposite.
"""


def one_way(job: Job, sizes: Sizes | None) -> Record:
    """Return the entry ``one_way`` of a finished sample, whose sizes are ``sizes``; empty where all is usual.

    The opposites of edges were counted when the graph was made from a file, and are otherwise counted now.
    """
    if not job.store.directed or sizes is None or "ended_early" not in sizes or may_end(job.algorithm):
        return {}
    if getattr(job.algorithm, "timed", False):  # walks in time end where nothing is later, whatever the directions
        return {}
    if 2 * sizes["ended_early"] <= sizes["instances"] or job.store.types is not None:  # relations have directions
        return {}
    report = job.store.report
    share = report["reciprocity"] if "reciprocity" in report else reciprocity(job.store)
    if share != 0:
        return {}
    edges = job.store.edges
    dead = {"dead": sizes["ended_early"], "walks": sizes["instances"]}
    return {ONE_WAY: dead | {"edges": edges, "edges_looked_at": looked_at(edges)}}


def of_batch(job: Job, batch: FinishedBatch) -> Record:
    """Return the same entry of a batch that was drawn without a store; empty where steps do not follow edges alone, and
    where several walks are joined to an instance.
    """
    if not isinstance(job.algorithm, Walk) or not follows_edges(job.algorithm) or job.plan.request.target:
        return {}
    return one_way(job, {"ended_early": batch.dead_ends, "instances": batch.instances})


def warning_of(results: Mapping[str, object], remedy: str) -> str:
    """The sentence for a summary with ``one_way``; empty for others. ``remedy``: what reads the edges as undirected."""
    found = results.get(ONE_WAY)
    if not isinstance(found, dict):
        return ""
    whole = found["edges"] == found["edges_looked_at"]
    looked = "no edge" if whole else f"none of {found['edges_looked_at']:,} edges that were looked at"
    return (
        f"{found['dead']:,} of {found['walks']:,} walks met a dead end: the graph was read as directed, and {looked} "
        f"has its opposite. If its edges have no direction, {remedy}"
    )


def remedy_of(graph: object) -> str:
    """The way in which a program reads the edges of ``graph``, a path, a name or an object, as undirected."""
    if isinstance(graph, GraphStore):
        return AGAIN
    if isinstance(graph, str | os.PathLike) and Path(graph).is_dir():
        return f"make the store again: csaw.partition(file, {os.fspath(graph)!r}, directed=False, overwrite=True)"
    return "pass directed=False"


def warn(results: Mapping[str, object], remedy: str) -> None:
    """Log the sentence for a program, with the ``remedy``."""
    if warning := warning_of(results, remedy):
        log.warning("%s", warning)
