"""Options that make each algorithm do something on a graph of some hundred vertices."""

OPTIONS = {
    "multidimensional": {"frontier_size": 5, "instances": 40, "walk_length": 60},
    "random-node": {"frontier_size": 30, "instances": 10},
    "random-edge": {"neighbor_size": 30, "instances": 10},
    "layer": {"depth": 3, "neighbor_size": 5, "frontier_size": 2},
    "minibatch": {"fanout": (4, 3), "seeds_per_batch": 16},
    "neighbor": {"fanout": (4, 3)},
    "node2vec": {"p": 0.25, "q": 2.0, "walk_length": 20},
}
