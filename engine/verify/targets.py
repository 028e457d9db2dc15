"""Checks of samples with ``--target``: their vertices and edges; that their base instances, drawn again, join to the
same; and the law of these.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

import numpy as np

from csaw.engine.api.registry import Algo
from csaw.engine.api.starts import SourceKind
from csaw.engine.draws.random import order_words
from csaw.engine.plan.target import ROUNDS, fruitless, number_of
from csaw.engine.samples import Samples
from csaw.engine.samples.layouts import Arrays, SampleLayout
from csaw.engine.sources.sources import Sources
from csaw.engine.verify.checks import Check, Checks, Subject
from csaw.engine.verify.course import BASES, JOINED, VERTICES
from csaw.engine.verify.groups import count, edges_left_out, groups
from csaw.engine.verify.induced import Met, met_keys
from csaw.engine.verify.selections import copies
from csaw.partition.base.parallel import go_on
from csaw.partition.base.stages import stage, tell
from csaw.partition.graph.store import GraphStore

# What draws instances again for verify, which itself draws nothing: whoever verifies gives it.


class BaseInstances(Protocol):
    """The base instances of a sample, drawn again with dense ids."""

    seed: int
    sources: Sources
    layout: SampleLayout
    fill: int  # the id of an entry without a vertex

    def round(self, instance: int, round_: int) -> Arrays:
        """Return the arrays of a round of an instance."""

    def held(self) -> Samples:
        """Return the first rounds of the first instances."""

    def number(self, place: int) -> int:
        """Return the number of the base instance that is held at this place."""


class Redrawing(NamedTuple):
    """Draws the base instances of samples with a target again.

    ``why_not``: the reason why those of some samples cannot be drawn again; empty where they can. ``bases``: those of
    samples of a graph store, by FILE.py:CLASS where csaw does not ship their algorithm.
    """

    why_not: Callable[[Samples], str]
    bases: Callable[[Samples, GraphStore, Algo | None], AbstractContextManager[BaseInstances]]


# Checks of samples with `--target`.

LOOKED_AT_EDGES = 2_000_000  # of base instances that are joined again, about
TESTED = 2_000_000  # numbers of base instances whose law is tested, about
LOOKED_AT = 64  # base instances that tell about how many numbers one has
Law = Callable[[Subject, Checks], None]
Edge = tuple[int, int, int]
"""The ends of an edge, and its depth."""


def verify_targets(
    subject: Subject,
    checks: Checks,
    laws: Mapping[str, Law],
    why_not: str,
    open_bases: Callable[[], AbstractContextManager[BaseInstances]],
) -> None:
    """Check a sample with a target.

    laws: the checks of base instances, by their layout. why_not: the reason why base instances cannot be drawn again,
    empty where ``open_bases`` does that.
    """
    target = int(subject.samples.manifest["request"]["target"])
    _rules(subject, checks, target)
    if why_not:
        checks.not_tested("joined", why_not)
        checks.not_tested("base instances", why_not)
        return
    with open_bases() as again:
        with stage(JOINED):
            _joined(subject, checks, again, target)
        with stage(BASES):
            _law(subject, checks, again.held(), again.number, laws)


def _rules(subject: Subject, checks: Checks, target: int) -> None:
    """Check all instances by what is stored."""
    wrong, short, most = dict.fromkeys(("edges", "sources", "visits", "sizes", "met"), 0), 0, 0
    met = Met(subject)
    for group in groups(subject, checks, wrong, VERTICES):
        keys, sizes = met_keys(subject, group), group.arrays["vertex_counts"]
        wrong["sources"] += int((~np.isin(group.source_key, keys)).sum())
        wrong["visits"] += int((~(np.isin(group.src_key, keys) & np.isin(group.dst_key, keys))).sum())
        wrong["visits"] += int((np.diff(keys) <= 0).sum())
        wrong["sizes"] += edges_left_out(subject, group, keys) if subject.induced else 0
        wrong["met"] += met.wrong(group, keys) if not any(wrong.values()) else 0
        short, most = short + int((sizes < target).sum()), most + int((sizes > target).sum())
    if not subject.induced:
        del wrong["sizes"]
    count(checks, wrong)
    checks.count("vertices", most, f"instances with more than {target:,} vertices; {short:,} with fewer")


def _joined(subject: Subject, checks: Checks, again: BaseInstances, target: int) -> None:
    """Join the base instances of the first instances again, in Python, and compare."""
    differ, done, work = 0, 0, 0
    for number in range(subject.samples.instances):
        if done and work > LOOKED_AT_EDGES:
            break
        tell(work, LOOKED_AT_EDGES, "edges")
        arrays = subject.samples.group(number, number + 1)
        found = {name: subject.dense(arrays[name]).tolist() for name in ("vertices", "sources", "src", "dst")}
        again_joined = _join(subject, again, subject.samples.first + number, target)
        edges = list(zip(found["src"], found["dst"], arrays["depth"].tolist(), strict=True))
        same = found["vertices"] == sorted(again_joined.met)
        if again.sources.kind is not SourceKind.EVERY:  # whose subgraphs name no sources, or all drawn ends
            same = same and found["sources"] == again_joined.sources
        same = same and (subject.induced or edges == again_joined.edges)
        differ, done, work = differ + (not same), done + 1, work + again_joined.looked
    checks.count(
        "joined",
        differ,
        f"of the first {done:,} instances differ from their base instances, joined until the target is reached",
    )


class Joined(NamedTuple):
    """An instance that was joined again.

    Its vertices, its sources and its edges, and how many edges were looked at.
    """

    met: set[int]
    sources: list[int]
    edges: list[Edge]
    looked: int


def _join(subject: Subject, again: BaseInstances, instance: int, target: int) -> Joined:
    """Join base instances until the target is reached, or too many in a row meet nothing new."""
    met: set[int] = set()
    begun: list[int] = []
    kept: list[Edge] = []
    barren, looked, most = 0, 0, fruitless(subject.algorithm, again.sources)
    for sources, edges in _bases(again, instance):
        go_on()
        before, entered, taken, looked = len(met), [], [], looked + len(edges) + 1
        for vertex in sources:
            if len(met) < target:
                met.add(vertex)
                entered.append(vertex)
        for src, dst, depth in edges:
            if len(met) == target:
                break
            met.add(src)
            if len(met) < target or dst in met:
                met.add(dst)
                taken.append((src, dst, depth))
        barren = 0 if len(met) > before else barren + 1
        begun += [] if barren else entered
        kept += [] if barren else taken
        if len(met) == target or barren == most:
            break
    if kept:
        ends = np.array(kept, np.int64)
        kept = [kept[k] for k in np.flatnonzero(copies(subject, ends[:, 0], ends[:, 1]))]
    return Joined(met, begun, kept, looked)


def _bases(again: BaseInstances, instance: int) -> Iterator[tuple[list[int], list[Edge]]]:
    """The sources and the edges of each base instance of an instance, in order."""
    layout, seed = again.layout, again.seed
    as_sets = again.sources.kind is SourceKind.EVERY
    for round_ in range(ROUNDS):
        arrays = again.round(instance, round_)
        found = layout.edges(arrays, again.fill)
        counts = np.bincount(found["instance"], minlength=1 << round_)
        order = np.arange(counts.sum())
        if not layout.joins_in_order:  # what is selected together is joined in random order
            words = order_words(np.uint64(seed), number_of(instance, round_), counts)
            together = [found[name] for name in ("instance", "depth", *(() if as_sets else ("src",)))]
            other = np.any([column[1:] != column[:-1] for column in together], axis=0)
            order = np.lexsort((words, np.cumsum(np.append(0, other))[: words.size]))
        edges = list(zip(*(found[name][order].tolist() for name in ("src", "dst", "depth")), strict=True))
        ends = np.cumsum(counts).tolist()
        sources, sizes = layout.sources(arrays)
        each = np.split(sources, np.cumsum(sizes)[:-1])
        for some, begin, end in zip(each, [0, *ends], ends, strict=False):
            yield some.tolist(), edges[begin:end]


def _law(
    subject: Subject, checks: Checks, held: Samples, number: Callable[[int], int], laws: Mapping[str, Law]
) -> None:
    """Test the law of base instances, which are drawn again whether the sample has used them or not: those that it used
    ended it, so that they are a biased choice.
    """
    if "instance" in subject.columns:
        checks.not_tested("base instances", "a hook reads e.instance, the number of a base instance")
        return
    some = min(held.instances, LOOKED_AT)
    each = max(1, sum(array.size for array in held.group(0, some).values()) // some)
    part, found = held.part(0, min(held.instances, max(1, TESTED // each))), Checks()
    drawn = Subject(part, subject.store, subject.graph, subject.algorithm, subject.budget, number)
    laws[held.layout](drawn, found)
    checks.add(
        Check("base instances", True, None, f"{part.instances:,} drawn again, whether the sample has used them or not")
    )
    checks.take(found, "base")
