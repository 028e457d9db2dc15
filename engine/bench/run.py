"""A benchmark from end to end: the machine, its limits, then suite after suite with a verdict each.

The first row is the head of all others: none is printed that another kind of device has measured. A quick run measures
too little to be judged, so it has neither verdicts nor goals. A verdict is the last row of a suite: whether its claim
holds in the other rows, and the machines of the figures compared.
"""

from collections.abc import Iterator

from csaw.engine.bench import suites
from csaw.engine.bench.bench_row import GOALS, MACHINE, Row, gap, measured
from csaw.engine.bench.context import PAPER, Context
from csaw.engine.bench.graphs import default_graph, given, of_paper
from csaw.engine.bench.machine import about
from csaw.engine.devices.devices import AUTO, first_gpu, place
from csaw.partition.base.plain_data import OptionValue
from csaw.partition.errors import OptionError


def chosen(listed: tuple[str, ...]) -> list[str]:
    """The names of suites, each once; ``all`` stands for every suite, and a value may be a list with commas."""
    wanted = [name.strip() for one in listed for name in one.split(",") if name.strip()]
    wanted = [n for name in wanted for n in (suites.names() if name == "all" else [name])]
    for name in wanted:
        suites.load(name)  # an unknown name fails before anything is measured
    return list(dict.fromkeys(wanted))


def open_context(
    graphs: tuple[str, ...],
    *,
    paper: str | None = None,
    device: str = "auto",
    threads: int | None = None,
    max_edges: int | None = None,
    repeats: int = 3,
    quick: bool = False,
    **more: OptionValue,
) -> Context:
    """Open devices and graphs.

    ``graphs``: stores, text files, data sets or specs; ``paper``: take the graphs of this paper instead.
    """
    from csaw.partition.base.parallel import processors

    if graphs and paper:
        raise OptionError(
            f"--graphs {paper} and {graphs[0]}: expected either the paper's graphs or your own, found both"
        )
    devices = first_gpu() if device == AUTO else place(device)
    gpu = devices[0] if devices else None
    named = (
        of_paper(paper, gpu, max_edges, weighted=more.get("parameters", PAPER) == PAPER)
        if paper
        else [given(g) for g in graphs] or [given(default_graph(gpu, quick))]
    )
    return Context(
        named,
        devices,
        threads or processors(),
        1 if quick else repeats,
        quick=quick,
        chosen=bool(graphs or paper),
        **more,
    )


def run(context: Context, wanted: list[str], command: str = "") -> Iterator[Row]:
    """Yield bench rows as they are measured, then a verdict for each suite."""
    _check_peers(context, wanted)
    machine = about(context.device, context.threads, command)
    yield machine
    yield from context.limits
    found = False
    for name in wanted:
        suite, rows = suites.load(name), []
        for row in suite.rows(context):
            rows.append({"suite": name} | _under_head(row, context, machine["device"]))
            yield rows[-1]
        found = found or bool(rows)
        if rows and not context.quick:
            yield judged(name, rows, machine["device"])
    if not found and context.only:
        raise OptionError(
            f"--only {context.only}: no task of {', '.join(wanted)} with that text in its name runs on these "
            "graphs; leave out --only to see the names"
        )
    if not found:
        raise OptionError(
            f"no task of {', '.join(wanted)} runs on these graphs; most need weights, as in rmat:scale=20,weights=1"
        )


def _under_head(row: Row, context: Context, device: str) -> Row:
    """The row as it may stand below the head of the run: a gap if another kind of device has measured it."""
    other = row.get("ran_on", context.where)
    if other != context.where:
        about = {name: row[name] for name in ("graph", "vertices", "stored_edges", "peer") if name in row}
        why = row.get(
            "not_measured", f"{other} has measured it, and this run is of {device}; run with --device {other}"
        )
        return about | gap(row["work"], why)
    return {name: value for name, value in row.items() if not (context.quick and name in GOALS)}


def _check_peers(context: Context, wanted: list[str]) -> None:
    """OptionError for a name of ``--peer`` that no chosen suite measures."""
    if not context.peers:
        return
    known = {name: suites.load(name).peers for name in suites.names()}
    there = sorted({peer for name in wanted for peer in known[name]})
    for peer in context.peers:
        if peer not in there:
            said = f"no such peer; there are {', '.join(there)}" if there else f"{', '.join(wanted)} measures no peers"
            others = [name for name, peers in known.items() if peer in peers]
            raise OptionError(f"--peer {peer}: {said}" + (f"; use --suite {' or '.join(others)}" if others else ""))


def judged(suite: str, rows: list[Row], device: str) -> Row:
    """The row of a suite's verdict. ``device``: the machine that its other rows were measured on."""
    judge = suites.load(suite)
    verdict = judge.verdict(measured(rows, suite=suite))
    others = judge.published if verdict.holds is not None else ()
    machines = "".join(f"; {one.whose}: on {one.machine}, here on {device}" for one in others)
    return {"suite": suite, "claim": judge.claim, "holds": verdict.holds, "found": f"{verdict.found}{machines}"}


def judged_again(rows: list[Row]) -> list[Row]:
    """The rows of an earlier run with the verdicts that its suites give today."""
    device = next(row["device"] for row in rows if row["suite"] == MACHINE)
    return [judged(row["suite"], rows, device) if "claim" in row else row for row in rows]
