"""Counts and timings of the run that drew a sample: the file that is written last, with a separate checksum."""

from collections.abc import Iterable
from pathlib import Path

from csaw.engine.samples import files
from csaw.engine.samples.check import changed
from csaw.engine.samples.layouts.layout import LEAST_VERTICES, SampleLayout, Sizes
from csaw.partition.arrays.nodes import group_node
from csaw.partition.base.plain_data import Record

RESULTS = "results/zarr.json"
"""Their file in a sample store."""
REPLACES = "replaces"  # the sample that the run was to replace, by a digest: ``resume`` may replace that alone


def results_of(path: Path) -> Record:
    """Counts and timings of the run of the store at ``path``; none where it has not ended, or their file is missing.

    ChangedError where they have changed.
    """
    where = path / RESULTS
    if not where.exists():
        return {}
    results = files.read_record(where).get("attributes")
    if not (isinstance(results, dict) and results):
        files.refuse(where, "results", "something else")
    if (said := files.unchanged(results, unsigned=True)) is None:  # early versions wrote no checksum
        raise changed(where)
    return said


def write_results(path: Path, results: Record) -> None:
    """Write counts and timings of a run to the store at ``path``, with a checksum of their own: they come after those
    of all other files.
    """
    (path / "results").mkdir(exist_ok=True)
    files.write_json(path / RESULTS, group_node(files.signed(results)))


# How many edges a sample has, and each of its instances: counted group by group while it is written, and kept with its
# results.

SIZES = "sizes"  # where they are in the results, signed


def total(groups: Iterable[Sizes | None], layout: SampleLayout) -> Sizes | None:
    """The sizes of all groups together; None where those of one are not known."""
    every = list(groups)
    if any(sizes is None for sizes in every):
        return None
    known = [sizes for sizes in every if sizes is not None]
    return {
        **{name: sum(sizes[name] for sizes in known) for name in layout.summed},
        "least": min((sizes["least"] for sizes in known), default=0),
        "most": max((sizes["most"] for sizes in known), default=0),
        **(
            {LEAST_VERTICES: min(sizes[LEAST_VERTICES] for sizes in known)}
            if known and all(LEAST_VERTICES in sizes for sizes in known)
            else {}
        ),
    }
