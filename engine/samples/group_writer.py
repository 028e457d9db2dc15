"""Writes groups of an unfinished store, and finishes it.

Several processes, on any machines that share its disk, may write groups of it at once.

OUT.partial/zarr.json            manifest, written first
OUT.partial/walks/c.3.0          chunk of group 3: temporary name, fsync, rename
OUT.partial/parts/000003/src     the same for subgraphs and ragged walks, whose place in the whole array is not known
                                 yet
OUT.partial/groups/000003.json   done-marker with the checksums, renamed into place after all of the group's data
OUT.partial/checkpoints/000003/  instances of a group that takes long, until it is committed
OUT                              OUT.partial renamed, once everything is there and synced

A group has the same bytes whoever writes it, and each process writes under temporary names of its own. So nothing is
lost where two write the same one.

Checkpoints of a group that takes long are some of its instances, kept as they were drawn until all of it is written:

OUT.partial/checkpoints/000003/4096-8192/walks    an array of the instances 4096 .. 8191 of the sample, with dense ids
OUT.partial/checkpoints/000003/4096-8192.json     done-marker with counts, types and checksums, written last

An instance has the same bytes whoever draws it and however many are drawn together, so a run goes on from whatever
checkpoints it finds. Groups alone are part of the sample: the checkpoints of one are removed once it is committed.
"""

import threading
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain
from math import prod
from pathlib import Path
from typing import Self, cast

import numpy as np
from numpy.typing import DTypeLike

from csaw.engine.samples import files, place
from csaw.engine.samples.array import all_ones
from csaw.engine.samples.check import KIND, chunk_name
from csaw.engine.samples.identifiers import GroupArray, Identifiers
from csaw.engine.samples.layouts import LAYOUTS, Arrays, Ragged
from csaw.engine.samples.place import Draft, is_sealed, marker_path, part_path, store_attributes
from csaw.engine.samples.results import SIZES, write_results
from csaw.engine.samples.seal import draft_sizes, seal
from csaw.partition.arrays import replace
from csaw.partition.arrays.files import read_regular, remove_own, sync_folder
from csaw.partition.arrays.locks import Lock
from csaw.partition.arrays.words import Words
from csaw.partition.base.plain_data import Record
from csaw.partition.errors import OptionError, StoreError

FOLDER = "checkpoints"  # in OUT.partial


@dataclass(frozen=True)
class Counts:
    """The instances of a checkpoint, of which number ``first`` is the first one, and what was counted of them."""

    first: int
    instances: int
    edges: int
    dead_ends: int


def write_checkpoint(partial: Path, group: int, counts: Counts, arrays: Arrays) -> None:
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


def read_checkpoints(partial: Path, group: int, first: int) -> Iterator[tuple[Counts, Arrays]]:
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


def remove_checkpoints(partial: Path, group: int) -> None:
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


