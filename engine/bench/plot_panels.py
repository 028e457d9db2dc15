"""Panels of plots: bars of one graph and unit, or lines over the column that a suite names.

Bars are rates with their spread, values beside them, goals as marks, the ceiling as a line. Works of one kind stand
under a heading. Where rates are far apart the axis is logarithmic, and points take the place of bars, whose lengths
would say nothing. Lines stand in small panels with values at the points; each graph has a panel, or each kind of work.
"""

from collections.abc import Iterator
from textwrap import shorten
from typing import TYPE_CHECKING, NamedTuple

from csaw.engine.bench.bench_row import FULL, MACHINE, Row, ceiling_text, limits_text, measured
from csaw.partition.base.plot_style import CSAW, GRID, INK, LIMIT, MUTED, PEER, SMALL, TEXT, bare
from csaw.partition.base.quoting import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDE = 100  # if the largest value is more than this many times the smallest, the axis is logarithmic
THICK, GAP = 0.62, 0.3  # of a bar, and between groups, in lines
NEAR = 0.1  # share of the ceiling from which a row is near it,
ENOUGH = 0.2  # and share of rows that are, for the ceiling to be drawn
CHARACTER, LABEL_CHARACTER = 4.4, 5.0  # points that a character of a value and of a label takes, about
LONGEST = 38  # characters of a limit
MOST_SHARE = 0.75  # of the axis, for a value
FIRST = "csaw"


class Line(NamedTuple):
    """One line of a panel: a figure with its label, or a heading, which has none.

    ``y``: its middle, in lines from the top.
    """

    y: float
    text: str
    row: Row | None = None


def lines(rows: list[Row]) -> list[Line]:
    """Put rows under headings: the common part of the names of consecutive works, up to a comma.

    If most works are of no such group, there are no headings.
    """
    groups = list(_groups(rows))
    if 2 * sum(len(group) for _, group in groups if len(group) > 1) <= len(rows):
        groups = [("", [row]) for row in rows]
    found: list[Line] = []
    y, after_group = 0.0, False
    for kind, group in groups:
        alone = len(group) == 1
        y += GAP if found and (after_group or not alone) else 0
        if not alone:
            found.append(Line(y, kind))
            y += 1
        found += [
            Line(y + k, row["work"] if alone else row["work"].removeprefix(f"{kind}, "), row)
            for k, row in enumerate(group)
        ]
        y, after_group = y + len(group), not alone
    return found


def label_inches(rows: list[Row]) -> float:
    """The width of the labels beside a panel, about."""
    return max(len(line.text) for line in lines(rows) if line.row) * LABEL_CHARACTER / 72


def _groups(rows: list[Row]) -> Iterator[tuple[str, list[Row]]]:
    """Consecutive rows with the common part of their names; a row alone has its own group."""
    group = rows[:1]
    for row in [*rows[1:], None]:
        kind = group[0]["work"].rpartition(", ")[0]
        if row and kind and row["work"].startswith(f"{kind}, "):
            group.append(row)
        else:
            yield kind, group
            group = [row] if row else []


class Scale:
    """The unit of an axis: seconds, or a rate with the prefix that its largest value asks for."""

    def __init__(self, rows: list[Row], *, seconds: bool) -> None:
        self.seconds = seconds
        self.unit = "seconds, less is better" if seconds else rows[0]["unit"]
        values = [x for row in rows for x in (self.value(row), self.goal(row), self.limit(row)) if x]
        self.log = max(values) > WIDE * min(values)
        prefix = next((p for p in ((1e9, "G"), (1e6, "M"), (1e3, "k")) if max(values) >= p[0]), (1.0, ""))
        self.by, self.prefix = (1.0, "") if seconds or self.log else prefix
        self.least, self.most = min(values) / self.by, max(values) / self.by

    @property
    def label(self) -> str:
        return f"{self.prefix} {self.unit}".strip()

    def value(self, row: Row) -> float:
        return row["seconds"] if self.seconds else row["rate"]

    def goal(self, row: Row) -> float | None:
        """The goal of a row in the unit of :meth:`value`; None without one."""
        if not row.get("goal"):
            return None
        return row["seconds"] * row["rate"] / row["goal"] if self.seconds else row["goal"]

    def limit(self, row: Row) -> float | None:
        """The seconds of the slowest limit of a row; None without one.

        None, too, on an axis of rates, which limits are often far beyond.
        """
        return max(row["limits"].values()) if self.seconds and row.get("limits") else None

    def spread(self, row: Row) -> tuple[float, float]:
        """The ends of the spread of a row's repeats, the smaller one first, on the axis."""
        ends = [row["slowest"], row["fastest"]]
        if self.seconds:
            ends = [row["seconds"] * row["rate"] / rate for rate in reversed(ends)]
        return ends[0] / self.by, ends[1] / self.by

    def text(self, value: float) -> str:
        if self.log and not self.seconds:
            return short(value)
        return number(value / self.by) + (" s" if self.seconds else "")


