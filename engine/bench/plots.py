"""A plot of each suite, PNG and SVG: bars with goals, peers and the ceiling, or lines over the column X."""

import textwrap
from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from csaw.engine.bench import plot_panels, suites
from csaw.engine.bench.bench_row import MACHINE, Row, day, exceeded, measured
from csaw.engine.bench.earlier_runs import AUTHOR, check_plot
from csaw.partition.arrays.replace import new_result
from csaw.partition.base.plot_style import MUTED, RC, SMALL, TITLE, following_the_reader
from csaw.partition.base.quoting import short
from csaw.partition.errors import MissingDependencyError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH_INCHES, SIDES_INCHES = 7.4, 0.3
LINE_INCHES = 0.205  # of height
PANEL_INCHES, AROUND_INCHES = 0.52, 0.85  # of height, beside its lines, and for title and caption
NARROW = 19  # characters of the title of a narrow panel
MOST_BESIDE = 4  # graphs with the same works whose panels stand side by side


def check(folder: Path, names: Iterable[str]) -> None:
    """Check before measuring that plots can be written.

    MissingDependencyError without Matplotlib, StoreError if a suite's plot may not replace a file.
    """
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise MissingDependencyError("--plot needs Matplotlib: pip install matplotlib") from error
    for path in chain.from_iterable(_files(folder, name) for name in names):
        check_plot(path)


def write(rows: list[Row], folder: Path) -> list[Path]:
    """Plot every suite into ``folder``, in files named after the suite; returns them."""
    found = dict.fromkeys(row["suite"] for row in measured(rows) if row["suite"] != MACHINE)
    check(folder, found)
    folder.mkdir(parents=True, exist_ok=True)
    files = {name: _files(folder, name) for name in found}
    for name, paths in files.items():
        save(rows, name, paths)
    return [path for paths in files.values() for path in paths]


def _files(folder: Path, name: str) -> list[Path]:
    return [folder / f"{name}.{kind}" for kind in ("svg", "png")]


def save(rows: list[Row], name: str, paths: list[Path]) -> None:
    """Save the plot of a suite to ``paths``; the same rows give the same bytes.

    An SVG follows the reader's light or dark setting; a PNG is light.
    """
    from matplotlib import rc_context

    with rc_context(RC):
        figure = plot(rows, name)
        for path in paths:
            content = _svg(figure, alternative(rows, name)) if path.suffix == ".svg" else _png(figure)
            with new_result(path) as file:
                file.write(content)


def _svg(figure: "Figure", title: str) -> bytes:
    out = BytesIO()
    figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": AUTHOR, "Title": title})
    return following_the_reader(out.getvalue().decode()).encode()


def _png(figure: "Figure") -> bytes:
    out = BytesIO()
    figure.savefig(out, format="png", dpi=200, facecolor="white", metadata={"Software": AUTHOR})
    return out.getvalue()


def alternative(rows: list[Row], name: str) -> str:
    """The plot of a suite in a sentence, for readers who do not see it."""
    found = measured(rows, suite=name)
    best = max(found, key=lambda row: row["rate"] if row["unit"] == found[0]["unit"] else 0)
    count = f"{len(found)} figures, the highest" if len(found) > 1 else "one figure,"
    return (
        f"{name} on {rows[0].get('device', 'this machine')}: {count} "
        f"{short(best['rate'], best['unit'])} ({best['work']})"
    )


