"""Colors on a terminal, and nowhere else: not in pipes, not with NO_COLOR, not in JSON."""

import json
import os
import pty
import re
import subprocess
import sys

import pytest

RED, GREEN, YELLOW, BOLD = "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[1m"
ENV = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "TERM": "xterm-256color", "COLUMNS": "100"}
ENV = {name: value for name, value in ENV.items() if name != "NO_COLOR"}


def on_terminal(*line, cwd, **env):
    """What a command prints on a terminal, on both streams."""
    here, there = pty.openpty()
    words = [sys.executable, "-m", "csaw.cli", *line]
    with subprocess.Popen(words, stdout=there, stderr=there, stdin=there, cwd=cwd, env=ENV | env) as running:
        os.close(there)
        parts = []
        try:
            while part := os.read(here, 1 << 16):
                parts.append(part)
        except OSError:  # the end of a terminal
            pass
        running.wait()
    os.close(here)
    return b"".join(parts).decode().replace("\r\n", "\n")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("colors")
    (folder / "edges.txt").write_text("0 1\n1 0\n1 2\n2 1\n")
    words = [sys.executable, "-m", "csaw.cli", "sample", "karate", "walks.zarr", "--device", "cpu", "--quiet"]
    subprocess.run(words, check=True, cwd=folder, env=ENV)
    return folder


COLORED = {
    "info nowhere.zarr": f"{RED}{BOLD}Error:\x1b[0m nowhere.zarr does not exist",
    "sample karate x.zarr --sed 1": f"{RED}{BOLD}Error:\x1b[0m No such option '--sed'",
    "partition edges.txt g.zarr --overwrite --no-progress": f"{YELLOW}csaw: edges.txt looks symmetric",
    "sample --help": f"{BOLD}What to sample\x1b[0m:",
    "info walks.zarr": f"{BOLD}Sample\x1b[0m",
    "verify walks.zarr": f"{GREEN}ok",
}


@pytest.mark.parametrize("line", COLORED)
def test_a_terminal_shows_colors_unless_the_user_wants_none(folder, line):
    assert COLORED[line] in on_terminal(*line.split(), cwd=folder)
    for plain in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert not re.search(r"\x1b\[[0-9;]*3[0-7]m", on_terminal(*line.split(), cwd=folder, **plain))


@pytest.mark.parametrize("line", COLORED)
def test_a_pipe_gets_no_colors(folder, line):
    words = [sys.executable, "-m", "csaw.cli", *line.split()]
    done = subprocess.run(words, check=False, capture_output=True, text=True, cwd=folder, env=ENV)
    assert "\x1b" not in done.stdout + done.stderr


def test_json_has_no_colors_on_a_terminal(folder):
    assert json.loads(on_terminal("info", "walks.zarr", "--json", cwd=folder))["instances"] == 34


def test_a_failed_check_is_red(folder):
    (folder / "walks.zarr" / "walks" / "c.0.0").write_bytes(b"")
    assert f"{RED}FAIL" in on_terminal("verify", "walks.zarr", cwd=folder)
