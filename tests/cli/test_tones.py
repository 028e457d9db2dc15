"""--quiet prints nothing but errors, --verbose all counts; a few lines are printed otherwise, and hints where they
help.
"""

import json
import logging
import os
import subprocess

import pytest
from click.testing import CliRunner

import csaw
from csaw.cli.main import cli
from csaw.cli.reports.closing_lines import next_is


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.txt").write_text("1 2 1\n2 3 1\n3 1 1\n")
    level = logging.getLogger().level
    yield lambda *line: CliRunner().invoke(cli, list(line), catch_exceptions=False)
    logging.getLogger().setLevel(level)


def test_quiet_commands_print_nothing(run):
    for line in (
        "partition g.txt g.zarr",
        "sample g.zarr s.zarr --device cpu --walk-length 5",
        "sample g.zarr p.zarr --device cpu --algo ppr --walk-length 1 --num-walks 9",  # warns of walks that are cut
        "verify s.zarr",
        "verify g.zarr",
        "export s.zarr s.txt",
        "seal s.zarr",
        "evaluate g.zarr s.zarr --measures degree --device cpu",
        "append g.zarr g.txt --duplicates sum",
        "compact g.zarr",
        "datasets generate karate k.zarr",
    ):
        done = run(*line.split(), "--quiet")
        assert (done.exit_code, done.output, done.stderr) == (0, "", ""), line


def test_quiet_prints_what_is_asked_for_and_what_is_wrong(run, tmp_path):
    run("partition", "g.txt", "g.zarr", "-q")
    assert json.loads(run("sample", "g.zarr", "s.zarr", "--device", "cpu", "-q", "--json").output)["instances"] == 3
    run("sample", "g.zarr", "o.zarr", "--device", "cpu", "--seed", "1", "-q")
    walks = tmp_path / "s.zarr" / "walks" / "c.0.0"
    walks.write_bytes(bytes(len(walks.read_bytes())))
    done = run("verify", "s.zarr", "-q")
    assert done.exit_code == 3
    assert "FAILED: 1 of 1 checks" in done.output
    assert "exclude each other" in run("verify", "o.zarr", "-q", "-v").stderr


def test_a_few_lines_say_what_was_made_and_what_comes_next(run):
    made = run("partition", "g.txt", "g.zarr")
    assert "all weights are 1; sample with --unweighted" in made.stderr
    meant, first, read, hint = made.stdout.splitlines()
    assert meant == "Read as: 3 columns, source target weight, directed, ids int."
    assert first.startswith("3 vertices and 3 edges in g.zarr (")
    assert read == "3 rows read: 0 dead ends."
    assert hint == "Next: csaw sample g.zarr walks.zarr --algo node2vec"
    for name, said in {
        "deepwalk": "3 walks of 80 steps in s.zarr (",
        "ppr": "3 walks of ",
        "neighbor": "3 neighbor samples with ",
        "forest-fire": "3 subgraphs with ",
        "minibatch": "1 mini-batch with ",
    }.items():
        lines = run("sample", "g.zarr", "s.zarr", "--algo", name, "--device", "cpu", "--overwrite").stdout.splitlines()
        assert lines[0].startswith(said)
        assert len(lines) == 3
        assert lines[-1] == "Next: csaw verify s.zarr"
    assert run("seal", "s.zarr").stdout.splitlines()[0].endswith(": nothing was missing.")
    later = run("sample", "g.zarr", "a b.zarr", "--virtual").stdout.splitlines()
    assert later[0].startswith("The request for 3 instances is in a b.zarr (")
    assert later[-1] == "Next: csaw verify 'a b.zarr'"


def test_a_weighted_sample_says_that_all_weights_are_equal(run):
    run("partition", "g.txt", "g.zarr", "-q")
    assert "all weights are 1; sample with --unweighted" in run("sample", "g.zarr", "a.zarr", "--device", "cpu").stderr
    assert "all weights" not in run("sample", "g.zarr", "b.zarr", "--device", "cpu", "--unweighted").stderr
    assert run("sample", "g.zarr", "c.zarr", "--device", "cpu", "-q").stderr == ""


def test_what_is_said_of_a_file_calls_it_by_its_name_and_not_by_its_store_in_the_cache(run):
    for out in ("a.zarr", "b.zarr"):  # which makes the store, and finds it
        said = [
            line for line in run("sample", "g.txt", out, "--device", "cpu").stderr.splitlines() if "weights" in line
        ]
        assert said
        assert all(line.startswith("csaw: g.txt: all weights are 1; sample with --unweighted") for line in said)
    told = []
    csaw.evaluate("g.txt", measures="degree", device="cpu", refresh=True, progress=told.append)
    assert told == ["degree of g.txt"]


def test_weights_that_differ_bring_no_hint(run, tmp_path):
    (tmp_path / "d.txt").write_text("1 2 1\n2 3 2\n")
    assert "all weights" not in run("partition", "d.txt", "d.zarr").stderr
    assert "all weights" not in run("partition", "g.txt", "n.zarr", "--weight-column", "none").stderr


def test_verbose_prints_the_counters_too(run):
    run("partition", "g.txt", "g.zarr", "-q")
    said = run("sample", "g.zarr", "s.zarr", "--device", "cpu", "-v").stdout
    assert "Selection of neighbors" in said or "rate of sampling" in said
    assert said.splitlines()[-1] == "Next: csaw verify s.zarr"
    assert "type of vertex ids" in run("partition", "g.txt", "h.zarr", "-v").stdout


@pytest.mark.parametrize(
    "place", ["-dash.zarr", "a b.zarr", "it's.zarr", b"bad\xff'\\.zarr", "line\nend.zarr", "é.zarr"]
)
def test_the_command_that_comes_next_names_a_place_as_a_shell_takes_it(place):
    place = os.fsdecode(place)
    words = next_is("verify", place).removeprefix("Next: csaw ")
    said = subprocess.run(["bash", "-c", f"printf '%s\\0' {words}"], check=True, capture_output=True).stdout
    assert said.split(b"\0")[:-1] in ([b"verify", os.fsencode(place)], [b"verify", b"./" + os.fsencode(place)])
