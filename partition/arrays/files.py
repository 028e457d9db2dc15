"""Files of a store: opened only if they are regular files, told apart from users' files, synced to disk, and opened
again by another process, which sees whether a pickled store is the same.
"""

import errno
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from csaw.partition.errors import StoreError

# Files of a store are opened here, and regular ones alone: a pipe, a device, a socket or a folder in the place of one
# is refused, and never waited for or read without end.
#
# A link to a regular file is followed. Files that a user names, such as the input of csaw partition, may be pipes and
# devices: partition/ingestion/text/blocks.py opens those.

VERSIONS = "versions"  # the folder with the later versions of a graph store: see graph/versions.py
LARGEST_JSON = 1 << 30  # bytes of a file whose size nothing else says: the checksums of ten million files
KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
WAYS = (
    os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
)  # a pipe without a writer does not block, and a terminal stays whose it is


Identity = tuple[int, ...]


def identity_of(found: os.stat_result) -> Identity:
    """Return numbers that are others for another file, and for one that was written to since."""
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def files_of(folder: Path) -> Iterator[Path]:
    """All files of a store, without those of later versions of a graph."""
    for place, folders, names in os.walk(folder):
        if Path(place) == folder and VERSIONS in folders:
            folders.remove(VERSIONS)
        yield from (Path(place, name) for name in names)


def bytes_of(folder: Path) -> int:
    """Bytes of all files of a store, without those of later versions of a graph."""
    return sum(file.stat().st_size for file in files_of(folder) if file.is_file())


def link_or_copy(file: Path, to: Path) -> None:
    """Give a file, which nobody writes to any more, another name; a copy where the file system allows no such names."""
    try:
        os.link(file, to)
    except OSError:
        shutil.copyfile(file, to)


def way_out(error: OSError, again: str) -> str:
    """Say what to do about a file that cannot be read: ``again``, which makes it anew, only where that is needed."""
    return "ask its owner for permission" if isinstance(error, PermissionError) else again


def open_regular(path: Path, *, size: int | None = None, most: int | None = None) -> int:
    """The descriptor of a regular file, open for reading.

    OSError for anything else, and unless the file has ``size`` bytes and at most ``most``, where these are given.
    """
    descriptor = os.open(path, os.O_RDONLY | WAYS)
    try:
        require_regular(descriptor, path)
        found = os.fstat(descriptor).st_size
        if size is not None and found != size:
            raise OSError(errno.EINVAL, f"expected {size:,} bytes, found {found:,}", str(path))
        if most is not None and found > most:
            raise OSError(errno.EFBIG, f"expected at most {most:,} bytes, found {found:,}", str(path))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def require_regular(descriptor: int, path: Path) -> None:
    """OSError, which names ``path``, unless an open file is a regular one."""
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, f"expected a regular file, found {KINDS.get(stat.S_IFMT(mode), 'none')}", str(path))


def read_regular(path: Path, *, most: int = LARGEST_JSON) -> bytes:
    """The bytes of a regular file. Errors as for :func:`open_regular`."""
    with os.fdopen(open_regular(path, most=most), "rb") as file:
        return file.read(os.fstat(file.fileno()).st_size)


# Ask the disk to keep files, so that a crash of the machine loses none.

SYNCS = 8  # files that are synced at a time