class GroupWriter(Draft):
    """Writes groups of a store that is begun.

    ``write`` takes them in any order, from any thread; ``finish`` gives the store its name.
    """

    replaces = False  # whether another sample may stand under the name

    def __init__(
        self,
        path: str | Path,
        manifest: Record,
        *,
        layout: str,
        instances: int,
        group_size: int,
        dense_dtype: DTypeLike,
        vertex_ids: np.ndarray | Words | None = None,
        ids: str = "original",
    ) -> None:
        if layout not in LAYOUTS or group_size < 1:
            raise OptionError(
                f"expected a layout of {', '.join(LAYOUTS)} in groups of 1 or more, found {layout}, {group_size}"
            )
        self.path = Path(path)
        self._manifest, self.dense_dtype = manifest, np.dtype(dense_dtype)
        vertices = manifest.get("graph", {}).get("vertices", 0)
        self._choose = partial(Identifiers.choose, dense_dtype, vertex_ids, ids, vertices)
        request = manifest.get("request", {})
        super().__init__(place.partial_of(self.path), LAYOUTS[layout], instances, group_size, self._choose(), request)
        self.bytes_written = 0
        self.finished = False
        self._done: set[int] = set()
        self._counting = threading.Lock()
        self._said = b""
        self._lock: Lock | None = None  # of those who begin or finish the store

    @property
    def start_again(self) -> str:
        """How this run can begin anew where the store that is begun is that of another."""
        return place.START_AGAIN

    def attributes(self, found: Record | None = None) -> Record:
        """Return the attributes of the store, in the types of one that says ``found`` of itself (default: None, in its
        own).
        """
        held = self.identifiers if found is None else self._identifiers(found)
        return store_attributes(
            held, layout=self.layout, instances=self.instances, group_size=self.group_size, manifest=self._manifest
        )

    def _identifiers(self, found: Record) -> Identifiers:
        """The ids of a store that says ``found`` of itself, which an earlier csaw may have begun in other types."""
        own = self.identifiers
        is_same = found.get("fill") == own.fill and not found.get("format_version") == 1 < own.version
        return own if is_same else self._choose(found)

    def join(self) -> None:
        """Go on with the store that is begun.

        StoreError where it is that of another run, with the first entry that differs.
        """
        self.join_format()
        self._said = read_regular(self.partial / "zarr.json")

    def join_format(self) -> None:
        """Write ids as the store that is begun has them. StoreError where it is that of another run."""
        place.require_equal(self.partial, self.attributes, self.start_again)
        self.identifiers = self._identifiers(place.attributes_of(self.partial))

    @property
    def done(self) -> AbstractSet[int]:
        """The groups that are known to be finished and safe."""
        return self._done

    def note(self, groups: Iterable[int]) -> None:
        """Count groups as done that another process has written."""
        with self._counting:
            self._done.update(groups)

    def write(self, group: int, arrays: Mapping[str, GroupArray], *, converted: bool = False) -> None:
        """Write and commit one group. Vertices in ``arrays`` are dense ids, with all bits set where there is none; or
        those of the store, where they are ``converted``, and may leave the device that drew them only now.
        """
        self._check(group, arrays)
        with files.writing(self.partial, self._way_out):
            self._require_unchanged()
            marker = (
                self._write_part(group, arrays, converted)
                if isinstance(self.layout, Ragged)
                else self._write_rows(group, arrays, converted)
            )
            fill = self.identifiers.fill if converted else all_ones(self.dense_dtype)
            marker["edges"] = self.layout.sizes(cast(Arrays, arrays), fill)
            files.write_marker(marker_path(self.partial, group), marker)
        self.note([group])
        remove_checkpoints(self.partial, group)

    def keep(self, group: int, counts: Counts, arrays: Arrays) -> None:
        """Keep some instances of a group that takes long, until it is written. Vertices are dense ids, as in write."""
        with files.writing(self.partial, self._way_out):
            self._require_unchanged()
            write_checkpoint(self.partial, group, counts, arrays)

    def kept(self, group: int) -> Iterator[tuple[Counts, Arrays]]:
        """Yield the instances of a group that are kept, from its first one on as far as they reach."""
        return read_checkpoints(self.partial, group, group * self.group_size)

    def _require_unchanged(self) -> None:
        """StoreError where another run has begun here meanwhile, as one with --overwrite does: its groups have other
        bytes.
        """
        if read_regular(self.partial / "zarr.json") != self._said:
            raise StoreError(f"{self.partial} now belongs to another run that started here later; this run has ended")

    def _way_out(self) -> str:
        return "finished groups are safe in it; make room and run the same command with --resume"

    def _check(self, group: int, arrays: Mapping[str, GroupArray]) -> None:
        """Raise ValueError for arrays of the wrong shape, before anything is written."""
        layout = self.layout
        for name, array in arrays.items():
            wanted = self.rows(group)
            if isinstance(layout, Ragged) and (counts := layout.counted_by.get(name)):
                wanted = int(layout.elements(cast(Arrays, arrays)[counts]).sum())
            if len(array) != wanted:
                raise ValueError(f"group {group}: expected {wanted} rows of {name}, found {len(array)}")

    def _write_rows(self, group: int, arrays: Mapping[str, GroupArray], converted: bool) -> Record:
        written, widths = {}, {}
        for name, array in arrays.items():
            widths[name] = array.shape[1] if array.ndim > 1 else None
            (self.partial / name).mkdir(exist_ok=True)
            if array.ndim > 1 and array.shape[1] == 0:
                continue
            key = f"{name}/{chunk_name(group, array.ndim)}"
            pieces = chain(self.identifiers.stored(name, array, converted), self._missing_rows(name, array))
            written[key] = self._put(self.partial / key, pieces)
            sync_folder(self.partial / name)
        return {"widths": widths} | _noted(written)

    def _missing_rows(self, name: str, array: GroupArray) -> Iterator[np.ndarray]:
        """The rows that fill up the last group, since all chunks of an array have the same length."""
        missing = min(self.group_size, self.instances) - len(array)
        dtype, fill = self.identifiers.type_of(name)
        if missing:
            yield np.full(missing * (array.shape[1] if array.ndim > 1 else 1), fill, dtype).view(np.uint8)

    def _write_part(self, group: int, arrays: Mapping[str, GroupArray], converted: bool) -> Record:
        folder = part_path(self.partial, group, "")
        for each in (folder.parent, folder):  # never OUT.partial, which may have got its name
            each.mkdir(exist_ok=True)
        written = {}
        for name, array in arrays.items():
            pieces = self.identifiers.stored(name, array, converted)
            written[f"parts/{folder.name}/{name}"] = self._put(folder / name, pieces)
        sync_folder(folder)
        sync_folder(folder.parent)
        return {"sizes": {name: array.size for name, array in arrays.items()}} | _noted(written)

    def _put(self, path: Path, pieces: Iterable[np.ndarray]) -> tuple[str, int]:
        """Write a file; its SHA-256 and its bytes."""
        checksum, nbytes = files.write_pieces(path, pieces), path.stat().st_size
        with self._counting:
            self.bytes_written += nbytes
        return checksum, nbytes

    def seal(self) -> None:
        """Complete the arrays and write the checksums of all files; every group must be done."""
        if len(self._done) < self.groups:
            missing = min(set(range(self.groups)) - self._done)
            raise StoreError(f"{self.partial}: group {missing} is not done; {self._way_out()}")
        with files.writing(self.partial, self._way_out):
            if not is_sealed(self.partial):
                seal(self)

    def finish(self, results: Record) -> None:
        """Seal the store if it is not yet sealed, and give it its name. ``results``: counts and timings."""
        if self.finished:
            return
        self.seal()
        with files.writing(self.partial, self._way_out):
            sizes = draft_sizes(self)
            said = files.plain(results) | ({} if sizes is None else {SIZES: files.signed(sizes)})
            write_results(self.partial, said | self._noted_at_the_end())
            _tidy(self.partial)
            sync_folder(self.partial)
            self._publish()

    def _noted_at_the_end(self) -> Record:
        """What a run that is killed before it gives the store its name leaves, among the results, for one that resumes
        it.
        """
        return {}

    def _publish(self) -> None:
        try:
            replace.check(self.path, KIND, self.replaces)
        except StoreError as error:
            raise StoreError(f"{error}; the samples are in {self.partial}") from error
        replace.take_the_name(self.partial, self.path)
        _tidy(self.path)  # from now on, a process that still wrote to OUT.partial has lost its way
        self.finished = True

    def close(self) -> None:
        """Release the lock, if there is one, so that another process can go on; finished groups stay."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _noted(written: dict[str, tuple[str, int]]) -> dict[str, Record]:
    """Return the entries of a marker for files: checksums and bytes, by name."""
    return {
        "checksums": {name: one[0] for name, one in written.items()},
        "bytes": {name: one[1] for name, one in written.items()},
    }


def _tidy(folder: Path) -> None:
    """Remove what is not the finished store's: markers, parts and checkpoints of groups, and temporary files of killed
    processes.
    """
    for name in ("groups", "parts", FOLDER):
        remove_own(folder, name, KIND)
    files.sweep(folder)
