"""Source grows by decision: tests/budgets.toml holds each room to a number of lines."""

import tomllib
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TOP = ("cli", "datasets", "engine", "package", "partition")
SUFFIXES = {".py", ".pyi", ".cu", ".cuh"}
SLACK = 0.01  # of a budget that may be left over, before it is lowered
BUDGETS = tomllib.loads(Path(__file__).with_name("budgets.toml").read_text())["lines"]


def room_of(file):
    """The room of a source file: the longest folder that has a budget."""
    return next(str(folder) for folder in file.parents if str(folder) in BUDGETS)


@pytest.fixture(scope="module")
def lines():
    """Lines of source by room."""
    found = Counter()
    for file in (file for name in TOP for file in (ROOT / name).rglob("*") if file.suffix in SUFFIXES):
        found[room_of(file.relative_to(ROOT))] += len(file.read_text().splitlines())
    return found


@pytest.mark.parametrize("room", BUDGETS)
def test_a_room_keeps_to_its_budget(lines, room):
    assert lines[room] <= BUDGETS[room], (
        f"{room} has {lines[room]:,} lines, {BUDGETS[room]:,} are allowed: make it shorter, or raise its budget in "
        "tests/budgets.toml with the reason beside it"
    )


@pytest.mark.parametrize("room", BUDGETS)
def test_a_budget_is_lowered_when_its_room_shrinks(lines, room):
    assert lines[room] >= (1 - SLACK) * BUDGETS[room], (
        f"{room} has {lines[room]:,} lines: lower its budget of {BUDGETS[room]:,} in tests/budgets.toml to that"
    )
