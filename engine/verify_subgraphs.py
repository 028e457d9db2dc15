"""The rules of traversals, induced subgraphs and random edges, each checked over all instances."""

from typing import Any

import numpy as np

from csaw.engine.law import edge_biases
from csaw.engine.verify_checks import Checks, Subject
from csaw.engine.verify_kernels import pool_sizes
from csaw.engine.verify_statistics import Choices, Laws, fit, pooled_test
from csaw.engine.verify_trees import ENTRIES, copies, count_missing, fits, unexplained


class Group:
    """The subgraphs of one group in dense ids; a key is instance * vertices + vertex."""

    def __init__(self, subject: Subject, start: int, arrays: dict[str, np.ndarray]) -> None:
        self.start, self.counts, self.source_counts = start, arrays["counts"], arrays["source_counts"]
        self.src, self.dst, self.sources = (subject.dense(arrays[name]) for name in ("src", "dst", "sources"))
        self.depth = arrays["depth"].astype(np.int64)
        self.instance = np.repeat(np.arange(len(self.counts)), self.counts)
        self.source_instance = np.repeat(np.arange(len(self.counts)), self.source_counts)
        vertices = subject.view.vertices
        self.src_key, self.dst_key = self.instance * vertices + self.src, self.instance * vertices + self.dst
        self.source_key = self.source_instance * vertices + self.sources


def groups(subject: Subject, checks: Checks, wrong: dict[str, int]) -> Any:
    """Groups whose vertices exist; counts edges that do not, and sources other than asked for."""
    for start, arrays in subject.samples.iter_groups():
        group = Group(subject, start, arrays)
        wrong["edges"] += count_missing(subject, group.src, group.dst)
        wrong["sources"] += int((group.sources < 0).sum())
        if subject.starts_at_all:
            before = start * int(group.source_counts[0]) if len(group.source_counts) else 0
            asked = (np.arange(group.sources.size) + before) % subject.view.vertices
            wrong["sources"] += int((group.sources != asked).sum())
        if min(group.src.min(initial=0), group.dst.min(initial=0), group.sources.min(initial=0)) >= 0:
            yield group


def count(checks: Checks, wrong: dict[str, int]) -> None:
    said = {
        "edges": "sampled edges that are not in the graph",
        "sources": "sources missing or other than asked for",
        "depths": "edges that start at a vertex not in the frontier of their depth",
        "visits": "edges to vertices visited before",
        "repeats": "edges selected more often than they exist",
        "sizes": "frontier vertices or depths with another number of edges than asked for",
    }
    for name, count in wrong.items():
        checks.count(name, count, said[name])


def verify_traversal(subject: Subject, checks: Checks) -> None:
    """Depth by depth: frontier, first visits, repeats, sizes; then the law of the first selections."""
    algorithm: Any = subject.algorithm
    wrong = dict.fromkeys(("edges", "sources", "depths", "visits", "repeats", "sizes"), 0)
    kept: list[tuple[np.ndarray, np.ndarray]] = []
    for group in groups(subject, checks, wrong):
        _check_group(subject, group, wrong)
        single = (group.source_counts == 1).all()
        if single and sum(len(k[0]) for k in kept) < ENTRIES and "prev" not in subject.columns[1:2]:
            kept.append(_first_choices(subject, group))
    count(checks, wrong)
    if algorithm.geometric is not None:
        _geometric(subject, checks, kept)
    fits(subject, checks, kept, ("v",) if algorithm.visited_once else ())


def _check_group(subject: Subject, group: Group, wrong: dict[str, int]) -> None:
    algorithm: Any = subject.algorithm
    entry_key, entry_depth, times = _frontier(group, algorithm.visited_once)
    at = _find(entry_key, entry_depth, group.src_key, group.depth)
    wrong["depths"] += int((at < 0).sum())
    if algorithm.visited_once:
        visited = np.searchsorted(entry_key, group.dst_key)
        wrong["visits"] += int((entry_depth[visited] != group.depth + 1).sum())
    if not algorithm.replace:
        wrong["repeats"] += _repeats(subject, group, np.where(at < 0, 1, times[np.maximum(at, 0)]))
    pool = np.empty(entry_key.size, np.int64)
    view = subject.view
    visits = (entry_key, entry_depth) if algorithm.visited_once else (entry_key[:0], entry_depth[:0])
    pool_sizes(view.indptr, view.indices, entry_key, entry_depth, *visits, algorithm.visited_once, pool)
    selected = np.bincount(at[at >= 0], minlength=entry_key.size)
    wrong["sizes"] += _wrong_sizes(subject, entry_key, entry_depth, pool * times, selected, times)


