"""scripts/compare, which times the commands of two checkouts beside each other."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def compared(*arguments):
    command = [sys.executable, ROOT / "scripts" / "compare", ROOT, *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True, text=True)


def test_both_checkouts_run_what_was_chosen_and_a_command_of_the_users(tmp_path):
    asked = ("--scale", 6, "--rounds", 1, "--only", "partition", "--command", "info {graph}", "--out", tmp_path)
    done = compared(ROOT, *asked)
    assert done.returncode == 0, done.stderr
    assert [line.split("|")[1].strip() for line in done.stdout.splitlines()] == [
        "command",
        "---",
        "partition text",
        "info {graph}",
    ]
    assert list(tmp_path.iterdir()) == []


def test_a_command_that_fails_is_quoted_with_its_checkout_and_its_error(tmp_path):
    done = compared(
        ROOT, "--scale", 6, "--rounds", 1, "--only", "help", "--command", "info missing.zarr", "--out", tmp_path
    )
    assert done.returncode == 1
    said = f"{ROOT}: csaw info missing.zarr ended with status 1:\nError: missing.zarr does not exist"
    assert said in done.stderr


def test_a_folder_without_csaw_is_refused(tmp_path):
    """Otherwise the installed csaw would run in its place."""
    done = compared(tmp_path)
    assert done.returncode == 2
    assert f"{tmp_path}: expected a checkout of csaw, found no tests/_src/csaw" in done.stderr
