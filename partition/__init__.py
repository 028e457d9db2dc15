"""Graph store: text ingest, CSR partitions in Zarr, reading partitions into buffers."""
