"""Counts and timings of the run that drew a sample: the file that is written last, with a checksum of its own."""

from pathlib import Path

from csaw.engine.samples import files
from csaw.engine.samples.check import changed
from csaw.partition.arrays.nodes import group_node
from csaw.partition.base.plain_data import Record


def results_of(path: Path) -> Record:
    """Counts and timings of the run of the store at ``path``; none where it has not ended.

    ChangedError where they have changed.
    """
    where = path / "results" / "zarr.json"
    if not where.exists():
        return {}
    found = files.read_json(where)
    results = found.get("attributes") if isinstance(found, dict) else None
    if not isinstance(results, dict):
        files.refuse(where, "results", "something else")
    if (said := files.unchanged(results, unsigned=True)) is None:  # early versions wrote no checksum
        raise changed(where)
    return said


def write_results(path: Path, results: Record) -> None:
    """Write counts and timings of a run to the store at ``path``, with a checksum of their own: they come after those
    of all other files.
    """
    (path / "results").mkdir(exist_ok=True)
    files.write_json(path / "results" / "zarr.json", group_node(files.signed(results)))
