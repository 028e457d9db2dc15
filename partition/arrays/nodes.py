"""The zarr.json files of Zarr v3, as zarr-python writes them.

csaw reads and writes them itself, in some 40 lines: importing zarr-python takes .2 s, where ``csaw sample karate``
takes .7 s in all and ``csaw partition`` of a small file .55. Tests compare the files with those of zarr-python.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from csaw.partition.arrays.files import read_regular
from csaw.partition.base.plain_data import Record
from csaw.partition.errors import StoreError

if TYPE_CHECKING:
    from zarr import Group

PLAIN: list[Record] = [{"name": "bytes", "configuration": {"endian": "little"}}]


class About(NamedTuple):
    """Facts about an array that viewers such as xarray read: a name for each dimension, and attributes as plain data.

    No value of the array depends on it.
    """

    dimensions: tuple[str, ...]
    attributes: Record


def group_node(attributes: Mapping[str, object]) -> Record:
    """The zarr.json of a group with these attributes."""
    return {"attributes": attributes, "zarr_format": 3, "node_type": "group"}


def write_group(folder: Path, attributes: Mapping[str, object]) -> None:
    """Write the zarr.json that makes ``folder`` a group."""
    _write(folder, group_node(attributes))


def write_array(
    folder: Path,
    dtype: np.dtype,
    shape: tuple[int, ...],
    chunks: tuple[int, ...],
    *,
    packed: bool = False,
    separator: str = "/",
    fill: int = 0,
    about: About | None = None,
) -> None:
    """Write the zarr.json that makes ``folder`` an array of ``shape`` in chunks of ``chunks``; ``packed``: compressed
    by LZ4.

    Chunk (1, 0) is the file c/1/0, or c.1.0 with another separator.
    """
    named = {} if about is None else {"dimension_names": list(about.dimensions)}
    blosc = {"typesize": dtype.itemsize, "cname": "lz4", "clevel": 5, "shuffle": "bitshuffle", "blocksize": 0}
    codecs = [PLAIN[0] if dtype.itemsize > 1 else {"name": "bytes"}]
    _write(
        folder,
        {
            "shape": list(shape),
            "data_type": dtype.name,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(chunks)}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": separator}},
            "fill_value": dtype.type(fill).item(),
            "codecs": codecs + [{"name": "blosc", "configuration": blosc}] * packed,
            "attributes": {} if about is None else about.attributes,
            **named,
            "zarr_format": 3,
            "node_type": "array",
            "storage_transformers": [],
        },
    )


def _write(folder: Path, node: Record) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "zarr.json").write_text(json.dumps(node, indent=2))


def read_group(path: Path) -> Record:
    """Attributes of the group at ``path``; StoreError when there is none, or when its file cannot be read."""
    try:
        group = json.loads(read_regular(path / "zarr.json"))
    except (FileNotFoundError, NotADirectoryError) as error:
        what = "is not a graph store: it has no zarr.json" if os.path.lexists(path) else "does not exist"
        raise StoreError(f"{path} {what}; make one with csaw partition") from error
    except PermissionError as error:
        raise StoreError(f"{path}/zarr.json cannot be read: {error.strerror}; ask its owner for permission") from error
    except (ValueError, OSError, RecursionError) as error:
        raise StoreError(
            f"{path}/zarr.json cannot be read: {error}; make the store again with csaw partition"
        ) from error
    attributes = group.get("attributes") if isinstance(group, dict) else None
    if not isinstance(attributes, dict):
        raise StoreError(f"{path} is not a csaw store: its zarr.json has no attributes; make one with csaw partition")
    if (group.get("node_type"), group.get("zarr_format")) != ("group", 3):
        raise StoreError(
            f"{path}/zarr.json does not describe a Zarr v3 group; make the store again with csaw partition"
        )
    return attributes


def require_store(path: Path) -> None:
    """Refuse an existing ``path`` that is neither a graph store nor a sample store, for commands that take both."""
    if os.path.lexists(path) and not (path / "zarr.json").exists():
        what = "a folder" if path.is_dir() else "a file"
        raise StoreError(
            f"{path} is {what}, not a graph store or a sample store; make one with csaw partition or csaw sample"
        )


def digest(value: object) -> str:
    """A hash of a JSON value, 32 hexadecimal digits, which does not depend on the order of keys or on blanks."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:32]


# Stores as groups of zarr-python, which is imported where one is asked for.


def open_group(path: Path) -> "Group":
    """Open the store at ``path`` as a group that cannot be written to."""
    import zarr

    return zarr.open_group(path, mode="r")
