"""The report of a dry run on a cluster: what each worker is expected to do, and what limits the run."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from csaw.cli import console
from csaw.cli.reports.run import plan_sections
from csaw.cli.reports.sections import Facts, Section, plain, print_report, seconds, size

if TYPE_CHECKING:
    from csaw.engine.plan.plan import Plan
    from csaw.engine.runs.job import Job

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
    print_report([*asked, *_workers(held), *_rates(held), ("Expected of the cluster", _of_all(whole))])


def _workers(held: Facts) -> list[Section]:
    """A section for each worker; those with the same plan have one, which has the largest share of theirs."""
    places = {name: [("cannot draw", plan)] if isinstance(plan, str) else _place(plan) for name, plan in held.items()}
    sections = []
    for names, lines in _alike(places):
        shares = [held[name]["share"] for name in names if not isinstance(held[name], str)]
        own = _share(max(shares, key=lambda share: share["groups"]), held[names[0]], len(names)) if shares else []
        sections.append((f"{_named(names)[0].upper()}{_named(names)[1:]}", [*own, *lines]))
    return sections


def _rates(held: Facts) -> list[Section]:
    found = {name: _chosen(plan, "Rates") for name, plan in held.items() if not isinstance(plan, str)}
    return [(f"Rates of {_named(names)}, a second", lines) for names, lines in _alike(found)]


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
        ("what limits", share["limit"]),
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
        ("reads of all", size(whole["bytes_read"])),
        ("writes of all, about", size(whole["bytes_written"])),
        ("whole run, about", seconds(whole["seconds"])),
        ("what limits", whole["limit"]),
    ]
