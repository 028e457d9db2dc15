"""Fetching a dataset over HTTP: a download resumes where it stopped, and gets its name only when it is right.

It ends when it is too long.
"""

import errno
import http.client
import logging
import os
import re
import stat
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from http.client import HTTPMessage
from pathlib import Path
from typing import IO, Self
from urllib.request import Request

from csaw.datasets.catalog import Entry
from csaw.datasets.check import WrongFileError, check, check_size, check_start
from csaw.partition.base.file_locks import lock
from csaw.partition.base.quoting import shown
from csaw.partition.errors import CsawError, StoreError

# A file that is still being fetched, ``NAME.part``, and the version to which its bytes belong, ``NAME.part.tag``.

OPEN = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK  # O_NONBLOCK: a pipe of that name does not hang
MOST_TAG = 1000  # characters


class Part:
    """The bytes that were fetched, in a regular file that no other process writes. It is used as a context.

    A part that cannot be continued later, because it is empty or its version is unknown, is removed at the end.
    ``path``: the file of the bytes; ``size``: their number; ``tag``: their version in the words of the server. Raises
    StoreError.
    """

    def __init__(self, target: Path) -> None:
        self.target = target
        self.path = target.with_name(f"{target.name}.part")
        self.tag_path = target.with_name(f"{target.name}.part.tag")
        self.size, self.tag = 0, ""

    def __enter__(self) -> Self:
        try:
            new = not os.path.lexists(self.path)
            self.file = os.open(self.path, OPEN | (os.O_CREAT | os.O_EXCL if new else 0), 0o666)
        except OSError as error:
            linked = error.errno == errno.ELOOP
            why = "a symbolic link, which csaw does not write through; remove it" if linked else error.strerror
            raise StoreError(f"{self.path}: {why}") from error
        try:
            self._own(new)
            self.tag = self._read_tag()
        except BaseException:
            os.close(self.file)
            raise
        if self.tag:
            self.size = os.lseek(self.file, 0, os.SEEK_END)
        return self

    def __exit__(self, *error: object) -> None:
        if not self.can_go_on:
            self.discard()
        os.close(self.file)

    @property
    def can_go_on(self) -> bool:
        """Whether a later download can begin where this one ends."""
        return bool(self.tag and self.size)

    def begin(self, tag: str) -> None:
        """Start again with another version of the file, whose name is ``tag``; it may be empty."""
        os.ftruncate(self.file, 0)  # before the tag is written, so that a new tag never stands beside old bytes
        os.lseek(self.file, 0, os.SEEK_SET)
        self.tag_path.unlink(missing_ok=True)
        self.size, self.tag = 0, tag if len(tag) <= MOST_TAG and re.fullmatch("[ -~]+", tag) else ""
        if self.tag:
            with open(self.tag_path, "x") as file:  # never through a link
                file.write(self.tag)

    def append(self, piece: bytes) -> None:
        """Add bytes at the end."""
        rest = memoryview(piece)
        while rest:
            written = os.write(self.file, rest)
            self.size += written
            rest = rest[written:]

    def start(self, nbytes: int) -> bytes:
        """The first ``nbytes`` bytes."""
        return os.pread(self.file, nbytes, 0)

    def take_the_name(self) -> None:
        """Make the whole file durable and give it its final name."""
        os.fsync(self.file)
        self.path.replace(self.target)
        self.tag_path.unlink(missing_ok=True)
        self.size = 0

    def discard(self) -> None:
        """Remove the bytes and their version."""
        self.size, self.tag = 0, ""
        if self._has_the_path():
            self.path.unlink()
            self.tag_path.unlink(missing_ok=True)

    def _own(self, new: bool) -> None:
        found = os.fstat(self.file)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1 or not (new or found.st_uid == os.geteuid()):
            raise StoreError(
                f"{self.path}: expected a regular file that belongs to you and has no hard links; remove it"
            )
        try:
            lock(self.file)  # without locks, the check of the whole file finds what two processes would mix
        except BlockingIOError as error:
            raise StoreError(f"{self.path}: another process is fetching this file; wait for it") from error
        if not self._has_the_path():
            raise StoreError(f"{self.path}: another process has just finished with this file; run the command again")

    def _has_the_path(self) -> bool:
        """Whether the open file still has its name."""
        try:
            return os.path.samestat(os.fstat(self.file), self.path.lstat())
        except FileNotFoundError:
            return False

    def _read_tag(self) -> str:
        if self.tag_path.is_symlink() or not self.tag_path.is_file():
            return ""
        with open(self.tag_path, errors="replace") as file:
            tag = file.read(MOST_TAG + 1)
        return tag if len(tag) <= MOST_TAG and re.fullmatch("[ -~]+", tag) else ""


