"""The lines at the end of a command: the result and its place, the time it took, remarks, and the command that usually
comes next.
"""

import os
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from csaw.cli import console
from csaw.cli.reports.sections import Facts, lines_of, print_report, rate, seconds, size

if TYPE_CHECKING:
    from csaw.engine.analytics.evaluation.listing import Summary
    from csaw.engine.runs.comparison import Comparison
    from csaw.engine.samples import Samples
    from csaw.engine.verify import Report
    from csaw.partition import GraphStore
    from csaw.partition.ingestion.append import Appended

REPEATED = {"first": "the first of each counts", "sum": "their weights are added", "keep": "all are kept"}
COUNTED = "each adds 1 to the weight of its edge"
CHANGES = {
    "edges_added": ("edge added", "edges added"),
    "edges_repeated": ("there already", "there already"),
    "edges_changed": ("changed", "changed"),
    "edges_removed": ("edge removed", "edges removed"),
    "edges_missing": ("not there", "not there"),
    "vertices_added": ("vertex added", "vertices added"),
}
LONG = 0.2  # seconds of compiling that are worth a remark


def next_is(command: str, *words: str) -> str:
    """The line with the command that usually comes next, as a shell takes it."""
    return f"Next: csaw {' '.join([command, *map(_typed, words)])}"


def _typed(word: str) -> str:
    """A word as a shell takes it: with escapes for bytes that are no text; a path is not taken for an option."""
    if not word.isprintable():
        escaped = "".join(
            f"\\x{byte:02x}" if not 32 <= byte < 127 or byte in b"'\\" else chr(byte) for byte in os.fsencode(word)
        )
        return f"$'{escaped}'"
    return quote(f"./{word}" if word[:1] == "-" and word[1:2] not in ("", "-") else word)


def report_run(results: Facts, place: str, as_json: bool, as_undirected: str = "") -> None:
    """Print the summary of a run as JSON or in a few lines; with ``--verbose``, all counts come first.

    ``as_undirected``: the command that reads the same graph as undirected, if there is one.
    """
    from csaw.engine.runs.one_way import warning_of

    warning = warning_of(results, f"read them as undirected: {as_undirected}") if as_undirected else ""
    if as_json:
        from csaw.engine.samples.describe import identified

        console.print_json({**identified(Path(place)), **results, **({"warnings": [warning]} if warning else {})})
        return
    if console.is_verbose():
        from csaw.cli.reports.run import run_sections, worker_sections

        whole = console.elapsed()
        beside = {"outside_seconds": whole - results.get("run_seconds", 0.0), "command_seconds": whole}
        print_report([*run_sections({**results, **beside}, place), *worker_sections(results)])
        console.say(" ")
    *said, following = of_sample(results, place)
    console.say(*said, warning, following)


def of_sample(results: Facts, place: str) -> list[str]:
    """The lines after a run of ``csaw sample`` or ``csaw seal``, whose summary is ``results``."""
    if results.get("virtual"):
        kept = f"The request for {results['instances']:,} instances is in {place} ({size(results['bytes_written'])})"
        return [f"{kept}, {took()}; they are drawn when it is read.", next_is("verify", place)]
    if results.get("left") or not Path(place).exists():
        return _of_shard(results, place)
    from csaw.engine.stores import open_samples

    samples = open_samples(place)
    held = f"{_instances(samples)} in {place} ({size(samples.nbytes)})"
    if results.get("resumed") == "nothing was missing":
        return [f"{held}: nothing was missing.", _verify(place, samples)]
    again = f"Resumed: {results['resumed']}." if "resumed" in results else ""
    return [f"{held}, {took()}{_ends(results)}.", again, _speed(results), _verify(place, samples)]


def report_refresh(results: Facts, place: str, found: "Comparison", as_json: bool) -> None:
    """Print what ``csaw refresh`` has done, or would do, as JSON or in a few lines."""
    from csaw.engine.samples.describe import identified
    from csaw.partition.base.quoting import counted

    counts, store, is_dry = results["refreshed"], found.job.store, len(results) == 1
    if as_json:
        shown = {name: value for name, value in results.items() if name != "plan"}
        console.print_json({**({} if is_dry else identified(Path(place))), **shown})
        return
    if console.is_verbose() and not is_dry:
        from csaw.cli.reports.run import run_sections

        print_report(run_sections(results, place))
        console.say(" ")
    of_graph = f"version {store.version} of {store.base}"
    if found.is_up_to_date and not counts["drawn"]:
        console.say(f"{place} is up to date with {of_graph}.")
        return
    if found.is_request:
        console.say(f"{place} {'would be' if is_dry else 'is'} a virtual sample of {of_graph}; nothing is drawn.")
        return
    words = found.samples.layout.words
    drawn, kept = counted(counts["drawn"], *words), counted(counts["kept"], *words)
    said = f"{drawn} {'would be ' * is_dry}drawn again on {of_graph}, {kept} kept"
    why = f"All are drawn: {counts['why']}." if counts["why"] else f"{counted(counts['rows'], 'row')} changed."
    console.say(f"{said}, {took()}.", why, "" if is_dry else _verify(place, found.samples))


