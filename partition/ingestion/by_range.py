"""The store in order of the ids that a partitioner makes another one of: it stands beside that one meanwhile."""

import shutil
from pathlib import Path

from csaw.partition.arrays.lock import lock_of
from csaw.partition.arrays.replace import Draft, draft_of


def by_range(out: Draft) -> Path:
    """Where it is, while ``out`` is made of it."""
    return out.path.with_name(f".{out.path.name}.csaw-by-range")


def remove_by_range(out: Draft) -> None:
    """Remove it, and what is begun of it. Nobody else makes one: the lock of ``out`` is held."""
    for left in (by_range(out), draft_of(by_range(out))):
        shutil.rmtree(left, ignore_errors=True)
    lock_of(by_range(out)).unlink(missing_ok=True)
