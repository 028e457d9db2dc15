"""From a GRAPH argument to a graph store: a store's path, a text edge list, a dataset's name or a graph that is made.

Stores of all but the first are in csaw's cache: each is made once, by one process while others wait.
"""

import hashlib
import logging
import os
import re
import shlex
import shutil
import stat
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from csaw.datasets import spec as specs
from csaw.datasets.catalog import ENTRIES, ByHand, Entry, by_hand, find
from csaw.partition.arrays.locks import take
from csaw.partition.base import cache
from csaw.partition.base.cache import remove_folder
from csaw.partition.base.file_locks import lock
from csaw.partition.base.python_names import kept, noted
from csaw.partition.base.quoting import meant, parse_size, shown
from csaw.partition.errors import CsawError, FormatError, OptionError, StoreError
from csaw.partition.graph.versions import at_version, folder_of

if TYPE_CHECKING:
    from csaw.partition import GraphStore


Fault = Callable[["GraphStore"], str]
"""Says what is wrong with a store; an empty text if nothing is."""


def cached(folder: Path, key: str, name: str, make: Callable[[Path], object], fault: Fault = lambda store: "") -> Path:
    """The store of ``key`` in the cache.

    One process makes it while others wait. A store that cannot be opened or has a ``fault`` is made again.
    """
    return noted(made_once(place_of(folder, key), name, make, fault), name)


def made_once(store: Path, name: str, make: Callable[[Path], object], fault: Fault = lambda store: "") -> Path:
    """``store``, a path in the cache, which :func:`cached` makes where there is none, or one with a ``fault``."""
    if not store.exists() or _why_not(store, fault):
        cache.make_folder(store.parent)
        with _alone(store):
            if store.exists() and (why := _why_not(store, fault)):
                log.warning("%s; it is removed and made again", why)
                remove_folder(store)
            if not store.exists():
                log.info("%s becomes the store %s, once", name, store)
                make(store)
    return store


