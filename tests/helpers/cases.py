"""Options that make each algorithm do something on a graph of some hundred vertices."""

OPTIONS = {
    "multidimensional": {"frontier_size": 5, "instances": 40, "walk_length": 60},
    "random-node": {"frontier_size": 30, "instances": 10},
    "random-edge": {"neighbor_size": 30, "instances": 10},
    "layer": {"depth": 3, "neighbor_size": 5, "frontier_size": 2},
    "minibatch": {"fanout": (4, 3), "seeds_per_batch": 16},
    "mvs": {"fanout": (4, 3), "seeds_per_batch": 16},
    "neighbor": {"fanout": (4, 3)},
    "hgt": {"num_samples": (6, 4), "seeds_per_batch": 16},
    "ladies": {"frontier_size": 8, "layer_sizes": (12, 7)},
    "fastgcn": {"frontier_size": 8, "layer_sizes": (40, 30)},
    "saint-node": {"subgraph_nodes": 40, "instances": 10},
    "saint-edge": {"frontier_size": 30, "instances": 10},
    "saint-walk": {"frontier_size": 20, "instances": 10},
    "saint-multidimensional": {"frontier_size": 10, "walk_length": 40, "instances": 10},
    "cluster-gcn": {"clusters_per_batch": 3, "instances": 10},
    "labor": {"fanout": (4, 3), "frontier_size": 20},
    "links": {"num_negatives": 3, "instances": 300, "skip_full": True},
    "node2vec": {"p": 0.25, "q": 2.0, "walk_length": 20},
}

ASKING = [
    ("neighbor", {"fanout": (3, 2)}),
    ("neighbor", {"fanout": (3, 2), "replace": True}),
    ("minibatch", {"fanout": (3, 2), "seeds_per_batch": 8}),
    ("snowball", {"depth": 2, "neighbor_size": 2}),
    ("forest-fire", {"depth": 2}),
    ("layer", {"depth": 2, "neighbor_size": 3, "frontier_size": 4}),
]
"""Traversals whose bias may ask whether two vertices are neighbors."""
