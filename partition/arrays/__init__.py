"""Arrays of Zarr stores on disk: metadata, checked reading and mapping, checksums, locks,
replacing a store as a whole.
"""
