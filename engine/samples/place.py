"""An unfinished sample store: its future arrays, its metadata, and the files of its groups until then; and checks of
the path for a sample, what may exist at OUT and at OUT.partial, and whether it belongs to the same run.
"""

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from csaw.engine.samples import files
from csaw.engine.samples.check import KIND, checksums_of, require_intact
from csaw.engine.samples.identifiers import Identifiers
from csaw.engine.samples.layouts import SampleLayout
from csaw.engine.samples.results import REPLACES, results_of
from csaw.partition.arrays import replace
from csaw.partition.arrays.files import require_own
from csaw.partition.arrays.locks import Lock, require_unlocked
from csaw.partition.base.plain_data import Record
from csaw.partition.errors import OptionError, StoreError
from csaw.partition.graph.versions import drawn_from


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


Wanted = Callable[[Record], Record]
"""A run's attributes of a sample store in the types of a store with some attributes: what a store says is held against
what the run would say in its types.
"""
PARTIAL = ".partial"
START_AGAIN = "start again with --overwrite and without --resume"
FIRST_DRAWS = 1  # version of the draws of manifests that name none


def partial_of(path: Path) -> Path:
    """The folder of an unfinished sample; OptionError for a path without a name."""
    replace.check_name(path)
    return path.with_name(path.name + PARTIAL)


def check_place(path: Path, *, resume: bool, overwrite: bool) -> None:
    """Raise StoreError unless a sample may be written to ``path``, and before that to its OUT.partial.

    ``overwrite``: a sample there may be replaced, finished or not. ``resume``: an unfinished one may be continued.
    """
    partial = partial_of(path)
    require_unlocked(path)
    begun = os.path.lexists(partial)
    if _stands(path) and not (resume and not begun):  # otherwise it is at most looked at: whether it is complete
        replace.check(path, KIND, overwrite or resume)
    if not begun:
        return
    if not _is_unfinished(partial):
        raise _is_not_ours(partial)
    if overwrite:
        require_own(partial, KIND)
    if not (resume or overwrite):
        raise StoreError(
            f"{partial} is an unfinished sample; pass --resume to complete it, or --overwrite to replace it"
        )


def begun_on(graph: str | Path, path: Path) -> str | Path:
    """The version of the graph store ``graph`` that the sample at ``path``, or else at its OUT.partial, is of.

    It is ``graph``, the newest version, where no sample was begun.
    """
    for place in (partial_of(path), path):
        with suppress(StoreError):
            request = _dictionary(_dictionary(attributes_of(place), "manifest"), "request")
            return drawn_from(graph, request.get("fingerprint"))
    return graph


def note_replaced(path: Path) -> None:
    """Note in OUT.partial which sample the run replaces, if one stands there: ``resume`` may replace that alone."""
    if noted := replaced(path):
        _note(path).parent.mkdir(exist_ok=True)
        files.write_marker(_note(path), noted)


def replaced(path: Path) -> Record:
    """The note: in OUT.partial/groups while groups are drawn, then among the results, which stay."""
    return {REPLACES: _identity(path)} if os.path.lexists(path) else {}


def may_replace(path: Path) -> bool:
    """Whether the run that left OUT.partial was to replace the sample that stands at ``path``, if one does."""
    if not os.path.lexists(path):
        return True
    partial = partial_of(path)
    with suppress(StoreError):
        noted = files.read_marker(_note(path)) or results_of(partial)
        return noted.get(REPLACES) == _identity(path) is not None
    return False


def discard_replaced(path: Path) -> None:
    """Remove OUT.partial if it has the sample that the one at ``path`` replaced: a kill came after the exchange."""
    partial = partial_of(path)
    with suppress(StoreError):
        if results_of(path).get(REPLACES) == _identity(partial) is not None:
            with Lock(path, replace.SAID[KIND]):
                replace.discard(partial, path)


def is_begun(path: Path, wanted: Wanted) -> bool:
    """Whether a run that says this of itself has left OUT.partial, to replace the sample that stands at ``path``, if
    one does.
    """
    partial = partial_of(path)
    return os.path.lexists(partial) and not _differs(partial, wanted) and may_replace(path)


def _note(path: Path) -> Path:
    return partial_of(path) / "groups" / f"{REPLACES}.json"


def _identity(path: Path) -> str | None:
    """A digest of a sample's files; None where they cannot be told."""
    try:
        return files.digest(checksums_of(path))
    except StoreError:
        return None


