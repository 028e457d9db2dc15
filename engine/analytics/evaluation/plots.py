"""Plots of an evaluation: a figure for each distribution and curve, with the graph and its samples."""

import csv
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from io import BytesIO, StringIO
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from csaw.engine.analytics.evaluation.tables import Compared
from csaw.engine.analytics.evaluation.visits import distribution
from csaw.engine.analytics.measure import Column, Curve, Distribution, Finding, Findings
from csaw.partition.arrays import replace
from csaw.partition.arrays.replace import FILE
from csaw.partition.arrays.replace import check as check_free
from csaw.partition.base.plot_style import CSAW, INK, LIMIT, PEER, RC, following_the_reader
from csaw.partition.base.quoting import printable
from csaw.partition.errors import MissingDependencyError, OptionError, StoreError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

AUTHOR = "csaw evaluate"  # in the metadata of a plot
COLORS = (INK, CSAW, LIMIT, "#009e73", "#cc79a7", PEER, "#56b4e9")
"""Of the graph, then of its samples: told apart by readers who see colors differently (Okabe and Ito)."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LEAST, MOST = 1, 40  # inches of a side
FINDING = "{finding}"  # stands for the finding in a title
LOOK = RC | {"font.size": 10.0, "legend.fontsize": 9.0}
FEW, MANY, BINS = 40, 60, 10
"""Points up to which they are marked, points of a curve from which it is drawn by bins, and bins for each factor of
ten.
"""
SEEN = 2000  # places along the axis x, of which one point each is drawn
TICKS = 7  # of an axis with values of both signs, whose labels are wide, about
KINDS = ("pdf", "png", "svg", "csv")
SHARE = "share with at least this"


Drawn = Distribution | Curve
Lines = list[tuple[str, Drawn]]
"""The lines of a figure with their names: of the graph, then of samples."""


class Points(NamedTuple):
    """A line: ``y`` at ``x``, and what the axes are."""

    x: np.ndarray
    y: np.ndarray
    labels: tuple[str, str]
    style: str = "default"  # of matplotlib: a line from point to point, or steps


def check(size: tuple[float, float]) -> None:
    """MissingDependencyError without Matplotlib; OptionError for a ``size`` that no plot has."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise MissingDependencyError("--plot needs Matplotlib: pip install matplotlib") from error
    if not all(LEAST <= side <= MOST for side in size):
        raise OptionError(
            f"--plot-size: expected a width and a height from {LEAST} to {MOST} inches, found {size[0]:g}x{size[1]:g}"
        )


def write(
    lines: Mapping[str, Lines], folder: Path, *, size: tuple[float, float], title: str, overwrite: bool
) -> list[Path]:
    """Write a figure for each finding of :func:`lines_of`; the arguments and errors of ``Evaluation.plot``.

    No plot is written where one of them cannot be.
    """
    check(size)
    places = {name: [folder / f"{name.replace(' ', '-')}.{kind}" for kind in KINDS] for name in lines}
    for name, files in places.items():
        _check_places(files, _heading(lines[name]), overwrite)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{folder}: {error.strerror}; name another folder with --plot") from error
    for name, files in places.items():
        said = printable(title.replace(FINDING, _sentence(name)))
        for path, content in zip(files, _contents(lines[name], said, size), strict=True):
            with replace.new_result(path) as file:
                file.write(content)
    return [path for files in places.values() for path in files]


def _check_places(files: list[Path], heading: str, overwrite: bool) -> None:
    """StoreError where a file is there that csaw has not written: plots name csaw, and CSV has its heading."""
    for path in files:
        if overwrite:
            check_free(path, FILE, overwrite=True)
            continue
        mark, what = (heading, "of") if path.suffix == ".csv" else (AUTHOR, "")
        expected = f"{what} a plot of csaw evaluate".strip()
        remedy = "give another folder, or pass --overwrite"
        replace.check_result(path, partial(replace.names_author, author=mark), expected, remedy)


def lines_of(graph: str, profile: Findings, samples: Sequence[Compared], names: Sequence[str]) -> dict[str, Lines]:
    """The findings that are drawn, distributions and curves of the graph or of a sample, and the lines of each.

    Of instances that were taken one by one, the first is drawn.
    """
    found = {name: [(printable(Path(graph).name), _shown(one, name))] for name, one in profile.items()}
    for label, sample in zip(names, samples, strict=True):
        several = " (first instance)" if len(sample.findings) > 1 else ""
        for findings, _ in sample.findings[:1]:
            for name, one in findings.items():
                found[name].append((printable(label) + several, one))
    kept = {name: [(label, one) for label, one in lines if isinstance(one, Drawn)] for name, lines in found.items()}
    columns = {name for name, one in profile.items() if isinstance(one, Column)}
    return {name: lines for name, lines in kept.items() if len(lines) > (name in columns)}


def _shown(finding: Finding, name: str) -> Finding:
    """The finding of the graph as it is drawn: of a column its distribution."""
    return distribution(finding.values[finding.known], label=name) if isinstance(finding, Column) else finding


