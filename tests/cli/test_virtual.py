"""``csaw sample --virtual`` and ``--from``: what users see."""

import json

import pytest
from click.testing import CliRunner

from csaw.cli.main import cli


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *line: CliRunner().invoke(cli, list(line), catch_exceptions=False)


@pytest.fixture
def karate(run):
    assert run("datasets", "generate", "karate", "k.zarr").exit_code == 0
    return run


def test_a_virtual_sample_is_described_exported_and_stored(karate, tmp_path):
    assert karate("sample", "k.zarr", "v.zarr", "--num-walks", "3", "--walk-length", "5", "--virtual").exit_code == 0
    shown = karate("info", "v.zarr").output
    assert "a request; it is drawn when it is read" in shown
    assert "csaw info --full draws all of it" in shown
    assert json.loads(karate("info", "v.zarr", "--json", "--full").output)["edges"] == 510
    assert karate("export", "v.zarr", "some.txt", "--part", "100:102").exit_code == 0
    assert len((tmp_path / "some.txt").read_text().splitlines()) == 2
    assert karate("sample", "--from", "v.zarr", "s.zarr", "--in-flight", "7").exit_code == 0
    assert karate("export", "s.zarr", "all.txt").exit_code == 0
    assert (tmp_path / "all.txt").read_text().splitlines()[100:] == (tmp_path / "some.txt").read_text().splitlines()
    assert karate("verify", "v.zarr").exit_code == 0


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["sample", "k.zarr"], "Missing argument 'OUT'"),
        (["sample", "--from", "v.zarr", "k.zarr", "s.zarr"], "--from takes the graph of v.zarr; give only OUT"),
        (
            ["sample", "--from", "v.zarr", "s.zarr", "--seed", "3"],
            "--seed is part of v.zarr; leave it out, or leave out --from",
        ),
        (["sample", "--from", "v.zarr", "s.zarr", "--virtual"], "--virtual only stores a request; leave out --from"),
        (
            ["sample", "k.zarr", "s.zarr", "--virtual", "--resume"],
            "--virtual only stores a request; leave out --resume",
        ),
        (["export", "v.zarr", "s.txt", "--part", "5"], "expected two numbers such as 0:1000, found 5"),
    ],
)
def test_what_makes_no_sense_is_refused(karate, line, said):
    assert karate("sample", "k.zarr", "v.zarr", "--virtual").exit_code == 0
    found = karate(*line)
    assert found.exit_code == 2
    assert said in found.output + str(found.stderr)
