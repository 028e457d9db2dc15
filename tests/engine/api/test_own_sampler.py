"""The samplers of the page on writing one's own: each draws what the algorithm of csaw's own draws."""

import re
from pathlib import Path

import pytest
from helpers.graphs import arrays_of, random_store
from helpers.invariance import assert_same
from helpers.temporal import events_store, random_events

from csaw.engine import sample
from csaw.engine.stores.verify import verify

PAGE = Path(__file__).parents[3] / "docs" / "guides" / "own-sampler.md"
SAME = {
    "Jumps": ({"walk_length": 9}, "jump"),
    "Teleports": ({"walk_length": 9}, "jump"),
    "Restarts": ({"walk_length": 9}, "restart"),
    "Snowball": ({}, "snowball"),
    "ForestFire": ({}, "forest-fire"),
    "Frontier": ({"instances": 20, "frontier_size": 5}, "multidimensional"),
}


CHECKED = ("NearTheSource", "HubsFirst", "OneOfMany")
IN_TIME = ("Recent",)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    file = tmp_path_factory.mktemp("own") / "samplers.py"
    file.write_text("\n\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)))
    return str(file)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return random_store(tmp_path_factory.mktemp("page") / "g.zarr", vertices=300, edges=1200, partitions=3)


@pytest.mark.parametrize("name", SAME)
def test_a_class_of_the_page_draws_what_csaws_own_draws(tmp_path, store, page, name):
    options, own = SAME[name]
    drawn = arrays_of(store, tmp_path / "a.zarr", f"{page}:{name}", seed=3, **options)
    assert_same(arrays_of(store, tmp_path / "b.zarr", own, seed=3, **options), drawn)


@pytest.mark.parametrize("name", CHECKED)
def test_a_traversal_of_the_page_passes_its_checks(tmp_path, store, page, name):
    algo = f"{page}:{name}"
    drawn = sample(store, tmp_path / "s.zarr", algo, seed=3, device="cpu", instances=200)
    report = verify(drawn.path, algo=algo)
    assert report.ok, [check for check in report.checks if not check.ok]


@pytest.mark.parametrize("name", IN_TIME)
def test_a_walk_in_time_of_the_page_passes_its_checks(tmp_path, page, name):
    day, events = 86400, random_events(30, 2000, 3, span=60)
    store = events_store(tmp_path / "g.zarr", [(u, v, t * day // 40) for u, v, t in events], 30)
    algo = f"{page}:{name}"
    drawn = sample(store, tmp_path / "s.zarr", algo, seed=3, device="cpu", num_walks=100, walk_length=6, q=4.0)
    times, lengths = drawn["times"][:], drawn.lengths[:]
    walked = times[lengths > 1]
    assert len(walked)
    assert (walked[:, 1] > walked[:, 0]).all()
    assert (walked[:, 1] - walked[:, 0] <= day).all()
    report = verify(drawn.path, algo=algo)
    assert report.ok, [check for check in report.checks if not check.ok]
    assert any(check.name == "transitions, pooled" and check.tested for check in report.checks)


def test_the_page_names_all_of_its_classes(page):
    assert set(re.findall(r"^class (\w+)", Path(page).read_text(), re.MULTILINE)) == {*SAME, *CHECKED, *IN_TIME}
