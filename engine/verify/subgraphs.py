"""Checks that subgraphs are what their traversal may draw: edges, frontiers, visits and sizes of all instances, and the
law of every choice.
"""

from collections.abc import Callable
from functools import cache, lru_cache
from types import SimpleNamespace
from typing import Protocol, cast

import numpy as np

from csaw.engine.api import hooks
from csaw.engine.api.law import edge_law, plain_hook
from csaw.engine.api.option import LARGEST
from csaw.engine.api.starts import SourceKind, sources_each
from csaw.engine.verify.checks import Checks, Subject, statistics
from csaw.engine.verify.course import LAW
from csaw.engine.verify.groups import MOVED, Group, count, edges_left_out, groups, neighboring_ids, repeats
from csaw.engine.verify.induced import NEXT, verify_met
from csaw.engine.verify.kernels import first_edge, pool_sizes, replay
from csaw.engine.verify.layers import verify_layers
from csaw.engine.verify.overlap import Overlaps
from csaw.engine.verify.pooled import pooled_test
from csaw.engine.verify.selections import copies, unexplained
from csaw.engine.verify.shared_draws import verify_shared_draws
from csaw.engine.verify.statistics import BINS, Choices, Laws, even, evenly, normal_sum
from csaw.partition.base.sorting import distinct
from csaw.partition.base.stages import stage

# Checks of multidimensional walks: edges start where walkers stand, and the choices of walker
# and edge fit their laws.

OF_PLACE = frozenset({"src", "src_degree", "vertices", "column"})  # what a vertex bias may read to be tested


class Clocked(Protocol):
    """A traversal with clocks."""

    walk_length: int  # steps of all walkers of an instance together


def verify_clocks(subject: Subject, checks: Checks) -> None:
    """Check walks of many walkers: each edge starts where a walker stands, and the choices of the walker and of its
    edge fit their laws.
    """
    algorithm = subject.traversal
    limit = cast(Clocked, algorithm).walk_length
    wrong = dict.fromkeys(("edges", "sources", "depths", "sizes"), 0)
    steps: list[np.ndarray] = []
    moves: list[tuple[np.ndarray, np.ndarray]] = []
    started: list[np.ndarray] = []
    rate = _rate(subject)
    for group in groups(subject, checks, wrong):
        started.append(group.sources)
        order = np.arange(group.src.size) - np.repeat(np.cumsum(group.counts) - group.counts, group.counts)
        bad, ends = np.empty(group.counts.size, np.int64), group.sources.copy()
        replay(group.counts, group.src, group.dst, group.source_counts, ends, bad)
        wrong["depths"] += int((bad >= 0).sum() + (order != group.depth).sum())
        alive = np.bincount(group.source_instance, _moves_on(subject, rate, ends), group.counts.size) > 0
        short = (group.counts < limit) & alive if subject.all_possible else np.zeros(1, bool)
        wrong["sizes"] += int((group.counts > limit).sum() + short.sum())
        if "prev" not in subject.columns and len(subject.columns) == 1:
            steps.append(np.column_stack([group.src, group.dst]))
        if (bad < 0).all():
            moves += _movers(subject, group)
    count(checks, wrong)
    if subject.sources is SourceKind.RANDOM and started:
        at = np.concatenate(started)
        places = (at + np.random.default_rng(at.size).random(at.size)) / subject.view.vertices
        checks.results(
            "starts",
            even(places, BINS, MOVED.format("starts", "vertices")),
            "every vertex equally likely",
            "too few starts",
        )
    with stage(LAW):
        _judge(subject, checks, steps, moves)


def _judge(
    subject: Subject, checks: Checks, steps: list[np.ndarray], moves: list[tuple[np.ndarray, np.ndarray]]
) -> None:
    """Add the tests of the laws of steps and of who moves."""
    if steps:
        table = np.concatenate(steps)
        laws = subject.laws(lambda v: edge_law(subject.view, subject.algorithm, v) or {-1: 1.0})
        choices = Choices(table[:, :1], table[:, 1], degree=subject.degree, weights=subject.other_weights)
        statistics(checks, choices, laws, subject.degree)
    else:
        checks.not_tested("transitions", "the law reads more than a subgraph tells, or there is no step")
    _moves(subject, checks, moves)


