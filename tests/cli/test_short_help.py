"""``-h`` is a screen, ``--help`` is whole; names of other programs are answered with csaw's; shells get a script."""

import os
import re
import shlex
import shutil
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

import csaw
from csaw.cli.main import cli
from csaw.cli.short_help import USED_MOST
from csaw.engine.api import registry
from csaw.partition.base.quoting import NAMES_ELSEWHERE
from csaw.partition.errors import CsawError

SCREEN = 48  # lines
ENV = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "COLUMNS": "80"}


def said(*line):
    words = [sys.executable, "-m", "csaw.cli", *line]
    done = subprocess.run(words, check=False, capture_output=True, text=True, env=ENV)
    return (done.stdout + done.stderr).replace("python -m csaw.cli", "csaw")


def run(*line):
    return CliRunner().invoke(cli, line, catch_exceptions=False, terminal_width=80).output


@pytest.mark.parametrize("command", [*USED_MOST, "info", "verify", "datasets", "completion"])
def test_a_short_help_is_a_screen_with_an_example_and_options_that_exist(command):
    short, whole = said(command, "-h"), said(command, "--help")
    assert len(short.splitlines()) <= SCREEN
    assert f"csaw {command} " in short
    flags = [line.split()[0] for line in short.splitlines() if line.startswith("  -")]
    assert len(flags) == len(USED_MOST[command]) if command in USED_MOST else flags[-1] == "--help"
    assert all(flag.rstrip(",") in whole for flag in flags)


@pytest.mark.parametrize("name", registry.names())
def test_the_help_of_an_algorithm_has_an_example_with_an_option_of_it(name):
    """The example is a command that csaw understands."""
    short = run("sample", "--algo", name, "-h")
    assert len(short.splitlines()) <= SCREEN
    assert f"\nOptions of {name}:\n" in short
    (line,) = [line.strip() for line in short.splitlines() if f" --algo {name} " in line and "web.zarr" in line]
    assert f"      {line}\n" in (whole := run("sample", "--algo", name, "--help"))
    assert ("--algo node2vec" in whole) == (name == "node2vec")
    words = shlex.split(line)[2:]
    given = cli.get_command(click.Context(cli), "sample").make_context("sample", words).params
    own = {key: given[key] for key in registry.find(name).options() if given[key] is not None}
    assert own
    registry.find(name)(**own)


def test_every_command_has_both_helps():
    for name in cli.list_commands(None):
        assert said(name, "-h").startswith("Usage: ")
    assert said("datasets", "list", "-h") == said("datasets", "list", "--help")
    assert said("-h") == said("--help")
    assert said("-V") == said("--version")


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("smaple karate x.zarr", "did you mean sample?"),
        ("sample karate x.zarr --random-state 3", "did you mean --seed?"),
        ("sample karate x.zarr --algo node2vec --walks-per-node 3", "did you mean --num-walks?"),
        ("sample karate x.zarr --algo random-walk", "'random-walk'; did you mean deepwalk?"),
        ("sample karate x.zarr --algo PageRank", "did you mean ppr?"),
        ("sample karate x.zarr --algo neighbor --num_neighbors 3,2", "did you mean --fanout?"),
        ("partition edges.txt g.zarr --ids string", "did you mean --id-type?"),
        ("partition edges.txt g.zarr --clusters 2", "did you mean --num-clusters?"),
        ("partition edges.txt g.zarr --method lp", "did you mean --clustering?"),
        ("bench --json rows.json", "did you mean --export-json?"),
        ("bench --instances 3", "did you mean --max-instances?"),
        ("evaluate karate --instances each", "did you mean --per-instance?"),
    ],
)
def test_a_name_of_another_program_is_answered_with_the_one_of_csaw(line, meant):
    assert meant in said(*line.split())


def test_python_answers_with_its_own_names():
    with pytest.raises(CsawError, match=r"random_state is not an option .*; did you mean seed\?"):
        csaw.sample("karate", random_state=3)
    with pytest.raises(CsawError, match=r"did you mean num_walks\?"):
        csaw.sample("karate", walks_per_node=3)


def test_names_of_others_lead_to_names_that_exist():
    context = click.Context(cli)
    commands = [cli.get_command(context, name) for name in cli.list_commands(context)]
    flags = {flag.lstrip("-") for one in commands for param in one.get_params(context) for flag in param.opts}
    assert NAMES_ELSEWHERE.keys() <= {*registry.names(), *flags}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_a_script_that_it_reads(shell, tmp_path):
    script = said("completion", shell)
    assert "_CSAW_COMPLETE" in script
    if shutil.which(shell):
        (tmp_path / "script").write_text(script)
        subprocess.run([shell, "-n", str(tmp_path / "script")], check=True)


def test_the_baselines_of_papers_are_in_the_help_of_all():
    whole, most = said("sample", "--help-all"), said("sample", "--help")
    assert "Baselines of the papers, for comparison:" in whole
    assert "Baselines of the papers, for comparison:" not in most
    assert "--help-all" in most
    options = re.compile(r"^ +(--[a-z-]+)", re.MULTILINE)
    assert {"--select", "--collision", "--batching"} <= {*options.findall(whole)} - {*options.findall(most)}
    assert "--p FLOAT" in said("sample", "--algo", "node2vec", "--help-all")
