"""How many edges each node of a mini-batch of the loaders has selected, against its fanouts."""

from collections import Counter
from collections.abc import Sequence

import numpy as np


def assert_new_nodes_select(
    fanouts: Sequence[int],
    in_degree: Sequence[int],
    target: Sequence[int],
    new_nodes: Sequence[int],
    new_edges: Sequence[int],
    *,
    replace: bool,
) -> None:
    """Each node that is new in a hop selects as many edges as its fanout says, and no other node selects any.

    Args:
        fanouts: One for each hop; -1 selects all edges.
        in_degree: The in-degree in the graph of each node, by its number in the mini-batch.
        target: The node that selected each edge.
        new_nodes: How many nodes are seeds, then how many each hop has met.
        new_edges: How many edges each hop has selected.
        replace: Whether edges are selected with replacement.
    """
    nodes, edges = np.cumsum([0, *new_nodes]), np.cumsum([0, *new_edges])
    assert nodes[-1] == len(in_degree)
    assert edges[-1] == len(target)
    for hop, most in enumerate(fanouts):
        drawn = Counter(target[edges[hop] : edges[hop + 1]])
        for node in range(nodes[hop], nodes[hop + 1]):
            degree = in_degree[node]
            wanted = degree if most < 0 else (most if replace and degree else min(most, degree))
            assert drawn.pop(node, 0) == wanted
        assert not drawn, "only nodes that are new are expanded"
