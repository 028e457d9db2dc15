"""Bench rows, the results of a benchmark: plain dictionaries that are written to JSON as they are.

Every row has ``suite``. Beside that

    a figure        work, graph (if there is one), rate, slowest, fastest, unit (what is counted a second: edges/s,
                    bytes/s,
                    gathers/s), repeats, and columns of the suite's own
                    goal is the rate to be reached, goal_of says whose if it is another's, met whether it was; limits
                    has the seconds of the least that the work can take, by name; ran_on is the kind of the device that
                    did the work, cpu or cuda
    a gap           work, graph, not_measured: the reason
    a verdict       claim, holds (true, false, null if it cannot be decided), found
    the machine     the first row, suite ``machine``: csaw, device, threads, command, date
"""

import statistics
from collections.abc import Callable, Mapping
from datetime import date
from typing import NamedTuple

from csaw.partition.base.plain_data import Record

Row = Record
MACHINE = "machine"  # the suite of the machine's own limits
GOALS = ("goal", "goal_of", "met")  # columns
WORTH_SAYING = 0.01  # share of the ceiling below which memory is not the bottleneck
FULL = 1.005  # share of a limit that is more than all of it, once it is rounded
ABOVE_CEILING = "above the ceiling: draws find rows in the cache that other draws have brought there"
ABOVE_LEAST = "faster than the slowest limit: the system keeps some of what moves, such as alias tables, in its memory"

from csaw.partition.base.quoting import short


class Verdict(NamedTuple):
    """Whether a claim holds in the rows of a suite, and the numbers found; ``holds`` None: it cannot be decided."""

    holds: bool | None
    found: str


class Published(NamedTuple):
    """A figure that others have measured and a claim is about: whose it is, and their machine."""

    whose: str
    machine: str


class Ratio(NamedTuple):
    """The ratio of two medians that a claim is about, with its range over single repeats."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        ends = f", {self.low:.3g} to {self.high:.3g}" if self.low < self.high else ""
        return f"{self.median:.3g}{ends}"


def figure(rates: list[float], unit: str = "edges/s") -> Row:
    """The median of some rates with their spread; every figure of a benchmark is a rate, so more is better."""
    return {
        "rate": statistics.median(rates),
        "slowest": min(rates),
        "fastest": max(rates),
        "unit": unit,
        "repeats": len(rates),
    }


def measured(rows: list[Row], **having: object) -> list[Row]:
    """The figures among ``rows`` whose columns have the values ``having``."""
    return [row for row in rows if "rate" in row and all(row.get(name) == value for name, value in having.items())]


def kind_of(device: str) -> str:
    """The kind of a plan's device, as ``ran_on`` of a row has it: cuda of ``cuda:0,1``."""
    return device.partition(":")[0]


def gap(work: str, reason: object) -> Row:
    """The row of a work that was not measured, for this reason."""
    return {"work": work, "not_measured": str(reason)}


def rate_of(rows: list[Row], work: str) -> float | None:
    """The rate of a work among ``rows``; None if it was not measured."""
    return next((row["rate"] for row in measured(rows, work=work)), None)


def beside(row: Row, rate: float | None, of: str) -> Row:
    """The columns that set a figure beside another ``rate``, which ``of`` names; none if one was not measured."""
    return {"times": row["rate"] / rate, "times_of": of} if rate and "rate" in row else {}


def named(rows: list[Row]) -> dict[str, Row]:
    """The rows by the names of their works; of several graphs with that of the graph."""
    several = len({row.get("graph") for row in rows}) > 1
    return {f"{row['work']} on {row['graph']}" if several else row["work"]: row for row in rows}


def key(row: Row) -> tuple[str, str, str]:
    """(suite, graph, work), which identify a figure in every run."""
    return row["suite"], row.get("graph", ""), row["work"]


def ratio(row: Row, other: Row) -> Ratio:
    """The rate of a row beside that of another: the slowest repeat beside the other's fastest, and so on."""
    return Ratio(row["rate"] / other["rate"], row["slowest"] / other["fastest"], row["fastest"] / other["slowest"])


def ratio_in(row: Row, column: str) -> Ratio:
    """A share of something fixed that the row has for its median, with the ends that its repeats have."""
    share = row[column]
    return Ratio(share, share * row["slowest"] / row["rate"], share * row["fastest"] / row["rate"])


def paired(rows: list[Row], way: str, other: str) -> dict[str, tuple[Row, Row]]:
    """The rows of each work that was measured in both ways, ``way`` and ``other``, by the name of the work."""
    found = {(row["graph"], row["work"]): row for row in measured(rows)}
    pairs = {}
    for name, row in named(rows).items():
        case = row["work"].removesuffix(f", {way}")
        beside_it = found.get((row["graph"], f"{case}, {other}"))
        if "rate" in row and case != row["work"] and beside_it is not None:
            pairs[name.replace(f", {way}", "", 1)] = row, beside_it
    return pairs