def _verify(place: str, samples: "Samples") -> str:
    """The line with the command that verifies a sample, with the files that its law needs."""
    import click

    algo = samples.manifest["request"]["algorithm"]
    context = click.get_current_context(silent=True)
    columns = context.params.get("columns") if context else None
    files = ["--algo", algo] * (".py:" in algo) + ["--columns", str(columns)] * bool(columns)
    return next_is("verify", place, *files)


def _of_shard(results: Facts, place: str) -> list[str]:
    done = (
        f"{results['instances']:,} instances with {results['sampled_edges']:,} edges drawn"
        if "sampled_edges" in results
        else "All instances were there"
    )
    left = results.get("left", 0)
    return [
        f"Shard {results.get('shard')} of {place}: {done}, {took()}.",
        (
            f"{left:,} {'group' if left == 1 else 'groups'} left for other shards; the last one gives the sample "
            "its final name."
        )
        if left
        else f"All groups are drawn; another process gives {place} its final name.",
    ]


def took() -> str:
    """Return the time since the command began, in seconds with one decimal."""
    return f"{console.elapsed():,.1f} s"


def _instances(samples: "Samples") -> str:
    """``8,110 walks of 20 steps``, ``100 subgraphs with 3,200 edges``, ``100 links, each with 5 negatives``."""
    from csaw.partition.base.quoting import counted

    said = counted(samples.instances, *(samples.layout.printed or samples.layout.words))
    edges = None if samples.sizes is None else samples.sizes["edges"]
    if edges is None or not samples.instances:
        return said
    if "negatives" in samples:
        return f"{said}, each with {counted(samples['negatives'].shape[1], 'negative')}"
    if not samples.has_walks:
        return f"{said} with {counted(edges, 'edge')}"
    if samples.walk_length is not None and edges == samples.instances * samples.walk_length:
        return f"{said} of {counted(samples.walk_length, 'step')}"
    return f"{said} of {edges / samples.instances:,.1f} steps on average"


def _ends(results: Facts) -> str:
    from csaw.partition.base.quoting import counted

    if (ended := results.get("walks_ended")) is not None:
        return f"; {ended:,} ended by themselves or at a dead end"
    dead = results.get("dead_ends")
    return "" if dead is None else f"; {counted(dead, 'dead end')}"


def _speed(results: Facts) -> str:
    """How fast edges were drawn, and whether kernels had to be compiled first."""
    if not results.get("seps_sampling"):
        return ""
    compiled = results.get("compiling_seconds", 0.0)
    once = (
        f"; compiling kernels (first use of this kind of run, kept for later) took {seconds(compiled)}"
        if compiled >= LONG
        else ""
    )
    return f"Drawn in {seconds(results['sampling_seconds'])} at {rate(results['seps_sampling'])}{once}."


def report_graph(store: "GraphStore", report: Facts) -> None:
    """Print what a graph store holds in a few lines, with ``--verbose`` after all that was found when it was made."""
    if console.is_verbose():
        from csaw.cli.reports.graphs import graph_sections
        from csaw.partition.graph.store import describe

        print_report(graph_sections(describe(store), report))
        console.say(" ")
    console.say(*of_graph(store, report))


