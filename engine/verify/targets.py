"""Checks of samples with ``--target``: their vertices and edges; that their base instances, drawn again, join to the same; and the law of these."""

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

import numpy as np

from csaw.engine.draws.random import order_words
from csaw.engine.plan.target import ROUNDS, fruitless, number_of
from csaw.engine.samples import Samples
from csaw.engine.samples.edges import edges_in
from csaw.engine.samples.layout import RAGGED_WALKS
from csaw.engine.verify.checks import Check, Checks, Subject
from csaw.engine.verify.groups import count, edges_left_out, groups
from csaw.engine.verify.induced import met_keys
from csaw.engine.verify.trees import copies

JOINED = 2_000_000  # edges of base instances that are joined again, about
TESTED = 2_000_000  # numbers of base instances whose law is tested, about
LOOKED_AT = 64  # base instances that tell about how many numbers one has
Law = Callable[[Subject, Checks], None]


def verify_targets(subject: Subject, checks: Checks, laws: Mapping[str, Law]) -> None:
    """Check a sample with a target. ``laws``: the checks of base instances, by their layout."""
    target = int(subject.samples.manifest["request"]["target"])
    _rules(subject, checks, target)
    bases: Any = import_module(
        "csaw.engine.runs.base_instances"
    )  # what judges samples does not use what drew them, but here
    if reason := bases.why_not(subject.samples):
        checks.not_tested("joined", reason)
        checks.not_tested("base instances", reason)
        return
    with bases.Bases(subject.samples, subject.store, subject.algo) as again:
        _joined(subject, checks, again, target)
        _law(subject, checks, again.held(), laws)


def _rules(subject: Subject, checks: Checks, target: int) -> None:
    """Check all instances by what is stored."""
    wrong, short, most = dict.fromkeys(("edges", "sources", "visits", "sizes"), 0), 0, 0
    for group in groups(subject, checks, wrong):
        keys, sizes = met_keys(subject, group), group.arrays["vertex_counts"]
        wrong["sources"] += int((~np.isin(group.source_key, keys)).sum())
        wrong["visits"] += int((~(np.isin(group.src_key, keys) & np.isin(group.dst_key, keys))).sum())
        wrong["visits"] += int((np.diff(keys) <= 0).sum())
        wrong["sizes"] += edges_left_out(subject, group, keys) if subject.induced else 0
        short, most = short + int((sizes < target).sum()), most + int((sizes > target).sum())
    if not subject.induced:
        del wrong["sizes"]
    count(checks, wrong)
    checks.count("vertices", most, f"instances with more than {target:,} vertices; {short:,} with fewer")


def _joined(subject: Subject, checks: Checks, again: Any, target: int) -> None:
    """Join the base instances of the first instances again, in Python, and compare."""
    differ, done, work = 0, 0, 0
    for number in range(subject.samples.instances):
        if done and work > JOINED:
            break
        arrays = subject.samples.group(number, number + 1)
        found = {name: subject.dense(arrays[name]).tolist() for name in ("vertices", "src", "dst")}
        met, edges, looked = _join(subject, again, subject.samples.first + number, target)
        pairs = list(zip(found["src"], found["dst"], strict=True))
        same = found["vertices"] == sorted(met) and (subject.induced or pairs == edges)
        differ, done, work = differ + (not same), done + 1, work + looked
    checks.count(
        "joined",
        differ,
        f"of the first {done:,} instances differ from their base instances, joined until the target is reached",
    )


def _join(subject: Subject, again: Any, instance: int, target: int) -> tuple[set[int], list[tuple[int, int]], int]:
    """The vertices and edges of an instance, and how many edges were looked at."""
    met: set[int] = set()
    kept: list[tuple[int, int]] = []
    barren, looked, most = 0, 0, fruitless(subject.algorithm, again.stream.job.sources)
    for sources, edges in _bases(again, instance):
        before, taken, looked = len(met), [], looked + len(edges) + 1
        for vertex in sources:
            if len(met) < target:
                met.add(vertex)
        for src, dst in edges:
            if len(met) == target:
                break
            met.add(src)
            if len(met) < target or dst in met:
                met.add(dst)
                taken.append((src, dst))
        barren = 0 if len(met) > before else barren + 1
        kept += [] if barren else taken
        if len(met) == target or barren == most:
            break
    if not kept:
        return met, kept, looked
    ends = np.array(kept, np.int64)
    return met, [kept[k] for k in np.flatnonzero(copies(subject, ends[:, 0], ends[:, 1]))], looked


def _bases(again: Any, instance: int) -> Iterator[tuple[list[int], list[tuple[int, int]]]]:
    """The sources and the edges of each base instance of an instance, in order."""
    layout, seed = again.stream.job.plan.drawn_layout, again.stream.job.plan.request.seed
    as_sets = again.stream.job.sources.kind == "every"
    for round_ in range(ROUNDS):
        arrays = again.round(instance, round_)
        found = edges_in(layout, arrays, again.fill)
        counts = np.bincount(found["instance"], minlength=1 << round_)
        order = np.arange(counts.sum())
        if layout == "subgraphs":  # what is selected together is joined in random order
            words = order_words(np.uint64(seed), number_of(instance, round_), counts)
            together = [found[name] for name in ("instance", "depth", *(() if as_sets else ("src",)))]
            other = np.any([column[1:] != column[:-1] for column in together], axis=0)
            order = np.lexsort((words, np.cumsum(np.append(0, other))[: words.size]))
        pairs = list(zip(found["src"][order].tolist(), found["dst"][order].tolist(), strict=True))
        ends = np.cumsum(counts).tolist()
        for sources, begin, end in zip(_sources(layout, arrays, 1 << round_), [0, *ends], ends, strict=False):
            yield sources, pairs[begin:end]


def _sources(layout: str, arrays: dict[str, np.ndarray], bases: int) -> list[list[int]]:
    if layout == "subgraphs":
        ends = np.cumsum(arrays["source_counts"])[:-1]
        return [some.tolist() for some in np.split(arrays["sources"], ends)]
    if layout == RAGGED_WALKS:
        sizes = arrays["lengths"].astype(np.int64) + 1
        return arrays["walks"][np.cumsum(sizes) - sizes].reshape(bases, 1).tolist()
    return (arrays["hop_0"] if layout == "hops" else arrays["walks"][:, :1]).tolist()


def _law(subject: Subject, checks: Checks, held: Samples, laws: Mapping[str, Law]) -> None:
    """Test the law of base instances, which are drawn again whether the sample has used them or not: those that it used ended it, so that they are a biased choice."""
    if "instance" in subject.columns:
        checks.not_tested("base instances", "a hook reads e.instance, the number of a base instance")
        return
    some = min(held.instances, LOOKED_AT)
    each = max(1, sum(array.size for array in held.group(0, some).values()) // some)
    part, found = held.part(0, min(held.instances, max(1, TESTED // each))), Checks()
    laws[held.layout](Subject(part, subject.store, subject.graph, subject.algorithm, subject.budget), found)
    checks.add(
        Check("base instances", True, None, f"{part.instances:,} drawn again, whether the sample has used them or not")
    )
    checks.take(found, "base")