def number(value: float) -> str:
    """Three digits, zeros at the end included; of a larger number all before the point."""
    return f"{value:#.3g}".rstrip(".") if value < 1000 else f"{value:,.0f}"


def draw_bars(
    axis: "Axes",
    rows: list[Row],
    scale: Scale,
    ceiling: float | None,
    *,
    beside: list[Row],
    labels: bool,
    inches: float,
) -> None:
    """Draw a panel.

    ``ceiling``: gathers/s of the machine; ``beside``: rows of all panels with the same axis; ``inches``: the width for
    bars and values.
    """
    shown, full = lines(rows), beside is rows

    def share(text: str) -> float:
        return min(len(text) * CHARACTER / 72 / inches, MOST_SHARE)

    bare(axis)
    high = ceiling / scale.by if ceiling and has_ceiling(rows, ceiling) else 0.0
    texts = [_value_text(line.row, scale, full=full) if line.row else line.text for line in shown]
    needed = [(_end(row, scale), share(_value_text(row, scale, full=full))) for row in beside]
    _limits(axis, scale, [*needed, (high, 0.02)])
    for line, text in zip(shown, texts, strict=True):
        if line.row is None:
            axis.text(
                0,
                line.y + 0.1,
                text,
                transform=axis.get_yaxis_transform(),
                va="center",
                fontsize=SMALL,
                fontweight="bold",
                color=MUTED,
            )
        else:
            _bar(axis, line.y, line.row, scale, text)
    named = [line for line in shown if line.row]
    axis.set_yticks([line.y for line in named], [line.text if labels else "" for line in named], fontsize=TEXT)
    axis.set_ylim(shown[-1].y + 0.6, -1.5 if high else -0.6)
    axis.set_xlabel(scale.label, fontsize=SMALL)
    axis.grid(axis="x")
    if high:
        ends = [_end(line.row, scale) if line.row else 0.0 for line in shown]
        _ceiling(
            axis, high, scale, [(line.y, end, share(text)) for line, end, text in zip(shown, ends, texts, strict=True)]
        )


def has_ceiling(rows: list[Row], ceiling: float) -> bool:
    """Whether enough of the rows sample edges so fast that the ceiling is to be drawn."""
    near = [row for row in rows if ("of_ceiling" in row or "peer" in row) and row["rate"] >= NEAR * ceiling]
    return len(near) >= ENOUGH * len(rows)


def _limits(axis: "Axes", scale: Scale, needed: list[tuple[float, float]]) -> None:
    """The ends of the axis.

    ``needed``: where something ends on it, and the share of the axis that its text takes behind that.
    """
    needed = [(end, share + 0.015) for end, share in needed if end]
    most = max(end for end, _ in needed)
    if scale.log:
        low = scale.least / 2.5
        axis.set_xscale("log")
        axis.set_xlim(low, max(low * (end / low) ** (1 / (1 - share)) for end, share in needed))
        axis.minorticks_off()
        axis.xaxis.set_major_formatter(lambda value, _: f"{value:g}" if scale.seconds else short(value))
    else:
        axis.set_xlim(0, max(end / (1 - share) for end, share in needed))
    axis.set_xticks([tick for tick in axis.get_xticks() if axis.get_xlim()[0] <= tick <= most])


def _bar(axis: "Axes", y: float, row: Row, scale: Scale, text: str) -> None:
    value, (low, high), goal = scale.value(row) / scale.by, scale.spread(row), scale.goal(row)
    color = PEER if is_peer(row) else CSAW
    if scale.log:
        axis.plot([axis.get_xlim()[0], value], [y, y], color=GRID, linewidth=1.2, zorder=1)
        axis.plot([value], [y], marker="o", markersize=6, color=color, markeredgewidth=0, zorder=3)
    else:
        axis.barh(y, value, THICK, color=color)
    if high > low:
        axis.plot([low, high], [y, y], color=INK if not scale.log else color, linewidth=1, zorder=2)
    if limit := scale.limit(row):
        axis.plot([limit], [y], marker="|", markersize=11, markeredgewidth=1.8, color=LIMIT, zorder=4)
    if goal:
        axis.plot([goal / scale.by], [y], marker="|", markersize=11, markeredgewidth=1.8, color=INK, zorder=4)
    axis.annotate(text, (_end(row, scale), y), xytext=(5, 0), textcoords="offset points", va="center", fontsize=SMALL)


def is_peer(row: Row) -> bool:
    """Whether a figure is not csaw's."""
    return row.get("peer", FIRST) != FIRST or (row.get("times_of") == FIRST and row["times"] != 1.0)


def _end(row: Row, scale: Scale) -> float:
    """The largest value that is drawn of a row, on the axis."""
    return max(scale.value(row) / scale.by, scale.spread(row)[1], (scale.goal(row) or 0) / scale.by)


