"""Virtual samples, which :mod:`csaw.engine.runs.virtual` writes, are opened, and drawn when they are read."""

from dataclasses import MISSING, fields
from dataclasses import replace as with_other
from functools import cached_property, partial
from operator import attrgetter
from pathlib import Path

import numpy as np

from csaw.engine.api import registry
from csaw.engine.api.algorithm import Traversal, Walk
from csaw.engine.api.bases import LinksWithNegatives
from csaw.engine.api.declarations import STARTS
from csaw.engine.api.recorded import Request as Recorded
from csaw.engine.api.recorded import built, given_again, named
from csaw.engine.api.registry import Algo
from csaw.engine.api.starts import SourceKind
from csaw.engine.plan.limits import Request
from csaw.engine.runs.job import DRAWS, Job, manifest, prepare, refuse_window
from csaw.engine.runs.sample_stream import Stream
from csaw.engine.samples import check, files
from csaw.engine.samples.check import VIRTUAL, chunk_name
from csaw.engine.samples.layouts import Arrays
from csaw.engine.samples.layouts.layout import SEED_TIME
from csaw.engine.samples.opened import Source, joined
from csaw.engine.samples.place import check_place, partial_of, store_attributes
from csaw.engine.samples.results import write_results
from csaw.engine.samples.samples import Samples
from csaw.engine.samples.stored import OnDemand, Rows
from csaw.engine.sources.given_columns import IDS
from csaw.engine.sources.given_sources import LABELS, TIMES, InStore
from csaw.partition import GraphStore, open_graph
from csaw.partition.arrays import replace
from csaw.partition.arrays.files import SAMPLES, bytes_of, opened_again
from csaw.partition.arrays.nodes import About, group_node, write_array
from csaw.partition.base import arguments
from csaw.partition.base.plain_data import OptionValue, Record, Values
from csaw.partition.base.python_names import kept, reading
from csaw.partition.base.quoting import quoted
from csaw.partition.base.version import VERSION
from csaw.partition.errors import OptionError, StoreError
from csaw.partition.graph.versions import drawn_from

# Writes virtual samples: stores that hold a request and no arrays, and give the same bytes as a stored sample, drawn
# when they are read.
#
# OUT/zarr.json           what a sample store says of itself, and the options by which it is drawn again (`virtual`)
# OUT/given_sources/      the list of sources, as dense ids, where the request has a list
# OUT/y/                  the labels of seeds, where the list has labels
# OUT/seed_time/          the times of sources, where the list has times
# OUT/checksums, results  as in any sample store

SOURCES = "given_sources"
GIVEN = {
    SOURCES: "dense id of each source",
    LABELS: "label of each source",
    SEED_TIME: "time of each source, in the units of the graph",
}


@reading({"out": arguments.path("a sample store"), "overwrite": arguments.flag})
def commit_virtual(job: Job, out: str | Path, *, overwrite: bool = False) -> Record:
    """Write the virtual sample of a job; nothing is sampled.

    Args:
        job: what :func:`prepare` returned.
        out: path of the store to write.
        overwrite: replace the sample store that is at ``out``.

    Returns:
        A summary as plain data.

    Raises:
        OptionError: ``out`` cannot have this name, the request has columns of data, or the graph is a window of time.
        StoreError: ``out`` cannot be written or is there already.
    """
    path, request, layout = Path(out), job.plan.request, job.plan.sample_layout
    partial_of(path)
    refuse_window(job.store)
    if request.columns:
        raise OptionError(
            "--virtual: a request does not store the numbers of --columns, so the sample could not be drawn "
            "again; store the sample itself"
        )
    if job.store.stored.in_memory:
        raise OptionError(
            "--virtual: a graph in memory will be gone when the sample is drawn again; make a store with "
            "csaw.partition(graph, out), and sample that"
        )
    check_place(path, resume=False, overwrite=overwrite)
    said = store_attributes(
        job.identifiers,
        layout=layout,
        instances=request.instances,
        group_size=request.group_size,
        manifest=manifest(job),
    ) | {VIRTUAL: {"sources": _sources_of(job)}}
    try:
        with replace.Draft(path, SAMPLES, overwrite=overwrite) as draft:
            _write(draft.folder, said, _given(job) if said[VIRTUAL]["sources"] is None else {})
            draft.publish()
    except OSError as error:
        raise error if isinstance(error, StoreError) else replace.cannot_be_written(path, error) from error
    return {"version": VERSION, VIRTUAL: True, "instances": request.instances, "bytes_written": bytes_of(path)}


