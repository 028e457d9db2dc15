"""The exact law of one step in plain Python: slow, obvious, and what every sample is tested against."""

from collections.abc import Callable, Collection, Mapping, Sequence
from types import SimpleNamespace

import numpy as np

from csaw.engine.api.algorithm import NONE, Algorithm, Walk
from csaw.engine.api.plain_hooks import plain_hook
from csaw.engine.api.user_code import users_code
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import BiasError, OptionError
from csaw.partition.graph.parts import Graph

OFF = 1e-6  # that the sum of a law's chances may be off by


class GraphView:
    """A graph as an algorithm's hooks see it; weights are 1 in an unweighted run."""

    def __init__(self, graph: Graph, weighted: bool = True) -> None:
        self.indptr, self.indices, self.columns = graph.indptr, graph.indices, graph.columns
        self.weights = graph.weights if weighted else None
        self.vertices = self.indptr.size - 1
        self._cached: tuple[int, frozenset[int]] = (NONE, frozenset())  # the last row that was looked up

    def degree(self, v: int) -> int:
        return int(self.indptr[v + 1] - self.indptr[v])

    def row(self, v: int) -> tuple[list[int], list[float]]:
        """Neighbors of v, ascending, and the weights of the edges to them."""
        span = slice(int(self.indptr[v]), int(self.indptr[v + 1]))
        neighbors = self.indices[span].tolist()
        return neighbors, [1.0] * len(neighbors) if self.weights is None else self.weights[span].astype(
            np.float64
        ).tolist()

    def multiplicity(self, a: int, b: int) -> int:
        """How many edges lead from a to b."""
        if a < 0:
            return 0
        row = self.indices[self.indptr[a] : self.indptr[a + 1]]
        return int(np.searchsorted(row, b, "right") - np.searchsorted(row, b, "left"))

    def is_neighbor(self, a: int, b: int) -> bool:
        if not 0 <= a < self.vertices:
            return False
        if self._cached[0] != a:
            self._cached = a, frozenset(self.row(a)[0])
        return b in self._cached[1]


class Edge:
    """The edge that edge_bias reads, with the fields that algorithm.py names."""

    def __init__(
        self,
        view: GraphView,
        v: int,
        prev: int,
        source: int,
        depth: int,
        instance: int,
        column: Callable[[str, int], float],
        path: Sequence[int],
    ) -> None:
        self.src, self.prev, self.source, self.depth, self.instance = v, prev, source, depth, instance
        self.src_degree, self.vertices, self.is_neighbor = view.degree(v), view.vertices, view.is_neighbor
        self._view, self.column, self.path = view, column, steps_back(path)
        self.dst, self.weight = NONE, 1.0
        self._place = NONE  # among all edges of the graph

    def __getattr__(self, name: str) -> float:
        """The number that the edge has in the column ``name``, an int or a float."""
        columns = self._view.columns
        if name not in columns:
            raise OptionError(f"no e.{name}; the edge columns of the graph: {', '.join(columns) or 'none'}")
        number: float = columns[name][self._place].item()
        return number

    @property
    def dst_degree(self) -> int:
        return self._view.degree(self.dst)

    def random(self) -> float:
        raise RuntimeError("a bias must be a function of its edge; only update and dead_end may call random()")

    random_vertex = random


def steps_back(path: Sequence[int]) -> Callable[[int], int]:
    """``e.path`` of a walk that has come along ``path``, from its source to where it is."""
    return lambda steps: int(path[len(path) - 1 - int(steps)]) if 0 <= int(steps) < len(path) else NONE


def edge_biases(
    view: GraphView,
    algorithm: Algorithm,
    v: int,
    prev: int = NONE,
    source: int = NONE,
    depth: int = 0,
    instance: int = 0,
    path: Sequence[int] = (),
    clock: tuple[int, int] | None = None,
) -> list[tuple[int, float]]:
    """(neighbor, bias) of every edge of v, in the order of its row.

    ``path``: a walk's vertices so far. ``clock``: of a walk in time, when it took its last edge and its first.
    BiasError if a bias is negative, NaN or infinite.
    """
    edge, biases = Edge(view, v, prev, source, depth, instance, algorithm.vertex_columns.value, path), []
    if clock is not None:
        vars(edge).update(previous_time=clock[0], start_time=clock[1])
    edge_bias, neighbors_and_weights = plain_hook(algorithm, "edge_bias"), zip(*view.row(v), strict=True)
    for edge._place, (edge.dst, edge.weight) in enumerate(neighbors_and_weights, int(view.indptr[v])):
        bias = float(edge_bias(edge))
        if not 0.0 <= bias < float("inf"):
            raise BiasError(
                f"the bias of edge {v} -> {edge.dst} (dense ids) is {bias}; a bias must be a finite number, 0 or more"
            )
        biases.append((edge.dst, bias))
    return biases


