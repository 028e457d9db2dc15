"""Batches in progress on the CPU, one file a kind of sample; twins of engine/cuda/batches."""