def _sources_of(job: Job) -> str | None:
    """The option ``sources`` that gives those of the job again; None where its list has to be kept."""
    return job.sources.asked or (None if job.sources.kind is SourceKind.LIST else str(job.sources.kind))


def _given(job: Job) -> dict[str, np.ndarray]:
    """The list of sources, its labels and its times, where there are any, by the names of their arrays."""
    times = None if job.sources.times is None else job.sources.times.listed
    held = {SOURCES: job.sources.listed, LABELS: job.sources.labels, SEED_TIME: times}
    return {name: array for name, array in held.items() if array is not None}


def _write(folder: Path, said: Record, given: dict[str, np.ndarray]) -> None:
    checksums = {}
    for name, array in given.items():
        chunk = f"{name}/{chunk_name(0, 1)}"
        about = About(("source",), {"long_name": GIVEN[name], "units": "1"})
        write_array(folder / name, array.dtype, array.shape, (max(1, array.size),), separator=".", fill=0, about=about)
        checksums[chunk] = files.write_file(folder / chunk, np.ascontiguousarray(array, array.dtype.newbyteorder("<")))
        checksums[f"{name}/zarr.json"] = files.sha256(folder / name / "zarr.json")
    files.write_json(folder / "zarr.json", group_node(said))
    checksums["zarr.json"] = files.sha256(folder / "zarr.json")
    write_results(folder, {VIRTUAL: True})
    check.write_checksums(folder, checksums)


# Virtual samples.

ASKED = ("seed", "instances", "weighted", "edge_bias", "metapath", "ids", "induced", "target")
"""The options of a request that it is prepared with again, where it has them."""
METHODS = ("select", "collision")  # which a request has even where nobody asked for them


