"""One sample by many processes, on any machines that share a disk: the workers of a Dask cluster, or shards that know
nothing of each other.
"""
