"""Checkpoints of a group that takes long: some of its instances, kept as they were drawn until all of it is written.

OUT.partial/checkpoints/000003/4096-8192/walks    an array of the instances 4096 .. 8191 of the sample, with dense ids
OUT.partial/checkpoints/000003/4096-8192.json     done-marker with counts, types and checksums, written last

An instance has the same bytes whoever draws it and however many are drawn together, so a run goes on from whatever
checkpoints it finds. Groups alone are part of the sample: the checkpoints of one are removed once it is committed.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from math import prod
from pathlib import Path

import numpy as np

from csaw.engine.samples import files
from csaw.engine.samples.check import KIND
from csaw.engine.samples.layouts import Arrays
from csaw.partition.arrays.files import remove_own, sync_folder
from csaw.partition.base.plain_data import Record

FOLDER = "checkpoints"  # in OUT.partial


@dataclass(frozen=True)
class Counts:
    """The instances of a checkpoint, of which number ``first`` is the first one, and what was counted of them."""

    first: int
    instances: int
    edges: int
    dead_ends: int


def write(partial: Path, group: int, counts: Counts, arrays: Arrays) -> None:
    """Keep some instances of a group that is being drawn, whose ``arrays`` have dense ids."""
    name = f"{counts.first}-{counts.first + counts.instances}"
    group_folder = _folder(partial, group)
    folder = group_folder / name
    for each in (group_folder.parent, group_folder, folder):  # never OUT.partial, which may have got its name
        each.mkdir(exist_ok=True)
    held = {
        array: {
            "sha256": files.write_file(folder / array, np.ascontiguousarray(values)),
            "type": values.dtype.str,
            "shape": list(values.shape),
        }
        for array, values in arrays.items()
    }
    sync_folder(folder)
    files.write_marker(group_folder / f"{name}.json", {"counts": asdict(counts), "arrays": held})


def read(partial: Path, group: int, first: int) -> Iterator[tuple[Counts, Arrays]]:
    """Yield the checkpoints of a group one after the other, from its ``first`` instance on as far as they reach.

    A checkpoint that is damaged counts as missing.
    """
    held = {}
    for marker in _folder(partial, group).glob("*.json"):
        if (said := files.read_marker(marker)) is not None:
            counts = Counts(**said["counts"])
            held[counts.first, counts.instances] = marker, counts, said["arrays"]
    while begun := [size for at, size in held if at == first]:
        marker, counts, arrays = held.pop((first, max(begun)))
        if (found := _read(marker.with_suffix(""), arrays)) is not None:
            yield counts, found
            first += counts.instances


def remove(partial: Path, group: int) -> None:
    """Remove the checkpoints of a group that is committed."""
    remove_own(partial, f"{FOLDER}/{group:06d}", KIND)


def _folder(partial: Path, group: int) -> Path:
    return partial / FOLDER / f"{group:06d}"


def _read(folder: Path, said: dict[str, Record]) -> Arrays | None:
    """The arrays of a checkpoint; None where a file is not what was written."""
    most = {name: prod(one["shape"]) * np.dtype(one["type"]).itemsize for name, one in said.items()}
    if files.differing(folder, {name: one["sha256"] for name, one in said.items()}, most):
        return None
    return {name: np.fromfile(folder / name, one["type"]).reshape(one["shape"]) for name, one in said.items()}
