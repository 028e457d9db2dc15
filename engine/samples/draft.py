"""An unfinished sample store: its future arrays, its metadata, and the files of its groups until then."""

from dataclasses import dataclass
from pathlib import Path

from csaw.engine.samples import files
from csaw.engine.samples.check import KIND
from csaw.engine.samples.identifiers import Identifiers
from csaw.engine.samples.layouts import SampleLayout
from csaw.partition.base.plain_data import Record


def store_attributes(
    identifiers: Identifiers, *, layout: SampleLayout, instances: int, group_size: int, manifest: Record
) -> Record:
    """Return the attributes of a sample store, stored or virtual, in the earliest format that it can have."""
    said: Record = files.plain(
        {
            "csaw_kind": KIND,
            "format_version": max(identifiers.version, layout.first_version),
            "layout": layout,
            "instances": instances,
            "group_size": group_size,
            "ids": identifiers.kind,
            "fill": identifiers.fill,
            "manifest": manifest,
        }
    )
    return said


@dataclass(eq=False)
class Draft:
    """A store that is not finished, of ``instances`` samples in groups of ``group_size``.

    Until all groups are there it is the folder ``partial``.
    """

    partial: Path
    layout: SampleLayout
    instances: int
    group_size: int
    identifiers: Identifiers
    request: Record  # of its manifest

    @property
    def groups(self) -> int:
        """Number of groups of instances; the last one may be shorter."""
        return -(-self.instances // self.group_size)

    def rows(self, group: int) -> int:
        """Number of instances of the group."""
        return min(self.group_size, self.instances - group * self.group_size)


def marker_path(partial: Path, group: int) -> Path:
    """The file that says a group is done, with the checksums of its files."""
    return partial / "groups" / f"{group:06d}.json"


def part_path(partial: Path, group: int, name: str) -> Path:
    """The file of one array of a group of subgraphs, until its place in the whole array is known."""
    return partial / "parts" / f"{group:06d}" / name


def is_sealed(partial: Path) -> bool:
    """Whether the store is complete except for its name: the checksums of all files are written last."""
    return (partial / "checksums" / "zarr.json").exists()
