"""The parts of a graph that the instances of a sample depend on, beside their sources and random numbers: some of its
rows, or more than rows.
"""

import ast
from dataclasses import dataclass

from csaw.engine.api import hooks
from csaw.engine.api.algorithm import Algorithm, Traversal, Walk
from csaw.engine.api.bases import LinksWithNegatives
from csaw.engine.api.derived_law import results_of
from csaw.engine.api.rules import BudgetLayers, Clocks, VertexLayer
from csaw.engine.api.termination import is_unlimited
from csaw.engine.plan.by_relation import fanouts_of, needs_relations
from csaw.engine.plan.choices import Method
from csaw.engine.plan.metapath import Metapath, can_be_staged
from csaw.engine.plan.plan import Plan
from csaw.engine.plan.selection import bounds, bounds_of_trials
from csaw.engine.sources.link_ends import relation_of
from csaw.partition.graph.store import GraphStore

OF_NEIGHBORS = {"dst_degree"}  # what hooks read of rows of vertices that need not be visited
OF_ALL = {"vertices", "random_vertex"}  # what they read of the number of vertices
LISTED = {"dst", "src", "prev", "source", "-1"}  # vertices that are ends of edges of an instance, or none


@dataclass(frozen=True)
class Dependence:
    """The parts of a graph that an instance reads.

    ``everything``: why it may depend on all of the graph, in words; empty if its rows decide. ``neighbors``: whether it
    reads degrees or rows of neighbors of the vertices whose rows it reads. ``depth``: the number of steps or hops after
    which it reads no row; None, it reads those of all of its vertices. ``relations``: the numbers of those relations
    whose edges it reads, each by itself; None, it reads edges whatever their relation.
    """

    everything: str
    neighbors: bool
    depth: int | None
    relations: tuple[int, ...] | None


def dependence(store: GraphStore, algorithm: Algorithm, plan: Plan, *, grows: bool) -> Dependence:
    """Find what the instances of a plan on ``store`` depend on.

    Args:
        store: the graph.
        algorithm: the one that draws.
        plan: its plan.
        grows: whether the number of vertices changes.

    Returns:
        The Dependence. It may name more than an instance reads, and never less.
    """
    needs, request = plan.needs, plan.request
    of_bias = hooks.edge_bias(algorithm, needs.weighted, store.hook_columns)
    others = hooks.others(algorithm, needs.weighted, store.hook_columns)
    texts = [of_bias, *others.values()]
    reads = frozenset[str]().union(*(hook.reads for hook in texts if hook))
    nodes = ast.walk(ast.parse(getattr(algorithm, "static_factor", "")))  # by which a graph is weighed anew
    reads |= {one.attr for one in nodes if isinstance(one, ast.Attribute)}
    update = None if isinstance(algorithm, Walk) else others["update"]
    reasons = {
        "an instance joins walks until it has enough vertices (--target)": bool(request.target),
        "vertices are drawn by sums over all edges": needs.columns,
        "edges are drawn from the whole graph": needs.everywhere,
        "clusters are those of the whole graph": needs.clusters,
        **(_of_links(store, algorithm, grows=grows) if isinstance(algorithm, LinksWithNegatives) else {}),
        "hooks ask for edges of vertices that a sample does not list": needs.asks_far,
        "update may expand vertices that a sample does not list": update is not None and _may_leave_edges(update),
        "hooks read the number of vertices": grows and bool(reads & OF_ALL),
        "hooks read data of vertices that may be new": grows and any(map(_may_read_new, filter(None, texts))),
    }
    layered, last = isinstance(algorithm.rule, VertexLayer), None
    neighbors = layered or bool(reads & OF_NEIGHBORS)
    reads_all = request.induced or plan.induced or isinstance(algorithm.rule, Clocks | BudgetLayers)  # edges among all
    if not (neighbors or reads_all):
        last = _depth(algorithm)
    everything = next((said for said, holds in reasons.items() if holds), "")
    return Dependence(everything, neighbors, last, _relations(store, algorithm, request.metapath))


def _of_links(store: GraphStore, algorithm: LinksWithNegatives, *, grows: bool) -> dict[str, bool]:
    """Why the negatives of a link may depend on more than the row of its source, and whether they do."""
    number, types = relation_of(store, algorithm), store.types
    fixed = number is not None and types is not None and types.relations[number].target != types.names[-1]
    return {
        "negatives are drawn by the degrees of all vertices": algorithm.negative_bias == "degree",
        "negatives are drawn by the times of all edges": algorithm.negative_time is not None,
        "negatives may be vertices that are new": grows and not fixed,  # only the last type has new ones
    }


def _relations(store: GraphStore, algorithm: Algorithm, metapath: str) -> tuple[int, ...] | None:
    """The relations whose rows an algorithm reads, each by itself; None if it reads those of all together."""
    if store.types is None:
        return None
    if (number := relation_of(store, algorithm)) is not None:
        return (number,)
    if (fanouts := fanouts_of(algorithm)) is not None:
        return tuple(number for number, sizes in enumerate(fanouts.values()) if any(sizes))
    if needs_relations(algorithm, store):
        return tuple(range(len(store.types.relations)))
    if not (metapath and can_be_staged(algorithm)):
        return None
    return tuple({*Metapath.parsed(metapath, store.types).relations})


def _depth(algorithm: Algorithm) -> int | None:
    if isinstance(algorithm, Walk):
        return None if is_unlimited(algorithm) else algorithm.walk_length
    sizes = algorithm.sizes() if isinstance(algorithm, Traversal) else None
    return None if sizes is None or getattr(algorithm, "depth", 0) is None else len(sizes)


def _may_leave_edges(update: hooks.Hook) -> bool:
    """Whether a traversal may expand a vertex that no edge leads to: without neighbors, it is not in the sample."""
    nodes = _nodes(update)
    ends = [end for one in nodes if isinstance(one, ast.Return) and one.value for end in results_of(one.value)]
    return _may_be_others(ends, nodes)


def _may_read_new(hook: hooks.Hook) -> bool:
    """Whether a hook may read data of a vertex by a number that was none when the graph had fewer vertices."""
    nodes = _nodes(hook)
    asked = [one.args[-1] for one in nodes if isinstance(one, ast.Call) and ast.unparse(one.func) == "column_value"]
    return _may_be_others(asked, nodes)


def _nodes(hook: hooks.Hook) -> list[ast.AST]:
    with hooks.TREES:
        return list(ast.walk(ast.parse(hook.source)))


def _may_be_others(vertices: list[ast.expr], nodes: list[ast.AST]) -> bool:
    """Whether expressions for vertices in a hook may be others than the ends of its edge, its source, or none."""
    stored = {one.id for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    return any(ast.unparse(one) not in LISTED - stored for one in vertices)


def law_of(store: GraphStore, algorithm: Algorithm, plan: Plan) -> list[object]:
    """The numbers and texts by which a plan draws from a row, of which some come from the whole graph: for example the
    bounds of biases under which it proposes edges.
    """
    needs = plan.needs
    found = hooks.others(algorithm, needs.weighted, store.hook_columns)
    texts = [hooks.edge_bias(algorithm, needs.weighted, store.hook_columns), *found.values()]
    law: list[object] = [None if hook is None else hook.source for hook in texts]
    law += [hooks.params(algorithm), needs.weighted, needs.cases]
    if plan.select is Method.REJECTION and isinstance(algorithm, Walk):
        law.append(bounds(algorithm))
    elif plan.select is Method.REJECTION and isinstance(algorithm, Traversal):
        law += [bounds_of_trials(algorithm, needs.weighted, store, depth) for depth in range(len(algorithm.sizes()))]
    return law
