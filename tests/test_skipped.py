"""Where everything should run, a test that is skipped for want of anything but a GPU or a network is a failure."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
CASE = """
import pytest

def test_one():
    pass

def test_two():
    pytest.skip({reason!r})
"""


@pytest.mark.parametrize(
    ("everything", "reason", "status"),
    [
        (True, "no groff here", 1),
        (False, "no groff here", 0),
        (True, "no GPU here", 0),
        (True, "needs a network", 0),
    ],
)
def test_a_skipped_test_fails_where_everything_should_run(tmp_path, everything, reason, status):
    shutil.copy(TESTS / "conftest.py", tmp_path)
    (tmp_path / "test_it.py").write_text(CASE.format(reason=reason))
    paths = os.pathsep.join([str(TESTS), str(TESTS / "_src")])
    env = {name: value for name, value in os.environ.items() if not name.startswith(("CSAW_TEST_ALL", "PYTEST"))}
    env |= {"PYTHONPATH": paths} | ({"CSAW_TEST_ALL": "1"} if everything else {})
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", str(tmp_path)]
    done = subprocess.run(command, env=env, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert done.returncode == status, done.stdout + done.stderr
    assert "1 tests or files skipped" in done.stdout
    assert ("though it needs neither" in done.stdout) == (reason == "no groff here")
