"""What users of mini-batches and of walks without a limit see: summaries, and errors of options."""

import json
import re

import pytest
from click.testing import CliRunner

from csaw.cli.main import cli
from csaw.partition.errors import CsawError


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.txt").write_text("a b\nb c\nc a\nc d\n")  # d is a dead end
    assert CliRunner().invoke(cli, ["partition", "g.txt", "g.zarr"]).exit_code == 0
    return lambda *line: CliRunner().invoke(cli, list(line), catch_exceptions=False)


@pytest.mark.parametrize("length", ["none", "3"])
def test_walks_that_end_by_themselves_are_not_called_dead_ends(run, length):
    done = run("sample", "g.zarr", "s.zarr", "--algo", "ppr", "--num-walks", "20", "--walk-length", length, "-v").output
    assert "ended by themselves or at a dead end.\n" in done
    for shown in (done, run("info", "s.zarr").output):
        assert "walks that ended, by themselves or at a dead end" in shown
        assert "dead ends " not in shown
    found = json.loads(run("info", "s.zarr", "--json").output)["results"]
    assert found["walks_ended"] == 80 - found.get("walks_cut", 0)


def test_walks_that_only_a_vertex_without_neighbors_ends_have_dead_ends(run):
    said = run("sample", "g.zarr", "s.zarr", "--walk-length", "3", "--num-walks", "20").output
    assert re.search(r"; \d\d dead ends\.\n", said)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["--fanout", "-2"], "--fanout: expected -1 to 2^63 - 1, found -2"),
        (["--epochs", "0"], "--epochs: expected 1 to 4294967295, found 0"),
        (["--seeds-per-batch", "0"], "--seeds-per-batch: expected 1 to 2147483647, found 0"),
    ],
)
def test_an_option_of_mini_batches_is_named_and_no_code_is_blamed(run, line, said):
    with pytest.raises(CsawError) as found:
        run("sample", "g.zarr", "s.zarr", "--algo", "minibatch", *line)
    assert str(found.value) == said


def test_no_fanout_is_named_as_nothing(run):
    found = run("sample", "g.zarr", "s.zarr", "--algo", "minibatch", "--fanout", "")
    assert found.exit_code == 2
    assert "expected integers such as 25,10, found nothing" in found.output + str(found.stderr)


def test_verify_says_why_mini_batches_with_all_neighbors_have_no_law_to_test(run):
    run("sample", "g.zarr", "s.zarr", "--algo", "minibatch", "--fanout", "-1", "--seeds-per-batch", "2")
    found = run("verify", "s.zarr")
    assert found.exit_code == 0
    assert "each vertex selects all of its neighbors or none" in found.output
