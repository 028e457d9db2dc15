"""Writes a sample store from its beginning to its end, alone or for the workers of a cluster.

A kill at any moment loses no finished group.
"""

import logging
import os
import secrets
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from csaw.engine.samples import files, place
from csaw.engine.samples.check import KIND, require_intact
from csaw.engine.samples.group_writer import GroupWriter
from csaw.engine.samples.place import is_sealed, marker_path
from csaw.engine.samples.seal import intact_groups
from csaw.partition.arrays import replace
from csaw.partition.arrays.files import sync_folder
from csaw.partition.arrays.locks import Lock, take
from csaw.partition.arrays.nodes import group_node
from csaw.partition.base.cache import draft_beside
from csaw.partition.base.plain_data import OptionValue, Record
from csaw.partition.errors import StoreError

log = logging.getLogger(__name__)


class SampleWriter(GroupWriter):
    """Writes a sample store, and keeps others that would begin or finish it out until it is closed.

    ``options`` are those of :class:`GroupWriter`.
    """

    def __init__(
        self,
        path: str | Path,
        manifest: Record,
        *,
        resume: bool = False,
        overwrite: bool = False,
        **options: OptionValue,
    ) -> None:
        super().__init__(path, manifest, **options)
        with files.writing(self.partial, lambda: "choose another place for the samples"):
            try:
                self._start(resume, overwrite)
                self.note(self._found_groups())
            except BaseException:
                if self._lock is not None:
                    with suppress(OSError):
                        self.partial.rmdir()  # empty: made here
                self.close()
                raise

    def _start(self, resume: bool, overwrite: bool) -> None:
        place.check_place(self.path, resume=resume, overwrite=overwrite)
        if resume and not (os.path.lexists(self.path) or os.path.lexists(self.partial)):
            log.info("%s: there is nothing to resume, so csaw starts a new sample", self.path)
        elif resume and place.is_complete(self.path, self.partial, self.attributes):
            self.finished = True
            return
        self.partial.parent.mkdir(parents=True, exist_ok=True)
        self._lock = Lock(self.path, replace.SAID[KIND])
        replace.mend(self.path)
        self.replaces = overwrite or (resume and place.may_replace(self.path))
        replace.check(self.path, KIND, self.replaces)  # another writer may have ended since
        self.partial.mkdir(exist_ok=True)
        if not resume:
            replace.empty(self.partial)
        if (self.partial / "zarr.json").exists():
            self.join_format()  # it is finished as it was begun
        if not is_sealed(self.partial):
            files.write_json(self.partial / "zarr.json", group_node(self.attributes()))
        (self.partial / "groups").mkdir(exist_ok=True)
        if overwrite:
            place.note_replaced(self.path)
        sync_folder(self.partial)
        self.join()

    def _found_groups(self) -> frozenset[int]:
        every = frozenset(range(self.groups))
        if self.finished:
            return every
        if is_sealed(self.partial):
            require_intact(self.partial)
            return every
        found = intact_groups(self.partial, range(self.groups), self.layout)
        if lost := len(list((self.partial / "groups").glob("[0-9]*.json"))) - len(found):
            log.warning("%s: %d groups are damaged; they are sampled again", self.partial, lost)
        return found

    def abandon(self) -> None:
        """Remove what is begun, if no group of it is done, and end."""
        if not self._done and self._lock is not None:
            replace.empty(self.partial)
            with suppress(OSError):
                self.partial.rmdir()
        self.close()

    def _way_out(self) -> str:
        return "finished groups are safe in it; make room and run the same command with --resume"

    def _noted_at_the_end(self) -> Record:
        return place.replaced(self.path) if self.replaces else {}

    def _publish(self) -> None:
        super()._publish()
        self.close()


# A sample store that several processes write without one that leads them: the first begins it, each commits groups,
# and one seals it.
#
# OUT.partial/groups/shard-*.json  what a process that ended has counted and timed
# .OUT.csaw-sealing                the lease of the process that seals; see partition/arrays/locks.py
#
# Needed of the file system: atomic rename and mkdir, and that a file or folder that is opened shows what was closed
# before, as NFS, Lustre and GPFS do. Where it has locks, a process that begins or resumes the sample alone is refused
# meanwhile; elsewhere it draws some groups twice.


