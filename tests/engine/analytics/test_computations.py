"""Each computation is a function of the modules that its table names, which is read here without CuPy."""

import ast
from pathlib import Path

import pytest

from csaw.engine.analytics.computations import COMPUTATIONS, function, lacking
from csaw.engine.analytics.measure import find, names

FOLDER = Path(__file__).parents[3] / "engine/analytics"


def functions(device, module):
    tree = ast.parse((FOLDER / device / f"{module}.py").read_text())
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("name", COMPUTATIONS)
def test_modules_have_the_functions(name):
    one = COMPUTATIONS[name]
    assert name in functions("cpu", one.cpu)
    assert function("cpu", name).__name__ == name
    if one.cuda:
        assert name in functions("cuda", one.cuda)
        assert one.pays == (f"{name}_pays" in functions("cuda", one.cuda))
    else:
        assert lacking("cuda", (name,)) == [name]
        assert [one.shared, one.pays, one.spread] == [False] * 3


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("name", names())
def test_measures_name_computations(name, directed):
    assert COMPUTATIONS.keys() >= set(find(name)().computes(directed))
