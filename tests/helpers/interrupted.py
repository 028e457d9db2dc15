"""Runs that are interrupted once some groups are written."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from csaw.engine.samples import SampleWriter


@contextmanager
def interrupted_after(groups: int) -> Iterator[None]:
    """Raise KeyboardInterrupt in the block once so many groups are written, and expect it."""
    written, write = [], SampleWriter.write

    def stops(self, group, arrays):
        write(self, group, arrays)
        written.append(group)
        if len(written) == groups:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SampleWriter, "write", stops)
        with pytest.raises(KeyboardInterrupt):
            yield