def of_largest(biases: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """The positive biases as shares of the largest, whose sum is finite where theirs may not be."""
    largest = max((bias for _, bias in biases), default=1.0)
    return [(dst, bias / largest) for dst, bias in biases]


def squared_entries(indptr: np.ndarray, indices: np.ndarray, weights: np.ndarray | None, normalize: str) -> np.ndarray:
    """float64 [edges]: the bias of each edge by ``MatrixEntries``, the square of its entry, for all edges at once."""
    degree = np.diff(indptr)
    square = np.ones(indices.size) if weights is None else weights.astype(np.float64) ** 2
    own = np.repeat(degree, degree)
    if normalize == "symmetric":
        other = degree[indices].astype(np.float64)
        return np.where(other > 0, square / (own * np.maximum(other, 1.0)), 0.0)
    return square / (own * own) if normalize == "row" else square


def edge_law(
    view: GraphView,
    algorithm: Algorithm,
    v: int,
    prev: int = NONE,
    source: int = NONE,
    depth: int = 0,
    instance: int = 0,
    visited: Collection[int] = (),
    path: Sequence[int] = (),
) -> dict[int, float]:
    """Chance of each neighbor of v to be selected next; empty at a dead end. Repeated edges count together."""
    biases = edge_biases(view, algorithm, v, prev, source, depth, instance, path)
    merged: dict[int, float] = {}
    for dst, bias in of_largest([one for one in biases if one[1] > 0.0 and one[0] not in visited]):
        merged[dst] = merged.get(dst, 0.0) + bias
    total = sum(merged.values())
    return {dst: bias / total for dst, bias in merged.items()}


def next_law(
    view: GraphView,
    walk: Walk,
    v: int,
    prev: int = NONE,
    source: int = NONE,
    depth: int = 0,
    instance: int = 0,
    path: Sequence[int] = (),
) -> dict[int, float]:
    """Chance of each vertex to follow v on a walk; NONE: the walk ends, as it does where a hook returns less than 0.

    ``path``: the vertices of the walk so far, if its hooks read them.
    """
    selected = edge_law(view, walk, v, prev, source, depth, instance, path=path)
    at = SimpleNamespace(
        id=v,
        prev=prev,
        source=source,
        depth=depth,
        vertices=view.vertices,
        degree=view.degree,
        column=walk.vertex_columns.value,
        path=steps_back(path),
    )
    with users_code(f"{walk.name()}.law failed:"):
        law = walk.law(selected, at)
        if not isinstance(law, Mapping):
            raise OptionError(f"expected a mapping from vertices to chances, found {quoted(law)}")
        if not abs(sum(law.values()) - 1.0) < OFF:
            raise OptionError(f"the chances of what follows vertex {v} sum to {sum(law.values()):.6g}, expected 1")
        found: dict[int, float] = {}
        for u, chance in law.items():
            if chance > 0.0:
                then = max(u, NONE)  # as compiled code takes any negative number
                found[then] = found.get(then, 0.0) + chance
        return found


def inclusion_law(biases: list[tuple[int, float]], picks: int) -> dict[int, float]:
    """Chance that each neighbor is among ``picks`` edges drawn one after the other without replacement.

    Edges arrive at exponential times of rate bias, and the first ``picks`` are the sample (Efraimidis and Spirakis,
    2006). A neighbor is in it when, at its first edge's arrival t, fewer than ``picks`` others have arrived: integrated
    over u = exp(-bias t) by Gauss-Legendre.
    """
    positive = [(dst, bias) for dst, bias in biases if bias > 0.0]
    if picks >= len(positive):
        return dict.fromkeys((dst for dst, _ in positive), 1.0)
    rates: dict[int, float] = {}
    for dst, bias in positive:
        rates[dst] = rates.get(dst, 0.0) + bias
    return {dst: _chance(rate, [b for d, b in positive if d != dst], picks) for dst, rate in rates.items()}


def _chance(rate: float, others: list[float], picks: int) -> float:
    nodes, node_weights = np.polynomial.legendre.leggauss(40)
    # panels that halve towards both ends resolve others much faster and much slower
    edges = np.concatenate([[0.0], 0.5 ** np.arange(50, 0, -1), 1.0 - 0.5 ** np.arange(2, 51), [1.0]])
    low, high = edges[:-1, None], edges[1:, None]
    u = (low + (high - low) * (nodes + 1) / 2).ravel()
    area = ((high - low) / 2 * node_weights).ravel()
    absent = np.exp(np.log(u)[None, :] * (np.array(others) / rate)[:, None])
    arrived = np.zeros((picks, u.size))  # arrived[k]: chance that k others have
    if picks == 0:
        return 0.0
    arrived[0] = 1.0
    for chance in absent:
        arrived[1:] = arrived[1:] * chance + arrived[:-1] * (1.0 - chance)
        arrived[0] *= chance
    return float(min(1.0, (arrived.sum(axis=0) * area).sum()))
