"""Batches in progress on a GPU, one file a kind of sample; twins of engine/cpu/batches."""
