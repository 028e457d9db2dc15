"""A plot of each suite, PNG and SVG: bars of rates with their spread, or lines over the column that the suite names in X."""

import math
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

from csaw.engine.bench import suites
from csaw.engine.bench.bench_row import MACHINE, Row, measured
from csaw.engine.bench.files import AUTHOR, check_plot, new_file
from csaw.partition.errors import MissingDependencyError

BAR_INCHES, WIDTH_INCHES = 0.28, 7.0
SVG: dict[str, Any] = {"format": "svg", "metadata": {"Date": None, "Creator": AUTHOR}}
PNG: dict[str, Any] = {"format": "png", "metadata": {"Software": AUTHOR}, "dpi": 150}
WIDE = 50  # if the fastest rate is more than this many times the slowest, the axis of bars is logarithmic


def check(folder: Path, names: Iterable[str]) -> None:
    """Check before measuring: MissingDependencyError without Matplotlib, StoreError if a suite's plot may not be written."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise MissingDependencyError(
            "--plot: matplotlib is not installed; install it with pip install '.[plots]'"
        ) from error
    for path in chain.from_iterable(_files(folder, name) for name in names):
        check_plot(path)


def write(rows: list[Row], folder: Path) -> list[Path]:
    """Plot every suite into ``folder``, in files named after the suite; returns them."""
    found = dict.fromkeys(row["suite"] for row in measured(rows) if row["suite"] != MACHINE)
    check(folder, found)
    folder.mkdir(parents=True, exist_ok=True)
    files = {name: _files(folder, name) for name in found}
    for name, paths in files.items():
        save(plot(rows, name), paths)
    return [path for paths in files.values() for path in paths]


def _files(folder: Path, name: str) -> list[Path]:
    return [folder / f"{name}.{kind}" for kind in ("svg", "png")]


def save(figure: Any, paths: list[Path]) -> None:
    """Save a figure to ``paths``; the same rows give the same bytes."""
    from matplotlib import rc_context

    with rc_context({"svg.hashsalt": "csaw", "svg.fonttype": "none"}):
        for path in paths:
            options = SVG if path.suffix == ".svg" else PNG
            with new_file(path) as file:
                figure.savefig(file, **options)


def plot(rows: list[Row], name: str) -> Any:
    """A Matplotlib figure of one suite, with an axis for each graph."""
    from matplotlib.figure import Figure

    found, over = measured(rows, suite=name), getattr(suites.load(name), "X", None)
    graphs = list(dict.fromkeys(row.get("graph", "") for row in found))
    tallest = 8 if over else max(sum(row.get("graph", "") == graph for row in found) for graph in graphs)
    figure = Figure(figsize=(WIDTH_INCHES, len(graphs) * (1.1 + BAR_INCHES * tallest)), layout="constrained")
    for axis, graph in zip(figure.subplots(len(graphs), squeeze=False, sharex=bool(over))[:, 0], graphs, strict=True):
        here = [row for row in found if row.get("graph", "") == graph]
        _lines(axis, here, over) if over else _bars(axis, here)
        axis.set_title(f"{name}{': ' + graph if graph else ''}", fontsize=9)
        axis.tick_params(which="both", labelsize=8)
    if over:
        figure.axes[0].legend(fontsize=8)  # all axes have the same lines
    return figure


def _spread(rows: list[Row]) -> list[list[float]]:
    return [[max(r["rate"] - r["slowest"], 0) for r in rows], [max(r["fastest"] - r["rate"], 0) for r in rows]]


def _bars(axis: Any, rows: list[Row]) -> None:
    spread = _spread(rows)
    errors = (
        {"xerr": spread, "error_kw": {"linewidth": 1}} if any(map(any, spread)) else {}
    )  # a single run has no spread
    axis.barh([r["work"] for r in rows], [r["rate"] for r in rows], color="tab:blue", **errors)
    axis.invert_yaxis()
    rates = [r["rate"] for r in rows]
    if max(rates) > WIDE * min(rates):
        axis.set_xscale("log")
        axis.set_xlim(left=10 ** math.floor(math.log10(min(rates))))
        axis.minorticks_off()  # minor ticks would take a third of an SVG file
    axis.set_xlabel(" and ".join(dict.fromkeys(r["unit"] for r in rows)), fontsize=8)
    axis.grid(axis="x", alpha=0.3)


def _lines(axis: Any, rows: list[Row], over: str) -> None:
    for series in dict.fromkeys(row["series"] for row in rows):
        here = sorted((row for row in rows if row["series"] == series), key=lambda row: row[over])
        axis.errorbar(
            [r[over] for r in here],
            [r["rate"] for r in here],
            yerr=_spread(here),
            marker="o",
            markersize=3,
            label=series,
        )
    points = sorted({row[over] for row in rows})
    axis.set_xscale("log", base=2)
    axis.set_xticks(points, [f"{point:,}" for point in points])
    axis.set_ylim(bottom=0)
    axis.set_xlabel(over.replace("_", " "), fontsize=8)
    axis.set_ylabel(rows[0]["unit"], fontsize=8)
    axis.grid(alpha=0.3)
