"""The versions of a graph store that has grown: each is a whole store, and shares the files that it has in common with
the one before.

    g.zarr/                the store as it was first made, or as csaw compact left it: its oldest version, 0 at first
    g.zarr/versions/1/     the next version: a graph store like any other, whose unchanged files are hard links
    g.zarr/versions/2/     ...

Who opens ``g.zarr`` gets the newest version. ``g.zarr/versions/N`` is the address of version N, that of the oldest one
too, although no such folder exists: a process that notes it finds the same graph again whatever is appended later.
"""

import os
import re
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from csaw.partition.arrays.files import GRAPH, VERSIONS, files_of, link_or_copy, sync_folder, sync_tree
from csaw.partition.arrays.nodes import read_group, write_group
from csaw.partition.arrays.replace import LINK, NOTHING, SAID, Draft, cannot_be_written, discard, standing
from csaw.partition.base.arguments import whole
from csaw.partition.base.plain_data import Record
from csaw.partition.errors import OptionError, StoreError

NUMBER = re.compile(r"0|[1-9]\d{0,17}")
APPENDED = "append"
"""The entry of a store's report about what was appended to the version before; ``version`` there is its number."""
GROWN = "grown"
"""The entry there with the number of vertices of earlier versions that had fewer, oldest first."""


def number_in(report: Record) -> int:
    """The number of the version that has this report."""
    said = report.get(APPENDED)
    number = said.get("version") if isinstance(said, dict) else 0
    return number if type(number) is int and number >= 0 else 0


def base_of(path: Path) -> Path:
    """The store that an address belongs to; any other path is returned as it is."""
    if path.parent.name != VERSIONS or not NUMBER.fullmatch(path.name):
        return path
    base = path.parent.parent
    return base if os.path.lexists(base / "zarr.json") else path


def folder_of(path: Path) -> Path:
    """The folder with the files of a graph store: of its newest version, or of the version that is addressed.

    Raises:
        StoreError: the store has no such version.
    """
    base = base_of(path)
    if base is path or os.path.lexists(path):
        later = _later(path)
        return path / VERSIONS / str(later[-1]) if later else path
    if _oldest(base) != int(path.name):
        raise _no_version(base, int(path.name))
    return base


def at_version(path: str | Path, version: int | None) -> Path:
    """The address of a version of the store at ``path``; None: the path, which stands for the newest.

    Raises:
        OptionError: ``version`` cannot be a number of a version.
        StoreError: the store has no such version.
    """
    path = Path(path)
    if version is None:
        return path
    version = whole()("--version", version)
    address = base_of(path) / VERSIONS / str(version)
    folder_of(address)
    return address


class Versioned:
    """Gives a graph store its place among the versions of the store."""

    path: Path
    report: Record
    vertices: int

    @property
    def base(self) -> Path:
        """The path of the store with all of its versions."""
        return base_of(self.path)

    @property
    def version(self) -> int:
        """The number of this version, 0 for a store that nothing was appended to."""
        return number_in(self.report)

    @property
    def growth(self) -> tuple[int, ...]:
        """The number of vertices of each version that had more than those before, oldest first; that of this one is the
        last.
        """
        said = self.report.get(APPENDED)
        earlier = said.get(GROWN, []) if isinstance(said, dict) else []
        numbers = [-1, *earlier, self.vertices] if isinstance(earlier, list) else [""]
        if any(type(one) is not int for one in numbers) or any(a >= b for a, b in pairwise(numbers)):
            raise StoreError(
                f"{self.path}/zarr.json: report: expected numbers of vertices that rise below {self.vertices:,} as "
                f"{GROWN}, found {earlier!r:.60}; make the store again with csaw partition"
            )
        return (*earlier, self.vertices)

    @property
    def address(self) -> Path:
        """The path of this version whatever is appended; that of its files while the store has no other version."""
        several = self.base is self.path and bool(_later(self.path))
        return self.path / VERSIONS / str(self.version) if several else self.path


def pinned(path: Path) -> Path:
    """The address of the newest version, where the graph store at ``path`` has several; otherwise the path."""
    with suppress(StoreError):
        return folder_of(path)
    return path


def drawn_from(path: str | Path, fingerprint: object) -> str | Path:
    """The address of the newest version of the store at ``path`` that has this fingerprint.

    It is the path where none has, or the store has one version: opening it tells what is wrong.
    """
    base = base_of(Path(path))
    if not _later(base):
        return path
    for number, folder in reversed(numbered(base)):
        with suppress(StoreError):
            if read_group(folder).get("fingerprint") == fingerprint:
                return base / VERSIONS / str(number)
    return path


def numbered(base: Path) -> list[tuple[int, Path]]:
    """The numbers and the folders of all versions of a store, oldest first."""
    return [(_oldest(base), base), *((number, base / VERSIONS / str(number)) for number in _later(base))]


def _later(path: Path) -> list[int]:
    """The numbers of all versions but the oldest, rising. A version has its name only when it is complete."""
    try:
        names = os.listdir(path / VERSIONS)
    except (OSError, ValueError):
        return []
    return sorted(int(name) for name in names if NUMBER.fullmatch(name))


def _oldest(base: Path) -> int:
    """The number of the oldest version."""
    said = read_group(base).get("report")
    return number_in(said if isinstance(said, dict) else {})


