"""Plots of an evaluation take the place of earlier ones alone, and have the look that was asked for."""

import csv
from itertools import pairwise

import numpy as np
import pytest
from helpers.graphs import random_store
from helpers.machine import need_package

from csaw.engine import sample
from csaw.engine.analytics.evaluation import plots
from csaw.engine.analytics.evaluation.evaluate import evaluate
from csaw.engine.analytics.measure import Distribution
from csaw.partition.errors import OptionError, StoreError

need_package("matplotlib")
KINDS = ("csv", "pdf", "png", "svg")


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plots")
    store = random_store(folder / "g.zarr", vertices=100, edges=900)
    sample(store, folder / "fire.zarr", "forest-fire", instances=4)
    given = {"measures": "degree,core", "device": "cpu"}
    return evaluate(store, [folder / "fire.zarr"], labels="forest fires", **given)


def test_a_plot_has_the_title_labels_and_size_that_were_asked_for(found, tmp_path):
    files = found.plot(tmp_path / "plots", size=(3, 2), title="{finding} by csaw")
    names = [f"{name}.{kind}" for name in ("degree", "distribution-of-core") for kind in KINDS]
    assert sorted(path.name for path in files) == names == sorted(path.name for path in (tmp_path / "plots").iterdir())
    svg = (tmp_path / "plots" / "degree.svg").read_text()
    for text in ("Degree by csaw", "Degree", "Share with at least this", "g.zarr", "forest fires"):
        assert f">{text}</text>" in svg
    assert 'width="216pt"' in svg
    assert 'height="144pt"' in svg
    assert (tmp_path / "plots" / "degree.pdf").read_bytes().startswith(b"%PDF")
    found.plot(tmp_path / "bare", title="")
    assert ">Degree by csaw</text>" not in (tmp_path / "bare" / "degree.svg").read_text()


@pytest.mark.parametrize(
    ("text", "drawn"), [("\udcff", r"\udcff"), ("a\tb\x1b", r"a\tb\x1b"), ("$^$ for $5", "$^$ for $5"), ("ж ∞", "ж ∞")]
)
def test_any_title_and_label_is_drawn_as_text(found, tmp_path, text, drawn):
    """Of bytes that are not UTF-8, and of formulas that are none, too."""
    lines = plots.lines_of("g.zarr", found.profile, found.samples, [text])
    plots.write(lines, tmp_path, size=(3, 2), title=text, overwrite=False)
    svg = (tmp_path / "degree.svg").read_text()
    assert svg.count(f">{drawn}</text>") == 2  # the title and the line in the legend


def test_the_csv_has_all_points_of_the_lines(found, tmp_path):
    found.plot(tmp_path)
    with (tmp_path / "degree.csv").open() as file:
        rows = list(csv.DictReader(file))
    values = [float(row["degree"]) for row in rows if row["line"] == "g.zarr"]
    counts = [int(row["count"]) for row in rows if row["line"] == "g.zarr"]
    assert values == found.profile["degree"].values.tolist()
    assert counts == found.profile["degree"].counts.tolist()
    shares = [float(row["share with at least this"]) for row in rows if row["line"] == "g.zarr"]
    assert np.allclose(shares, np.cumsum(counts[::-1])[::-1] / 100)


@pytest.mark.parametrize(("sizes", "style"), [(2, "steps-pre"), (plots.FEW, "steps-pre"), (plots.FEW + 1, "default")])
def test_a_distribution_of_few_values_is_drawn_as_steps(sizes, style):
    finding = Distribution(np.arange(1, sizes + 1), np.ones(sizes, np.int64), "component size")
    (line,) = plots._figure([("g.zarr", finding)], "", (3, 2)).axes[0].lines
    assert line.get_drawstyle() == style


def test_the_same_evaluation_gives_the_same_bytes_in_place_of_the_earlier_plots(found, tmp_path):
    first = {path: path.read_bytes() for path in found.plot(tmp_path)}
    assert {path: path.read_bytes() for path in found.plot(tmp_path)} == first


@pytest.mark.parametrize("kind", KINDS)
def test_what_csaw_has_not_written_stays_unless_it_may_be_replaced(found, tmp_path, kind):
    mine = tmp_path / f"distribution-of-core.{kind}"
    mine.write_text("my own\n")
    with pytest.raises(StoreError, match=rf"core.{kind} exists already and is not .*; .* pass overwrite=True"):
        found.plot(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [mine.name], "nor is any other plot written"
    assert mine.read_text() == "my own\n"
    found.plot(tmp_path, overwrite=True)
    assert mine.read_bytes() != b"my own\n"


@pytest.mark.parametrize("size", [(0.5, 3), (3, 100), (float("nan"), 2)])
def test_sizes_have_bounds(found, tmp_path, size):
    with pytest.raises(OptionError, match="size: expected a (finite number|width and a height from 1 to 40 inches)"):
        found.plot(tmp_path / "plots", size=size)
    assert not (tmp_path / "plots").exists()


@pytest.mark.parametrize("largest", [60, 1e6, 1e15])
def test_labels_of_values_of_both_signs_have_room(largest):
    from matplotlib import rc_context

    values = np.unique(np.outer([-1, 1], np.geomspace(1, largest, 50)))
    lines = [("g.zarr", Distribution(values, np.ones(values.size, int), "value"))]
    with rc_context(plots.LOOK):
        figure = plots._figure(lines, "title", (6.4, 4.2))
        figure.draw_without_rendering()
        labels = [one for one in figure.axes[0].get_xticklabels() if one.get_text()]
        boxes = [one.get_window_extent() for one in labels]
    shown = [box for box in boxes if box.x0 >= 0 and box.x1 <= figure.bbox.x1]
    assert len(shown) >= 5
    assert all(one.x1 < two.x0 for one, two in pairwise(sorted(shown, key=lambda box: box.x0)))
