"""Fetching a file over HTTP: resumed where it stopped, checked, and named only when it is whole."""

import errno
import hashlib
import http.client
import logging
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from csaw.datasets.catalog import Entry
from csaw.partition.errors import StoreError

Progress = Callable[[int, int], None]  # bytes done, bytes in all (0: unknown)
PIECE = 1 << 20
TIMEOUT_SECONDS = 60
PAUSE_SECONDS = 1.0  # before the second attempt; doubled before each further one
ATTEMPTS = 4
BUSY = (408, 429, 500, 502, 503, 504)  # answers worth another attempt
LOCAL = (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT, errno.EISDIR, errno.ENOTDIR)
log = logging.getLogger("csaw")


def fetch(entry: Entry, folder: str | Path, progress: Progress | None = None) -> Path:
    """The entry's file in ``folder``, downloaded unless it is there."""
    target = Path(folder) / Path(entry.file).name
    if not target.exists():
        download(entry.url, target, entry.sha256, progress)
    return target


def download(url: str, target: Path, sha256: str | None = None, progress: Progress | None = None) -> None:
    """``url`` as ``target``; StoreError when it cannot be had or is not what was promised. What has come stays for the next call."""
    part = target.with_name(target.name + ".part")
    for attempt in range(ATTEMPTS):
        try:
            _attempt(url, part, progress)
            break
        except (OSError, http.client.HTTPException) as error:
            if attempt == ATTEMPTS - 1 or not _worth_another(error):
                raise StoreError(_explained(url, part, error)) from error
            log.info("%s: %s; trying again", url, error)
            time.sleep(PAUSE_SECONDS * 2**attempt)
    if sha256 is not None and (found := _sha256(part)) != sha256:
        part.unlink()
        raise StoreError(f"{url}: expected sha256 {sha256}, found {found}; it was removed, fetch it again")
    part.replace(target)
    _tag(part).unlink(missing_ok=True)


def _attempt(url: str, part: Path, progress: Progress | None) -> None:
    """Go on from what ``part`` holds. If-Range has the server start anew when its file is no longer the one that was begun."""
    tag = _tag(part).read_text() if _tag(part).exists() else ""
    have = part.stat().st_size if part.exists() and tag else 0
    headers = {"Range": f"bytes={have}-", "If-Range": tag} if have else {}
    try:
        answer = urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=TIMEOUT_SECONDS)
    except urllib.error.HTTPError as error:
        if error.code == 416 and error.headers.get("Content-Range") == f"bytes */{have}":
            return  # the part is the whole file
        if error.code == 416:
            part.unlink()
            raise OSError("what was fetched before does not fit the file; it was removed") from error
        raise
    with answer:
        if answer.status != 206:
            part.write_bytes(b"")  # before the tag: a new tag never stands beside old bytes
            have = 0
            _tag(part).write_text(_version(answer))
        elif not str(answer.headers.get("Content-Range")).startswith(f"bytes {have}-"):
            raise OSError(f"the server sent {answer.headers.get('Content-Range')} when asked for bytes {have}-")
        _receive(answer, part, have, progress)


def _receive(answer: http.client.HTTPResponse, part: Path, have: int, progress: Progress | None) -> None:
    total = have + int(answer.headers.get("Content-Length") or 0)
    with open(part, "ab") as file:
        while piece := answer.read(PIECE):
            file.write(piece)
            have += len(piece)
            if progress:
                progress(have, total)
    if have < total:
        raise OSError(f"the connection ended after {have:,} of {total:,} bytes")


def _version(answer: http.client.HTTPResponse) -> str:
    """What If-Range may name: a strong ETag, else the date; nothing when the server gives neither, and then nothing is resumed."""
    etag = answer.headers.get("ETag") or ""
    return etag if etag and not etag.startswith("W/") else answer.headers.get("Last-Modified") or ""


def _worth_another(error: Exception) -> bool:
    if isinstance(error, urllib.error.HTTPError):
        return error.code in BUSY
    return getattr(error, "errno", None) not in LOCAL


def _explained(url: str, part: Path, error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"{url}: the server answers {error.code} {error.reason}"
    if isinstance(error, OSError) and error.errno in LOCAL:
        return f"{part}: {error.strerror}"
    return (
        f"{url} cannot be fetched: {getattr(error, 'reason', error)}. What has come is kept, run it again to go on. "
        f"Without a network: fetch the file elsewhere and give csaw its path"
    )


def _tag(part: Path) -> Path:
    """Beside the part: which version of the file it is of, in the server's words."""
    return part.with_name(part.name + ".tag")


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
