"""Stores as groups of zarr-python, which is imported where one is asked for."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zarr import Group


def open_group(path: Path) -> "Group":
    """Open the store at ``path`` as a group that cannot be written to."""
    import zarr

    return zarr.open_group(path, mode="r")