def _movers(subject: Subject, group: Group) -> list[tuple[np.ndarray, np.ndarray]]:
    """(vertices of the walkers, the walker that moves) at each step, of as many instances as the budget allows."""
    out, edge, source, left = [], 0, 0, subject.budget // 20
    for steps, walkers in zip(group.counts.tolist(), group.source_counts.tolist(), strict=True):
        left -= steps * walkers
        if left < 0:
            break
        at = group.sources[source : source + walkers].copy()
        for k in range(edge, edge + steps):
            out.append((np.sort(at), group.src[k]))
            at[np.flatnonzero(at == group.src[k])[0]] = group.dst[k]
        edge, source = edge + steps, source + walkers
    return out


def _further(subject: Subject) -> list[str]:
    """The fields that vertex_bias reads and a subgraph does not tell."""
    read = hooks.others(subject.algorithm, subject.weighted)["vertex_bias"]
    return [] if read is None else sorted(read.reads - OF_PLACE)


def _rate(subject: Subject) -> Callable[[int], float] | None:
    """How often a walker at a vertex moves, ``vertex_bias``; None where it reads more than the vertex."""
    if _further(subject):
        return None
    vertex_bias, view = plain_hook(subject.algorithm, "vertex_bias"), subject.view

    @lru_cache(1 << 18)
    def rate(v: int) -> float:
        degree, column = view.degree(v), subject.algorithm.vertex_columns.value
        seen = SimpleNamespace(id=v, src=v, degree=degree, src_degree=degree, vertices=view.vertices, column=column)
        return float(vertex_bias(seen))

    return rate


def _moves_on(subject: Subject, rate: Callable[[int], float] | None, at: np.ndarray) -> np.ndarray:
    """Whether the walker at each of these vertices can move, [n]; where nothing tells, that it cannot."""
    if rate is None:
        return np.zeros(at.size, bool)
    vertices, number = np.unique(at, return_inverse=True)
    return (subject.degree[at] > 0) & np.array([rate(v) > 0.0 for v in vertices.tolist()], bool)[number]


def _moves(subject: Subject, checks: Checks, moves: list[tuple[np.ndarray, np.ndarray]]) -> None:
    algorithm, view, rate = subject.algorithm, subject.view, _rate(subject)
    if rate is None:
        checks.not_tested("movers", f"vertex_bias reads {', '.join(_further(subject))}, which a subgraph does not tell")
        return
    frontiers = [tuple(at.tolist()) for at, _ in moves]
    possible = cache(lambda v: bool(edge_law(view, algorithm, v)))  # a walker without a possible edge never moves

    def law(number: int) -> dict[int, float]:
        chances: dict[int, float] = {}
        for v in frontiers[number]:
            if possible(v):
                chances[v] = chances.get(v, 0.0) + rate(v)
        total = sum(chances.values())
        return {v: chance / total for v, chance in chances.items() if chance > 0}

    laws = Laws(law, lambda rows: np.ones(len(rows)), len(moves) + 1)
    made = np.array([src for _, src in moves], np.int64)
    found = pooled_test(Choices(np.arange(len(moves))[:, None], made, ("step",)), laws)
    steps = f"{found.used:,} steps: which walker moves"
    checks.results("movers", found.places + found.uniform + found.independence, steps, f"too few choices: {steps}")


# Checks of subgraphs.


def verify_subgraphs(subject: Subject, checks: Checks) -> None:
    """Check subgraphs by the rules of their kind."""
    if subject.induced:  # of walks, too
        verify_met(subject, checks)
        return
    algorithm = subject.traversal
    if algorithm.draws_from != "edges":
        verify_layers(subject, checks)
    elif algorithm.shares_draws:
        verify_shared_draws(subject, checks)
    elif algorithm.clocks:
        verify_clocks(subject, checks)
    elif algorithm.sources_from == "every":
        verify_edges(subject, checks)
    elif algorithm.induced:
        verify_induced(subject, checks)
    else:
        verify_traversal(subject, checks)


