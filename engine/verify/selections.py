"""Selections of neighbors, of each vertex by itself, whatever their layout: sizes, edges, repeats, and the law of every
choice.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import ClassVar, NamedTuple

import numpy as np

from csaw.engine.api.algorithm import NONE
from csaw.engine.api.law import Place, edge_biases, edge_law, of_largest
from csaw.engine.samples import UNKNOWN
from csaw.engine.samples.layouts.layout import SEED_TIME
from csaw.engine.verify.by_relation import RowsByRelation
from csaw.engine.verify.checks import Checks, Subject, statistics
from csaw.engine.verify.course import LAW, passed
from csaw.engine.verify.kernels import multiplicity
from csaw.engine.verify.sets import Pool, add_sets, set_tests, weights_or_degrees
from csaw.engine.verify.statistics import Choices, Laws
from csaw.engine.verify.walks import one_in
from csaw.partition.base.stages import stage
from csaw.partition.graph.edge_columns import NO_TIME

ENTRIES = 1_000_000  # frontier entries that the statistics use
UNTIMED = np.zeros(0, np.int64)

# Selections of a layout, and what they are compared with.


class Selections(NamedTuple):
    """Vertices that have selected neighbors, and the edges that each has, in order.

    ``situation`` [vertices, columns]: the numbers that the bias of its edges may read. ``size``: neighbors asked for,
    -1 for all. ``number``: that by which some are kept for the statistics, one in ``every``. ``owner`` [edges]: the
    place of each edge's vertex, ascending. ``now`` [vertices] and ``time`` [edges]: of samples in time alone.
    """

    vertex: np.ndarray
    situation: np.ndarray
    size: np.ndarray
    depth: np.ndarray
    number: np.ndarray
    every: int
    owner: np.ndarray
    target: np.ndarray
    now: np.ndarray = UNTIMED
    time: np.ndarray = UNTIMED

    @property
    def begin(self) -> np.ndarray:
        """int64 [vertices + 1]: where the edges of each vertex begin."""
        return np.searchsorted(self.owner, np.arange(self.vertex.size + 1))


class Drawn(NamedTuple):
    """Choices that are kept for the statistics: the situation of each vertex, its picks by their labels, filled up with
    NONE, its depth, the number of picks that were asked for, and the number by which it was kept.
    """

    situation: np.ndarray
    chosen: np.ndarray
    depth: np.ndarray
    size: np.ndarray
    number: np.ndarray


class Neighbors:
    """The selections of a sample, group after group: their faults, and the law of each choice.

    Subclasses say which edges a vertex may select. A label is a number that equal edges of a row share.
    """

    columns: tuple[str, ...]
    said: ClassVar[dict[str, str]] = {
        "edges": "sampled edges that are not in the graph",
        "sizes": "frontier vertices with another number of neighbors than the fanout allows",
        "repeats": "edges selected twice without replacement",
    }
    degree: np.ndarray | None = None  # of labels that are vertices
    weights: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None  # as in Choices

    def __init__(self, subject: Subject) -> None:
        self.subject, self.replace = subject, bool(subject.traversal.replace)
        self.wrong = dict.fromkeys(self.said, 0)
        self.kept: list[Drawn] = []

    def add(self, s: Selections) -> None:
        """Check the selections of a group, and keep some of them for the statistics."""
        raise NotImplementedError

    def limited(self, count: np.ndarray, asked: np.ndarray) -> np.ndarray:
        """The largest number of neighbors that each vertex selects of ``count`` edges."""
        limited = np.where(count > 0, asked, 0) if self.replace else np.minimum(asked, count)
        return np.where(asked < 0, count, limited)

    def keep(
        self, s: Selections, begin: np.ndarray, situation: np.ndarray, labels: np.ndarray, drawn: np.ndarray
    ) -> None:
        """Keep the choices of some of the vertices that have ``drawn`` any, by the ``labels`` of all edges, where those
        of each vertex ``begin``.
        """
        here = np.flatnonzero(drawn & one_in(s.every, s.number))
        if not here.size:
            return
        places = np.arange(max(1, int((begin[here + 1] - begin[here]).max())))
        cells = begin[here][:, None] + places
        there = cells < begin[here + 1][:, None]
        chosen = np.where(there, labels[np.where(there, cells, 0)] if labels.size else NONE, NONE)
        self.kept.append(Drawn(situation[here], chosen, s.depth[here], s.size[here], s.number[here]))

    def judge(self, checks: Checks) -> None:
        """Add the checks of faults, then the tests of what was drawn."""
        for name, faults in self.wrong.items():
            checks.count(name, faults, self.said[name])
        if not self.kept:
            checks.not_tested("neighbors", f"no neighbor was drawn by chance: {self.why_none()}")
            return
        picks = max(one.chosen.shape[1] for one in self.kept)
        padded = [np.pad(d.chosen, ((0, 0), (0, picks - d.chosen.shape[1])), constant_values=NONE) for d in self.kept]
        columns = [np.concatenate([one[k] for one in self.kept]) for k in (0, 2, 3, 4)]
        columns.insert(1, np.concatenate(padded))
        order = np.argsort(
            columns[-1], kind="stable"
        )  # hops of an instance follow each other, as walks have their steps
        with stage(LAW):
            self.compare(checks, Drawn(*(column[order] for column in columns)))

    def compare(self, checks: Checks, drawn: Drawn) -> None:
        """Compare all choices with their law: one by one with replacement, as sets without."""
        (self._one_by_one if self.replace else self._as_sets)(checks, drawn)

    def why_none(self) -> str:
        """The reason if nothing was drawn by chance."""
        raise NotImplementedError

    def laws(self) -> Laws:
        """The laws of single choices."""
        raise NotImplementedError

    def counts(self, situation: np.ndarray) -> np.ndarray:
        """The number of edges that may be selected in each situation."""
        raise NotImplementedError

    def pool(self, situation: list[int], picks: np.ndarray, numbers: np.ndarray) -> Pool:
        """A situation with its possible edges, and the sets that were picked from them."""
        raise NotImplementedError

    def _one_by_one(self, checks: Checks, drawn: Drawn) -> None:
        chosen = drawn.chosen
        nothing = (chosen < 0).all(axis=1, keepdims=True) & (np.arange(chosen.shape[1]) == 0)  # a choice too
        row, pick = in_turn((chosen >= 0) | nothing)
        before = np.where(pick > 0, chosen[row, np.maximum(pick - 1, 0)], NONE)
        self.single(checks, drawn.situation[row], chosen[row, pick], drawn.depth[row], "neighbors", before)

    def single(
        self,
        checks: Checks,
        situation: np.ndarray,
        chosen: np.ndarray,
        depth: np.ndarray,
        what: str,
        before: np.ndarray | None = None,
    ) -> None:
        """Test choices that were made one by one, each after the one ``before`` of its vertex."""
        choices = Choices(situation, chosen, self.columns, depth, self.degree, self.weights, before)
        statistics(checks, choices, self.laws(), self.subject.degree, what)

    def _as_sets(self, checks: Checks, drawn: Drawn) -> None:
        sets = Choices(np.column_stack([drawn.situation, (drawn.chosen >= 0).sum(axis=1)]), drawn.chosen)
        rows, counts, start, order = sets.grouped

        def pool(number: int) -> Pool:
            here = order[start[number] : start[number] + counts[number]]
            *situation, found = rows[number].tolist()
            return self.pool(situation, drawn.chosen[here, :found], here)

        add_sets(checks, set_tests(sets, self.counts(rows), pool, self.subject.budget // 2))


class OfRows(Neighbors):
    """Neighbors that are selected from whole rows.

    ``numbered``: the sample has the numbers of its edges, by which edges and repeats are checked elsewhere.
    """

    def __init__(self, subject: Subject, numbered: bool = False) -> None:
        super().__init__(subject)
        self.numbered, self.columns = numbered, subject.columns
        self.degree, self.weights = subject.degree, subject.other_weights

    def add(self, s: Selections) -> None:
        begin, most = s.begin, self.limited(self.subject.degree[s.vertex], s.size)
        found = np.diff(begin)
        few = np.flatnonzero(found < most)
        self.wrong["sizes"] += int((found > most).sum()) + unexplained(self.subject, s.situation[few])
        if not self.numbered:
            self.wrong["edges"] += count_missing(self.subject, s.vertex[s.owner], s.target)
            self.wrong["repeats"] += 0 if self.replace else self._repeats(s)
        self.keep(s, begin, s.situation, s.target, (s.size > 0) & (found <= s.size))

    def _repeats(self, s: Selections) -> int:
        """Number of selections of a neighbor beyond the number of edges to it."""
        order = np.lexsort((s.target, s.owner))
        owner, target = s.owner[order], s.target[order]
        first, times = runs(owner, target)
        twice = first[times > 1]
        edges = copies(self.subject, s.vertex[owner[twice]], target[twice])
        return int(np.maximum(times[times > 1] - np.maximum(edges, 1), 0).sum())

    def why_none(self) -> str:
        return "there is no instance or hop, or each vertex selects all of its neighbors or none"

    def compare(self, checks: Checks, drawn: Drawn) -> None:
        super().compare(checks, drawn)
        if self.subject.ordered and not (self.replace or self.numbered):
            self._firsts(checks, drawn)

    def _firsts(self, checks: Checks, drawn: Drawn) -> None:
        """Test the first of several neighbors that a vertex selected of more, which is a single choice.

        Selections by bias are stored in order. Those with equal chances are not: Floyd's method takes its first pick
        from a part of the row.
        """
        several = (self.counts(drawn.situation) > drawn.size) & ((drawn.chosen >= 0).sum(axis=1) > 1)
        if several.any():
            first = drawn.chosen[several, 0]
            self.single(checks, drawn.situation[several], first, drawn.depth[several], "first of several")

    def counts(self, situation: np.ndarray) -> np.ndarray:
        return self.subject.degree[situation[:, 0]]

    def laws(self) -> Laws:
        def law(v: int, *others: int) -> dict[int, float]:
            return edge_law(self.subject.view, self.subject.algorithm, v, *self._place(others)) or {NONE: 1.0}

        return self.subject.laws(law)

    def pool(self, situation: list[int], picks: np.ndarray, numbers: np.ndarray) -> Pool:
        v, *others = situation
        biases = edge_biases(self.subject.view, self.subject.algorithm, v, *self._place(others))
        able = [one for one in biases if one[1] > 0.0]

        def beside() -> np.ndarray:
            return weights_or_degrees(self.subject, np.full(len(able), v), np.array([dst for dst, _ in able]))

        return Pool(f"v = {v}", of_largest(able), picks, numbers, beside)

    def _place(self, others: Iterable[int]) -> Place:
        return Place(**dict(zip(self.columns[1:], others, strict=True)))


def runs(*columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The place of the first of equal rows of ordered columns, and how many there are."""
    fresh = np.ones(columns[0].size, bool)
    fresh[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    first = np.flatnonzero(fresh)
    return first, np.diff(np.append(first, columns[0].size))


def one_of(subject: Subject, entries: int, instances: int) -> int:
    """Sampling interval: test every n-th vertex so that about ENTRIES remain of a sample whose group of so many
    ``instances`` has ``entries``.
    """
    return max(1, -(-subject.samples.instances * entries // (ENTRIES * max(instances, 1))))


def situations(subject: Subject, known: dict[str, np.ndarray]) -> np.ndarray:
    """The numbers that the bias of an edge may read, int64 [vertices, columns], of those that are ``known``."""
    return np.column_stack([known[name] for name in subject.columns]).astype(np.int64)


# Hops: trees of instances, column after column.


def verify_hops(subject: Subject, checks: Checks) -> None:
    """Check the children of each column: they are neighbors, as many as asked for, and without replacement no edge is
    there twice.
    """
    sources, neighbors = 0, OfRows(subject.of_rows)
    for start, arrays in passed(subject.samples, watch=subject.watch):
        sources += _wrong_sources(subject, start, subject.dense(arrays["hop_0"]))
        for s, strange in hops_of(subject, arrays, subject.samples.first + start):
            neighbors.wrong["sizes"] += strange
            neighbors.add(s)
    checks.count("sources", sources, "sources that are missing or wrong")
    neighbors.judge(checks)


def _wrong_sources(subject: Subject, start: int, sources: np.ndarray) -> int:
    wrong = sources < 0
    if subject.starts_at_all:
        slots = np.arange(sources.size).reshape(sources.shape) + start * sources.shape[1]
        wrong |= sources != subject.all_sources(slots)
    return int(wrong.sum())


def hops_of(subject: Subject, arrays: dict[str, np.ndarray], first: int) -> Iterator[tuple[Selections, int]]:
    """Yield the selections of each hop of a group, from instance ``first`` on, and the number of its cells that are out
    of order: behind an empty one, below one, or empty with a time.
    """
    if subject.by_relation is not None:
        yield from _hops_by_relation(subject, subject.by_relation, arrays, first)
        return
    sizes, hop, timed = subject.traversal.sizes(), subject.dense(arrays["hop_0"]), SEED_TIME in arrays
    instances, width = hop.shape
    every = one_of(subject, sum(arrays[f"hop_{depth}"].size for depth in range(len(sizes))), instances)
    at = {"v": hop.ravel(), "prev": np.full(hop.size, NONE), "source": np.repeat(hop[:, :1], width, axis=1).ravel()}
    at |= {"instance": np.repeat(np.arange(instances), width) + first}
    at |= {"now": arrays[SEED_TIME].ravel()} if timed else {}
    for depth, size in enumerate(sizes):
        cells = subject.dense(arrays[f"hop_{depth + 1}"]).ravel()
        owner, alive = np.repeat(np.arange(at["v"].size), size), at["v"] >= 0
        there, time = cells >= 0, arrays[f"time_{depth + 1}"].ravel() if timed else np.full(cells.size, NO_TIME)
        strange = int((there & ~alive[owner]).sum() + (~there & ((time != NO_TIME) | (cells == UNKNOWN))).sum())
        strange += int((there[1:] & ~there[:-1] & (owner[1:] == owner[:-1])).sum())
        kept, number = there & alive[owner], np.cumsum(alive) - 1
        here = {name: column[alive] for name, column in at.items()}
        here |= {"depth": np.full(here["v"].size, depth), "size": np.full(here["v"].size, size)}
        of_vertices = (here["v"], situations(subject, here), here["size"], here["depth"], here["instance"], every)
        times = (here["now"], time[kept]) if timed else ()
        yield Selections(*of_vertices, number[owner[kept]], cells[kept], *times), strange
        at = {name: column[owner] for name, column in at.items()} | {"prev": at["v"][owner], "v": cells}
        if timed and getattr(subject.algorithm, "against_previous", False):
            at["now"] = time


def _hops_by_relation(
    subject: Subject, rows: RowsByRelation, arrays: dict[str, np.ndarray], first: int
) -> Iterator[tuple[Selections, int]]:
    """The same where vertices select from each relation by itself. The cells of a vertex are those of one relation that
    leaves its type after the other; out of order is a cell of none of them, or with another relation than it has.
    """
    widths, vertex, timed = subject.traversal.sizes(), subject.dense(arrays["hop_0"]), SEED_TIME in arrays
    instances, every = (
        vertex.shape[0],
        one_of(subject, sum(arrays[f"hop_{k}"].size for k in range(len(widths))), len(vertex)),
    )
    instance, vertex = np.repeat(np.arange(instances), vertex.shape[1]) + first, vertex.ravel()
    now = arrays[SEED_TIME].ravel() if timed else UNTIMED
    for depth, width in enumerate(widths):
        cells, relation = subject.dense(arrays[f"hop_{depth + 1}"]).ravel(), arrays[f"relation_{depth + 1}"].ravel()
        node, of = rows.selecting(vertex, np.full(vertex.size, depth))
        size = rows.sizes[depth, of]
        begin = node * width + rows.offsets(depth)[of]
        owner = np.full(cells.size, NONE)  # the selection that each cell is of
        number = np.repeat(np.arange(node.size), size)
        owner[np.repeat(begin - (np.cumsum(size) - size), size) + np.arange(number.size)] = number
        there, time = cells >= 0, arrays[f"time_{depth + 1}"].ravel() if timed else np.full(cells.size, NO_TIME)
        empty = ~there & ((time != NO_TIME) | (relation != 0) | (cells == UNKNOWN))
        strange = int((there & (owner < 0)).sum() + empty.sum())
        strange += int((there[1:] & ~there[:-1] & (owner[1:] == owner[:-1])).sum())
        kept = there & (owner >= 0)
        strange += int((relation[kept] != of[owner[kept]]).sum())
        row = vertex[node] * rows.relations + of
        of_rows = (row, row.reshape(-1, 1), size, np.full(row.size, depth), instance[node], every)
        times = (now[node], time[kept]) if timed else ()
        yield Selections(*of_rows, owner[kept], cells[kept] * rows.relations, *times), strange
        vertex, instance = cells, np.repeat(instance, width)
        against = getattr(subject.algorithm, "against_previous", False)
        now = (time if against else np.repeat(now, width)) if timed else UNTIMED


# Edges of the graph.


def copies(subject: Subject, src: np.ndarray, dst: np.ndarray) -> np.ndarray:
    """Number of edges of the graph from each src to its dst."""
    out = np.empty(src.size, np.int64)
    multiplicity(subject.view.indptr, subject.view.indices, np.ascontiguousarray(src), np.ascontiguousarray(dst), out)
    return out


def count_missing(subject: Subject, src: np.ndarray, dst: np.ndarray) -> int:
    """Number of pairs (src, dst) that are no edge of the graph."""
    return int((copies(subject, src, dst) == 0).sum())


def unexplained(subject: Subject, situations: np.ndarray) -> int:
    """Number of situations (of the first thousand) in which fewer edges were selected than there are although no edge
    has bias 0.
    """
    if subject.uniform:
        return len(situations)
    wrong = 0
    for row in situations[:1000].tolist():
        v, *others = row
        place = Place(**dict(zip(subject.columns[1:], others, strict=True)))
        wrong += all(bias > 0.0 for _, bias in edge_biases(subject.view, subject.algorithm, v, *place))
    return wrong


def in_turn(there: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The row and the pick of all choices that are ``there``, in an order in which one follows another of its vertex
    and the same of the vertex beside it, in turn: the tests of choices that follow each other see both.
    """
    row, pick = np.nonzero(there)
    order = np.lexsort(((row + pick) % 2, pick, row // 2))
    return row[order], pick[order]
