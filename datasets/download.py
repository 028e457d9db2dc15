"""Fetching a file over HTTP: resumed where it stopped, checked, and named only when it is whole."""

import hashlib
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from csaw.partition.errors import StoreError

PIECE = 1 << 20
SECONDS = 60
ATTEMPTS = 3


def fetch(entry: Any, folder: str | Path, progress: Callable[[int, int], None] | None = None) -> Path:
    """The entry's file in ``folder``, downloaded unless it is there; StoreError when it cannot be had or is not what was promised."""
    target = Path(folder) / Path(entry.file).name
    if target.exists():
        return target
    part = target.with_name(target.name + ".part")
    for attempt in range(ATTEMPTS):
        try:
            _download(entry.url, part, progress)
            break
        except urllib.error.HTTPError as error:
            raise StoreError(f"{entry.url}: the server answers {error.code} {error.reason}") from error
        except OSError as error:  # URLError among them
            if attempt == ATTEMPTS - 1:
                raise StoreError(
                    f"{entry.url} cannot be fetched: {error}; run it again to go on where it stopped"
                ) from error
    if entry.sha256 is not None and (found := _sha256(part)) != entry.sha256:
        part.unlink()
        raise StoreError(f"{entry.url}: expected sha256 {entry.sha256}, found {found}; it was removed, fetch it again")
    part.replace(target)
    return target


def _download(url: str, part: Path, progress: Callable[[int, int], None] | None) -> None:
    have = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        answer = urllib.request.urlopen(request, timeout=SECONDS)
    except urllib.error.HTTPError as error:
        if error.code == 416 and have:  # the part is the whole file
            return
        raise
    with answer:
        if have and answer.status != 206:
            have = 0
        total = have + int(answer.headers.get("Content-Length") or 0)
        with open(part, "ab" if have else "wb") as file:
            while piece := answer.read(PIECE):
                file.write(piece)
                have += len(piece)
                if progress:
                    progress(have, total)
        if total and have < total:
            raise OSError(f"the connection ended after {have:,} of {total:,} bytes")


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
