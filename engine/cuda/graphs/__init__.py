"""Where a graph lies for a GPU: on it, over several, in slots, in host memory."""
