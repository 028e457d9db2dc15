"""What the fuzzer finds by default, and in its long run: nothing. A failure says how to run its case alone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SHORT = (
    "faults=8",
    "texts=30",
    "formats=80",
    "options=4",
    "kills=2",
    "expressions=100",
    "objects=40",
    "roundtrips=25",
    "oddfiles=12",
    "classes=4",
    "calls=6",
    "planted=30",
    "grown=25",
    "typed=25",
)
LONG = {
    "faults": 2000,
    "texts": 2000,
    "formats": 6000,
    "options": 1000,
    "algorithms": 1000,
    "kernels": 300,
    "kills": 500,
    "expressions": 2000,
    "manifests": 2000,
    "objects": 2000,
    "roundtrips": 2000,
    "oddfiles": 2000,
    "classes": 2000,
    "calls": 1000,
    "planted": 5000,
    "grown": 3000,
    "typed": 3000,
}
TESTS = Path(__file__).parent.parent


def fuzz(*arguments):
    """Run ``python -m fuzz``; (exit status, what it said)."""
    environment = os.environ | {"PYTHONPATH": f"{TESTS / '_src'}{os.pathsep}{TESTS}"}
    ended = subprocess.run(
        [sys.executable, "-m", "fuzz", *arguments],
        env=environment,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return ended.returncode, ended.stdout


def test_commands_end_well_on_damaged_stores_strange_texts_foreign_formats_odd_options_own_classes_and_kills():
    code, told = fuzz(*SHORT, "--seed", "1")
    assert code == 0, told


@pytest.mark.slow(reason="the quick test runs some cases of each kind, these are thousands more")
@pytest.mark.parametrize("kind", LONG)
def test_thousands_of_cases_end_well(kind):
    code, told = fuzz(f"{kind}={LONG[kind]}", "--seed", "2")
    assert code == 0, told
