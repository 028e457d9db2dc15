"""Reports of graph stores: what a store holds, and what was read to make it."""

from pathlib import Path

from csaw.cli.reports.sections import Facts, Line, Section, lines_of, plain, share, size, yes
from csaw.partition.base.quoting import counted

GRAPH = (
    Line("path", "path"),
    Line("version", "version"),
    Line("vertices", "vertices"),
    Line("edges", "stored edges"),
    Line("mean_degree", "mean degree"),
    Line("bytes", "size on disk", size),
    Line("directed", "directed", yes),
    Line("weighted", "weighted", yes),
    Line("edge_columns", "edge columns", ", ".join),
    Line("multigraph", "repeated edges", yes),
    Line("max_degree", "largest degree"),
    Line("id_kind", "type of vertex ids"),
    Line("partition_count", "partitions"),
    Line("partitioner", "partitioner"),
    Line("fingerprint", "fingerprint"),
    Line("time_units", "units of times"),
)
TIMES = (
    Line("first", "first"),
    Line("last", "last"),
    Line("units", "units"),
    Line("distinct", "different times"),
    Line("per_time", "stored edges a time, on average"),
    Line("most_at_once", "stored edges of one time, at most"),
    Line("tied", "stored edges whose vertex has another edge at the same time"),
)
INPUT = (
    Line("read_as", "read as", "; ".join),
    Line("lines", "lines or rows read"),
    Line("comments", "lines of comments"),
    Line("blank", "blank lines"),
    Line("header_line", "line of the header", plain),
    Line("edges", "rows that are edges"),
    Line("skipped", "malformed rows skipped"),
    Line("where", "--where", " and ".join),
    Line("left_out", "rows left out by --where"),
    Line("reciprocity", "edges with a reverse edge", share),
    Line("self_loops", "self loops found"),
    Line("self_loops_dropped", "self loops dropped", yes),
    Line("duplicates", "repeated edges merged into others"),
    Line("duplicates_policy", "--duplicates"),
    Line("dead_ends", "vertices without an edge out"),
    Line("isolated", "vertices without any edge"),
    Line("spilled_bytes", "written to disk while sorting", size),
)


APPENDED = (
    Line("read_as", "read as", "; ".join),
    Line("rows", "rows that are edges"),
    Line("edges_added", "edges added"),
    Line("edges_repeated", "edges there already"),
    Line("edges_changed", "edges changed"),
    Line("edges_removed", "edges removed"),
    Line("edges_missing", "edges to remove that were not there"),
    Line("vertices_added", "vertices added"),
    Line("partitions_written", "partitions written"),
    Line("partitions_kept", "partitions shared with the version before"),
)


def version_rows(versions: list[Facts]) -> list[tuple[str, ...]]:
    """The versions of a graph, one a row, with what was appended to the one before."""
    return [
        (
            str(one["version"]),
            plain(one["vertices"]),
            plain(one["edges"]),
            size(one["bytes"]),
            size(one["own_bytes"]),
            _changes(one.get("append") or {}),
        )
        for one in versions
    ]


def _changes(appended: Facts) -> str:
    """Describe an append in a few words."""
    edges, vertices = ("edge", "edges"), ("vertex", "vertices")
    signs = {"edges_added": ("+", *edges), "edges_changed": ("", "changed", "changed"), "edges_removed": ("-", *edges)}
    signs |= {"vertices_added": ("+", *vertices)}
    told = ((sign, appended.get(name, 0), words) for name, (sign, *words) in signs.items())
    return ", ".join(f"{sign}{counted(count, *words)}" for sign, count, words in told if count)


def graph_sections(graph: Facts, report: Facts) -> list[Section]:
    """A graph as ``describe`` gives it, and the report of the reading that made it."""
    differing = [
        (f"{name} in the header", ", ".join(f"{key} {plain(one)}" for key, one in both.items()))
        for name, both in report.get("header_disagrees", {}).items()
    ]
    warnings = [("warning", str(one)) for one in report.get("warnings", ())]
    times = report.get("times")
    if times is not None:
        times = times | {end: dated(times[end], times["units"]) for end in ("first", "last")}
    if times is not None and times["distinct"]:
        times = times | {"per_time": f"{graph['edges'] / times['distinct']:,.1f}"}
    return [
        ("Graph", lines_of({**graph, **_sizes(graph)}, GRAPH)),
        *_typed(graph),
        *([] if times is None else [("Times of its edges", lines_of(times, TIMES))]),
        ("Appended", lines_of(report.get("append") or {}, APPENDED, zeros=False)),
        ("Input", lines_of(report, INPUT, zeros=False) + differing + warnings),
    ]


def _typed(graph: Facts) -> list[Section]:
    """The types of vertices and the relations of a graph that has several, with their numbers."""
    types = graph.get("types")
    if types is None:
        return []
    relations = [(f"{one['source']}-{one['name']}-{one['target']}", one["edges"]) for one in types["relations"]]
    return [
        ("Vertices of each type", [(name, f"{count:,}") for name, count in types["vertices"].items()]),
        ("Edges of each relation", [(name, f"{count:,}") for name, count in relations]),
    ]


def _sizes(graph: Facts) -> Facts:
    """The mean degree of a graph as ``describe`` gives it, and the bytes of its files."""
    from csaw.partition.arrays.files import bytes_of

    if "path" not in graph:
        return {}
    mean = f"{graph['edges'] / max(graph['vertices'], 1):,.1f}"
    return {"mean_degree": mean, "bytes": bytes_of(Path(graph["path"]))}


def dated(time: object, units: str) -> object:
    """A time, followed by the date or decimal number that the input has for it, if that is a different text."""
    from csaw.partition.ingestion.time_value import text_of  # brings NumPy

    said = text_of(time, units) if isinstance(time, int) else None
    return time if said in (None, str(time)) else f"{plain(time)} ({said})"
