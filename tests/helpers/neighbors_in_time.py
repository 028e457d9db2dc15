"""Laws of neighbors in time as lists of events, and the choices that samples in any layout have made."""

from collections import Counter, defaultdict
from itertools import chain
from math import comb

from scipy.stats import chi2

from helpers.stats import SUITE_ALPHA, TESTS

NO_TIME = -(2**63)


def rows_in_order(events, vertices):
    """For each vertex (target, time) of its events by time, and at one time by target: the order of a store."""
    rows = [[] for _ in range(vertices)]
    for source, target, time in sorted(events, key=lambda event: (event[2], event[1])):
        rows[source].append((int(target), int(time)))
    return rows


def eligible(row, now, options):
    """The places of the events (target, time) of a row that may be selected, compared with ``now``."""
    strict, window = options.get("time_order", "monotone") == "strict", options.get("time_window")
    return [
        place
        for place, (_, time) in enumerate(row)
        if (time < now if strict else time <= now) and (window is None or now - time <= window)
    ]


def tree_choices(drawn, sizes, options):
    """Each choice of hops: the vertex, the time that it knows, the size, and the (target, time) that it selected."""
    now = drawn["seed_time"].astype(object)
    for k, size in enumerate(sizes):
        parents, children, times = drawn[f"hop_{k}"], drawn[f"hop_{k + 1}"], drawn[f"time_{k + 1}"].astype(object)
        later = []
        for i, row in enumerate(parents.tolist()):
            for j, v in enumerate(row):
                cells = range(j * size, (j + 1) * size)
                found = [(int(children[i, c]), times[i, c]) for c in cells if children[i, c] >= 0]
                assert all(times[i, c] == NO_TIME for c in cells if children[i, c] < 0)
                if v >= 0:
                    yield v, now[i][j], size, found
                else:
                    assert not found
                later.append([times[i, c] if options.get("time_against") == "previous" else now[i][j] for c in cells])
        width = parents.shape[1]
        now = [list(chain(*later[i * width : (i + 1) * width])) for i in range(len(parents))]


def batch_choices(drawn, sizes, options):
    """Each choice of mini-batches, likewise."""
    nodes, edges, seeds = (drawn[f"{name}_ptr"].tolist() for name in ("node", "edge", "seed"))
    for b in range(len(nodes) - 1):
        vertex = drawn["n_id"][nodes[b] : nodes[b + 1]].tolist()
        owner = drawn["batch"][nodes[b] : nodes[b + 1]].tolist() if "batch" in drawn else [0] * len(vertex)
        clock = drawn["seed_time"][seeds[b] : seeds[b + 1]].tolist()
        row, col, time = (drawn[name][edges[b] : edges[b + 1]].tolist() for name in ("row", "col", "time"))
        found = defaultdict(list)
        for r, c, t in zip(row, col, time, strict=True):
            found[c].append((vertex[r], t))
        depth = chain(*([k] * n for k, n in enumerate(drawn["hop_nodes"][b].tolist())))
        for node, hop in enumerate(depth):
            if hop < len(sizes):
                yield vertex[node], clock[owner[node]], sizes[hop], found[node]
            else:
                assert not found[node]


def assert_neighbors_in_time(choices, events, vertices, options):
    """Each choice has edges that may be selected, as many as the law says, and is drawn by it; returns how many choices
    of each size there were.

    Sets are judged by how often each place of a situation is in one; equal events count together.
    """
    rows, seen, sizes = rows_in_order(events, vertices), defaultdict(list), Counter()
    replace, last = options.get("replace", False), options["time_strategy"] == "last"
    for v, now, size, found in choices:
        places = eligible(rows[v], now, options)
        possible = Counter(rows[v][place] for place in places)
        count = len(places) if size < 0 else (size if places else 0) if replace else min(size, len(places))
        assert len(found) == count, (v, now, size, found, places)
        assert set(found) <= set(possible), (v, now, found)
        assert replace or not Counter(found) - possible, (v, now, found)
        if last or (count == len(places) and not replace):
            assert found == [rows[v][place] for place in places[len(places) - count :]], (v, now, found)
        elif count:
            seen[v, now, count].append(found)
        sizes[count] += 1
    square, freedom = 0.0, 0
    for (v, now, count), drawn in seen.items():
        places = eligible(rows[v], now, options)
        n, many = len(places), Counter(rows[v][place] for place in places)
        for event, copies in many.items():
            chance = 1 - (comb(n - copies, count) / comb(n, count)) if not replace else 1 - (1 - copies / n) ** count
            times, expected = sum(event in one for one in drawn), chance * len(drawn)
            if min(expected, len(drawn) - expected) >= 5:
                square += (times - expected) ** 2 / (expected * (1 - chance))
                freedom += 1
    # The events of a situation exclude each other, so that the sum varies less than chi-squared of so many degrees.
    assert not freedom or chi2.sf(square, freedom) > SUITE_ALPHA / TESTS, (square, freedom)
    return sizes
