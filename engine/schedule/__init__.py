"""What is in memory when, and who draws what: partitions, single rows, the loop over batches, workers and devices."""