Progress = Callable[[int, int], None]  # bytes done, bytes in all (0: unknown)
PIECE = 1 << 20
TIMEOUT_SECONDS = 60
PAUSE_SECONDS = 1.0  # before the second attempt; doubled before each further one
ATTEMPTS = 4
BUSY = (408, 429, 500, 502, 503, 504)  # answers worth another attempt
LOCAL = (
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EACCES,
    errno.EPERM,
    errno.EROFS,
    errno.ENOENT,
    errno.EISDIR,
    errno.ENOTDIR,
    errno.EFBIG,
    errno.EEXIST,
)
ELSEWHERE = "without a network, or for another version of the dataset, fetch the file elsewhere and give csaw its path"
log = logging.getLogger("csaw")


def fetch(
    entry: Entry, folder: str | Path, progress: Progress | None = None, *, replace: bool = False
) -> tuple[Path, str]:
    """Return the path of the entry's file in ``folder``, and a sentence that says what was checked.

    The file is downloaded unless it is there. A file that is there is checked again. A wrong one is an error, or with
    ``replace`` removed and fetched anew. Raises StoreError.
    """
    target = Path(folder) / Path(entry.file).name
    if not os.path.lexists(target):
        return target, download(entry, target, progress)
    try:
        if not target.exists():
            raise WrongFileError(f"{target}: a symbolic link to a file that does not exist")
        return target, check(target, entry, str(target))
    except WrongFileError as error:
        if not replace or target.is_dir():
            raise StoreError(
                f"{error}; remove it and fetch {entry.name} again, or fetch it into another folder"
            ) from error
        log.warning("%s; it is removed and fetched again", error)
        target.unlink()
    return target, download(entry, target, progress)


def download(entry: Entry, target: Path, progress: Progress | None = None) -> str:
    """Fetch the entry's file as ``target``; returns a sentence that says what was checked.

    The part that came before a broken connection or Ctrl-C is kept for the next call, if the server names its version.
    A file that is not the promised one is removed. Raises StoreError.
    """
    with Part(target) as part:
        try:
            _receive_whole(entry, part, progress)
            said = check(part.path, entry, entry.url)
            part.take_the_name()
        except WrongFileError as error:
            part.discard()
            raise StoreError(f"{error}; nothing of it was kept. Fetch it again; {ELSEWHERE}") from error
        except KeyboardInterrupt as error:
            kept = f"{part.size:,} bytes are kept; the same command continues from there" if part.can_go_on else ""
            raise KeyboardInterrupt(kept) from error
    return said


def _receive_whole(entry: Entry, part: Part, progress: Progress | None) -> None:
    for attempt in range(ATTEMPTS):
        try:
            _attempt(entry, part, progress)
            return
        except CsawError:
            raise
        except (OSError, http.client.HTTPException) as error:
            if attempt == ATTEMPTS - 1 or not _worth_another(error):
                raise StoreError(_explained(entry.url, part, error)) from error
            log.info("%s: %s; trying again", entry.url, _reason(error))
            time.sleep(PAUSE_SECONDS * 2**attempt)


def _attempt(entry: Entry, part: Part, progress: Progress | None) -> None:
    """Continue the download that ``part`` has begun.

    If-Range makes the server start again if its file has changed since.
    """
    headers = {"Range": f"bytes={part.size}-", "If-Range": part.tag} if part.can_go_on else {}
    try:
        answer = OPENER.open(Request(entry.url, headers=headers), timeout=TIMEOUT_SECONDS)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 416 and part.can_go_on:
            if error.headers.get("Content-Range") == f"bytes */{part.size}":
                return  # the part is the whole file
            part.begin("")
            raise OSError("what was fetched before does not fit the file; it was removed") from error
        raise
    except ValueError as error:  # of an address to which the server redirects
        raise StoreError(f"{entry.url}: the server's answer cannot be read: {error}") from error
    with answer:
        total = _total(answer, part, entry.url)
        check_size(total, entry, entry.url)
        _receive(answer, part, total, entry, progress)


