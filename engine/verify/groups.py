"""Groups of sampled subgraphs in dense ids, with counts of their faults."""

from collections.abc import Callable, Iterator

import numpy as np

from csaw.engine.api import hooks
from csaw.engine.api.algorithm import MiniBatches
from csaw.engine.api.hook_language import Scope, function_in, users_code
from csaw.engine.api.law import ENGINE, plain_text
from csaw.engine.draws.addresses import UPDATE_DRAWS
from csaw.engine.draws.random import below_wide, draw64, fraction, hook_word
from csaw.engine.sources.seeds import order_of
from csaw.engine.verify.checks import Checks, Subject
from csaw.engine.verify.course import EDGES, passed
from csaw.engine.verify.kernels import pool_sizes
from csaw.engine.verify.selections import copies, count_missing, runs
from csaw.partition.graph.types import RELATION

MOVED = "{} moved to one of some ranges of {}"


class Group:
    """The subgraphs of one group in dense ids, or the numbers of rows; a key is instance * vertices + vertex."""

    def __init__(self, subject: Subject, start: int, arrays: dict[str, np.ndarray]) -> None:
        self.start, self.counts, self.source_counts = start, arrays["counts"], arrays["source_counts"]
        self.src, self.dst, self.sources = (subject.dense(arrays[name]) for name in ("src", "dst", "sources"))
        if subject.rows is not None:
            relations, relation = subject.rows.relations, arrays[RELATION.name].astype(np.int64)
            known = (relation < relations) & (self.src >= 0)
            self.src = np.where(known, self.src * relations + relation, -1)
            self.dst, self.sources = self.dst * relations, self.sources * relations
        self.arrays = arrays
        self.depth = arrays["depth"].astype(np.int64)
        self.instance = np.repeat(np.arange(len(self.counts)), self.counts)
        self.source_instance = np.repeat(np.arange(len(self.counts)), self.source_counts)
        vertices = subject.view.vertices
        self.src_key, self.dst_key = self.instance * vertices + self.src, self.instance * vertices + self.dst
        self.source_key = self.source_instance * vertices + self.sources
        self.then = self.dst
        """The vertex that enters the frontier after each edge; -1: none."""
        self.frontier: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
        """Of a pool: the key and the depth of all that is selected from it, ascending, and how often."""
        self.first_edge, self.first_source = (
            np.cumsum([0, *numbers]).tolist() for numbers in (self.counts, self.source_counts)
        )


def groups(subject: Subject, checks: Checks, wrong: dict[str, int], what: str = EDGES) -> Iterator[Group]:
    """Yield groups whose vertices exist; count edges that do not exist, and sources other than asked for."""
    for start, arrays in passed(subject.samples, what, subject.watch):
        group = Group(subject, start, arrays)
        wrong["edges"] += count_missing(subject, group.src, group.dst)
        wrong["sources"] += int((group.sources < 0).sum())
        if subject.starts_at_all:
            asked = _asked(subject, group)
            wrong["sources"] += (
                int((group.sources != asked).sum())
                if asked.size == group.sources.size
                else max(asked.size, group.sources.size)
            )
        if min(group.src.min(initial=0), group.dst.min(initial=0), group.sources.min(initial=0)) >= 0:
            group.then = vertices_after(subject, group) if subject.updates and not subject.pooled else group.dst
            yield group


def _asked(subject: Subject, group: Group) -> np.ndarray:
    """int64: the sources of a group's instances, one instance after the other, where all vertices are sources in turn;
    seeds of mini-batches in the order of their epoch.
    """
    if isinstance(subject.algorithm, MiniBatches):
        order = order_of(
            subject.algorithm, None, subject.view.vertices, int(subject.samples.manifest["request"]["seed"])
        )
        positions = order.positions(group.start, group.start + group.source_counts.size)
        return positions[positions >= 0]
    before = group.start * int(group.source_counts[0]) if group.source_counts.size else 0
    asked = subject.all_sources(np.arange(group.sources.size) + before)
    return asked if subject.rows is None else asked * subject.rows.relations


def count(checks: Checks, wrong: dict[str, int]) -> None:
    said = {
        "edges": "sampled edges that are not in the graph",
        "sources": "sources that are missing or wrong",
        "depths": "edges that start at a vertex not in the frontier of their depth",
        "visits": "edges to vertices visited before",
        "repeats": "edges selected more often than they exist",
        "sizes": "frontier vertices or depths with a wrong number of edges",
        "met": "vertices that cannot have been met, or whose selected edges are missing",
    }
    for name, count in wrong.items():
        checks.count(name, count, said[name])


