"""``csaw evaluate``: what a graph is like, and how well samples keep it."""
