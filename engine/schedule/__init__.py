"""Scheduling: which partitions and rows are in memory when, the loop over batches, and which device draws which
instances.
"""