def sync_folder(path: str | Path) -> None:
    """Ask the disk to keep a file, or the names in a folder."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_tree(folder: Path) -> None:
    """Sync every file below ``folder`` to the disk, several at a time, which takes as long as one."""
    paths = [os.path.join(parent, name) for parent, _, files in os.walk(folder) for name in [*files, "."]]
    with ThreadPoolExecutor(SYNCS) as threads:
        list(threads.map(sync_folder, paths))


# Which files in a folder are those of a store: what stands in one besides is somebody's own, and csaw neither replaces
# nor removes it.
#
# It goes by names alone, so that a damaged store can be replaced, too.

GRAPH, SAMPLES = "graph", "samples"  # csaw_kind of stores
PARTS = "parts"  # a table of samples as a folder of files
PART_NAME = "part-{:05d}.parquet"
NODE, TEMPORARY = r"zarr\.json", r"(\.[0-9a-f]{16}\.tmp)?"
PART = r"partitions/\d{5,}"
GRAPH_ARRAY = (
    rf"({PART}/(indptr|indices|weights|time_order|edge_[A-Za-z][A-Za-z0-9_]*)|vertex_ids|vertex_id_offsets|clusters)"
)
SAMPLE_ARRAY = (
    r"(walks|lengths|times|hop_\d+|walk_ptr|instance_ptr|src|dst|depth|weight|sources_ptr|sources|vertices_ptr|vertices"
    r"|layer|probability|node_ptr|n_id|batch|edge_ptr|row|col|e_id|seed_ptr|input_id|y|hop_nodes|hop_edges"
    r"|time|time_\d+|relation(_\d+)?|seed_time|src_time|dst_time|links|negatives|vertex_ids|vertex_id_offsets|given_sources)"
)
VERSION = rf"({VERSIONS}/\d+/)?"
CHECKPOINT = r"checkpoints/\d{6,}"
FOLDERS = {
    GRAPH: re.compile(rf"{VERSIONS}(/\d+)?|{VERSION}(partitions|{PART}|{GRAPH_ARRAY}(/c)?)"),
    SAMPLES: re.compile(
        rf"{SAMPLE_ARRAY}|checksums|results|groups|parts|parts/\d{{6,}}|checkpoints|{CHECKPOINT}(/\d+-\d+)?"
    ),
    PARTS: re.compile("(?!)"),  # none
}
FILES = {
    GRAPH: re.compile(
        rf"{VERSIONS}/{NODE}|{VERSION}(((partitions|{PART}|{GRAPH_ARRAY})/)?{NODE}|{GRAPH_ARRAY}/(checksums|c/\d+))"
    ),
    SAMPLES: re.compile(
        rf"(({SAMPLE_ARRAY}/|checksums/|results/)?{NODE}|{SAMPLE_ARRAY}/c(\.\d+)+|groups/[\w-]+\.json"
        rf"|parts/\d{{6,}}/\w+|{CHECKPOINT}/\d+-\d+(\.json|/\w+)){TEMPORARY}"
    ),
    PARTS: re.compile(r"part-\d{5,}\.parquet"),
}
"""Folders and files of finished and of unfinished stores, by kind, as paths in the store."""
SHOWN = 3  # of what is somebody's own


def require_own(store: Path, kind: str) -> None:
    """Raise StoreError where files or folders of somebody's own stand in the store of this kind at ``store``, or where
    nothing can be removed from it.

    The error names them, at any depth.
    """
    others = sorted(_others(store, "", kind))
    if others:
        named = ", ".join(others[:SHOWN]) + (f" and {len(others) - SHOWN:,} more" * (len(others) > SHOWN))
        raise StoreError(
            f"{store} holds {named}, which csaw did not write and will not remove; move it elsewhere, or choose "
            "another name"
        )


def remove_own(store: Path, below: str, kind: str) -> None:
    """Remove the files of a store's folder ``below``, and the folder, unless something of somebody's own is left in it.

    Nothing is said where that fails.
    """
    with suppress(OSError):
        for entry in list(os.scandir(store / below)):
            name, folder = f"{below}/{entry.name}", entry.is_dir(follow_symlinks=False)
            if folder:
                remove_own(store, name, kind)
            elif FILES[kind].fullmatch(name):
                os.unlink(entry.path)
        os.rmdir(store / below)


def _others(store: Path, below: str, kind: str) -> Iterator[str]:
    """List what is not the store's in its folder ``below``; folders of somebody's own stand for all that is in them."""
    try:
        entries = list(os.scandir(store / below))
    except FileNotFoundError:
        return  # another process has just given the store its name
    except OSError as error:
        raise StoreError(f"{store / below} cannot be read: {error.strerror}; choose another name") from error
    if not os.access(store / below, os.W_OK | os.X_OK):
        raise StoreError(
            f"{store} cannot be replaced, because you cannot write to {store / below}; chmod -R u+w {store} allows it, "
            "or choose another name"
        )
    for entry in entries:
        name = f"{below}/{entry.name}" if below else entry.name
        folder = entry.is_dir(follow_symlinks=False)
        if not (FOLDERS if folder else FILES)[kind].fullmatch(name):
            yield name
        elif folder:
            yield from _others(store, name, kind)


Opened = TypeVar("Opened")
PLACE = "a pickled store is only its path, which must exist where it is unpickled"


def opened_again(path: str, wanted: str, opens: Callable[[Path], Opened], identity: Callable[[Opened], str]) -> Opened:
    """Open the store at ``path``; StoreError where it is gone, or has another ``identity`` than the one that was
    pickled.
    """
    try:
        found = opens(Path(path))
    except StoreError as error:
        raise StoreError(f"{error}; {PLACE}") from error
    if identity(found) != wanted:
        raise StoreError(f"{path} has been replaced since it was pickled; open it again in the process that pickles it")
    return found
