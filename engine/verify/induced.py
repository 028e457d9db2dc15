"""Checks of samples that end as induced subgraphs: their vertices, all edges among them, and the law of those that are
stored as drawn.
"""

import numpy as np

from csaw.engine.api.starts import SourceKind
from csaw.engine.verify.checks import Checks, Subject
from csaw.engine.verify.clusters import DrawnClusters
from csaw.engine.verify.groups import MOVED, Group, count, edges_left_out, groups, repeats
from csaw.engine.verify.layers import matrix_biases
from csaw.engine.verify.met import Met
from csaw.engine.verify.statistics import evenly


def verify_met(subject: Subject, checks: Checks) -> None:
    """Check the vertices and edges of induced subgraphs.

    The draws that met the vertices are not stored, but for the sources.
    """
    wrong = dict.fromkeys(("edges", "sources", "visits", "repeats", "sizes", "met"), 0)
    met = Met(subject)
    clusters = DrawnClusters(subject) if subject.sources is SourceKind.CLUSTERS else None
    drawn = np.zeros(subject.view.vertices, np.int64)
    for group in groups(subject, checks, wrong):
        keys = met_keys(subject, group)
        wrong["sources"] += int((~np.isin(group.source_key, keys)).sum())
        wrong["visits"] += int((~(np.isin(group.src_key, keys) & np.isin(group.dst_key, keys))).sum()) + int(
            (np.diff(keys) <= 0).sum()
        )
        wrong["repeats"] += repeats(subject, group, np.ones(group.src.size, np.int64))
        wrong["sizes"] += edges_left_out(subject, group, keys)
        wrong["met"] += met.wrong(group, keys) if not any(wrong.values()) else 0
        drawn += np.bincount(group.sources, minlength=subject.view.vertices)
        wrong["sources"] += clusters.add(keys, len(group.counts)) if clusters else 0
    count(checks, wrong)
    if clusters is not None:
        clusters.judge(checks)
        return
    _law_of_sources(subject, checks, drawn)


def met_keys(subject: Subject, group: Group) -> np.ndarray:
    """instance * vertices + vertex of every stored vertex of a group, in the order of the store."""
    counts, vertices = group.arrays["vertex_counts"], subject.dense(group.arrays["vertices"])
    return np.repeat(np.arange(counts.size), counts) * subject.view.vertices + vertices


def _law_of_sources(subject: Subject, checks: Checks, drawn: np.ndarray) -> None:
    """Test that sources were drawn by their law, and say what cannot be tested."""
    weights = source_weights(subject)
    few, deviation = "too few sources drawn", MOVED.format("sources drawn", "vertices")
    if weights is None:
        checks.not_tested("sources, law", "sources were given, not drawn")
    else:
        checks.results("sources, law", evenly(drawn, 0, deviation, weights), f"{int(drawn.sum()):,} drawn", few)
    if subject.sources is not SourceKind.EVERY:
        checks.not_tested(
            "vertices",
            "an induced subgraph does not say along which edges its vertices were met; sample without "
            "--induced to test that",
        )


def source_weights(subject: Subject) -> np.ndarray | None:
    """The chance of each vertex to be a source, up to a factor; None where sources were given, or their law takes too
    long.
    """
    if subject.sources is SourceKind.EVERY and subject.traversal.draws_from == "vertices":
        biases = matrix_biases(subject)
        return None if biases is None else np.bincount(subject.view.indices, biases, subject.view.vertices)
    if subject.sources is SourceKind.CONNECTED:
        return (subject.degree > 0).astype(np.float64)
    return np.ones(subject.view.vertices) if subject.sources in (SourceKind.RANDOM, SourceKind.DISTINCT) else None
