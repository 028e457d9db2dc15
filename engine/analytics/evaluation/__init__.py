"""``csaw evaluate``: measures of a graph, and distances between it and its samples."""