def _value_text(row: Row, scale: Scale, *, full: bool) -> str:
    """The value of a row, and with ``full`` its goal, and the limit that it exceeds or is measured by."""
    said, goal = [scale.text(scale.value(row))], scale.goal(row)
    if full and goal:
        said.append(f"goal {scale.text(goal)}")
    if full and row.get("limits"):
        said.append(shorten(limits_text(row), LONGEST, placeholder=" ..."))
    if full and row.get("of_ceiling", 0) >= FULL:
        said.append(ceiling_text(row))
    return ", ".join(said)


def _ceiling(axis: "Axes", at: float, scale: Scale, texts: list[tuple[float, float, float]]) -> None:
    """The ceiling as a line that leaves out the texts that it would cross.

    ``texts``: (y, where it begins, its share of the axis).
    """

    def place(value: float) -> float:
        return axis.transAxes.inverted().transform(axis.transData.transform((value, 0)))[0]

    crossed = [
        (y - 0.5, y + 0.5)
        for y, end, share in texts
        if (begin := place(end) if end else 0.0) <= place(at) <= begin + 1.15 * share + 0.02
    ]
    begin, end = axis.get_ylim()[1], axis.get_ylim()[0]
    for low, high in [*crossed, (end, end)]:
        axis.plot([at, at], [begin, low], color=LIMIT, linewidth=1.4, zorder=2.5, solid_capstyle="butt")
        begin = high
    text = f"gather ceiling {scale.text(at * scale.by)}"
    axis.annotate(
        text,
        (at, -1.1),
        xytext=(-5, 0),
        textcoords="offset points",
        ha="right",
        va="center",
        fontsize=SMALL,
        color=LIMIT,
    )


def ceiling_of(rows: list[Row]) -> float | None:
    """The machine's gathers a second in a run; None if they were not measured."""
    return max((row["rate"] for row in measured(rows, suite=MACHINE, unit="gathers/s")), default=None)


POOLED = ", pooled"
MOST_COLUMNS = 4
PANEL_INCHES = 1.75
LARGE = 10**7  # from which on ticks have two digits


def panels(rows: list[Row], over: str) -> dict[str, list[Row]]:
    """The rows of each panel by its title: of each graph, if there are several, else of each series.

    A pooled series stands beside its own. Where ``over``, the column of the axis, is one number for each graph, a
    series goes through all graphs.
    """
    points = {(row.get("graph", ""), row[over]) for row in rows}
    by_graph = 1 < len({graph for graph, _ in points}) < len(points)
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["graph"] if by_graph else row["series"].removesuffix(POOLED), []).append(row)
    return found


def columns(count: int) -> int:
    """How many panels stand side by side: as even a grid as there is."""
    return count if count <= MOST_COLUMNS else -(-count // -(-count // MOST_COLUMNS))


def draw_lines(axis: "Axes", rows: list[Row], over: str, scale: Scale, most: float) -> None:
    """Draw a panel; ``most``: the largest value of the panels that share its axis, in the unit of ``scale``."""
    bare(axis)
    for series in dict.fromkeys(row["series"] for row in rows):
        here = sorted((row for row in rows if row["series"] == series), key=lambda row: row[over])
        color = PEER if series.endswith(POOLED) else CSAW
        x, y = [row[over] for row in here], [row["rate"] / scale.by for row in here]
        if "efficiency" in here[0] and len(here) > 1:
            axis.plot(x, [y[0] * value / x[0] for value in x], color=MUTED, linewidth=1, linestyle=(0, (1, 2)))
        ends = [scale.spread(row) for row in here]
        spread = [
            [value - low for value, (low, _) in zip(y, ends, strict=True)],
            [high - value for value, (_, high) in zip(y, ends, strict=True)],
        ]
        axis.errorbar(
            x, y, yerr=spread, color=color, linewidth=1.6, elinewidth=1, marker="o", markersize=4, markeredgewidth=0
        )
        for at, value in zip(x, y, strict=True):
            word = "pooled " if series.endswith(POOLED) else ""
            axis.annotate(
                f"{word}{number(value)}",
                (at, value),
                xytext=(2, 6),
                textcoords="offset points",
                ha="right",
                fontsize=SMALL,
            )
    points = sorted({row[over] for row in rows})
    axis.set_xscale("log", base=2)
    axis.set_xticks(points, [_count(point) for point in points])
    axis.minorticks_off()
    axis.set_xlim(points[0] / 1.9, points[-1] * 1.25)
    axis.set_ylim(0, most * 1.18)
    axis.tick_params(axis="y", labelcolor=MUTED)
    axis.grid(axis="y")


def named(over: str, rows: list[Row]) -> str:
    """The name of the horizontal axis."""
    if over == "gpus":
        return "threads" if "thread(s)" in rows[0]["work"] else "GPUs"
    return over.replace("_", " ")


def title(axis: "Axes", text: str) -> None:
    axis.set_title(text, fontsize=TEXT, loc="left", fontweight="bold", color=MUTED)


def _count(point: int) -> str:
    if point >= LARGE:
        return f"{point:.1e}".replace("e+", "e")
    return f"{point // 1000}k" if point >= 1000 and point % 1000 == 0 else f"{point:,}"