def _frontier(group: Group, once: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Frontier entries by (key, depth), and how often each is there; only the first visit of a vertex when ``once``."""
    key = np.concatenate([group.source_key, group.dst_key])
    depth = np.concatenate([np.zeros(group.source_key.size, np.int64), group.depth + 1])
    order = np.lexsort((depth, key))
    key, depth = key[order], depth[order]
    fresh = np.ones(key.size, bool)
    fresh[1:] = (key[1:] != key[:-1]) | ((depth[1:] != depth[:-1]) & (not once))
    start = np.flatnonzero(fresh)
    times = np.diff(np.append(start, key.size))
    return key[start], depth[start], np.ones_like(times) if once else times


def _find(keys: np.ndarray, depths: np.ndarray, key: np.ndarray, depth: np.ndarray) -> np.ndarray:
    """Numbers of the entries (key, depth), -1 where there is none."""
    span = int(max(depths.max(initial=0), depth.max(initial=0))) + 1
    _, ranked = np.unique(np.concatenate([keys, key]), return_inverse=True)
    table, wanted = ranked[: keys.size] * span + depths, ranked[keys.size :] * span + depth
    at = np.minimum(np.searchsorted(table, wanted), max(table.size - 1, 0))
    return np.where(table[at] == wanted, at, -1) if table.size else np.full(wanted.size, -1)


def _repeats(subject: Subject, group: Group, times: np.ndarray) -> int:
    order = np.lexsort((group.dst, group.depth, group.src_key))
    table = np.column_stack([group.src_key, group.depth, group.dst])[order]
    if not len(table):
        return 0
    fresh = np.concatenate([[True], (table[1:] != table[:-1]).any(axis=1)])
    start = np.flatnonzero(fresh)
    runs, first = np.diff(np.append(start, len(table))), order[start]
    allowed = np.maximum(copies(subject, group.src[first], group.dst[first]), 1) * times[first]
    return int(np.maximum(runs - allowed, 0).sum())


def _wrong_sizes(
    subject: Subject, key: np.ndarray, depth: np.ndarray, pool: np.ndarray, selected: np.ndarray, times: np.ndarray
) -> int:
    """Entries (depths of an instance, when collective) that selected too many or, unless biases may be 0, too few."""
    algorithm: Any = subject.algorithm
    asked = np.append(algorithm.sizes(), 0)[np.minimum(depth, len(algorithm.sizes()))]
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
    most = np.where(size < 0, pool, np.where(algorithm.replace, size * (pool > 0), np.minimum(size, pool)))
    many, few = int((selected > most).sum()), np.flatnonzero(selected < most)
    if algorithm.geometric is not None or not set(subject.columns) <= {"v", "depth"}:
        return many
    if algorithm.collective:
        return many + (few.size if subject.uniform else 0)
    known = {"v": key % subject.view.vertices, "depth": depth}
    return many + unexplained(subject, np.column_stack([known[name][few] for name in subject.columns]))


def _sums(number: np.ndarray, values: np.ndarray) -> np.ndarray:
    _, inverse = np.unique(number, return_inverse=True)
    return np.bincount(inverse, values).astype(np.int64)


def _first_choices(subject: Subject, group: Group) -> tuple[np.ndarray, np.ndarray]:
    """Situations of the sources, and what each selected at depth 0."""
    first = np.flatnonzero(group.depth == 0)
    owner = group.instance[first]
    place = np.arange(owner.size) - np.searchsorted(owner, owner)
    instances = np.arange(len(group.counts))
    chosen = np.full((instances.size, int(place.max(initial=-1)) + 1), -1)
    chosen[owner, place] = group.dst[first]
    nothing = np.full(instances.size, -1)
    known = {
        "v": group.sources,
        "prev": nothing,
        "source": group.sources,
        "depth": nothing + 1,
        "instance": instances + group.start,
    }
    return np.column_stack([known[name] for name in subject.columns]).astype(np.int64), chosen


def _geometric(subject: Subject, checks: Checks, kept: list[tuple[np.ndarray, np.ndarray]]) -> None:
    """Numbers selected by single sources: successes before the first failure, at most the edges that may be selected."""
    algorithm: Any = subject.algorithm
    chance = float(algorithm.geometric())
    situations = [k[0] for k in kept] or [np.zeros((0, len(subject.columns)), np.int64)]
    found = [(k[1] >= 0).sum(axis=1) for k in kept] or [np.zeros(0, np.int64)]

    def law(*situation: int) -> dict[int, float]:
        named = dict(zip(subject.columns, situation, strict=True))
        v = named.pop("v")
        pool = sum(bias > 0.0 and dst != v for dst, bias in edge_biases(subject.view, algorithm, v, **named))
        exact = {n: chance**n * (1.0 - chance) for n in range(pool)} | {pool: chance**pool}
        return {n: p for n, p in exact.items() if p > 0.0}

    laws = Laws(law, lambda rows: 2 * subject.degree[rows[:, 0]] + 1, subject.budget)
    used, p = pooled_test(Choices(np.concatenate(situations), np.concatenate(found), ("source of fire",)), laws)
    checks.p_values("burning", p, f"{used:,} numbers of lit neighbors")


def verify_induced(subject: Subject, checks: Checks) -> None:
    """A set of vertices and all edges among them."""
    wrong = dict.fromkeys(("edges", "sources", "visits", "repeats", "sizes"), 0)
    drawn = np.zeros(subject.view.vertices, np.int64)
    for group in groups(subject, checks, wrong):
        keys = np.unique(group.source_key)
        wrong["sources"] += group.source_key.size - keys.size
        wrong["visits"] += int((~(np.isin(group.src_key, keys) & np.isin(group.dst_key, keys))).sum())
        wrong["repeats"] += _repeats(subject, group, np.ones(group.src.size, np.int64))
        outside = np.empty(keys.size, np.int64)
        zero = np.zeros(keys.size, np.int64)
        view = subject.view
        pool_sizes(view.indptr, view.indices, keys, zero, keys, zero, True, outside)
        inside = subject.degree[keys % view.vertices] - outside
        selected = np.bincount(np.searchsorted(keys, group.src_key), minlength=keys.size)[: keys.size]
        wrong["sizes"] += int((inside != selected).sum())
        drawn += np.bincount(group.sources, minlength=view.vertices)
    count(checks, wrong)
    if subject.sources.startswith("distinct"):
        size = int(getattr(subject.algorithm, "frontier_size", 1))
        checks.p_values("vertices", _even(drawn, size), f"{int(drawn.sum()):,} drawn, every one equally likely")


def verify_edges(subject: Subject, checks: Checks) -> None:
    """A set of edges, every one equally likely; of an undirected edge's two directions the one with src <= dst."""
    algorithm: Any = subject.algorithm
    view, size = subject.view, int(algorithm.sizes()[0])
    once = algorithm.each_edge_once and not subject.store.directed
    row = np.repeat(np.arange(view.vertices), subject.degree)
    may = row <= view.indices if once else np.ones(row.size, bool)
    wrong = dict.fromkeys(("edges", "sources", "visits", "repeats", "sizes"), 0)
    drawn = np.zeros(view.vertices, np.int64)
    for group in groups(subject, checks, wrong):
        wrong["visits"] += int((group.src > group.dst).sum()) if once else 0
        wrong["repeats"] += _repeats(subject, group, np.ones(group.src.size, np.int64))
        wrong["sizes"] += int((group.counts != min(size, int(may.sum()))).sum()) if subject.uniform else 0
        drawn += np.bincount(group.src, minlength=view.vertices)
    count(checks, wrong)
    if subject.uniform and not algorithm.visited_once:
        owned = np.bincount(row[may], minlength=view.vertices)
        checks.p_values("selection", _even(drawn, size, owned), f"{int(drawn.sum()):,} drawn, every one equally likely")


def _even(drawn: np.ndarray, size: int, weights: np.ndarray | None = None) -> list[float]:
    """p-value of draws over vertices in proportion to ``weights``, gathered in at most 32 ranges of vertices."""
    weights = np.ones(drawn.size) if weights is None else weights.astype(float)
    total, n = weights.sum(), drawn.sum()
    if n < 20 or size >= total:
        return []
    bins = int(min(32, n // 10))
    number = np.minimum((np.cumsum(weights) - weights) * bins // total, bins - 1).astype(np.int64)
    expected = np.bincount(number, weights, bins) / total * n
    found = np.bincount(number, drawn, bins)
    used = expected > 0
    p = fit(
        found[used], expected[used]
    )  # without replacement the counts vary less: the p-value is too large, if anything
    return [] if p is None else [0.0 if found[~used].any() else p]
