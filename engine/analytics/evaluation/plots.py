"""Plots of an evaluation: a figure for each distribution and curve, the graph beside its samples."""

from pathlib import Path
from typing import Any

import numpy as np

from csaw.engine.analytics.evaluation.visits import distribution
from csaw.engine.analytics.measure import Column, Curve, Distribution, Finding
from csaw.partition.errors import MissingDependencyError, StoreError

COLORS = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Of the graph, then of its samples: told apart by readers who see colors differently (Okabe and Ito)."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
INCHES = (6.4, 4.2)
FEW, MANY, BINS = 40, 60, 10
"""Points up to which they are marked, points of a curve from which it is drawn by bins, and bins for each factor of ten."""
APART = 0.06  # least distance of two names, as a share of the axis


def check() -> None:
    """MissingDependencyError without Matplotlib."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise MissingDependencyError(
            "--plot: matplotlib is not installed; install it with pip install 'csaw[plots]'"
        ) from error


def write(found: Any, folder: Path) -> list[Path]:
    """Write the figures to ``folder`` as PNG and SVG, named after their findings; returns the files. StoreError where that cannot be done."""
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
    """What is drawn of the graph: of a column its distribution."""
    return distribution(finding.values, label=name) if isinstance(finding, Column) else finding


def _lines(found: Any, name: str) -> list[tuple[str, Finding]]:
    """The finding of each sample, the first instance of those that were taken one by one, with what the line is called."""
    lines: list[tuple[str, Finding]] = []
    for sample in found.samples:
        mine = [findings[name] for findings, _ in sample.findings if name in findings]
        lines += [
            (Path(sample.path).name + (" (first instance)" if len(sample.findings) > 1 else ""), one)
            for one in mine[:1]
        ]
    return lines


def _figure(name: str, lines: list[tuple[str, Finding]]) -> Any:
    """The lines in one figure, each named at the right where it ends, in its color."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=INCHES, layout="constrained")
    axis = figure.subplots()
    drawn = [(label, *_points(finding)) for label, finding in lines]
    for number, (_, x, y, _) in enumerate(drawn):
        marker = MARKERS[number % len(MARKERS)] if x.size <= FEW else None
        axis.plot(x, y, color=_color(number), marker=marker, markersize=4, linewidth=1.5)
    axis.set(xlabel=drawn[0][3][0], ylabel=drawn[0][3][1], title=name)
    for which, values in (
        ("x", np.concatenate([one[1] for one in drawn])),
        ("y", np.concatenate([one[2] for one in drawn])),
    ):
        if _is_wide(values):
            axis.set(**{f"{which}scale": "symlog" if values.min() <= 0 else "log"})
    axis.grid(alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)
    _name_lines(axis, drawn)
    return figure


def _color(number: int) -> str:
    return COLORS[number % len(COLORS)]


def _name_lines(axis: Any, drawn: list[tuple[str, np.ndarray, np.ndarray, tuple[str, str]]]) -> None:
    """Write the names beside the right end of the axis, at the heights where lines end, and no two on top of each other."""
    shown = [
        (axis.transAxes.inverted().transform(axis.transData.transform((x[-1], y[-1])))[1], k)
        for k, (_, x, y, _) in enumerate(drawn)
        if x.size
    ]
    heights: list[float] = []
    for height, _ in sorted(shown):
        heights.append(max(float(height), heights[-1] + APART if heights else -1.0))
    over = max(heights[-1] - 1.0, 0.0) if heights else 0.0
    for (_, number), height in zip(sorted(shown), heights, strict=True):
        name, color = drawn[number][0], _color(number)
        axis.text(1.02, height - over, name, transform=axis.transAxes, color=color, fontsize=9, va="center")


def _points(finding: Finding) -> tuple[np.ndarray, np.ndarray, tuple[str, str]]:
    """Points of a curve, as means of bins where there are many; of a distribution the share of values that are at least x, which needs no bins."""
    if isinstance(finding, Curve):
        x, y = np.asarray(finding.x, np.float64), np.asarray(finding.y, np.float64)
        if x.size <= MANY or x.min() <= 0:
            return x, y, finding.labels
        place = np.floor(np.log10(x) * BINS)
        found = np.unique(place)
        means = [[10 ** np.log10(x[place == one]).mean(), y[place == one].mean()] for one in found]
        return *np.array(means).T, (finding.labels[0], f"{finding.labels[1]} (means of {BINS} bins a decade)")  # type: ignore[return-value]
    assert isinstance(finding, Distribution)
    above = np.cumsum(finding.counts[::-1], dtype=np.float64)[::-1]
    return (
        finding.values,
        above / max(above[0] if above.size else 1.0, 1.0),
        (finding.label, "share with at least this"),
    )


def _is_wide(values: np.ndarray) -> bool:
    """Whether positive values span more than a factor of 50."""
    positive = values[values > 0]
    return bool(positive.size and positive.max() > 50 * positive.min())


def _saved(figure: Any, path: Path) -> list[Path]:
    from matplotlib import rc_context

    files = [path.with_name(f"{path.name}.{kind}") for kind in ("svg", "png")]
    with rc_context({"svg.hashsalt": "csaw", "svg.fonttype": "none"}):
        figure.savefig(files[0], format="svg", metadata={"Date": None})
        figure.savefig(files[1], format="png", dpi=150)
    return files
