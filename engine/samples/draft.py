"""A sample store that is not finished: what it will hold, and where its groups are until it does."""

from dataclasses import dataclass
from pathlib import Path

from csaw.engine.samples.layout import Identifiers


@dataclass(eq=False)
class Draft:
    """What a store will hold: ``instances`` samples in groups of ``group_size``, in the folder ``partial`` until all are there."""

    partial: Path
    layout: str  # walks | hops | subgraphs
    instances: int
    group_size: int
    identifiers: Identifiers

    @property
    def groups(self) -> int:
        """Groups of instances, the last one perhaps shorter."""
        return -(-self.instances // self.group_size)

    def rows(self, group: int) -> int:
        """Instances in the group."""
        return min(self.group_size, self.instances - group * self.group_size)


def marker_path(partial: Path, group: int) -> Path:
    """The file that says a group is done, with the checksums of its files."""
    return partial / "groups" / f"{group:06d}.json"


def part_path(partial: Path, group: int, name: str) -> Path:
    """One array of a group of subgraphs, until its place in the whole is known."""
    return partial / "parts" / f"{group:06d}" / name


def is_sealed(partial: Path) -> bool:
    """Whether everything is there but the name: checksums of all files are written last."""
    return (partial / "checksums" / "zarr.json").exists()
