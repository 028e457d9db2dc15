"""Graphs in memory for GPUs, one file a residency: on one GPU, over several, in slots, in host memory."""