def verify_traversal(subject: Subject, checks: Checks) -> None:
    """Check traversals depth by depth: frontier, first visits, repeats, sizes; then the law of the selections."""
    from csaw.engine.verify.entries import Entries, FrontierPools, UniqueEntries

    wrong, subject = dict.fromkeys(("edges", "sources", "depths", "visits", "repeats", "sizes"), 0), subject.of_rows
    pools = FrontierPools(subject) if subject.pooled else None
    entries = (UniqueEntries if subject.traversal.unique else Entries)(subject, pools)
    for group in groups(subject, checks, wrong):
        if pools:
            pools.follow(group)
        _check_group(subject, group, wrong)
        entries.add(group)
    count(checks, wrong)
    if pools:
        pools.judge(checks)
    with stage(LAW):
        entries.judge(checks)


def _check_group(subject: Subject, group: Group, wrong: dict[str, int]) -> None:
    algorithm = subject.traversal
    visited = _frontier(group, algorithm.visited_once, algorithm.only_new)
    entry_key, entry_depth, times = group.frontier or visited
    if subject.rows is not None:
        node, relation = subject.rows.selecting(
            entry_key % subject.view.vertices // subject.rows.relations, np.minimum(entry_depth, len(algorithm.sizes()))
        )
        order = np.lexsort((entry_depth[node], entry_key[node] + relation))
        entry_key, entry_depth, times = (
            (entry_key[node] + relation)[order],
            entry_depth[node][order],
            times[node][order],
        )
    at = _find(entry_key, entry_depth, group.src_key, group.depth)
    wrong["depths"] += int((at < 0).sum())
    if algorithm.only_new:
        at_end = np.minimum(np.searchsorted(visited[0], group.dst_key), visited[0].size - 1)
        before = (visited[0][at_end] == group.dst_key) & (visited[1][at_end] <= group.depth)
        wrong["visits"] += int(before.sum())
    if not algorithm.replace:
        wrong["repeats"] += repeats(subject, group, np.where(at < 0, 1, times[np.maximum(at, 0)]))
    pool = np.empty(entry_key.size, np.int64)
    view = subject.view
    visits = visited[:2] if algorithm.only_new else (entry_key[:0], entry_depth[:0])
    pool_sizes(view.indptr, view.indices, entry_key, entry_depth, *visits, algorithm.only_new, pool)
    selected = np.bincount(at[at >= 0], minlength=entry_key.size)
    ended = _ended(subject, group, entry_key, entry_depth)
    wrong["sizes"] += _wrong_sizes(subject, entry_key, entry_depth, np.where(ended, 0, pool * times), selected, times)


def _ended(subject: Subject, group: Group, key: np.ndarray, depth: np.ndarray) -> np.ndarray:
    """Whether the instance of each frontier entry (key, depth) has so many vertices by this depth that it draws nothing
    more; nothing is selected from its pool then. Sources always select.
    """
    algorithm = subject.traversal
    if algorithm.total is None or group.frontier is not None:
        return np.zeros(key.size, bool)
    instance, levels = key // subject.view.vertices, int(depth.max(initial=0)) + 1
    order = np.sort(instance * levels + depth)
    upto = np.searchsorted(order, instance * levels + depth, "right") - np.searchsorted(order, instance * levels)
    sources = np.bincount(instance[depth == 0], minlength=len(group.counts))
    return (depth > 0) & (upto + (group.source_counts - sources)[instance] >= algorithm.total)


