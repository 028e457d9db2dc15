"""Writes virtual samples: stores that hold a request and no arrays, and give the same bytes as a stored sample, drawn
when they are read.

OUT/zarr.json           what a sample store says of itself, and the options by which it is drawn again (``virtual``)
OUT/given_sources/      the list of sources, as dense ids, where the request has a list
OUT/y/                  the labels of seeds, where the list has labels
OUT/seed_time/          the times of sources, where the list has times
OUT/checksums, results  as in any sample store
"""

from pathlib import Path

import numpy as np

from csaw.engine.api.starts import SourceKind
from csaw.engine.runs.job import Job, manifest, refuse_window
from csaw.engine.samples import check, files
from csaw.engine.samples.draft import store_attributes
from csaw.engine.samples.format import VIRTUAL, chunk_name
from csaw.engine.samples.layouts.declared import SEED_TIME
from csaw.engine.samples.place import check_place, partial_of
from csaw.engine.samples.results import write_results
from csaw.engine.sources.given_sources import LABELS
from csaw.partition.arrays import replace
from csaw.partition.arrays.nodes import About, group_node, write_array
from csaw.partition.base import arguments
from csaw.partition.base.plain_data import Record
from csaw.partition.base.python_names import reading
from csaw.partition.base.version import VERSION
from csaw.partition.errors import OptionError, StoreError

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
            "--virtual: a request does not keep the numbers of --columns, so that it could not be drawn "
            "again; store the sample itself"
        )
    if job.store.stored.in_memory:
        raise OptionError(
            "--virtual: a graph in memory is gone when the sample is drawn again; make it a store with "
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
        with replace.Draft(path, replace.SAMPLES, overwrite=overwrite) as draft:
            _write(draft.folder, said, _given(job) if said[VIRTUAL]["sources"] is None else {})
            draft.publish()
    except OSError as error:
        raise error if isinstance(error, StoreError) else replace.cannot_be_written(path, error) from error
    return {"version": VERSION, VIRTUAL: True, "instances": request.instances, "bytes_written": size_of(path)}


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


def size_of(path: Path) -> int:
    """Bytes of the files below a folder."""
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