class VirtualSource(OnDemand):
    """A virtual sample: its instances are drawn when they are read, by the device and within the memory of its job."""

    is_virtual = True

    def __init__(
        self, path: Path, attributes: Record, checksums: dict[str, str], job: Job, algo: str | None = None
    ) -> None:
        super().__init__(path, attributes, self._drawn, lambda: job.identifiers.words, checksums)
        self.job, self.algo, self.stream = job, algo, Stream(job)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle its place and that of its graph; where it is opened again, the device and the memory are chosen."""
        opens = partial(drawn_again, graph=str(self.job.store.path.absolute()), algo=self.algo)
        return opened_again, (str(self.path.absolute()), self.identity, opens, attrgetter("identity"))

    def _drawn(self, start: int, stop: int) -> Arrays:
        """The arrays of some instances; of none, those of one without its rows."""
        if start == stop:
            last = min(start + 1, self.instances) if self.instances else 0
            return joined([{n: a[:0] for n, a in self._drawn(last - 1, last).items()}]) if last else {}
        return joined([batch.arrays() for batch in self.stream.draw(start, stop)])

    @cached_property
    def results(self) -> Record:
        return {VIRTUAL: True}

    @property
    def nbytes(self) -> int:
        return bytes_of(self.path)


class VirtualSamples(Samples):
    """Samples of a virtual store, which have the ``job`` that draws them."""

    source: VirtualSource

    @property
    def job(self) -> Job:
        return self.source.job


@reading(
    {
        "path": arguments.path("a sample store"),
        "graph": arguments.maybe(arguments.path("the graph store")),
        "algo": arguments.simple,
    }
)
def open_virtual(
    path: str | Path, graph: str | Path | None = None, algo: Algo | None = None, **options: OptionValue
) -> VirtualSamples:
    """Open the virtual sample at ``path``; its ``job`` is what :func:`execute` stores as a sample.

    Args:
        path: the virtual sample store.
        graph: path of its graph store; by default the path when it was sampled.
        algo: ``FILE.py:CLASS`` if its algorithm does not come with csaw.
        **options: options of a run that change no byte, such as ``device`` and ``memory``.

    Returns:
        Samples that are drawn when they are read.

    Raises:
        StoreError: the store is damaged or not a virtual sample; its graph is missing or a different one; its code was
            not given or the file differs; or this version of csaw draws different samples.
    """
    place = kept(path)
    return opened(place, check.attributes_of(place), graph, algo, options)


class Undrawn(OnDemand):
    """A virtual sample without its graph, which it may have no longer: what it asks for."""

    is_virtual = True

    def __init__(self, path: Path, attributes: Record) -> None:
        super().__init__(path, attributes, lambda *_: {}, lambda: None, _intact(path))

    @property
    def results(self) -> Record:
        return {VIRTUAL: True}


def sources_again(samples: Samples, store: GraphStore) -> Record:
    """The option ``sources`` that a virtual sample asks for, if for any, on a graph that has its vertices."""
    return _given_again(samples.path, samples.source.attributes[VIRTUAL], samples.checksums, store)


def _intact(path: Path) -> dict[str, str]:
    """The checksums of the files of a virtual sample, which have them."""
    checksums = check.checksums_of(path)
    for name, most in check.most_bytes(path, checksums).items():
        check.check_file(path, name, checksums, most)
    return checksums


def opened(
    path: Path, attributes: Record, graph: str | Path | None, algo: Algo | None, options: Values
) -> VirtualSamples:
    """Open the virtual sample that has these ``attributes``, as :func:`open_virtual` does."""
    if VIRTUAL not in attributes:
        raise StoreError(f"{path} is a stored sample, not a virtual one; read it directly")
    checksums = _intact(path)
    job = with_other(_job_of(path, attributes, checksums, graph, algo, options), like=attributes)
    _check_said(path, attributes, job)
    known = None if algo is None else str(Path(registry.named(algo, {})[0]).absolute())
    return VirtualSamples(VirtualSource(path, attributes, checksums, job, known), algo=known)


def _job_of(
    path: Path,
    attributes: Record,
    checksums: dict[str, str],
    graph: str | Path | None,
    algo: Algo | None,
    options: Values,
) -> Job:
    wanted = attributes["manifest"]
    if wanted.get("draws") != DRAWS:
        raise StoreError(
            f"{path} is virtual, but this csaw ({VERSION}) draws different samples from the version that made it "
            f"({quoted(wanted.get('version'))}); use that version, or sample again"
        )
    request = _request_of(path, wanted)
    built(path, request, algo)  # so that an error names the store
    name = named(path, request, algo)
    store = _graph_of(path, graph or wanted.get("graph", {}).get("path"), request)
    given = {one: request.get(one) for one in ASKED if request.get(one) is not None}
    given |= given_again(path, request, name) | _given_again(path, attributes[VIRTUAL], checksums, store) | options
    return reproduced(path, store, name, request, given)[0]


def reproduced(path: Path, store: GraphStore, name: str, request: Recorded, given: Values) -> tuple[Job, Values]:
    """The job that the sample at ``path`` was drawn by, and the options that prepare it, of which ``given`` are known.

    StoreError where its request cannot be made again.
    """
    job = prepared_as(store, name, request, given)
    if files.plain(job.plan.request.as_dict()) != request:
        given = given | {one: request.get(one) for one in METHODS}
        job = prepared_as(store, name, request, given)
    found = files.plain(job.plan.request.as_dict())
    if other := [one for one in request if found.get(one) != request.get(one)]:
        raise StoreError(
            f"{path}: its {other[0]} cannot be reproduced: expected {quoted(request.get(other[0]))}, "
            f"found {quoted(found.get(other[0]))}; sample again"
        )
    return job, given


def _check_said(path: Path, attributes: Record, job: Job) -> None:
    """StoreError where a virtual sample says something else of itself than what is drawn."""
    request = job.plan.request
    counts = {"instances": request.instances, "group_size": request.group_size}
    drawn = store_attributes(job.identifiers, layout=job.plan.sample_layout, manifest={}, **counts)
    for name in ("layout", "instances", "group_size", "ids", "fill"):
        if attributes[name] != drawn[name]:
            raise StoreError(
                f"{path}/zarr.json: {name}: expected {drawn[name]}, as its request says, found "
                f"{quoted(attributes[name])}; sample again"
            )


def _request_of(path: Path, said: Record) -> Recorded:
    request: Recorded = said.get("request", {})
    needed = [one.name for one in fields(Request) if one.default is MISSING and one.default_factory is MISSING]
    if lacking := [name for name in needed if name not in request]:
        raise StoreError(f"{path}/zarr.json: expected a request with {lacking[0]}, found none; sample again")
    return request


def _graph_of(path: Path, where: object, request: Recorded) -> GraphStore:
    """The graph that a virtual sample is drawn from, which is at ``where``."""
    if not isinstance(where, str | Path):
        raise StoreError(f"{path} is virtual, but does not contain the path of its graph; give it with --graph")
    try:
        store = open_graph(drawn_from(where, request["fingerprint"]))
    except (StoreError, OptionError) as error:
        raise StoreError(
            f"{path} is virtual, so it is drawn from its graph when it is read: {error}, or name the graph with --graph"
        ) from error
    if store.fingerprint != request["fingerprint"]:
        raise StoreError(
            f"{path} is virtual, but {where} is not the graph that it is drawn from: expected the fingerprint "
            f"{request['fingerprint']}, found {store.fingerprint}; name the graph with --graph"
        )
    return store


def _given_again(path: Path, held: object, checksums: dict[str, str], store: GraphStore) -> Record:
    """The option ``sources`` of a virtual sample: a rule by its name, or the list that the store keeps, and never a
    file that the store names.
    """
    asked = held.get("sources") if isinstance(held, dict) else held
    if asked is None:
        listed = store.original_ids(Rows(path, SOURCES, checksums)[:].astype(store.id_dtype))
        known = (LABELS, LABELS, np.asarray), (TIMES, SEED_TIME, InStore)
        held = {one: kind(Rows(path, of, checksums)[:]) for one, of, kind in known if f"{of}/zarr.json" in checksums}
        return {"sources": {IDS: listed} | held if held else listed}
    kinds = dict.fromkeys((*STARTS[Traversal], *STARTS[LinksWithNegatives], *STARTS[Walk]))
    if not isinstance(asked, str) or not (asked in kinds or asked.startswith("random:")):
        raise StoreError(
            f"{path}/zarr.json: sources: expected random:N, {', '.join(kinds)}, found {quoted(asked)}; sample again"
        )
    by_itself = asked in set(kinds) - {"all"}  # what the algorithm starts from where nobody says
    return {} if by_itself else {"sources": asked}


def prepared_as(store: GraphStore, name: str, request: Recorded, given: Values) -> Job:
    """The job of a request, whose algorithm is called as the request calls it."""
    job = prepare(store, name, **given)
    asked = with_other(job.plan.request, algorithm=request["algorithm"])
    return with_other(job, plan=with_other(job.plan, request=asked))


def drawn_again(path: Path, graph: str, algo: str | None) -> Source:
    """Open the virtual sample at ``path``, of the graph store at ``graph``."""
    return open_virtual(path, graph, algo).source
