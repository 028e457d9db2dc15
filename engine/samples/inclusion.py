"""The chances that samples hold each vertex and each edge of their graph, and the norms of GraphSAINT.

The norms follow from these chances (Zeng et al., ICLR 2020, section 3.2).

    chances = inclusion(open_samples("saint.zarr"), open_graph("graph.zarr"))
    loss = (loss_of_vertex * chances.node_norm[n_id]).sum()

The chances are shares of the instances of a sample, or exact where a closed form is known. They are those of Horvitz
and Thompson's estimates, too.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from csaw.engine.api.law import squared_entries
from csaw.engine.api.starts import SourceKind
from csaw.engine.samples.edges import dense_ids, edge_numbers, obstacle
from csaw.engine.samples.opened import OpenedSamples
from csaw.engine.sources.digest import SourcesDigest
from csaw.partition.base import arguments
from csaw.partition.base.python_names import reading
from csaw.partition.errors import OptionError, StoreError
from csaw.partition.graph.store import GraphStore

if TYPE_CHECKING:
    from csaw.engine.api.recorded import Request


@dataclass(frozen=True)
class Inclusion:
    """The probability that an instance contains each vertex and each stored edge.

    Attributes:
        indptr: offsets of the graph's rows, int64 [vertices + 1].
        vertices: probabilities of vertices, float64 [vertices].
        edges: probabilities of stored edges, float64 [edges], in the order of the graph's rows.
    """

    indptr: np.ndarray
    vertices: np.ndarray
    edges: np.ndarray

    @property
    def node_norm(self) -> np.ndarray:
        """float64 [vertices]: the weight of a vertex's loss, 1 / (chance x vertices); 0 where the chance is 0."""
        return _ratio(np.ones(self.vertices.size), self.vertices * self.vertices.size)

    @property
    def edge_norm(self) -> np.ndarray:
        """float64 [edges]: the factor of an edge where its source adds up its neighbors, chance of the source / chance
        of the edge; 0 where that is 0.
        """
        return _ratio(np.repeat(self.vertices, np.diff(self.indptr)), self.edges)


def _ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    return np.asarray(np.divide(above, below, out=np.zeros(below.size), where=below > 0.0))


@reading(
    {
        "samples": arguments.instance(OpenedSamples, "open samples, as csaw.open_samples returns them"),
        "graph": arguments.instance(GraphStore, "an open graph store, as csaw.open_graph returns it"),
        "exact": arguments.flag,
    }
)
def inclusion(samples: OpenedSamples, graph: GraphStore, *, exact: bool = False) -> Inclusion:
    """Return the probabilities that instances contain vertices and edges.

    Args:
        samples: induced subgraphs, from an algorithm of GraphSAINT or from ``--induced``.
        graph: the store that was sampled.
        exact: compute them from the law, for saint-node and, on undirected graphs, saint-edge; otherwise count the
            share of instances that contain them.

    Returns:
        The probability of each vertex and of each edge.

    Raises:
        OptionError: the samples have no vertices of their own, or the law has no closed form.
        StoreError: the graph is a different one, or has repeated edges.
    """
    if reason := obstacle(samples, graph):
        raise StoreError(f"no inclusion: {reason}")
    request = samples.manifest["request"]
    if exact and request.get("target"):
        raise OptionError(f"{samples.path}: no closed form is known for --target; count the inclusion with exact=False")
    if exact:
        return _exact(request, graph)
    if not request.get("induced"):
        raise OptionError(f"{samples.path}: expected induced subgraphs; sample with --induced")
    vertices, edges = np.zeros(graph.vertices, np.int64), np.zeros(graph.edges, np.int64)
    for _, arrays in samples.iter_groups():
        vertices += np.bincount(dense_ids(samples, graph, arrays["vertices"]), minlength=graph.vertices)
        edges += np.bincount(edge_numbers(samples, graph, arrays["src"], arrays["dst"]), minlength=graph.edges)
    return Inclusion(graph.read_indptr(), vertices / samples.instances, edges / samples.instances)


def _exact(request: "Request", graph: GraphStore) -> Inclusion:
    """Chances that m independent draws give a vertex, or both ends of an edge, from those of a single draw."""
    algorithm, parameters = request["algorithm"], request["parameters"]
    held = graph.load()
    src = np.repeat(np.arange(graph.vertices), np.diff(held.indptr))
    if algorithm == "saint-node" and request.get("edge_bias") is None:
        squares = squared_entries(
            held.indptr, held.indices, held.weights if request["weighted"] else None, parameters["normalize"]
        )
        one = np.bincount(held.indices, squares, graph.vertices) / max(squares.sum(), 1e-300)
        both, draws = np.where(src == held.indices, one[src], 0.0), parameters["subgraph_nodes"]
    elif (
        algorithm == "saint-edge"
        and not graph.directed
        and request.get("edge_bias") is None
        and SourcesDigest.parse(request["sources"]).kind is SourceKind.CONNECTED
    ):
        one, both = _ends(held.indptr, src, held.indices)
        draws = parameters["frontier_size"]
    else:
        raise OptionError(
            f"no closed form is known for the inclusion of {algorithm} with these options on this graph; "
            "count it with exact=False"
        )
    return Inclusion(held.indptr, *of_draws(np.minimum(one, 1.0), both, src, held.indices, draws))


def of_draws(
    one: np.ndarray, both: np.ndarray, src: np.ndarray, dst: np.ndarray, draws: int
) -> tuple[np.ndarray, np.ndarray]:
    """Chances that independent ``draws`` give each vertex, and both ends of each edge.

    ``one``: the chance that a single draw gives a vertex. ``both``: that it gives both ends of an edge.

    With a and b never drawn, 1 - P(a) - P(b) + P(a, b) = (1 - P(a)) (1 - P(b)) + P(a, b) - P(a) P(b), where the last
    difference is computed from the ratio of both: chances near 0 keep their digits, and those of nothing are 0.
    """
    if draws == 1:
        return one, both
    with np.errstate(divide="ignore", invalid="ignore"):  # of vertices that each draw gives
        never = draws * np.log1p(-one)  # logarithms
        apart = never[src] + never[dst]
        neither = draws * np.log1p(-np.minimum(one[src] + one[dst] - both, 1.0))
        more = (both - one[src] * one[dst]) / ((1.0 - one[src]) * (1.0 - one[dst]))
        ratio = draws * np.log1p(np.maximum(more, -1.0))
        above = np.where(ratio > 0.0, np.exp(neither) * -np.expm1(-ratio), np.exp(apart) * np.expm1(ratio))
    given = -np.expm1(never)
    pairs = given[src] * given[dst] + np.where(np.exp(apart) > 0.0, above, 0.0)
    return given, np.where(src == dst, given[src], pairs)


def _ends(indptr: np.ndarray, src: np.ndarray, dst: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the chances of vertices and edges in a draw of a random vertex with neighbors and one of these.

    The first: that one of the two is, or includes, each vertex. The second: that they are the ends of each edge.
    """
    degree = np.diff(indptr)
    connected = max(int((degree > 0).sum()), 1)
    from_source = 1.0 / degree[src]
    apart = src != dst
    one = ((degree > 0) + np.bincount(dst[apart], from_source[apart], degree.size)) / connected
    both = np.where(apart, (from_source + 1.0 / np.maximum(degree[dst], 1)) / connected, one[src])
    return one, both