def report_preview(found: Facts, as_json: bool) -> None:
    """Print how input would be read, and its first edges, as a table."""
    if as_json:
        console.print_json(found)
        return
    rows = [
        found["columns"],
        *([f"{cell:g}" if isinstance(cell, float) else str(cell) for cell in edge] for edge in found["edges"]),
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    table = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    both = "" if found["directed"] else " Each is stored in both directions."
    for warning in found["warnings"]:
        console.say(f"csaw: {warning}", err=True)
    console.say(
        *_read_as(found),
        *table,
        f"The first {len(found['edges'])} edges; nothing was written.{both}",
        *found["warnings"],
    )


def _read_as(report: Facts) -> list[str]:
    return [f"Read as: {said}." for said in report.get("read_as", ())]


def of_graph(store: "GraphStore", report: Facts) -> list[str]:
    """The lines after ``csaw partition``."""
    from csaw.partition.arrays.files import bytes_of
    from csaw.partition.base.quoting import counted

    become = COUNTED if report["weights"] == "repeats" else REPEATED[report["duplicates_policy"]]
    repeated = counted(report["duplicates"], "repeated edge") + f" ({become})"
    loops = counted(report["self_loops"], "self loop") + " dropped" * report["self_loops_dropped"]
    found = (
        repeated * bool(report["duplicates"]),
        loops * bool(report["self_loops"]),
        counted(report["comments"], "comment") * bool(report.get("comments")),
        f"{counted(report['skipped'], 'malformed row')} skipped" * bool(report.get("skipped")),
        f"{counted(report.get('left_out', 0), 'row')} left out by --where" * ("where" in report),
        counted(report["dead_ends"], "dead end"),
    )
    edges = counted(store.edges, "edge" if store.directed else "stored edge")
    edges += "" if store.directed else ", both directions of each,"
    held = f"{counted(store.vertices, 'vertex', 'vertices')} and {edges} in {store.path}"
    return [
        *_read_as(report),
        f"{held} ({size(bytes_of(store.path))}), {took()}.",
        f"{counted(report['edges'], 'row')} read: {', '.join(filter(None, found))}.",
        next_is("sample", str(store.path), "walks.zarr", *_first_sample(store)),
    ]


def report_append(done: "Appended") -> None:
    """Print what an append has done, in a few lines."""
    from csaw.partition.arrays.files import bytes_of
    from csaw.partition.base.quoting import counted

    store, report = done.store, done.report
    if console.is_verbose():
        from csaw.cli.reports.graphs import APPENDED

        print_report([("Appended", lines_of(report, APPENDED))])
        console.say(" ")
    found = [counted(report[key], *names) for key, names in CHANGES.items() if report.get(key)]
    left = f", {counted(report['left_out'], 'row')} left out by --where" if "left_out" in report else ""
    rows = f"{counted(report['rows'], 'row')} read{left}: {', '.join(found) or 'nothing changes'}."
    if not done.is_new:
        console.say(*_read_as(report), rows, f"{store.base} stays at version {store.version}; no version was written.")
        return
    vertices, edges = counted(store.vertices, "vertex", "vertices"), counted(store.edges, "stored edge")
    held = f"{vertices} and {edges} in {store.base}"
    written, kept = (report[f"partitions_{name}"] for name in ("written", "kept"))
    console.say(
        *_read_as(report),
        f"Version {store.version}: {held} ({size(bytes_of(store.path))}), {took()}.",
        rows,
        f"{written:,} of {counted(written + kept, 'partition')} {'was' if written == 1 else 'were'} written.",
    )


def of_compact(done: Facts) -> list[str]:
    """The lines after ``csaw compact``."""
    if not done["dropped"]:
        return [f"{done['graph']} has one version, {done['version']}; nothing was dropped."]
    dropped = ", ".join(map(str, done["dropped"]))
    said = f"{done['graph']}: version {done['version']} stays ({size(done['bytes'])}); dropped {dropped}"
    return [
        f"{said}, which frees {size(done['freed_bytes'])}, {took()}.",
        "Samples of dropped versions cannot be verified or resumed any more.",
    ]


def _first_sample(store: "GraphStore") -> tuple[str, str]:
    """The option of a first sample that suits a graph: a metapath there and back, if it has several types."""
    if store.types is None:
        return "--algo", "temporal" if store.time else "node2vec"
    first = store.types.relations[0]
    way = [first.source, first.name, first.target]
    back = [first.reverse.name, first.source] if first.reverse in store.types.relations else []
    return "--metapath", ",".join([*way, *back])


def of_evaluation(graph: str, save: tuple[str, str] | None, plot: Path | None, *, for_sampling: bool) -> list[str]:
    """The lines after the tables of ``csaw evaluate``: what it has written, and whether samples can read it."""
    written = [f"{save[0]} of each vertex: {save[1]}."] if save else []
    written += [f"Plots: {plot}."] if plot else []
    following = next_is("sample", graph, "walks.zarr", "--columns", save[1]) if save and for_sampling else ""
    return [" ".join(written), following]


def of_export(summary: Facts, out: str) -> list[str]:
    """The lines after ``csaw export``."""
    from csaw.partition.base.quoting import counted

    what = "instances" if "instances" in summary else "edges" if summary["edges"] else "vertices"
    word = {"instances": "instance", "edges": "edge", "vertices": "vertex"}[what]
    parts = f" in {summary['parts']:,} files" if "parts" in summary else ""
    place = "on standard output" if out == "-" else f"in {out}"
    held = f"{counted(summary[what], word, what)} as {summary['format']} {place}"
    held += f" ({size(summary['bytes'])}{parts}), {took()}."
    return [held, *(f"without {name}: {reason}" for name, reason in summary["left_out"].items())]


def of_list(summary: "Summary") -> str:
    """The line after ``csaw evaluate --write-list``."""
    words = {"triangles": ("triangle", "triangles"), "support": ("edge", "edges")}[summary["list"]]
    from csaw.partition.base.quoting import counted

    held = f"{counted(summary['rows'], *words)} as {summary['format']} in {summary['out']}"
    return f"{held} ({size(summary['bytes'])}), {took()}."


def of_checks(report: "Report") -> list[str]:
    """The lines after the checks of ``csaw verify``; the first one sums them up."""
    counts, store = report.counts, report.path
    apart = f", {counts['not_tested']} not tested" if counts["not_tested"] else ""
    if counts["failed"]:
        return [f"{store}: FAILED: {counts['failed']} of {len(report.checks)} checks{apart}, {took()}."]
    if report.untested:
        return [f"{store}: NOT TESTED: {counts['passed']} checks passed{apart}; none of them tests the law"]
    judged = any(check.p_value is not None for check in report.checks)
    return [
        f"{store}: all checks passed{apart}, {took()}.",
        "--verbose shows the smallest deviation that each check would have found."
        * (judged and not console.is_verbose()),
    ]
