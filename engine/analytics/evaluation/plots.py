"""Plots of an evaluation: a figure for each distribution and curve, the graph beside its samples."""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from csaw.engine.analytics.evaluation.evaluate import Evaluation
from csaw.engine.analytics.evaluation.visits import distribution
from csaw.engine.analytics.measure import Column, Curve, Distribution, Finding
from csaw.partition.errors import MissingDependencyError, StoreError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLORS = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Of the graph, then of its samples: told apart by readers who see colors differently (Okabe and Ito)."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
INCHES = (6.4, 4.2)
FEW, MANY, BINS = 40, 60, 10
"""Points up to which they are marked, points of a curve from which it is drawn by bins, and bins for each factor of
ten.
"""
APART = 0.06  # least distance of two names, as a share of the axis


class Points(NamedTuple):
    """A line: ``y`` at ``x``, and what the axes are."""

    x: np.ndarray
    y: np.ndarray
    labels: tuple[str, str]


def check() -> None:
    """MissingDependencyError without Matplotlib."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise MissingDependencyError(
            "--plot: matplotlib is not installed; install it with pip install 'csaw[plots]'"
        ) from error


def write(found: Evaluation, folder: Path) -> list[Path]:
    """Write the figures to ``folder`` as PNG and SVG, named after their findings; returns the files.

    StoreError where that cannot be done.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{folder}: {error.strerror}; name another folder with --plot") from error
    files = []
    for name, finding in found.profile.items():
        lines = [(label, one) for label, one in _lines(found, name) if isinstance(one, Distribution | Curve)]
        if isinstance(finding, Distribution | Curve) or lines:
            graph: list[tuple[str, Finding]] = [(Path(found.graph).name, _shown(finding, name))]
            files += _saved(_figure(name, [*graph, *lines]), folder / name.replace(" ", "-"))
    return files


def _shown(finding: Finding, name: str) -> Finding:
    """The finding of the graph as it is drawn: of a column its distribution."""
    return distribution(finding.values, label=name) if isinstance(finding, Column) else finding


def _lines(found: Evaluation, name: str) -> list[tuple[str, Finding]]:
    """The finding of each sample under the name of its line; of instances that were taken one by one, the first."""
    lines: list[tuple[str, Finding]] = []
    for sample in found.samples:
        mine = [findings[name] for findings, _ in sample.findings if name in findings]
        lines += [
            (Path(sample.path).name + (" (first instance)" if len(sample.findings) > 1 else ""), one)
            for one in mine[:1]
        ]
    return lines


def _figure(name: str, lines: list[tuple[str, Finding]]) -> "Figure":
    """The lines in one figure, each named at the right where it ends, in its color."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=INCHES, layout="constrained")
    axis = figure.subplots()
    drawn = [(label, _points(finding)) for label, finding in lines]
    for number, (_, (x, y, _)) in enumerate(drawn):
        marker = MARKERS[number % len(MARKERS)] if x.size <= FEW else None
        axis.plot(x, y, color=_color(number), marker=marker, markersize=4, linewidth=1.5)
    x_label, y_label = drawn[0][1].labels
    axis.set(xlabel=x_label, ylabel=y_label, title=name)
    axis.set_xscale(_scale(np.concatenate([line.x for _, line in drawn])))
    axis.set_yscale(_scale(np.concatenate([line.y for _, line in drawn])))
    axis.grid(alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)
    _name_lines(axis, drawn)
    return figure


def _color(number: int) -> str:
    return COLORS[number % len(COLORS)]


def _name_lines(axis: "Axes", drawn: list[tuple[str, Points]]) -> None:
    """Write the names of lines at the right of the axis, at the heights where they end, without overlaps."""
    shown = [
        (axis.transAxes.inverted().transform(axis.transData.transform((x[-1], y[-1])))[1], k)
        for k, (_, (x, y, _)) in enumerate(drawn)
        if x.size
    ]
    heights: list[float] = []
    for height, _ in sorted(shown):
        heights.append(max(float(height), heights[-1] + APART if heights else -1.0))
    over = max(heights[-1] - 1.0, 0.0) if heights else 0.0
    for (_, number), height in zip(sorted(shown), heights, strict=True):
        name, color = drawn[number][0], _color(number)
        axis.text(1.02, height - over, name, transform=axis.transAxes, color=color, fontsize=9, va="center")


def _points(finding: Finding) -> Points:
    """The line of a curve, as means of bins where there are many points, or of a distribution.

    Of a distribution, y is the share of values that are at least x, which needs no bins.
    """
    if isinstance(finding, Curve):
        x, y = np.asarray(finding.x, np.float64), np.asarray(finding.y, np.float64)
        if x.size <= MANY or x.min() <= 0:
            return Points(x, y, finding.labels)
        place = np.floor(np.log10(x) * BINS)
        found = np.unique(place)
        means = np.array([[10 ** np.log10(x[place == one]).mean(), y[place == one].mean()] for one in found])
        x, y = means.T
        return Points(x, y, (finding.labels[0], f"{finding.labels[1]} (means of {BINS} bins a decade)"))
    assert isinstance(finding, Distribution)
    above = np.cumsum(finding.counts[::-1], dtype=np.float64)[::-1]
    share = above / max(above[0] if above.size else 1.0, 1.0)
    return Points(finding.values, share, (finding.label, "share with at least this"))


def _scale(values: np.ndarray) -> str:
    """The scale of an axis: logarithmic where positive values span more than a factor of 50."""
    positive = values[values > 0]
    if not positive.size or positive.max() <= 50 * positive.min():
        return "linear"
    return "symlog" if values.min() <= 0 else "log"


def _saved(figure: "Figure", path: Path) -> list[Path]:
    from matplotlib import rc_context

    files = [path.with_name(f"{path.name}.{kind}") for kind in ("svg", "png")]
    with rc_context({"svg.hashsalt": "csaw", "svg.fonttype": "none"}):
        figure.savefig(files[0], format="svg", metadata={"Date": None})
        figure.savefig(files[1], format="png", dpi=150)
    return files