def _no_version(base: Path, version: int) -> StoreError:
    numbers = [number for number, _ in numbered(base)]
    said = f"only {numbers[0]}" if len(numbers) == 1 else f"only {', '.join(map(str, numbers))}"
    return StoreError(f"{base} has no version {version}, {said} (see csaw info)")


# What the versions of a store are, and what each takes on the disk.


class Version(NamedTuple):
    """A version: its ``number``, its ``attributes``, the ``bytes`` of its files, and of those that no other has."""

    number: int
    attributes: Record
    bytes: int
    own_bytes: int

    def as_dict(self) -> Record:
        """Plain data, which ``csaw info --json`` prints."""
        said = {name: self.attributes.get(name) for name in ("vertices", "edges", "fingerprint")}
        appended = self.attributes.get("report", {}).get(APPENDED)
        sizes = {"bytes": self.bytes, "own_bytes": self.own_bytes}
        return {"version": self.number, **said, **sizes, **({APPENDED: appended} if appended else {})}


def versions_of(path: Path) -> list[Version]:
    """All versions of the store at ``path``, oldest first."""
    found = [(number, read_group(folder), _files(folder)) for number, folder in numbered(base_of(path))]
    times: dict[tuple[int, int], int] = {}
    for _, _, files in found:
        for file in files:
            times[file] = times.get(file, 0) + 1
    return [
        Version(
            number,
            attributes,
            sum(files.values()),
            sum(size for file, size in files.items() if times[file] == 1),
        )
        for number, attributes, files in found
    ]


def _files(folder: Path) -> dict[tuple[int, int], int]:
    """The bytes of each file of a version, by what tells files apart, whatever their names are."""
    found = {}
    for file in files_of(folder):
        told = file.stat()
        found[told.st_dev, told.st_ino] = told.st_size
    return found


# Writing a version, and dropping all but one.


class VersionDraft(Draft):
    """The draft of the next version of a store, whose lock keeps other writers of the store out.

    ``path`` is the address that the version will have, and ``base`` the store.
    """

    def __init__(self, base: Path) -> None:
        require_whole(base)
        super().__init__(base, GRAPH, overwrite=True)
        self.base = base
        try:
            discard(None, base)  # the rest of what a killed run has replaced
            self.path = base / VERSIONS / str(numbered(base)[-1][0] + 1)
        except BaseException:
            self.close()
            raise

    def _check(self) -> None:
        """Nothing is replaced: what else stands in the folder of the store does not matter."""

    def publish(self, only: str = "") -> None:
        """Give the version its name: from now on, it is the newest."""
        place = self.path.parent
        place.mkdir(exist_ok=True)
        try:
            read_group(place)
        except StoreError:  # none yet, or a part of it, which a kill has left
            write_group(place, {})
        self.folder.rename(self.path)
        sync_folder(place)
        sync_folder(self.base)
        self.lock.close()


def require_whole(path: Path) -> None:
    """Raise OptionError for the address of one version, and StoreError unless a graph store is at ``path``."""
    if base_of(path) is not path:
        raise OptionError(f"{path} is one version of {base_of(path)}; name {base_of(path)} itself")
    found = standing(path)
    if found == NOTHING:
        raise StoreError(f"{path} does not exist; make it with csaw partition")
    if found == LINK:
        raise StoreError(f"{path} is a symbolic link to {os.readlink(path)}; give that path itself")
    if found != GRAPH:
        raise StoreError(f"{path} is {SAID[found]}; expected a graph store, such as csaw partition makes")


def compact(path: str | Path, version: int | None = None) -> Record:
    """Make one version of the store at ``path`` its only one, and drop the others.

    After a kill, either all versions are there or the one alone; the next writer removes the rest.

    Args:
        path: the store.
        version: the number of the version to keep; None: the newest.

    Returns:
        ``graph``, its path; ``version``, the one that is kept; ``dropped``, the numbers of the others; ``freed_bytes``;
        and ``bytes``, of the files that are left.

    Raises:
        OptionError: ``path`` is no path of a store, or the store holds files that csaw did not write.
        StoreError: there is no such store or version, or another process writes there.
    """
    base = Path(path)
    require_whole(base)
    with Draft(base, GRAPH, overwrite=True) as draft:
        folder, found = folder_of(at_version(base, version)), versions_of(base)
        number = next(number for number, place in numbered(base) if place == folder)
        kept = next(one for one in found if one.number == number)
        held = {file: size for _, each in numbered(base) for file, size in _files(each).items()}
        dropped = [one.number for one in found if one is not kept]
        discard(None, base)  # the rest of what a killed run has replaced
        if dropped:
            try:
                _link(folder, draft.folder)
                draft.publish()
            except OSError as error:
                raise error if isinstance(error, StoreError) else cannot_be_written(base, error) from error
    freed = sum(held.values()) - kept.bytes
    return {
        "graph": str(base),
        "version": kept.number,
        "dropped": dropped,
        "freed_bytes": freed,
        "bytes": kept.bytes,
    }


def _link(folder: Path, to: Path) -> None:
    """Give all files of a version other names, below ``to``, and ask the disk to keep these."""
    for file in files_of(folder):
        name = to / file.relative_to(folder)
        name.parent.mkdir(parents=True, exist_ok=True)
        link_or_copy(file, name)
    sync_tree(to)
