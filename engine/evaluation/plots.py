"""Plots of an evaluation: a figure for each distribution and curve, the graph beside its samples."""

from pathlib import Path
from typing import Any

import numpy as np

from csaw.engine.evaluation.visits import distribution
from csaw.engine.measure import Column, Curve, Distribution, Finding
from csaw.partition.errors import MissingDependencyError, StoreError

COLORS = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Of the graph, then of its samples: told apart by readers who see colors differently (Okabe and Ito)."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
INCHES = (6.0, 4.2)


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
    from matplotlib.figure import Figure

    figure = Figure(figsize=INCHES, layout="constrained")
    axis = figure.subplots()
    for number, (label, finding) in enumerate(lines):
        x, y, labels = _points(finding)
        style: dict[str, Any] = {
            "color": COLORS[number % len(COLORS)],
            "marker": MARKERS[number % len(MARKERS)],
            "markersize": 3.5,
            "linewidth": 1.2,
        }
        axis.plot(x, y, label=label, **style)
        if x.size:  # named beside the line's end, so that no legend has to be searched
            axis.annotate(
                label,
                (x[-1], y[-1]),
                xytext=(4, 4 + 9 * (number % 3)),
                textcoords="offset points",
                color=style["color"],
                fontsize=8,
            )
    axis.set(xlabel=labels[0], ylabel=labels[1], title=name)
    for which, values in (
        ("x", [p for _, f in lines for p in _points(f)[0]]),
        ("y", [p for _, f in lines for p in _points(f)[1]]),
    ):
        if _is_wide(np.array(values)):
            axis.set(**{f"{which}scale": "symlog" if min(values) <= 0 else "log"})
    axis.legend(fontsize=8)
    axis.grid(alpha=0.25)
    return figure


def _points(finding: Finding) -> tuple[np.ndarray, np.ndarray, tuple[str, str]]:
    """Points of a curve; of a distribution the share of values that are at least x, which needs no bins."""
    if isinstance(finding, Curve):
        return finding.x, finding.y, finding.labels
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
