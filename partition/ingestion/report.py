"""The report of an ingest, which its store keeps."""

from collections.abc import Sequence

from csaw.partition.base.plain_data import Record
from csaw.partition.graph.write import StoreWriter
from csaw.partition.ingestion.job import Job, Tally
from csaw.partition.ingestion.text.pieces import InputRows

YEARS = (315_532_800, 4_102_444_800)  # 1980 and 2100, in seconds since 1970
TIMES = [tuple(year * unit for year in YEARS) for unit in (1, 1000)]  # in seconds, in milliseconds


def report_of(rows: InputRows, job: Job, tally: Tally, writer: StoreWriter, files: Sequence[str]) -> Record:
    """Return what was read, and what has become of it in the store that ``writer`` writes, as plain data."""
    vertices, degrees = tally.degrees.size, tally.degrees
    merged = (int(degrees.sum()) - writer.edges) // job.directions
    report: Record = dict(rows.counts)
    if len(files) > 1:
        report = {"files": len(files), "inputs": list(files)} | report
    if read_as := getattr(rows, "read_as", None):
        report["read_as"] = [read_as] if isinstance(read_as, str) else read_as
    report |= {
        "header_line": rows.shape.header_line,
        "vertices": vertices,
        "stored_edges": writer.edges,
        "duplicates": merged,
        "duplicates_policy": job.options.duplicates,
        "self_loops": tally.loops,
        "self_loops_dropped": job.drops_loops,
        "dead_ends": int((degrees == 0).sum()),
        "isolated": int(((degrees == 0) & ~tally.reached).sum()),
        "warnings": [*rows.warnings, *_of_weights(job, writer), *_of_columns(job, merged)],
        "weights": "repeats" if job.counts_repeats else "column" if job.weighted else "none",
        **({"reversed": True} if job.options.reverse else {}),
    }
    found = {"vertices": vertices, "edges": rows.counts["edges"]}
    report["header_disagrees"] = {
        name: {"declared": count, "found": found[name]}
        for name, count in rows.shape.declared.items()
        if count != found[name]
    }
    return report


def _of_weights(job: Job, writer: StoreWriter) -> list[str]:
    """Return a warning about weights that are all equal or look like times, as a list of one line or none."""
    lightest, heaviest = writer.facts.lightest, writer.facts.heaviest
    if any(first <= lightest <= heaviest < last for first, last in TIMES) and not job.counts_repeats:
        said = (
            "as times since 1970 are; if they are times, name their column with --time-column, and pass --time-format "
            "unix if they are seconds, unix-ms if milliseconds"
        )
        return [f"weights are {lightest:g} to {heaviest:g}, {said}"]
    if lightest != heaviest:
        return []
    without = "--duplicates first" if job.counts_repeats else "--weight-column none"
    said = f"sample with --unweighted, or leave the weights out with {without}: the law is the same, and less is read"
    return [f"all weights are {writer.facts.lightest:g}; {said}"]


def _of_columns(job: Job, merged: int) -> list[str]:
    """Return a warning about numbers that are left out with repeated edges, as a list of one line or none."""
    if not job.edge_columns or not merged:
        return []
    names = ", ".join(column.name for column in job.edge_columns)
    one = merged == 1
    said = f"{merged:,} repeated edge{'s are' if not one else ' is'}"
    adds = job.options.policy == "sum"  # their weights count, and the first one's numbers are those of all
    left = f"{said} added to the first of its kind, without" if adds else f"{said} left out, with"
    return [f"{left} {'its' if one else 'their'} {names}; pass --duplicates keep to keep them all"]
