"""Lines over the column that a suite names in X, in small panels with values at the points.

Each graph has a panel, or each kind of work.
"""

from typing import TYPE_CHECKING

from csaw.engine.bench.bench_row import Row
from csaw.engine.bench.plot_bars import Scale, number
from csaw.partition.base.plot_style import CSAW, MUTED, PEER, SMALL, TEXT, bare

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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


def draw(axis: "Axes", rows: list[Row], over: str, scale: Scale, most: float) -> None:
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
