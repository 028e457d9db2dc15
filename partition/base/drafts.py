"""Drafts: files and folders in the making, beside the names that they get when they are whole.

A draft's name cannot be guessed and is no other's, whatever writes the same file at the same time: threads, processes,
and containers that share a disk, whose processes have the same numbers.
"""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

DRAFT = ".draft"


def draft_beside(path: Path, ending: str = DRAFT, folder: Path | None = None) -> Path:
    """A new name for what is to be ``path``, beside it, or in another ``folder`` of its disk."""
    return (path.parent if folder is None else folder) / f"{path.name}.{secrets.token_hex(8)}{ending}"


@contextmanager
def drafted(path: Path, ending: str = DRAFT) -> Iterator[Path]:
    """The name under which the block makes a file, which becomes ``path`` at its end, and is removed after an error."""
    draft = draft_beside(path, ending)
    try:
        yield draft
        os.replace(draft, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def remove_folder(path: Path) -> None:
    """Remove a folder, which loses its name first, so that the name never has half of it; another process may be
    faster.
    """
    gone = draft_beside(path)
    try:
        path.rename(gone)
    except FileNotFoundError:
        return
    shutil.rmtree(gone, ignore_errors=True)
