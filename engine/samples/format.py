"""The format of sample stores: Zarr groups whose arrays the classes of ``layouts/`` declare.

Chunks are uncompressed, little-endian, whole rows: ``ARRAY/c.GROUP.0`` (``ARRAY/c.N`` in one dimension).
"""

KIND = "samples"
FORMAT_VERSION = 3
"""The latest; a store has the earliest that it can.

In version 1, numbers of the input take 64 bits, however small they are. Version 3 adds ragged walks.
"""
EDGES_A_CHUNK = 1 << 22
VIRTUAL = "virtual"  # the attribute of a store that holds a request and no arrays: see engine/runs/virtual.py


def chunk_name(index: int, dimensions: int) -> str:
    """The file of a chunk in the folder of its array."""
    return f"c.{index}" + ".0" * (dimensions - 1)
