"""Reports of runs: of a plan, and of what a run has done.

An option of ``csaw sample`` is named as its help names it.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from csaw.cli import console
from csaw.cli.reports.graphs import GRAPH, dated
from csaw.cli.reports.sections import (
    Facts,
    Line,
    Section,
    counted,
    lines_of,
    mean,
    plain,
    print_report,
    rate,
    seconds,
    share,
    size,
)
from csaw.engine.api.option import flag_of
from csaw.engine.plan.choices import Residency
from csaw.engine.plan.footprint import PARTS
from csaw.engine.plan.options import BASELINES, OUTPUT, RUN, SAMPLE
from csaw.engine.sources.digest import SourcesDigest

if TYPE_CHECKING:
    from csaw.engine.plan.plan import Plan
    from csaw.engine.runs.job import Job

WAYS = "Where it could run"
INSTANCES, EDGES = counted("instances"), counted("edges")


def sources(text: object) -> str:
    """The sources of a request, such as ``all x 1``, in words."""
    asked = SourcesDigest.parse(str(text))
    if asked.kind is None or not asked.width:
        return plain(text)
    named = f" ({asked.listed})" if asked.digest else ""
    return f"{asked.kind.said}{named}; {asked.width} for each instance"


def reads(value: float) -> str:
    """A number of reads, such as ``40 M``."""
    from csaw.partition.base.quoting import short

    return short(value)


def names(counts: object) -> str:
    """Names of what was compiled, with the numbers of those that were compiled several times."""
    if not isinstance(counts, Mapping):
        return plain(counts)
    return ", ".join(name if count == 1 else f"{name} ({count})" for name, count in counts.items())


def columns(digests: Mapping[str, str]) -> str:
    """Columns of data of vertices, with the beginnings of their digests."""
    return ", ".join(f"{name} (digest {digest[:16]})" for name, digest in digests.items())


REQUEST = (
    Line("sources", "--sources", sources),
    Line("instances", "--instances"),
    Line("seed", "--seed", str),
    Line("weighted", "--weighted"),
    Line("induced", "--induced"),
    Line("target", "--target", counted("vertices")),
    Line("code", "SHA-256 of the algorithm's file"),
    Line("edge_bias", "--edge-bias"),
    Line("columns", "--columns", columns),
    Line("fingerprint", "fingerprint of the graph"),
)
PLACE = (
    Line("device", "--device"),
    Line("threads", "--threads"),
    Line("residency", "--residency"),
    Line("graph_layout", "--layout"),
    Line("batch", "--in-flight", INSTANCES),
    Line("transit", "--transit-parallel"),
    Line("membership", "how edges are looked up"),
)
MEMORY = (
    Line("graph_bytes", "graph", size),
    Line("batch_bytes", "instances in flight", size),
    Line("scratch_edges", "candidates at a time", EDGES),
)
PARTS_OF_RUN = tuple(Line(name, text, size) for name, text in PARTS.items())
PIECES = (
    Line("pieces", "pieces that the graph is brought in"),
    Line("piece_bytes", "largest piece", size),
)
BUDGETS = {"cpu": (Line("budget_bytes", "--memory", size),), "cuda": (Line("budget_bytes", "--gpu-memory", size),)}
HOST = (Line("host_bytes", "host memory for partitions, at most", size),)
FORM = (
    Line("sample_layout", "form of the sample"),
    Line("ids", "--ids"),
    Line("output_bytes", "expected size", size),
    Line("group_size", "written together", INSTANCES),
)
METHODS = (
    Line("select", "--select"),
    Line("bias", "bias of a step"),
    Line("collision", "--collision"),
    Line("detect", "--detect", lambda value: "not needed" if value == "none" else plain(value)),
)
POLICY = (
    Line("batching", "--batching"),
    Line("workload_aware", "--workload-aware"),
    Line("balancing", "--balancing"),
    Line("in_place", "--in-place"),
)
STRATEGIES = {
    "partitions": "one partition at a time",
    "pairs": "partitions in pairs",
    "rows": "rows one by one where they are",
}
"""The ways to bring a streamed graph to its instances: the names of Plan.strategies, in words."""
EXPECTED = (
    Line("loading_seconds", "loading the graph", seconds),
    Line("building_seconds", "building its layout", seconds),
    Line("sampling_seconds", "sampling", seconds),
    Line("writing_seconds", "writing the sample", seconds),
    Line("seconds", "whole command, warm", seconds),
)
EXPECTED_OF_RUN = tuple(line._replace(key=f"expected_{line.key}") for line in EXPECTED)
STREAMED = (Line("transfers", "loads of partitions"), Line("bytes", "loaded", size))
RATES = (
    Line("gathers", "random reads of memory, one thread", reads),
    Line("disk_bytes", "reading the disk in order", size),
    Line("cached_bytes", "reading from the page cache", size),
    Line("disk_writes", "writing to the disk, synced", size),
    Line("disk_reads", "random reads of the disk", reads),
    Line("bus_bytes", "copying to a GPU", size),
    Line("bus_reads", "random reads of a GPU over the bus, of 512 MiB", reads),
    Line("far_reads", "of more than that", reads),
    Line("device_gathers", "random reads of a GPU's memory", reads),
)
HELD = (
    Line("path", "path"),
    Line("layout", "form of the sample"),
    Line("kept", "kept as"),
    Line("instances", "instances"),
    Line("edges", "sampled edges"),
    Line("min", "fewest edges of an instance"),
    Line("mean", "mean edges of an instance", mean),
    Line("max", "most edges of an instance"),
    Line("ended_early", "walks that ended early"),
    Line("ids", "--ids"),
    Line("groups", "groups of instances"),
    Line("unknown", "edges and lengths"),
    Line("bytes", "size on disk", size),
    Line("missing", "missing"),
)
DONE = (
    Line("instances", "instances"),
    Line("sampled_edges", "sampled edges"),
    Line("least_vertices", "fewest vertices of an instance"),
    Line("dead_ends", "dead ends"),
    Line("walks_ended", "walks that ended, by themselves or at a dead end"),
    Line("walks_cut", "walks that the limit cut before they ended"),
    Line("share_cut", "share of these", share),
    Line("bytes_written", "written", size),
    Line("shard", "shard"),
    Line("left", "groups left to other shards"),
    Line("resumed", "resumed"),
    Line("version", "version of csaw"),
)
SPEED = (
    Line("sampling_seconds", "sampling", seconds),
    Line("seps_sampling", "rate of sampling", rate),
    Line("kernels_seconds", "finding or compiling kernels", seconds),
    Line("compiling_seconds", "compiling only", seconds),
    Line("compiled", "compiled", names),
    Line("loading_seconds", "loading the graph, building its layout", seconds),
    Line("waiting_seconds", "waiting for the disk", seconds),
    Line("sealing_seconds", "sealing the store", seconds),
    Line("run_seconds", "whole run", seconds),
    Line("seps_run", "rate of the whole run", rate),
    Line("outside_seconds", "before and after the run", seconds),
    Line("command_seconds", "whole command", seconds),
    Line("kernel_seconds", "in kernels of a streamed graph", seconds),
    Line("kernel_deviation", "deviation of work between multiprocessors", share),
)
SELECTION = (
    Line("draws", "random draws"),
    Line("iterations", "candidates drawn"),
    Line("collisions", "candidates selected already"),
    Line("searches", "look-ups to find that out"),
    Line("conflicts", "conflicts between threads"),
    Line("rebuilt", "running sums computed again", EDGES),
)
LOADING = (
    Line("transfers", "loads of partitions"),
    Line("transfer_bytes", "loaded", size),
    Line("read_bytes", "read from the store for it", size),
    Line("overlapped", "loads during sampling"),
    Line("evictions", "partitions dropped to make room"),
    Line("in_place", "rounds that read single rows"),
    Line("expected_strategy", "way that the plan expected", lambda way: str(STRATEGIES.get(way, way))),
    Line("expected_transfers", "loads that the plan expected"),
    Line("expected_bytes", "size that the plan expected", size),
)


def plan_sections(graph: str, request: Facts, plan: Facts, units: str | None = None) -> list[Section]:
    """A request and the plan for it, as ``Request.as_dict`` and ``Plan.as_dict`` give them; ``units`` of times."""
    asked = [("graph", graph), ("--algo", str(request["algorithm"])), *lines_of(request, REQUEST)]
    kind = plan["device"].partition(":")[0]
    refused = [(f"--residency {name}", reason) for name, reason in plan["refused"].items()]
    return [
        options_of(request["algorithm"], request["parameters"], units),
        (SAMPLE, asked),
        (RUN, lines_of(plan, PLACE)),
        ("Memory of each GPU" if kind == "cuda" else "Memory", _memory(plan, kind)),
        (OUTPUT, lines_of({**request, **plan}, FORM)),
        (BASELINES, lines_of({**request, **plan}, METHODS) + lines_of(plan["policy"], POLICY)),
        ("Expected of streaming", lines_of(plan, PIECES, zeros=False) + lines_of(plan["expected"], STREAMED)),
        ("Ways to bring the graph, as expected", _strategies(plan)),
        ("Expected time", lines_of(plan["expected"], EXPECTED, zeros=False)),
        ("With more memory, as expected", _larger(plan)),
        (WAYS, ways(plan)),
        ("Rates of this machine, per second", _rates(plan["rates"], kind)),
        ("Faster residencies that cannot be used", refused),
    ]


FITS = {
    Residency.RESIDENT: "the graph fits in memory",
    Residency.POOLED: "the graph is spread over the GPUs",
    Residency.HOST: "the graph is streamed from host memory",
    Residency.DISK: "the graph is streamed from disk",
}


def verdict(job: "Job") -> str:
    """The line above a plan: what the run would make, on which device, how long it would take, and whether the graph
    fits.
    """
    from csaw.partition.base.quoting import counted

    plan, layout = job.plan, job.plan.sample_layout
    made = counted(plan.request.instances, *(layout.printed or layout.words))
    steps = plan.request.parameters.get("walk_length")
    made += f" of at most {steps:,} steps" if isinstance(steps, int) else ""
    if plan.output_bytes:
        made += f", about {size(plan.output_bytes)}"
    took = f" in about {seconds(plan.expected['seconds'])}" if "seconds" in plan.expected else ""
    place = "on the CPU" if plan.device == "cpu" else f"on {plan.device}"
    return f"{made}, {place}{took}; {FITS[plan.residency]}. Nothing is written."


def ways(done: Facts) -> list[tuple[str, str]]:
    """The devices that ``--device auto`` could use, with the expected seconds of each, or why it could not."""
    found = done.get("ways", {})
    return [(way, plain(said) if isinstance(said, str) else f"{seconds(said)} expected") for way, said in found.items()]


def _rates(rates: Facts, kind: str) -> list[tuple[str, str]]:
    """The rates that a plan for a ``kind`` of device counts on."""
    lines = RATES if kind == "cuda" else RATES[:4]
    return [(each.name, each.write(rates[each.key]) + ", assumed" * (each.key in rates["assumed"])) for each in lines]


def _strategies(plan: Facts) -> list[tuple[str, str]]:
    """A line for each way of streaming that suits the run: bytes, loads, seconds, and which one it takes."""
    chosen = plan["expected"].get("strategy")
    return [
        (
            STRATEGIES.get(way, way),
            (
                f"{size(each['bytes'])}, {plain(each['transfers'])} loads, "
                f"{seconds(each['seconds'])}{' (taken)' * (way == chosen)}"
            ),
        )
        for way, each in plan.get("strategies", {}).items()
    ]


def _larger(plan: Facts) -> list[tuple[str, str]]:
    """A line for each larger budget: the expected time and bytes, compared with those of this budget."""

    def said(each: Facts, now: Facts) -> str:
        bytes_read = f"{size(each['bytes'])} read instead of {size(now['bytes'])}"
        where = ", all in memory" if each["residency"] == Residency.RESIDENT else ""
        return f"{seconds(each['seconds'])} instead of {seconds(now['seconds'])}, {bytes_read}{where}"

    return [(option, said(each, plan["expected"])) for option, each in plan.get("larger", {}).items()]


def _memory(plan: Facts, kind: str) -> list[tuple[str, str]]:
    """The lines about the memory of a plan for a ``kind`` of device; what takes none is left out."""
    lines = BUDGETS[kind] + MEMORY + (HOST if kind == "cuda" else ())
    return lines_of(plan, lines, zeros=False) + lines_of(plan.get("fixed", {}), PARTS_OF_RUN, zeros=False)


def run_sections(results: Facts, where: str | None = None) -> list[Section]:
    """Return the report of a run, as ``execute`` returns it. Counts of what never happened are left out."""
    done = ([] if where is None else [("sample", where)]) + lines_of(results, DONE)
    return [
        ("Result", done),
        ("Time", lines_of(results, SPEED, zeros=False)),
        ("Time that the plan expected", lines_of(results, EXPECTED_OF_RUN, zeros=False)),
        (WAYS, ways(results)),
        ("Selection of neighbors", lines_of(results, SELECTION, zeros=False)),
        ("Loading of the graph", lines_of(results, LOADING, zeros=False)),
    ]


def worker_sections(results: Facts) -> list[Section]:
    """Return the report of each worker of a cluster, by its name."""
    lines = [
        (
            name,
            (
                f"{seconds(each['busy_seconds'])} at work, {seconds(each['sampling_seconds'])} sampling, "
                f"{size(each['bytes_written'])} written"
            ),
        )
        for name, each in results.get("workers", {}).items()
    ]
    return [("Workers", lines)]


def sample_sections(sample: Facts) -> list[Section]:
    """A sample store as ``describe`` gives it: what it holds, what was asked for, and what the run has done."""
    return [
        ("Sample", lines_of({**sample, **(sample["lengths"] or {})}, HELD)),
        options_of(sample.get("algorithm"), sample.get("parameters", {}), sample["graph"].get("time_units")),
        (SAMPLE, lines_of(sample, [*REQUEST[:-1], Line("select", "--select")])),
        ("Graph that it was sampled from", lines_of(sample["graph"], GRAPH)),
        *run_sections(sample["results"]),
        *worker_sections(sample["results"]),
    ]


# Options of an algorithm with the values that a run gives them.

TIMES = ("start_time", "last_time")  # options of csaw's algorithms that are times


def options_of(algorithm: object, parameters: Facts, units: str | None = None) -> Section:
    """The options of an algorithm with their values, as a section. The bias is left out in time, where weights do not
    count.

    Times have the ``units`` of the graph, and are also shown as in its input.
    """
    unweighed = {"bias": "none"} if parameters.get("time_strategy") and parameters.get("bias") == "weight" else {}
    times = {} if units is None else {name: dated(parameters[name], units) for name in TIMES if name in parameters}
    shown = {**parameters, **unweighed, **times}
    rows = [(flag_of(name), plain(one)) for name, value in shown.items() for one in _apart(value)]
    return f"Options of {algorithm}", rows


def _apart(value: object) -> Iterable[object]:
    """The values of an option that is given once for each relation, as it is given; otherwise the one that it has."""
    if not isinstance(value, dict):
        return (value,)
    return (f"{name}={','.join(map(str, sizes))}" for name, sizes in value.items() if any(sizes))


# The report of a dry run on a cluster: what each worker is expected to do, and what limits the run.

NAMED = 3  # most workers of a heading that are named one by one


def print_plans(graph: str, job: "Job", plans: Mapping[str, "Plan | str"], *, one_disk: bool, as_json: bool) -> None:
    """Print the request, what each worker is expected to do, and what is expected of all.

    ``plans``: by the names of workers, or why one has none. ``one_disk``: whether the workers share the disk of one
    machine.
    """
    from csaw.engine.cluster.forecast import of_all, shares

    found = shares(
        {name: plan for name, plan in plans.items() if not isinstance(plan, str)}, job.store, one_disk=one_disk
    )
    request, whole = job.plan.request.as_dict(), of_all(found)
    held = {
        name: plan if isinstance(plan, str) else plan.as_dict() | {"share": found[name].as_dict()}
        for name, plan in plans.items()
    }
    if as_json:
        console.print_json({"request": request, "workers": held, "limits": whole})
        return
    asked = plan_sections(graph, request, job.plan.as_dict())[:2]
    print_report([*asked, *_workers(held), *_worker_rates(held), ("Expected of the cluster", _of_all(whole))])


def _workers(held: Facts) -> list[Section]:
    """A section for each worker; those with the same plan have one, which has the largest share of theirs."""
    places = {name: [("cannot draw", plan)] if isinstance(plan, str) else _place(plan) for name, plan in held.items()}
    sections = []
    for names, lines in _alike(places):
        shares = [held[name]["share"] for name in names if not isinstance(held[name], str)]
        own = _share(max(shares, key=lambda share: share["groups"]), held[names[0]], len(names)) if shares else []
        sections.append((f"{_named(names)[0].upper()}{_named(names)[1:]}", [*own, *lines]))
    return sections


def _worker_rates(held: Facts) -> list[Section]:
    found = {name: _chosen(plan, "Rates") for name, plan in held.items() if not isinstance(plan, str)}
    return [(f"Rates of {_named(names)}, per second", lines) for names, lines in _alike(found)]


def _alike(said: Mapping[str, list[tuple[str, str]]]) -> list[tuple[list[str], list[tuple[str, str]]]]:
    """The names of workers of which the same lines are said, and these lines."""
    alike: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for name, lines in said.items():
        alike.setdefault(tuple(lines), []).append(name)
    return [(names, list(lines)) for lines, names in alike.items()]


def _named(names: list[str]) -> str:
    if len(names) == 1:
        return f"worker {names[0]}"
    return f"workers {', '.join(names)}" if len(names) <= NAMED else f"{len(names)} workers, {names[0]} to {names[-1]}"


def _chosen(plan: Facts, *headings: str) -> list[tuple[str, str]]:
    """The lines of the sections of a plan whose headings begin so."""
    sections = plan_sections("", {**plan, "request": {}, "algorithm": "", "parameters": {}}, plan)
    return [line for heading, lines in sections if heading.startswith(headings) for line in lines]


def _place(plan: Facts) -> list[tuple[str, str]]:
    return _chosen(plan, "Where and how", "Memory", "Expected of streaming")


def _share(share: Facts, plan: Facts, workers: int) -> list[tuple[str, str]]:
    again = f", in {plan['pieces']:,} pieces" if plan["pieces"] else ", once"
    return [
        ("share of each, at most" if workers > 1 else "share, about", _groups(share)),
        ("reads of the graph", size(share["bytes_read"]) + again),
        ("writes, about", size(share["bytes_written"])),
        *[(part, seconds(value)) for part, value in share["parts"].items()],
        ("expected in all", seconds(share["seconds"])),
        ("limited by", share["limit"]),
    ]


def _groups(share: Facts) -> str:
    many = share["groups"]
    return f"{many:,} group{'s' * (many != 1)}, {share['instances']:,} instances"


def _of_all(whole: Facts) -> list[tuple[str, str]]:
    if not whole:
        return [("workers that can draw", "none")]
    return [
        ("workers that can draw", plain(whole["workers"])),
        ("to draw", _groups(whole)),
        ("read by all workers", size(whole["bytes_read"])),
        ("written by all workers, about", size(whole["bytes_written"])),
        ("whole run, about", seconds(whole["seconds"])),
        ("limited by", whole["limit"]),
    ]