def repeats(subject: Subject, group: Group, times: np.ndarray) -> int:
    """Number of edges of a group beyond those that the graph has. ``times`` [edges]: how often each may be selected."""
    columns = group.dst, group.depth, group.src_key
    order = np.lexsort(columns)
    start, many = runs(*(column[order] for column in columns))
    first = order[start]
    allowed = np.maximum(copies(subject, group.src[first], group.dst[first]), 1) * times[first]
    return int(np.maximum(many - allowed, 0).sum())


def edges_left_out(subject: Subject, group: Group, keys: np.ndarray) -> int:
    """Number of vertices of the sets ``keys`` whose sampled edges are not all those to vertices of their set."""
    view, zero = subject.view, np.zeros(keys.size, np.int64)
    outside = np.empty(keys.size, np.int64)
    pool_sizes(view.indptr, view.indices, keys, zero, keys, zero, True, outside)
    inside = subject.degree[keys % view.vertices] - outside
    selected = np.bincount(np.searchsorted(keys, group.src_key), minlength=keys.size)[: keys.size]
    return int((inside != selected).sum())


def neighboring_ids(vertices: int, keys: np.ndarray, sizes: np.ndarray) -> tuple[float, float]:
    """Excess of pairs (v, v + 1) in sets of vertices, and its variance: a set of m has m less
    its runs of such pairs.
    """
    n, m = vertices, sizes.astype(float)
    pairs = int(((np.diff(keys) == 1) & (keys[1:] % n != 0)).sum())
    variance = m * (m - 1) * (n - m) * (n - m + 1) / (n * n * max(1, n - 1))
    return pairs - float((m * (m - 1) / n).sum()), float(variance.sum())


# The frontiers of a traversal with an ``update`` of its own: its text in plain Python, at the address of each edge.

Update = Callable[[int, int, int, int, int, int, int], int]


def update_of(subject: Subject) -> Update:
    """The vertex that enters the frontier after an edge, -1 for none, by the edge's (instance, slot, depth, source,
    vertex before src, src, dst).
    """
    if not subject.updates:
        return lambda *edge: edge[-1]
    update, params = _plain_update(subject), hooks.params(subject.algorithm)
    seed = np.uint64(subject.samples.manifest["request"]["seed"])

    def after(instance: int, slot: int, depth: int, source: int, prev: int, src: int, dst: int) -> int:
        own = np.uint64(draw64(seed, np.uint64(instance), np.uint64(slot), UPDATE_DRAWS))
        try:
            to = update(params, None, own, instance, depth, source, prev, src, dst, 1.0)
        except Exception:  # of what compiled code computes otherwise, such as a shift by less than 0
            with users_code(f"{subject.algorithm.name()}.update failed:"):
                raise
        return int(to) if to >= 0 else -1

    return after


def vertices_after(subject: Subject, group: Group) -> np.ndarray:
    """int64 [edges]: the vertex that enters the frontier after each sampled edge of a group; -1: none.

    The edges of an instance are in the order in which they were drawn, so that their places say their slots.
    """
    update, first = update_of(subject), np.cumsum([0, *group.source_counts])
    then, edge = np.empty(group.src.size, np.int64), 0
    for i, count in enumerate(group.counts.tolist()):
        width, source = int(group.source_counts[i]), int(group.sources[first[i]]) if group.source_counts[i] else -1
        before: dict[int, int] = {}
        for slot in range(width, width + count):
            src, dst, depth = int(group.src[edge]), int(group.dst[edge]), int(group.depth[edge])
            then[edge] = update(subject.number(group.start + i), slot, depth, source, before.get(src, -1), src, dst)
            before.setdefault(int(then[edge]), src)
            edge += 1
    return then


def _plain_update(subject: Subject) -> Callable[..., int]:
    """The update as compiled code has it: the same text, with the graph's numbers as they are."""
    view, columns = subject.view, subject.algorithm.vertex_columns
    hook = hooks.others(subject.algorithm, subject.weighted)["update"]
    assert hook is not None
    scope: Scope = ENGINE | {
        "inner": lambda **_: lambda function: function,
        "int64": int,
        "uint64": np.uint64,
        "degree": lambda _, v: view.degree(v),
        "vertex_count": lambda _: view.vertices,
        "is_neighbor": lambda _, a, b: view.is_neighbor(a, b),
        "column_value": lambda _, k, v: columns.value(columns.names[k], v),
        "hook_word": lambda *address: np.uint64(hook_word(*address)),
        "fraction": fraction,
        "below_wide": below_wide,
    }
    text = plain_text(f"import math\nimport numpy as np\n{hook.source}")
    exec(compile(text, "<update>", "exec"), scope)  # noqa: S102 - the user's own code, as with --algo FILE
    return function_in(scope, "update")
