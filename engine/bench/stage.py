"""Stages, the units of a journey: csaw commands, each in a process of its own, with the files of each."""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple


class Places(NamedTuple):
    """The folders of a turn: of the disk that is measured, and in memory."""

    disk: Path
    memory: Path

    @property
    def text(self) -> Path:
        return self.disk / "edges.txt"

    @property
    def graph(self) -> Path:
        return self.disk / "graph.zarr"

    @property
    def weighted(self) -> Path:
        return self.disk / "weighted.zarr"

    @property
    def walks(self) -> Path:
        return self.disk / "walks.zarr"

    def gzip(self, name: str) -> Path:
        """The text as the gzip file of the stage ``name``."""
        return self.disk / f"{name.split(', ')[1].replace(' ', '-')}.txt.gz"


@dataclass(frozen=True)
class Stage:
    """One csaw command, in a process of its own, so that imports and the start of a device count.

    ``counts`` is the file whose bytes the rate counts; without one it counts commands. ``start`` is the limit of a
    command that has nothing but its start: its name and Python code. ``beside``: the stage that its goal refers to.
    ``missing``: the reason why it cannot be measured here. ``first``: it begins with an empty cache. ``cold``: its
    inputs are dropped from the page cache before it. ``sampling``: the sampling in it has a row of its own; ``plan``:
    so has the comparison of its seconds with those that its plan expected.
    """

    name: str
    command: tuple[str, ...]
    reads: tuple[Path, ...] = ()
    leaves: Path | None = None
    counts: Path | None = None
    start: tuple[str, str] | None = None
    beside: str = ""
    missing: str = ""
    first: bool = False
    cold: bool = False
    sampling: bool = False
    plan: bool = False

    @property
    def rows(self) -> list[str]:
        """The works of the rows that come of it."""
        return [self.name] + [sampling_of(self.name)] * self.sampling + [plan_of(self.name)] * self.plan


def sampling_of(name: str) -> str:
    """The work of the sampling in a stage: the graph is brought to where it is drawn, and drawn from."""
    return f"{name}, sampling alone"


def plan_of(name: str) -> str:
    """The work of a stage beside the seconds that its plan expected."""
    return f"{name}, beside its plan"


def needed(every: list[Stage], only: str, packed_from: dict[Path, Path]) -> list[Stage]:
    """The stages that have a row with ``only`` in its name, and those that they need.

    These are the stages that their goals refer to, and those that make the files that they read. ``packed_from`` has
    the source of each file that no stage makes.
    """
    found, names, files = list[Stage](), set[str](), set[Path]()
    for stage in reversed(every):
        if any(only in row for row in stage.rows) or stage.name in names or stage.leaves in files:
            found.append(stage)
            names.add(stage.beside)
            files |= {packed_from.get(file, file) for file in stage.reads}
    return found[::-1]