def plot(rows: list[Row], name: str) -> "Figure":
    """A Matplotlib figure of one suite."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    found, over = measured(rows, suite=name), suites.load(name).over
    figure = Figure(layout=ConstrainedLayoutEngine(w_pad=0.06, h_pad=0.06, hspace=0.03, wspace=0.04))
    height = _lines(figure, found, over) if over else _bars(figure, found, plot_panels.ceiling_of(rows))
    figure.set_size_inches(WIDTH_INCHES, height + AROUND_INCHES)
    figure.suptitle(_title(name, found), x=0.008, ha="left", fontsize=TITLE, fontweight="bold")
    figure.supxlabel(caption(rows, found, lines=bool(over)), x=0.008, ha="left", fontsize=SMALL, color=MUTED)
    return figure


def _title(name: str, found: list[Row]) -> str:
    graphs = {row.get("graph", "") for row in found}
    return ": ".join(filter(None, [name.replace("-", " ").capitalize(), *(graphs if len(graphs) == 1 else ())]))


def caption(rows: list[Row], found: list[Row], *, lines: bool) -> str:
    """The machine, the date, and what the marks are."""
    first = rows[0]
    said = [first.get("device", ""), f"csaw {first['csaw']}" if "csaw" in first else ""]
    said += [day(first["date"])] if "date" in first else []
    repeats = {row["repeats"] for row in found}
    if max(repeats) > 1:
        said.append("medians, with the slowest and the fastest of the repeats as thin lines")
    else:
        said.append("one run each")
    if any(row.get("goal") for row in found):
        others = dict.fromkeys(row["goal_of"] for row in found if "goal_of" in row)
        said.append(", ".join(["upright marks: goals", *others]))
    if in_seconds(found) and any(row.get("limits") for row in found):
        said.append("orange marks: the slowest limit")
    if any(map(plot_panels.is_peer, found)):
        said.append("blue: csaw, orange: peers")
    if lines and any("efficiency" in row for row in found):
        said.append("dotted: as many times as one")
    ceiling = plot_panels.ceiling_of(rows)
    if ceiling and not lines and plot_panels.has_ceiling(found, ceiling):
        said.append("gather ceiling: one random read of memory for each edge")
    said += exceeded(found)
    return textwrap.fill(" · ".join(filter(None, said)), 118)


def _bars(figure: "Figure", rows: list[Row], ceiling: float | None) -> float:
    """Draw panels of bars: a row for each unit, graphs with the same works side by side.

    Returns their height in inches.
    """
    grid = list(_grid(rows))
    lengths = [max(plot_panels.lines(cell)[-1].y + 1 for cell in line) for line in grid]
    heights = [PANEL_INCHES + LINE_INCHES * length for length in lengths]
    width = max(map(len, grid))
    axes = figure.subplots(len(grid), width, squeeze=False, gridspec_kw={"height_ratios": heights})
    inches = (WIDTH_INCHES - SIDES_INCHES - max(plot_panels.label_inches(line[0]) for line in grid)) / width
    for line, row in zip(axes, grid, strict=True):
        for number, (axis, cell) in enumerate(zip(line, row, strict=True)):
            beside = cell if width == 1 else list(chain(*row))
            scale = plot_panels.Scale(beside, seconds=in_seconds(cell))
            plot_panels.draw_bars(
                axis, cell, scale, ceiling if width == 1 else None, beside=beside, labels=number == 0, inches=inches
            )
            if width > 1:
                plot_panels.title(axis, _narrow(cell[0]["graph"]))
            elif len({one.get("graph") for one in rows}) > 1:
                plot_panels.title(axis, cell[0]["graph"])
    return sum(heights)


def in_seconds(rows: list[Row]) -> bool:
    """Whether rows are shown as the seconds that they take: those of whole commands.

    Of these some count bytes and others nothing.
    """
    return any(row["unit"] == "commands/s" for row in rows)


def _grid(rows: list[Row]) -> Iterator[list[list[Row]]]:
    """Lines of panels, each of one graph and unit."""
    cells: dict[str, dict[str, list[Row]]] = {}
    for row in rows:
        unit = "seconds" if in_seconds(rows) else row["unit"]
        cells.setdefault(row.get("graph", ""), {}).setdefault(unit, []).append(row)
    works = [{unit: [row["work"] for row in cell] for unit, cell in units.items()} for units in cells.values()]
    if 1 < len(cells) <= MOST_BESIDE and all(one == works[0] for one in works):
        yield from ([units[unit] for units in cells.values()] for unit in works[0])
    else:
        yield from ([cell] for units in cells.values() for cell in units.values())


def _lines(figure: "Figure", rows: list[Row], over: str) -> float:
    """Small panels of lines; returns their height in inches."""
    panels = plot_panels.panels(rows, over)
    width = plot_panels.columns(len(panels))
    height = -(-len(panels) // width)
    shared = len({row.get("graph", "") for row in rows}) > 1
    axes = figure.subplots(height, width, squeeze=False, sharey=shared, sharex=True)
    scales = {title: plot_panels.Scale(rows if shared else cell, seconds=False) for title, cell in panels.items()}
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    for axis, (title, cell) in zip(axes.flat, panels.items(), strict=False):
        scale = scales[title]
        most = max(row["fastest"] for row in (rows if shared else cell)) / scale.by
        plot_panels.draw_lines(axis, cell, over, scale, most)
        plot_panels.title(axis, _narrow(title) if width > 1 else title)
        if axis in axes[:, 0] or not shared:
            axis.set_ylabel(scale.label, fontsize=SMALL)
    for axis in axes[-1]:
        axis.set_xlabel(plot_panels.named(over, rows), fontsize=SMALL)
    return height * (plot_panels.PANEL_INCHES + (0.35 if width > 2 else 0.1))


def _narrow(title: str) -> str:
    """The name of a graph or a series for a narrow panel."""
    if title.startswith("stand-in for "):
        name, _, share = title.removeprefix("stand-in for ").partition(":")[0].partition(", ")
        return f"{name}\nstand-in{f', {share}' if share else ''}".replace(" of its vertices", "")
    parameters = {"rmat:": "", "edge_factor=": "factor ", "scale=": "scale ", "undirected=0": "directed", ",": ", "}
    for written, said in parameters.items() if title.startswith("rmat:") else ():
        title = title.replace(written, said)
    return textwrap.fill(title, NARROW)
