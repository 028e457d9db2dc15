"""Writes a sample store from its beginning to its end, alone or for the workers of a cluster.

A kill at any moment loses no finished group.
"""

import logging
import os
from contextlib import suppress
from pathlib import Path

from csaw.engine.samples import files, place
from csaw.engine.samples.check import require_intact
from csaw.engine.samples.draft import is_sealed
from csaw.engine.samples.format import KIND
from csaw.engine.samples.group_writer import GroupWriter
from csaw.engine.samples.seal import intact_groups
from csaw.partition.arrays import replace
from csaw.partition.arrays.lock import Lock
from csaw.partition.arrays.nodes import group_node
from csaw.partition.arrays.sync import sync_folder
from csaw.partition.base.plain_data import OptionValue, Record

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
            log.info("%s: there is nothing to resume, so the sample is begun", self.path)
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