class SharedWriter(GroupWriter):
    """Takes part in a sample store, which it begins if it is the first. ``finished``: it has its name already."""

    def __init__(self, path: str | Path, manifest: Record, **options: OptionValue) -> None:
        super().__init__(path, manifest, **options)
        try:
            with files.writing(self.partial, lambda: "choose another place for the samples"):
                self._start()
        except BaseException:
            self.close()
            raise

    @property
    def start_again(self) -> str:
        begun = self.partial if os.path.lexists(self.partial) else self.path
        return f"start again at another OUT, or after {begun} is removed"

    def _way_out(self) -> str:
        return "finished groups are safe in it; make room and run the same command again"

    def _start(self) -> None:
        place.check_shared_place(self.path)
        if self._is_there():
            return
        self.partial.parent.mkdir(parents=True, exist_ok=True)
        self._lock = Lock(self.path, replace.SAID[KIND], shared=True)
        self.partial.mkdir(exist_ok=True)
        if self._is_there():  # another process has just given the sample its name, and OUT.partial is made anew
            with suppress(OSError):
                self.partial.rmdir()
            return
        try:
            self._begin_or_join()
        except (FileNotFoundError, StoreError):  # another process has just given the store its name
            if not self._is_there():
                raise

    def _begin_or_join(self) -> None:
        replace.check(self.path, KIND, overwrite=False)
        if not (self.partial / "zarr.json").exists():
            self._begin()
        (self.partial / "groups").mkdir(exist_ok=True)
        sync_folder(self.partial)
        self.join()

    def _is_there(self) -> bool:
        """Whether the sample has its name; StoreError where it is that of another run."""
        if (self.partial / "zarr.json").exists() or not os.path.lexists(self.path):
            return False
        place.require_equal(self.path, self.attributes, self.start_again)
        self.finished = True
        return True

    def _begin(self) -> None:
        """Write what the store says of itself, unless another process does so at the same time."""
        draft = draft_beside(self.partial / "zarr.json", files.TEMPORARY)
        files.write_json(draft, group_node(self.attributes()))
        try:
            os.link(draft, self.partial / "zarr.json")
        except FileExistsError:
            pass
        except (
            OSError
        ):  # a file system without links: of two different runs the last one wins, and each group looks who it was
            draft.rename(self.partial / "zarr.json")
        draft.unlink(missing_ok=True)

    def find(self, groups: Iterable[int]) -> None:
        """Count those of ``groups`` as done that are there and intact."""
        if is_sealed(self.partial) or not self.missing():
            self.note(range(self.groups))
        else:
            self.note(intact_groups(self.partial, groups, self.layout))

    def missing(self) -> list[int]:
        """The groups of the whole store that no process has committed."""
        if self.ended or is_sealed(self.partial):
            return []
        try:
            found = set(os.listdir(self.partial / "groups"))
        except FileNotFoundError:
            return []  # another process gives the store its name just now
        return [group for group in range(self.groups) if marker_path(self.partial, group).name not in found]

    @property
    def ended(self) -> bool:
        """Whether another process has given the store its name."""
        return self.finished or (not (self.partial / "zarr.json").exists() and (self.path / "zarr.json").exists())

    def report(self, name: str, said: Record) -> None:
        """Leave what this process has counted and timed for the one that seals."""
        with files.writing(self.partial, self._way_out):
            files.write_marker(self.partial / "groups" / f"shard-{name}-{secrets.token_hex(4)}.json", said)

    def reports(self) -> list[Record]:
        """Return the counts and times that processes have left, in the order of their names."""
        found = sorted((self.partial / "groups").glob("shard-*.json"))
        return [said for file in found if (said := files.read_marker(file)) is not None]

    def seal_alone(self, results: Callable[[], Record], *, check: bool = False) -> bool:
        """Give the store its name, unless another process does; whether this one did. Every group must be there.

        ``results``: called once the store is sealed, for its counts and timings. ``check``: compare the groups with
        their checksums before. StoreError names those that differ, and they count as missing from then on.
        """
        lease = take(self.path.with_name(f".{self.path.name}.csaw-sealing"), self._waiting)
        if lease is None:
            return False
        with lease:
            if self.ended:
                return False
            if check:
                self._check_all()
            self.note(range(self.groups))
            self.seal()
            said = results()
            if not lease.held:
                raise StoreError(
                    f"{self.path}: another process started to seal it while this one was paused; check whether it "
                    "has finished"
                )
            self.finish(said)
        return True

    def _waiting(self, owner: str) -> None:
        log.info("%s: %s is sealing it; looking whether it lives", self.path, owner)

    def _check_all(self) -> None:
        if is_sealed(self.partial):
            return
        damaged = sorted(set(range(self.groups)) - intact_groups(self.partial, range(self.groups), self.layout))
        for group in damaged:
            marker_path(self.partial, group).unlink(missing_ok=True)
        if damaged:
            raise StoreError(
                f"{self.partial}: {named(damaged)} damaged; draw the missing parts again with the same commands"
            )


def named(groups: list[int]) -> str:
    """Some groups, for a sentence: ``group 3 is``, or the ranges of several, such as ``4 groups (0 to 2, 7) are``."""
    if len(groups) == 1:
        return f"group {groups[0]} is"
    ends = [g for g in groups if g + 1 not in set(groups)]
    begins = [g for g in groups if g - 1 not in set(groups)]
    spans = [str(a) if a == b else f"{a} to {b}" for a, b in zip(begins, ends, strict=True)]
    shown = ", ".join(spans[:8]) + (", ..." if len(spans) > 8 else "")
    return f"{len(groups):,} groups ({shown}) are"
