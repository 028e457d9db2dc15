"""Laws of frontiers that select together in time, as lists of events: what an instance keeps, copy by copy."""

from collections import Counter, defaultdict
from itertools import pairwise
from math import comb

from scipy.stats import chi2

from helpers.neighbors_in_time import eligible, rows_in_order
from helpers.stats import SUITE_ALPHA, TESTS


def followed(drawn, depths, options, *, once=False):
    """Each depth of each instance: its number, the frontier, what was met by then, and the edges (copy, target, time).

    A copy is (vertex, time). ``once``: whether a copy enters once.
    """
    ends = drawn["instance_ptr"].tolist()
    width = drawn["sources"].size // (len(ends) - 1)
    columns = [drawn[name].tolist() for name in ("src", "src_time", "dst", "time", "depth")]
    then = drawn["time"] if options.get("time_against") == "previous" else drawn["src_time"]
    assert (drawn["dst_time"] == then).all()
    seeds = list(zip(drawn["sources"].tolist(), drawn["seed_time"].tolist(), strict=True))
    for i in range(len(ends) - 1):
        frontier = set(seeds[i * width : (i + 1) * width])
        met, seen = set(frontier), 0
        for depth in range(depths):
            rows = [row for row in zip(*(c[ends[i] : ends[i + 1]] for c in columns), strict=True) if row[4] == depth]
            edges = [((src, known), dst, time) for src, known, dst, time, _ in rows]
            assert {copy for copy, *_ in edges} <= frontier, (frontier, edges)
            yield depth, tuple(sorted(frontier)), frozenset(met), edges
            seen += len(edges)
            frontier = {after(edge, options) for edge in edges} - (met if once else set())
            met |= frontier if once else set()
        assert seen == ends[i + 1] - ends[i]


def after(edge, options):
    """The copy that an edge leads to."""
    (_, known), dst, time = edge
    return dst, time if options.get("time_against") == "previous" else known


def candidates(frontier, rows, options):
    """All edges (copy, target, time) that the copies of a frontier may select, in order."""
    return [((v, now), *rows[v][place]) for v, now in frontier for place in eligible(rows[v], now, options)]


def shared_law(may, size):
    """The chance of each set of pairs (copy, target) that is kept together: a number for each target decides."""
    many = Counter(copy for copy, *_ in may)
    law = {(): 1.0}
    for target in sorted({target for _, target, _ in may}):
        asked = sorted({copy for copy, end, _ in may if end == target})
        chance = {copy: 1.0 if size < 0 else min(1.0, size / many[copy]) for copy in asked}
        levels = sorted({0.0, 1.0, *chance.values()})
        parts = defaultdict(float)
        for low, high in pairwise(levels):
            parts[tuple((copy, target) for copy in asked if chance[copy] >= high)] += high - low
        law = {a + b: p * q for a, p in law.items() for b, q in parts.items()}
    return law


def assert_shared_in_time(drawn, events, vertices, sizes, options):
    """LABOR-0 in time keeps what numbers of targets decide, jointly for all copies of a frontier; returns how many
    copies had no edge to select.
    """
    rows, found = rows_in_order(events, vertices), defaultdict(Counter)
    nothing = 0
    for depth, frontier, _, edges in followed(drawn, len(sizes), options):
        may = candidates(frontier, rows, options)
        pairs = {(copy, target) for copy, target, _ in edges}
        assert edges == [edge for edge in may if edge[:2] in pairs], (frontier, edges, may)
        found[sizes[depth], frontier][tuple(sorted(pairs, key=lambda pair: (pair[1], pair[0])))] += 1
        nothing += len(set(frontier) - {copy for copy, *_ in may})
    assert_laws((counts, shared_law(candidates(key[1], rows, options), key[0])) for key, counts in found.items())
    return nothing


def assert_pools_in_time(drawn, events, vertices, sizes, options):
    """Layers in time are sets of one pool, of which each is equally likely."""
    rows, found = rows_in_order(events, vertices), defaultdict(list)
    for depth, frontier, met, edges in followed(drawn, len(sizes), options, once=True):
        may = [edge for edge in candidates(frontier, rows, options) if after(edge, options) not in met]
        size = sizes[depth]
        assert len(edges) == min(size, len(may)), (frontier, edges, may)
        assert not Counter(edges) - Counter(may), (frontier, edges, may)
        if 0 < len(edges) < len(may):
            found[tuple(may), size].append(edges)
    assert_laws(
        (Counter(edge in one for one in drawn), {True: 1 - absent, False: absent})
        for (may, size), drawn in found.items()
        for edge, many in Counter(may).items()
        for absent in [comb(len(may) - many, size) / comb(len(may), size)]
    )
    return len(found)


def assert_laws(situations):
    """Counts of outcomes fit their laws, over all situations together; those that are rare in one count as one."""
    square, freedom = 0.0, 0
    for counts, law in situations:
        assert abs(sum(law.values()) - 1.0) < 1e-9
        possible = {outcome for outcome, chance in law.items() if chance > 0.0}
        assert set(counts) <= possible, (set(counts) - possible, law)
        total = sum(counts.values())
        often = [outcome for outcome in possible if law[outcome] * total >= 5]
        cells = [(counts[outcome], law[outcome] * total) for outcome in often]
        rest = total - sum(expected for _, expected in cells)
        if rest >= 5:
            cells.append((total - sum(n for n, _ in cells), rest))
        elif len(cells) > 1:
            cells = [(n, expected * total / (total - rest)) for n, expected in cells]
        if len(cells) > 1:
            square += sum((n - expected) ** 2 / expected for n, expected in cells)
            freedom += len(cells) - 1
    assert freedom
    assert chi2.sf(square, freedom) > SUITE_ALPHA / TESTS, (square, freedom)
