"""Virtual samples: stores that hold a request and no arrays, and give the same bytes as a stored sample, drawn when they are read.

OUT/zarr.json           what a sample store says of itself, and the options by which it is drawn again (``virtual``)
OUT/given_sources/      the list of sources, as dense ids, where the request has a list
OUT/y/                  the labels of seeds, where the list has labels
OUT/checksums, results  as in any sample store
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from csaw.engine.algorithm import Traversal
from csaw.engine.declarations import STARTS
from csaw.engine.given_columns import IDS
from csaw.engine.given_sources import LABELS
from csaw.engine.run import DRAWS, Job, manifest, prepare
from csaw.engine.sample_stream import Stream
from csaw.engine.samples import VIRTUAL, check, files
from csaw.engine.samples.arrays import Rows
from csaw.engine.samples.draft import store_attributes
from csaw.engine.samples.layout import chunk_name, joined
from csaw.engine.samples.on_demand import OnDemand
from csaw.engine.samples.place import check_place, partial_of
from csaw.engine.version import VERSION
from csaw.partition import open_graph, replace
from csaw.partition.errors import OptionError, StoreError
from csaw.partition.nodes import About, group_node, write_array

SOURCES = "given_sources"
GIVEN = {SOURCES: "dense id of each source", LABELS: "label of each source"}
ASKED = ("seed", "instances", "weighted", "edge_bias", "ids", "induced", "target")
"""The options of a request that it is prepared with again, where it has them."""
METHODS = ("select", "collision")  # which a request has even where nobody asked for them
Draw = Callable[[int, int], dict[str, np.ndarray]]


def commit_virtual(job: Job, out: str | Path, *, overwrite: bool = False) -> dict[str, Any]:
    """Write the virtual sample of a job; nothing is sampled.

    Arguments: job, what :func:`prepare` returned; out, the path of the store to write; overwrite, replace the sample store that is there (default: False).

    Returns a summary as plain data. Errors: OptionError for a name that ``out`` cannot have, and for a request with columns of data, StoreError where it cannot be written or is there already.
    """
    path, request, layout = Path(out), job.plan.request, job.plan.sample_layout
    partial_of(path)
    if request.columns:
        raise OptionError(
            "--virtual: a request does not keep the numbers of --columns, so that it could not be drawn again; store the sample itself"
        )
    if job.store.stored.in_memory:
        raise OptionError("--virtual: a graph in memory is gone when the sample is drawn again; make it a store with csaw.partition(graph, out), and sample that")  # fmt: skip
    check_place(path, resume=False, overwrite=overwrite)
    said = store_attributes(
        job.identifiers, layout=layout, instances=request.instances, group_size=request.group_size, manifest=manifest(job)
    ) | {VIRTUAL: {"sources": _sources_of(job)}}  # fmt: skip
    try:
        with replace.Draft(path, replace.SAMPLES, overwrite=overwrite) as draft:
            _write(draft.folder, said, _given(job) if said[VIRTUAL]["sources"] is None else {})
            draft.publish()
    except OSError as error:
        raise error if isinstance(error, StoreError) else replace.cannot_be_written(path, error) from error
    return {"version": VERSION, VIRTUAL: True, "instances": request.instances, "bytes_written": _size_of(path)}


def _sources_of(job: Job) -> str | None:
    """The option ``sources`` that gives those of the job again; None where its list has to be kept."""
    return job.sources.asked or (None if job.sources.kind == "list" else job.sources.kind)


def _given(job: Job) -> dict[str, np.ndarray]:
    """The list of sources and its labels, where there are any, by the names of their arrays."""
    held = {SOURCES: job.sources.listed, LABELS: job.sources.labels}
    return {name: array for name, array in held.items() if array is not None}


def _write(folder: Path, said: dict[str, Any], given: dict[str, np.ndarray]) -> None:
    checksums = {}
    for name, array in given.items():
        chunk = f"{name}/{chunk_name(0, 1)}"
        about = About(("source",), {"long_name": GIVEN[name], "units": "1"})
        write_array(folder / name, array.dtype, array.shape, (max(1, array.size),), separator=".", fill=0, about=about)
        checksums[chunk] = files.write_file(folder / chunk, np.ascontiguousarray(array, array.dtype.newbyteorder("<")))
        checksums[f"{name}/zarr.json"] = files.sha256(folder / name / "zarr.json")
    files.write_json(folder / "zarr.json", group_node(said))
    checksums["zarr.json"] = files.sha256(folder / "zarr.json")
    (folder / "results").mkdir()
    files.write_json(folder / "results" / "zarr.json", group_node({VIRTUAL: True}))
    check.write_checksums(folder, checksums)


def _size_of(path: Path) -> int:
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


class VirtualSamples(OnDemand):
    """A virtual sample, open for reading: its instances are drawn when they are read, by the device and within the memory that ``options`` of a run say."""

    is_virtual = True

    def __init__(self, path: Path, attributes: dict[str, Any], graph: str | Path | None = None, **options: Any) -> None:
        checksums = check.checksums_of(path)
        if VIRTUAL not in attributes:
            raise StoreError(f"{path} is a sample that is stored, not a virtual one; read it as it is")
        for name in checksums:
            check.check_file(path, name, checksums)
        self.job = _job_of(path, attributes, checksums, graph, options)
        self.stream = Stream(self.job)
        super().__init__(path, attributes, self._drawn, lambda: self.job.identifiers.words)
        self.checksums = checksums

    def _drawn(self, start: int, stop: int) -> dict[str, np.ndarray]:
        """The arrays of some instances; of none, those of one without its rows."""
        if start == stop:
            last = min(start + 1, self.instances) if self.instances else 0
            return joined([{n: a[:0] for n, a in self._drawn(last - 1, last).items()}]) if last else {}
        return joined([batch.arrays() for batch in self.stream.draw(start, stop)])

    @property
    def results(self) -> dict[str, Any]:  # type: ignore[override]
        return {VIRTUAL: True}

    @property
    def nbytes(self) -> int:
        return _size_of(self.path)


def open_virtual(path: str | Path, graph: str | Path | None = None, **options: Any) -> VirtualSamples:
    """Open the virtual sample at ``path``; its ``job`` is what :func:`execute` stores as a sample.

    Arguments: graph, the path of its graph store (default: None, where it was); options of a run on which no byte depends, such as ``device`` and ``memory``.

    StoreError where the store is damaged or no virtual sample, where its graph is missing or another, and where another version of csaw draws other samples.
    """
    return VirtualSamples(path := Path(path), check.attributes_of(path), graph, **options)


def _job_of(
    path: Path, attributes: dict[str, Any], checksums: dict[str, str], graph: str | Path | None, options: dict[str, Any]
) -> Job:
    wanted = attributes["manifest"]
    if wanted.get("draws") != DRAWS:
        raise StoreError(
            f"{path} is virtual, and this csaw ({VERSION}) draws other samples than the one that made it ({wanted.get('version')}); use that version, or sample again"
        )
    request, where = wanted["request"], graph or wanted["graph"]["path"]
    try:
        store = open_graph(where)
    except StoreError as error:
        raise StoreError(
            f"{path} is virtual, so that it is drawn from its graph when it is read: {error}, or name the graph with --graph"
        ) from error
    if store.fingerprint != request["fingerprint"]:
        raise StoreError(
            f"{path} is virtual, and {where} is not the graph that it is drawn from: expected the fingerprint {request['fingerprint']}, found {store.fingerprint}; name the graph with --graph"
        )
    given = {name: request[name] for name in ASKED if request.get(name) is not None} | request["parameters"] | options
    given["sources"] = attributes[VIRTUAL]["sources"]
    if given["sources"] is None:
        listed = Rows(path, SOURCES, checksums)[:]
        given["sources"] = store.original_ids(listed.astype(store.id_dtype))
        if f"{LABELS}/zarr.json" in checksums:
            given["sources"] = {IDS: given["sources"], LABELS: Rows(path, LABELS, checksums)[:]}
    elif given["sources"] in set(STARTS[Traversal]) - {"all"}:  # what the algorithm starts from by itself
        del given["sources"]
    job = prepare(store, request["algorithm"], **given)
    if files.plain(job.plan.request.as_dict()) != request:
        job = prepare(store, request["algorithm"], **given, **{name: request[name] for name in METHODS})
    found = files.plain(job.plan.request.as_dict())
    if other := [name for name in request if found.get(name) != request[name]]:
        raise StoreError(
            f"{path} is virtual, and its {other[0]} cannot be had again: expected {request[other[0]]}, found {found.get(other[0])}; sample again"
        )
    return job