def _frontier(group: Group, once: bool, sets: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Frontier entries by (key, depth), and how often each occurs; if ``once``, only the first visit of a vertex, as
    often as it is a source unless instances begin with ``sets``.
    """
    on = group.then >= 0
    key = np.concatenate([group.source_key, (group.dst_key - group.dst + group.then)[on]])
    depth = np.concatenate([np.zeros(group.source_key.size, np.int64), group.depth[on] + 1])
    order = np.lexsort((depth, key))
    key, depth = key[order], depth[order]
    fresh = np.ones(key.size, bool)
    fresh[1:] = (key[1:] != key[:-1]) | ((depth[1:] != depth[:-1]) & (not once))
    start = np.flatnonzero(fresh)
    times = np.diff(np.append(start, key.size))
    if once:
        sources, often = np.unique(group.source_key, return_counts=True)
        times = np.ones_like(times)
        times[np.searchsorted(key[start], sources)] = 1 if sets else often
    return key[start], depth[start], times


def _find(keys: np.ndarray, depths: np.ndarray, key: np.ndarray, depth: np.ndarray) -> np.ndarray:
    """The number of the entry of each (key, depth), -1 where there is none."""
    span = int(max(depths.max(initial=0), depth.max(initial=0))) + 1
    _, ranked = np.unique(np.concatenate([keys, key]), return_inverse=True)
    table, wanted = ranked[: keys.size] * span + depths, ranked[keys.size :] * span + depth
    at = np.minimum(np.searchsorted(table, wanted), max(table.size - 1, 0))
    return np.where(table[at] == wanted, at, -1) if table.size else np.full(wanted.size, -1)


def _wrong_sizes(
    subject: Subject, key: np.ndarray, depth: np.ndarray, pool: np.ndarray, selected: np.ndarray, times: np.ndarray
) -> int:
    """Number of entries (of depths of an instance, if collective) that selected too many edges or, unless biases may be
    0, too few.
    """
    algorithm = subject.traversal
    sizes = algorithm.sizes() if algorithm.is_unlimited else (*algorithm.sizes(), 0)
    asked = np.array(sizes)[np.minimum(depth, len(sizes) - 1)]
    if subject.rows is not None:
        asked = subject.rows.sizes[np.minimum(depth, len(sizes) - 1), key % subject.rows.relations]
    if algorithm.collective:
        levels = int(depth.max(initial=0)) + 1
        number = key // subject.view.vertices * levels + depth
        size, pool, selected = (
            asked[np.unique(number, return_index=True)[1]],
            _sums(number, pool),
            _sums(number, selected),
        )
    else:
        size = np.where(asked < 0, asked, asked * times)
    if algorithm.geometric is not None and algorithm.replace:
        size = np.full_like(size, LARGEST)
    most = np.where(size < 0, pool, np.where(algorithm.replace, size * (pool > 0), np.minimum(size, pool)))
    many, few = int((selected > most).sum()), np.flatnonzero(selected < most)
    if algorithm.geometric is not None or algorithm.unique or not set(subject.columns) <= {"v", "depth"}:
        return many
    if algorithm.collective:
        return many + (few.size if subject.all_possible else 0)
    known = {"v": key % subject.view.vertices, "depth": depth}
    return many + unexplained(subject, np.column_stack([known[name][few] for name in subject.columns]))


def _sums(number: np.ndarray, values: np.ndarray) -> np.ndarray:
    _, inverse = np.unique(number, return_inverse=True)
    return np.bincount(inverse, values).astype(np.int64)


def verify_induced(subject: Subject, checks: Checks) -> None:
    """Check sets of vertices with all edges among them."""
    wrong = dict.fromkeys(("edges", "sources", "visits", "repeats", "sizes"), 0)
    drawn, beside, variance = np.zeros(subject.view.vertices, np.int64), 0.0, 0.0
    overlaps = Overlaps(drawn.size, drawn.size, "vertices of the instance before", replace=False)
    for group in groups(subject, checks, wrong):
        keys = distinct(group.source_key)
        overlaps.add(group.source_instance, group.sources, np.ones(group.sources.size), len(group.counts))
        wrong["sources"] += group.source_key.size - keys.size
        wrong["visits"] += int((~(np.isin(group.src_key, keys) & np.isin(group.dst_key, keys))).sum())
        wrong["repeats"] += repeats(subject, group, np.ones(group.src.size, np.int64))
        wrong["sizes"] += edges_left_out(subject, group, keys)
        drawn += np.bincount(group.sources, minlength=subject.view.vertices)
        excess = neighboring_ids(subject.view.vertices, keys, group.source_counts)
        beside, variance = beside + excess[0], variance + excess[1]
    count(checks, wrong)
    if subject.sources is SourceKind.DISTINCT:
        size = sources_each(subject.algorithm)
        few = "each set holds every vertex" if size >= subject.view.vertices else "too few sets"
        deviation = MOVED.format("vertices drawn", "vertices")
        checks.results(
            "vertices", evenly(drawn, size, deviation), f"{int(drawn.sum()):,} drawn, every one equally likely", few
        )
        pairs = normal_sum(beside, variance, float(drawn.sum()), "vertices drawn together with the one before")
        checks.results("sets", pairs, "how often a set holds a vertex and the next one", few)
        checks.results("sets, independence", overlaps.results(), NEXT, few)
    else:
        checks.not_tested("vertices", "sources were given, not drawn")


def verify_edges(subject: Subject, checks: Checks) -> None:
    """Check sets of edges, each equally likely; of the two directions of an undirected edge, only the one with src <=
    dst counts.
    """
    algorithm = subject.traversal
    view, size = subject.view, int(algorithm.sizes()[0])
    once = algorithm.each_edge_once and not subject.store.directed
    row = np.repeat(np.arange(view.vertices), subject.degree)
    may = row <= view.indices if once else np.ones(row.size, bool)
    wrong = dict.fromkeys(("edges", "sources", "visits", "repeats", "sizes"), 0)
    drawn, places = np.zeros(view.vertices, np.int64), []
    before = np.concatenate([[0], np.cumsum(may)])  # edges that may be drawn before each stored one
    overlaps = Overlaps(max(may.size, 1), float(before[-1]), "edges of the instance before", replace=False)
    for group in groups(subject, checks, wrong):
        wrong["visits"] += int((group.src > group.dst).sum()) if once else 0
        wrong["repeats"] += repeats(subject, group, np.ones(group.src.size, np.int64))
        every = int(may.sum())
        asked = every if size < 0 else min(size, every)
        wrong["sizes"] += int((group.counts != asked).sum()) if subject.uniform else 0
        drawn += np.bincount(group.src, minlength=view.vertices)
        first, many, place = _places_in_rows(subject, group, before)
        overlaps.add(group.instance[many > 0], first[many > 0], many[many > 0].astype(np.float64), len(group.counts))
        places.append(place)
    count(checks, wrong)
    if subject.uniform and not algorithm.visited_once and 0 <= size < before[-1]:
        owned = before[view.indptr[1:]] - before[view.indptr[:-1]]
        deviation = MOVED.format("edges drawn", "{}")
        results = evenly(drawn, size, deviation.format("vertices"), owned)
        results += even(np.concatenate(places), BINS, deviation.format("places in a row")) if places else []
        few = "too few edges drawn"
        checks.results("selection", results, f"{int(drawn.sum()):,} drawn, every one equally likely", few)
        checks.results("selection, independence", overlaps.results(), NEXT, few)
    else:
        why = "edges are not equally likely" if not subject.uniform else "each vertex once, or every edge, is drawn"
        checks.not_tested("selection", f"no law of such draws is known here: {why}")


def _places_in_rows(subject: Subject, group: Group, before: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The first stored edge between the same ends as each edge, and how many there are; and the place of each edge in
    its row, in [0, 1): a random point of its share of the edges that may be drawn there.
    """
    view, draw = subject.view, np.random.default_rng(group.start)
    first = np.empty(group.src.size, np.int64)
    first_edge(view.indptr, view.indices, group.src, group.dst, first)
    many = copies(subject, group.src, group.dst)
    known = many > 0
    low, high = view.indptr[group.src[known]], view.indptr[group.src[known] + 1]
    own = before[first[known]] - before[low]
    return first, many, (own + many[known] * draw.random(own.size)) / np.maximum(before[high] - before[low], 1)
