"""``csaw.node2vec(...)``: each algorithm as a function, with its own options in its signature and its docstring."""

import inspect
from pathlib import Path

import numpy as np
import pytest

import csaw
from csaw.engine.api import registry
from csaw.partition.errors import OptionError

NAMES = [name.replace("-", "_") for name in registry.names()]
STUB = (Path(csaw.__file__).with_name("__init__.pyi")).read_text()


@pytest.mark.parametrize("name", NAMES)
def test_the_function_of_an_algorithm_has_its_options_and_says_what_it_draws(name):
    draw, kind = getattr(csaw, name), registry.find(name.replace("_", "-"))
    assert draw is getattr(csaw, name)
    assert name in dir(csaw)
    shown = inspect.signature(draw).parameters
    assert list(shown) == ["graph", "out", *kind.options(), "options"]
    assert all(shown[key].default == one.default for key, one in kind.options().items())
    assert all(
        f"    {key}: {one.help.partition(' [default: ')[0]}" in draw.__doc__ for key, one in kind.options().items()
    )
    assert kind.paper in draw.__doc__
    assert f"\ndef {name}(\n" in STUB


@pytest.mark.parametrize(
    ("name", "options"),
    [("node2vec", {"p": 0.5, "walk_length": 5}), ("forest_fire", {"burn_prob": 0.4}), ("saint_walk", {"instances": 3})],
)
def test_it_draws_what_sample_draws(tmp_path, name, options):
    here = getattr(csaw, name)("karate", seed=3, **options)
    there = csaw.sample("karate", algo=name.replace("_", "-"), seed=3, **options)
    stored = getattr(csaw, name)("karate", tmp_path / "s.zarr", seed=3, **options)
    assert stored.path == tmp_path / "s.zarr"
    for one, other, third in zip(*(s.group(0, 3).items() for s in (here, there, stored)), strict=True):
        assert one[0] == other[0] == third[0]
        assert np.array_equal(one[1], other[1])
        assert np.array_equal(one[1], third[1])


def test_another_algorithm_and_names_that_are_none_are_refused():
    with pytest.raises(OptionError, match=r"algo: csaw.node2vec draws node2vec; csaw.sample draws any algorithm"):
        csaw.node2vec("karate", algo="deepwalk")
    with pytest.raises(OptionError, match=r"walks_per_node is not an option of node2vec; .*; did you mean num_walks\?"):
        csaw.node2vec("karate", walks_per_node=3)
    with pytest.raises(AttributeError, match="has no attribute 'nodetovec'"):
        csaw.nodetovec  # noqa: B018