def by_row(found: Mapping[str, float | Ratio], met: Callable[[float], bool], said: str) -> Verdict:
    """Say whether every row meets a claim, at both ends of its spread: ``met`` is true of large figures.

    The words are the range of the medians, ``said``, which they are, the names of the rows that do not meet it, or of
    the only one, and those of the rows that meet it at one end alone, of which nothing can be said.
    """
    ratios = {name: one if isinstance(one, Ratio) else Ratio(one, one, one) for name, one in found.items()}
    medians = [one.median for one in ratios.values()]
    missed = {name: one for name, one in ratios.items() if not met(one.high)}
    unsure = {name: one for name, one in ratios.items() if met(one.high) and not met(one.low)}
    holds = False if missed else None if unsure else True
    if len(ratios) == 1:
        ((name, one),) = ratios.items()
        ends = f", {one.low:.3g} to {one.high:.3g}" if one.low < one.high else ""
        return Verdict(
            holds, f"{one.median:.3g} {said} ({name}{ends}{', on both sides of the claim' if unsure else ''})"
        )
    parts = {"it fails for": missed, "on both sides of the claim, repeat by repeat:": unsure}
    words = "; ".join(
        f"{how} {'; '.join(f'{name} ({one})' for name, one in rows.items())}" for how, rows in parts.items() if rows
    )
    return Verdict(holds, f"{min(medians):.3g} to {max(medians):.3g} {said}{f' ({words})' if words else ''}")


def all_of(verdicts: list[Verdict]) -> Verdict:
    """The parts of a claim as one verdict: it holds if all of them do, and cannot be decided without one."""
    undecided = any(verdict.holds is None for verdict in verdicts)
    holds = False if any(verdict.holds is False for verdict in verdicts) else None if undecided else True
    return Verdict(holds, "; ".join(verdict.found for verdict in verdicts))


def goal_text(row: Row, unit: str = "") -> str:
    """The goal of a figure as text, of commands the time that one may take; empty without a goal."""
    if not row.get("goal"):
        return ""
    return f"{1 / row['goal']:.3g} s" if row["unit"] == "commands/s" else short(row["goal"], unit)


def met_text(row: Row) -> str:
    """Whether the figure meets its goal, as text; empty if the row does not say."""
    return {None: "", True: "met", False: "missed"}[row.get("met")]


def share_text(share: float, of: str) -> str:
    """Write a share of a limit: ``0.83, the ceiling`` as ``83 % of the ceiling``.

    More than all of it is written as ``1.33 times the ceiling``, as that is no limit here.
    """
    return f"{100 * share:.0f} % of {of}" if share < FULL else f"{times_text(share)} {of}"


def times_text(times: float) -> str:
    """``1.3344`` as ``1.33 times``."""
    return f"{times:.2f} times"


def limits_text(row: Row) -> str:
    """Name the slowest of the figure's limits, and the share of its seconds that it takes; empty without limits."""
    share, name = slowest_limit(row)
    return share_text(share, name if share < FULL else f"as fast as {name}") if name else ""


def slowest_limit(row: Row) -> tuple[float, str]:
    """Return the share of the figure's seconds that the slowest of its limits takes, and the limit's name.

    (0, "") without limits.
    """
    if not row.get("limits"):
        return 0.0, ""
    name, seconds = max(row["limits"].items(), key=lambda limit: limit[1])
    return seconds / row["seconds"], name


def ceiling_text(row: Row) -> str:
    """Write the figure's rate beside the gather ceiling; empty where memory is not the bottleneck.

    It is empty, too, where the row does not say.
    """
    return share_text(row["of_ceiling"], "the ceiling") if row.get("of_ceiling", 0) >= WORTH_SAYING else ""


def exceeded(rows: list[Row]) -> list[str]:
    """For each limit that some of ``rows`` exceed, a sentence that says how that can be."""
    ceiling = any(row.get("of_ceiling", 0) >= FULL for row in rows)
    least = any(slowest_limit(row)[0] >= FULL for row in rows)
    return [ABOVE_CEILING] * ceiling + [ABOVE_LEAST] * least


def duration(seconds: float) -> str:
    """``0.0187`` as ``18.7 ms``."""
    return f"{1e3 * seconds:,.3g} ms" if seconds < 1 else f"{seconds:,.3g} s" if seconds < 1000 else f"{seconds:,.0f} s"


def day(iso: str) -> str:
    """``2026-11-26`` as ``26 November 2026``."""
    one = date.fromisoformat(iso)
    return f"{one.day} {one:%B %Y}"


def spread(row: Row) -> str:
    """The slowest and the fastest of a figure's repeats, as text."""
    return f"{short(row['slowest'])} to {short(row['fastest'])}"
