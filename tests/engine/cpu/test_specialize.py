"""Kernel functions with their constants folded in: which ones plans share, and that each finds what it calls."""

import ast
import builtins
import sys

import pytest

from csaw.engine.algorithms.deepwalk import Deepwalk
from csaw.engine.algorithms.neighbor import Neighbor
from csaw.engine.algorithms.temporal import Temporal
from csaw.engine.api.hooks import Hook
from csaw.engine.cpu.specialize import FILES, Kernels, _body, _parsed, names_of
from csaw.engine.schedule.specialization import OFF, WEIGHT, neighbor_constants, time_constants
from csaw.partition.graph.edge_columns import TIME, TIME_ORDER

FUNCTIONS, CONSTANTS = _parsed(tuple(map(_body, FILES)))
OTHER = {name: not value for name, value in CONSTANTS.items() if isinstance(value, bool)}
OTHER |= {"SELECT": "its", "COLLISION": "updated", "DETECT": "linear"}


def text_of(function):
    return function.py_func.__globals__["__spec__"].loader.get_data(function.py_func.__code__.co_filename).decode()


@pytest.mark.parametrize("constants", [{}, OTHER], ids=["as written", "all others"])
@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_every_function_finds_all_names_that_it_reads(name, constants):
    function = getattr(Kernels(constants, [WEIGHT]), name)
    [tree] = [node for node in ast.parse(text_of(function)).body if isinstance(node, ast.FunctionDef)]
    assert tree.name == name
    assert names_of(tree) <= vars(sys.modules[function.__module__]).keys() | vars(builtins).keys()
    assert not names_of(tree) & CONSTANTS.keys()


def test_plans_share_what_reads_nothing_in_which_they_differ():
    one, other = Kernels({"DETECT": "linear"}, [WEIGHT]), Kernels({"DETECT": "contiguous"}, [])
    for shared in ("accumulate", "pick_word", "save", "search_rest", "geometric_sizes", "by_keys", "build_bloom"):
        assert getattr(one, shared) is getattr(other, shared)
    for differing in ("is_taken", "successive", "select_by_sums", "edge_bias", "weigh", "walk_by_row"):
        assert getattr(one, differing) is not getattr(other, differing)


def test_what_a_constant_rules_out_is_not_there():
    by_keys = Kernels({"SELECT": "keys", "UNIFORM": False}, [WEIGHT]).select_neighbors
    assert "by_keys" in text_of(by_keys)
    assert not any(
        name in text_of(by_keys) for name in ("by_inverse_transform", "with_replacement", "uniform_distinct")
    )
    uniform = Kernels({"SELECT": "uniform", "REPLACE": True}, [WEIGHT]).select_neighbors
    assert "edge_bias" not in text_of(uniform)
    assert "weigh" not in text_of(uniform)


def test_what_a_function_calls_is_part_of_its_name():
    """Or a cache would answer with machine code of what it called before."""
    wrong = Hook(WEIGHT.name, WEIGHT.source.replace("weight\n", "2.0 * weight\n"), WEIGHT.reads)
    assert wrong.source != WEIGHT.source
    one, other = (Kernels({"NEIGHBOR_WEIGHTS": True}, [hook]).walk_by_row for hook in (WEIGHT, wrong))
    assert one.__module__ != other.__module__


def test_constants_of_time_are_those_of_its_rules_and_without_times_off():
    assert {name: CONSTANTS.get(name) for name in OFF} == OFF
    asked = {"time_strategy": "last", "start_time": 1, "time_window": 1, "time_order": "strict"}
    assert neighbor_constants(Neighbor(**asked), [TIME, TIME_ORDER]).keys() == OFF.keys()
    for walk in (Deepwalk(), Temporal(), Temporal(start_time=1, time_window=1, last_time=9)):
        assert time_constants(walk, [TIME, TIME_ORDER]).keys() == OFF.keys()
    assert neighbor_constants(Neighbor(), []) == time_constants(Deepwalk(), []) == OFF
