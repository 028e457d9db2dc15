"""Graph stores: their layout, reading and writing them, and the same graph cut, joined or kept in memory."""