@contextmanager
def _alone(store: Path) -> Iterator[None]:
    """Wait until no other process makes ``store``, and keep others waiting: by a lease where the file system has no
    locks.
    """
    with cache.written_here(store):
        descriptor = os.open(store.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    try:
        if lock(descriptor, wait=True):
            yield
            return
    finally:
        os.close(descriptor)
    while (lease := take(store.with_suffix(".making"), partial(_waiting, store))) is None:
        pass  # the process that had it has ended
    with lease:
        yield


def _waiting(store: Path, owner: str) -> None:
    log.info("%s: %s is making it; looking whether it lives", store, owner)


def _why_not(path: Path, fault: Fault) -> str:
    """The reason why the store at ``path`` in the cache cannot be used; empty if it can.

    It is the error of opening it, or its ``fault``.
    """
    from csaw.partition import open_graph

    try:
        return fault(open_graph(path))
    except StoreError as error:
        return str(error)


def place_of(folder: Path, key: str) -> Path:
    return folder / f"{hashlib.sha256(key.encode('utf-8', 'surrogateescape')).hexdigest()[:16]}.zarr"


# The graph `karate` as a store that csaw carries: its first command does not wait for the ingest to be compiled.

FILE = Path(__file__).with_name("karate.zarr.zip")  # scripts/make_karate.py makes it


def unpack(out: Path) -> None:
    """Make the store ``out`` of the one that csaw carries. It appears as a whole."""
    with tempfile.TemporaryDirectory(dir=out.parent) as folder, zipfile.ZipFile(FILE) as packed:
        packed.extractall(Path(folder, "store"))
        Path(folder, "store").rename(out)


log = logging.getLogger("csaw")
READING = 3  # version of how text becomes a graph: stores in the cache of another one are not used


def resolve(
    graph: str,
    cache_dir: str | Path | None = None,
    directed: bool | None = None,
    memory: object = None,
    version: int | None = None,
) -> str | Path:
    """The path of the graph store for ``graph``. Text files and datasets are first partitioned into the cache.

    Args:
        graph: path of a store or of a file of edges; the name of a dataset; or a specification of a graph.
        cache_dir: the cache in place of csaw's own (default: None).
        directed: whether an edge of a file or a dataset has one direction; None: as the header or the dataset says,
            otherwise True. The cache keeps a store of its own for each.
        memory: what making a store of a file or a dataset may use, bytes or text such as ``4GiB``, at least
            16 MiB; None: as ``csaw partition``.
        version: of a store, the number of the version; None: the newest.

    Returns:
        The path.

    Raises:
        StoreError: there is no such graph.
        OptionError: ``directed`` is given for a store, or contradicts a graph that csaw makes.
    """
    found = _status(graph)
    if found is not None and stat.S_ISDIR(found.st_mode):
        if directed is not None:
            raise of_store(graph, directed)
        return at_version(kept(graph), version)
    if version is not None:
        raise OptionError(f"--version: {shown(graph)} is no graph store, which alone has versions; leave it out")
    folder = _folder(cache_dir)
    if found is not None:
        key = _key(graph, found) + _said(directed)
        return cached(folder, key, graph, lambda out: _ingest(graph, out, directed, memory))
    if specs.is_made(graph):
        return _generated(folder, graph, directed)
    entry = find(graph)
    if entry is None and (other := by_hand(graph)):
        raise StoreError(other.advice)
    if entry is None:
        like = meant(graph, ["karate", *(one.name for one in ENTRIES)])
        raise StoreError(f"{shown(graph)} does not exist, and no dataset has that name (see csaw datasets list){like}")
    other_way = None if directed == entry.directed else directed
    return cached(
        folder,
        entry.url + _said(other_way),
        entry.name,
        lambda out: _fetched(entry, folder, out, other_way, memory),
        lambda store: difference_of(entry, store, other_way),
    )


def _limit(memory: object) -> int | None:
    """Bytes that an ingest may use. What is no limit is refused by the command that it was given to."""
    from csaw.partition.ingestion.ingest_options import LEAST_MEMORY

    with suppress(OptionError):
        return None if memory is None else max(LEAST_MEMORY, parse_size(str(memory)))
    return None


def of_store(graph: object, directed: bool) -> OptionError:
    """The error for a graph store, whose directions are asked for too late."""
    flag = "--directed" if directed else "--undirected"
    return OptionError(
        f"{flag}: {shown(str(graph))} is a graph store, whose direction is fixed; make it again with csaw "
        f"partition FILE OUT {flag}, or give the file instead of the store"
    )


def _said(directed: bool | None) -> str:
    """How the directions of a graph in the cache were asked for, for its key."""
    return "" if directed is None else " directed" if directed else " undirected"


def is_graph_argument(argument: str) -> bool:
    """Whether a command that takes samples and graphs is given a graph.

    That is a graph store, a file of edges, or a name of :func:`resolve` under which nothing stands.
    """
    from csaw.partition.graph.attributes import is_graph

    found = _status(argument)
    if found is not None:
        return is_graph(argument) if stat.S_ISDIR(found.st_mode) else True
    return specs.is_made(argument) or find(argument) is not None or by_hand(argument) is not None


def refuse_name(argument: str) -> None:
    """Refuse a name of :func:`resolve` where a file or a store is expected and none is called so.

    StoreError with the command that makes or fetches the graph.
    """
    if os.path.lexists(argument):
        return
    if specs.is_made(argument):
        raise StoreError(
            f"{shown(argument)} is a built-in graph, not a file; make a store of it with csaw datasets generate "
            f"{shown(argument)} graph.zarr"
        )
    if entry := find(argument):
        raise StoreError(
            f"there is no file {shown(argument)}; download the dataset of that name with csaw datasets fetch "
            f"{entry.name}"
        )
    if other := by_hand(argument):
        raise StoreError(other.advice)


def on_disk(entry: Entry | ByHand, cache_dir: str | Path | None = None) -> Path | None:
    """The path of a dataset that is on disk already; None where it is not.

    It is its store or file in the cache, or its store NAME.zarr or file in the current folder; only a store where a
    path alone does not say how to read the file. A store or file with other counts than the dataset is ignored with a
    warning.
    """
    folder, places = _folder(cache_dir), [Path(f"{entry.name}.zarr")]
    if isinstance(entry, Entry):
        file = Path(entry.file).name
        is_read_alone = not entry.member and entry.time_column is None  # an archive is no text, and times no weights
        texts = [folder / file, Path(file)] if is_read_alone else []
        places = [place_of(folder, entry.url), *places, *texts]
    for path in filter(Path.exists, places):
        if not (fault := _fault(entry, path, folder)):
            return path
        log.warning("%s; it is not used as %s; remove it", fault, entry.name)
    return None


def _status(graph: str) -> os.stat_result | None:
    """The status of the path ``graph``, None where nothing is there.

    StoreError for anything but a folder or a regular file.
    """
    if not graph:
        raise StoreError("GRAPH is empty; expected a graph store, an edge list, or a name (see csaw datasets list)")
    if graph == "-":
        raise StoreError(
            "- is standard input, which can be read only once; make a graph store from it with csaw partition - "
            "graph.zarr"
        )
    try:
        found = os.stat(folder_of(Path(graph)))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValueError as error:
        raise StoreError(f"{shown(graph)} is not a path: {error}") from error
    except OSError as error:
        raise StoreError(f"{shown(graph)} cannot be read: {error.strerror}") from error
    if not (stat.S_ISDIR(found.st_mode) or stat.S_ISREG(found.st_mode)):
        raise StoreError(f"{shown(graph)} is a pipe or a device; make a graph store from it with csaw partition first")
    return found


def _folder(cache_dir: str | Path | None) -> Path:
    return Path(cache_dir or cache.cache_dir()) / "graphs"


def _generated(folder: Path, spec: str, directed: bool | None) -> Path:
    if spec == "karate" and directed:
        raise OptionError("--directed: karate is undirected; leave --directed out")
    if specs.is_mag(spec) and directed is not None:
        said = "the relations of mag: have directions; mag:reverse=0 leaves out their reverses"
        raise OptionError(f"--{'directed' if directed else 'undirected'}: {said}")
    if spec != "karate" and directed is not None:
        spec = specs.with_options(spec, {"undirected": not directed})
    canonical = specs.canonical(spec)

    def make(out: Path) -> None:
        if spec == "karate":
            unpack(out)
        else:
            from csaw.datasets.generate import generate

            generate(canonical, out)

    return cached(folder, canonical, spec, make)


def _key(graph: str | Path, found: os.stat_result) -> str:
    """A word for a file as it is: another one under its name, and one that was written to, have other inodes or times,
    also where a tool keeps the time of the change.
    """
    from csaw.partition.arrays.files import identity_of

    return f"{Path(graph).resolve()} {' '.join(map(str, identity_of(found)))} read {READING}"


def remedy(error: CsawError, cache_dir: str | Path | None = None) -> str:
    """Text to add to an error that asks to make a store of csaw's cache again, which csaw partition cannot do.

    Empty for any other error.
    """
    from csaw.partition.arrays.loader import AGAIN

    named = re.search(re.escape(f"{_folder(cache_dir)}{os.sep}") + r"[0-9a-f]{16}\.zarr", str(error))
    return f", or remove {named[0]}: it is in csaw's cache and is made again" if named and AGAIN in str(error) else ""


def _ingest(
    path: str | Path,
    out: Path,
    directed: bool | None = None,
    memory: object = None,
    time_column: int | None = None,
    time_format: str = "numbers",
) -> "GraphStore":
    from csaw.partition import IngestOptions, ingest

    asked = IngestOptions(directed=directed, memory=_limit(memory), time_column=time_column, time_format=time_format)
    try:
        store = ingest(str(path), out, asked)
    except (FormatError, OptionError) as error:
        raise type(error)(f"{error}{_where_to_say_so(path, str(error))}") from error
    for warning in store.report["warnings"]:
        log.warning("%s: %s%s", path, warning, _where_to_say_so(path, warning))
    return store


def _where_to_say_so(path: str | Path, said: str) -> str:
    """The command that takes the options of which a message about a file speaks; empty where it speaks of none."""
    return f"; csaw partition {shlex.quote(str(path))} graph.zarr takes that option" if " --" in said else ""


def _fetched(entry: Entry, folder: Path, out: Path, directed: bool | None, memory: object) -> None:
    """Fetch a dataset and make it the store ``out``. ``directed``: where its edges are read in another way than they
    are published.

    A store or file with other counts than the published ones is removed.
    """
    from csaw.datasets.download import ELSEWHERE, fetch

    file, said = fetch(entry, folder, replace=True)
    log.info("%s", said)
    if difference := disagreement(entry, _made(entry, file, out, directed, memory), directed):
        remove_folder(out)
        file.unlink()
        raise StoreError(
            f"{entry.url}: {entry.name} has {difference}; its file and its store were removed. Fetch it "
            f"again; {ELSEWHERE}"
        )


def _made(entry: Entry, file: Path, out: Path, directed: bool | None, memory: object) -> "GraphStore":
    """The store ``out`` of a dataset's file; one in an archive is unpacked beside it first."""
    directed = entry.directed if directed is None else directed
    if not entry.member:
        return _ingest(file, out, directed, memory, entry.time_column, entry.time_format)
    from csaw.datasets.check import unpacked

    with tempfile.TemporaryDirectory(dir=out.parent) as folder:
        text = Path(folder, entry.member)
        with unpacked(file, entry) as source, open(text, "wb") as target:
            shutil.copyfileobj(source, target)
        return _ingest(text, out, directed, memory)


def _fault(entry: Entry | ByHand, path: Path, folder: Path) -> str:
    """The reason why the store or file at ``path`` is not the dataset; empty when it is.

    A file whose store is in ``folder`` is judged by that store.
    """
    from csaw.datasets.check import check
    from csaw.partition import open_graph

    try:
        store = path if path.is_dir() else place_of(folder, _key(path, path.stat()))
        if isinstance(entry, ByHand) or store.is_dir():
            return difference_of(entry, open_graph(store))
        check(path, entry, str(path))
    except CsawError as error:
        return str(error)
    return ""


# Comparison of a dataset's store with the published counts.


def difference_of(entry: Entry | ByHand, store: "GraphStore", directed: bool | None = None) -> str:
    """The difference of the open ``store`` from the published dataset; empty when there is none."""
    difference = disagreement(entry, store, directed)
    return f"{store.path}: {entry.name} has {difference}" if difference else ""


def disagreement(entry: Entry | ByHand, store: "GraphStore", directed: bool | None = None) -> str:
    """The difference of the counts of ``store`` from the published ones; empty when there is none.

    ``directed``: where the edges were read in another way than they are published, so that their number is another.
    """
    edges = store.edges if entry.directed else (store.edges + store.report.get("self_loops", 0)) // 2
    leaves_out = isinstance(entry, Entry) and entry.isolated and store.vertices < entry.vertices
    found = {} if leaves_out else {"vertices": (store.vertices, entry.vertices)}
    found |= {"edges": (edges, entry.edges)} if directed is None else {}
    said = [
        f"{n:,} {name} where {published:,} are published" for name, (n, published) in found.items() if n != published
    ]
    return ", ".join(said)