def _total(answer: http.client.HTTPResponse, part: Part, url: str) -> int:
    """Size of the whole file in bytes by the headers of the answer, 0 where they do not say.

    ``part`` is emptied if the answer starts from the beginning.
    """
    length = answer.headers.get("Content-Length", "0").strip()
    if not re.fullmatch("[0-9]{1,18}", length):
        raise StoreError(
            f"{url}: expected a number as Content-Length, the server sent {shown(repr(length))}; fetch it again later"
        )
    if answer.status == 200:
        part.begin(_version(answer))
        return int(length)
    if answer.status != 206 or not part.can_go_on:
        raise StoreError(
            f"{url}: expected the status 200 or 206, the server answers {answer.status} {shown(answer.reason)}"
        )
    span = str(answer.headers.get("Content-Range"))
    fits = re.fullmatch(r"bytes ([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18}|\*)", span)
    if not fits or int(fits[1]) != part.size:
        wanted = f"bytes {part.size}-"
        part.begin("")
        raise OSError(f"the server sent {shown(span)} when asked for {wanted}; starting over")
    if (version := _version(answer)) and version != part.tag:
        part.begin("")
        raise OSError("the server sent a part of another version of the file; starting over")
    return int(fits[2]) + 1 if fits[3] == "*" else int(fits[3])


def _receive(answer: http.client.HTTPResponse, part: Part, total: int, entry: Entry, progress: Progress | None) -> None:
    """Append the body of the answer to ``part``, and give up as soon as it cannot be the file."""
    looked = False
    while piece := answer.read1(PIECE):
        part.append(piece)
        check_size(part.size, entry, entry.url)
        if not looked and part.size > 1:
            check_start(part.start(60), entry, entry.url)
            looked = True
        if progress:
            progress(part.size, total)
    if total and part.size > total:
        part.begin("")
        raise OSError(f"the server sent more than the {total:,} bytes that it announced; starting over")
    if part.size < total:
        raise OSError(f"the connection ended after {part.size:,} of {total:,} bytes")


class SafeRedirects(urllib.request.HTTPRedirectHandler):
    """Follows redirections over HTTP, from https only to https, and does not read their bodies."""

    def http_error_302(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage
    ) -> http.client.HTTPResponse | None:
        fp.close()  # the body may have no end
        return super().http_error_302(req, fp, code, msg, headers)

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        scheme = newurl.partition(":")[0].lower()
        if scheme != "https" and (req.type == "https" or scheme != "http"):
            raise StoreError(
                f"{req.full_url}: redirects to {shown(newurl)}; a redirection from {req.type} to {scheme} "
                "is not followed"
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)


OPENER = urllib.request.build_opener(SafeRedirects)


def _version(answer: http.client.HTTPResponse) -> str:
    """The version for If-Range: a strong ETag, otherwise the date.

    Empty when the server gives neither; then nothing is resumed.
    """
    etag = answer.headers.get("ETag") or ""
    return etag if etag and not etag.startswith("W/") else answer.headers.get("Last-Modified") or ""


def _worth_another(error: Exception) -> bool:
    if isinstance(error, urllib.error.HTTPError):
        return error.code in BUSY
    return getattr(error, "errno", None) not in LOCAL


def _reason(error: Exception) -> str:
    """The first line of an error; its words may come from the server."""
    said = str(getattr(error, "reason", "") or error).strip()
    return shown(said.splitlines()[0] if said else type(error).__name__)


def _explained(url: str, part: Part, error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"{url}: the server answers {error.code} {_reason(error)}"
    if isinstance(error, OSError) and error.errno in LOCAL:
        return f"{part.path}: {error.strerror}"
    kept = (
        "The part that was fetched is kept; run the command again to continue"
        if part.can_go_on
        else "Run the command again later"
    )
    return f"{url} cannot be fetched: {_reason(error)}. {kept}; {ELSEWHERE}"