def _contents(lines: Lines, title: str, size: tuple[float, float]) -> tuple[bytes, bytes, bytes, bytes]:
    """The files of a figure in the order of ``KINDS``; the same findings give the same bytes."""
    from matplotlib import rc_context

    with rc_context(LOOK), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of letters that its font lacks, and of figures with little room
        figure = _figure(lines, title, size)
        pdf, png, svg = BytesIO(), BytesIO(), BytesIO()
        figure.savefig(pdf, format="pdf", metadata={"Creator": AUTHOR, "CreationDate": None})
        figure.savefig(png, format="png", dpi=200, facecolor="white", metadata={"Software": AUTHOR})
        figure.savefig(svg, format="svg", transparent=True, metadata={"Creator": AUTHOR, "Date": None})
    return pdf.getvalue(), png.getvalue(), following_the_reader(svg.getvalue().decode()).encode(), _table(lines)


def _heading(lines: Lines) -> str:
    """The first line of the CSV."""
    out = StringIO()
    csv.writer(out, lineterminator="\n").writerow(["line", *_columns(lines[0][1])])
    return out.getvalue()


def _columns(finding: Drawn) -> tuple[str, ...]:
    return finding.labels if isinstance(finding, Curve) else (finding.label, "count", SHARE)


def _parts(finding: Drawn) -> tuple[np.ndarray, ...]:
    if isinstance(finding, Curve):
        return finding.x, finding.y
    return finding.values, finding.counts, _share(finding)


def _table(lines: Lines) -> bytes:
    """All points of the lines as CSV: of a curve x and y, of a distribution its values with counts and shares."""
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for label, finding in lines:
        writer.writerows([label, *row] for row in zip(*(part.tolist() for part in _parts(finding)), strict=True))
    return (_heading(lines) + out.getvalue()).encode()


def _figure(lines: Lines, title: str, size: tuple[float, float]) -> "Figure":
    """The lines in one figure, with a legend where there are several."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    axis = figure.subplots()
    drawn = [(label, _points(finding)) for label, finding in lines]
    x_label, y_label = drawn[0][1].labels
    axis.set(xlabel=_sentence(x_label), ylabel=_sentence(y_label))
    axis.set_title(_no_formula(title), loc="left", fontweight="bold", wrap=True)
    for scaled, set_scale in (("x", axis.set_xscale), ("y", axis.set_yscale)):
        kind, thresholds = _scale(np.concatenate([getattr(line, scaled) for _, line in drawn]))
        set_scale(kind, **thresholds)
    if axis.get_xscale() == "symlog":
        axis.locator_params(axis="x", numticks=TICKS)
    for number, (label, line) in enumerate(drawn):
        _draw(axis, number, _no_formula(label), line)
    axis.grid(visible=True)
    if len(drawn) > 1:
        axis.legend(frameon=False, labelcolor="linecolor", handlelength=1.6)
    return figure


def _draw(axis: "Axes", number: int, label: str, line: Points) -> None:
    """Draw a line, of which no more points than can be told apart; few are marked."""
    x, y = line[:2]
    color, marker = COLORS[number % len(COLORS)], MARKERS[number % len(MARKERS)] if x.size <= FEW else None
    if x.size > SEEN:
        place = np.log(np.maximum(x, x[x > 0].min())) if axis.get_xscale() != "linear" else x
        step = (place[-1] - place[0]) / SEEN
        kept = np.flatnonzero(np.diff(np.floor((place - place[0]) / step), prepend=-1.0))
        kept = np.union1d(kept, x.size - 1)
        x, y = x[kept], y[kept]
    axis.plot(x, y, color=color, marker=marker, markersize=4, linewidth=1.5, label=label, drawstyle=line.style)


def _no_formula(text: str) -> str:
    """The text with dollars that begin no formula."""
    return text.replace("$", r"\$")


def _sentence(text: str) -> str:
    """The text with a capital letter at its beginning."""
    return text[:1].upper() + text[1:]


def _points(finding: Drawn) -> Points:
    """The line of a curve, as means of bins where there are many points, or of a distribution.

    Of a distribution, y is the share of values that are at least x, which needs no bins. Few values, as the sizes of
    components, are steps: nothing lies between them.
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
    style = "steps-pre" if finding.values.size <= FEW else "default"
    return Points(finding.values, _share(finding), (finding.label, SHARE), style)


def _share(finding: Distribution) -> np.ndarray:
    """The share of the values that are at least as large as each."""
    above = np.cumsum(finding.counts[::-1], dtype=np.float64)[::-1]
    return above / max(above[0] if above.size else 1.0, 1.0)


def _scale(values: np.ndarray) -> tuple[str, dict[str, float]]:
    """The scale of an axis: logarithmic where positive values span more than a factor of 50.

    Beside negative values, -1, 0 and 1 are a decade apart, or a sixth of all, so that their labels have room.
    """
    positive = values[values > 0]
    if not positive.size or positive.max() <= 50 * positive.min():
        return "linear", {}
    if values.min() > 0:
        return "log", {}
    if values.min() == 0:
        return "symlog", {}
    decades = np.log10(max(-float(values.min()), float(values.max())))
    return "symlog", {"linthresh": 1, "linscale": max(1.0, decades / 6)}
