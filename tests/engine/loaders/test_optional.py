"""Loaders without PyTorch: an error says what to install, and nothing else of csaw needs it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from csaw.engine import loaders
from csaw.engine.loaders.tensors import needed
from csaw.partition.errors import MissingDependencyError

ENGINE = Path(__file__).parents[3] / "engine"


@pytest.mark.parametrize(
    ("module", "said"),
    [
        ("torch", "PyTorch: pip install torch"),
        ("torch_geometric.loader", "PyTorch Geometric: pip install torch_geometric"),
    ],
)
def test_what_is_missing_is_named_with_the_way_to_install_it(monkeypatch, module, said):
    monkeypatch.setitem(sys.modules, module.partition(".")[0], None)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingDependencyError) as error:
        needed(module)
    assert f"this loader needs {said}" in str(error.value)


def test_loaders_are_listed_and_load_when_they_are_asked_for():
    code = "import sys, csaw.engine.loaders as loaders; print(loaders.__all__, 'torch' in sys.modules)"
    said = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ENGINE.parent / "tests" / "_src")},
    )
    assert said.stdout.strip() == f"{loaders.__all__} False"
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        loaders.Nothing  # noqa: B018