def check_shared_place(path: Path) -> None:
    """Raise StoreError unless a process may take part in the sample that will have the name ``path``.

    Others may begin it or give it its name at this moment, so OUT.partial may be there or not, or be a folder whose
    manifest is not written yet.
    """
    partial = partial_of(path)
    _stands(path)
    require_unlocked(path)
    if os.path.lexists(partial) and not _is_unfinished(partial):
        raise _is_not_ours(partial)


def _stands(path: Path) -> bool:
    """Whether a sample is at ``path``; StoreError where something else is."""
    if path.name.endswith(PARTIAL):
        raise OptionError(
            f"{path}: names that end in {PARTIAL} are reserved for unfinished samples; choose another name"
        )
    return replace.stands(path, KIND)


def _is_unfinished(partial: Path) -> bool:
    """Whether csaw may have made a folder: it is a sample store, or one whose manifest is about to be written, or has
    just got its name. An empty folder counts too: nothing can be lost in it.
    """
    try:
        names = os.listdir(partial)  # before the look at the manifest, which may be completed meanwhile
    except FileNotFoundError:
        return True
    except NotADirectoryError:
        return False
    begun = all(name.startswith("zarr.json") and name.endswith(files.TEMPORARY) for name in names)
    return replace.standing(partial) in ((KIND, replace.NOTHING, replace.FOLDER) if begun else (KIND, replace.NOTHING))


def _is_not_ours(partial: Path) -> StoreError:
    return StoreError(
        f"{partial}, the temporary name of a sample, exists but is not an unfinished sample; choose another name"
    )


def is_complete(path: Path, partial: Path, wanted: Wanted) -> bool:
    """Whether the sample at ``path`` is that of this run and intact, so that nothing is left to resume.

    StoreError if it is that of another run.

    If a kill has left a complete sample of another run in ``partial``, which this one replaced, it is removed.
    """
    if os.path.lexists(partial):
        if not (is_sealed(partial) and path.exists() and _differs(partial, wanted) and not _differs(path, wanted)):
            return False
        with Lock(path, replace.SAID[KIND]):
            require_own(partial, KIND)
            shutil.rmtree(partial)
    require_equal(path, wanted)
    require_intact(path)
    return True


def _differs(place: Path, wanted: Wanted) -> bool:
    try:
        require_equal(place, wanted)
    except StoreError:
        return True
    return False


def attributes_of(place: Path) -> Record:
    """The attributes of a store, finished or not."""
    return _dictionary(files.read_record(place / "zarr.json"), "attributes")


def require_equal(place: Path, wanted: Wanted, start_again: str = START_AGAIN) -> None:
    """Raise StoreError if the store at ``place`` belongs to another run; it names the first entry that differs.

    ``start_again``: how this run can begin anew.
    """
    found = files.read_record(place / "zarr.json")["attributes"]
    expected = wanted(found)
    manifest = _dictionary(found, "manifest")
    request, read = (_dictionary(manifest, part) for part in ("request", "graph"))
    directed = {"directed": expected["manifest"].get("graph", {}).get("directed")}
    old_directed = {"directed": read.get("directed", directed["directed"])}
    asked = expected["manifest"].get("request", {})
    for old, new in ((old_directed, directed), (request, asked), (found, expected)):
        keys = sorted((k for k in {**new, **old} if k != "manifest"), key="metapath".__ne__)  # first what says most
        for key in keys:
            if old.get(key) != new.get(key):
                raise StoreError(
                    f"{place} was sampled with {key} = {_shown(old, new, key)}, but this run has "
                    f"{_shown(new, old, key)}; continue with the same options, or {start_again}"
                )
    draws, now = (each.get("draws", FIRST_DRAWS) for each in (manifest, expected["manifest"]))
    if draws != now:
        raise StoreError(
            f"{place} was sampled by csaw {manifest.get('version', 'of another version')}, whose draws are "
            f"version {draws}; this csaw has version {now}, and the two cannot be mixed; finish it with that "
            f"csaw, or {start_again}"
        )


def _shown(held: Record, other: Record, key: str) -> str:
    """A value of ``held``; of a dictionary the entries that are not those of the ``other`` one."""
    value, beside = held.get(key), other.get(key)
    if isinstance(value, dict) and isinstance(beside, dict):
        value = {name: one for name, one in sorted(value.items()) if name not in beside or beside[name] != one}
    return str(value)[:60]


def _dictionary(found: Record, key: str) -> Record:
    value = found.get(key)
    return value if isinstance(value, dict) else {}
