"""What commands print for programs has the keys that the page says, and no others."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from csaw.cli.main import cli
from csaw.partition.base.plain_data import json_value

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "json.md").read_text()
SHOWN = re.findall(r"```console\n\$ csaw (.+?)\n```\n\n((?:\|.*\n)+)", PAGE)


def printed(line):
    done = CliRunner().invoke(cli, line.split())
    assert done.exit_code == 0, f"{line}\n{done.exception} {done.output}"
    return json.loads(done.stdout)


def names(text):
    return set(re.findall(r"`(\w+)`", text))


def keys(table):
    return set().union(*(names(row.split("|")[1]) for row in table.splitlines()))


def section(command):
    return PAGE.partition(f"\n## csaw {command}\n")[2].partition("\n## ")[0]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "edges.txt").write_text("0 1\n1 0\n1 2\n2 1\n")
    (tmp_path / "new-edges.txt").write_text("2 3\n")


def test_commands_print_the_keys_of_their_tables(folder):
    commands = [line for line, _ in SHOWN]
    for line, table in SHOWN:
        assert set(printed(line)) == keys(table), line
    shown = {"partition", "append", "sample", "info", "verify", "evaluate", "export"}
    assert {line.split()[0] for line in commands} == shown


RUNS = [
    ("--algo ppr --walk-length 40", {"walks_ended"}),
    ("--algo forest-fire --target 3 --instances 2", {"least_vertices"}),
    ("--virtual", {"virtual"}),
    ("--shard 0/2", {"shard", "groups", "all_groups", "left"}),
    ("--shard 0/1", {"shards"}),
]


@pytest.mark.parametrize(("options", "wanted"), RUNS, ids=[options for options, _ in RUNS])
def test_keys_that_some_samples_have_stand_on_the_page(folder, options, wanted):
    found = set(printed(f"sample karate s.zarr --json {options}"))
    assert wanted <= found
    assert found <= names(section("sample"))


def test_seal_and_info_print_what_the_page_says(folder):
    printed("sample karate s.zarr --json")
    assert set(printed("seal s.zarr --json")) <= names(section("sample"))
    printed("sample karate v.zarr --virtual --json")
    assert set(printed("info v.zarr --json")) <= names(section("info"))
    printed("partition edges.txt g.zarr --json")
    assert set(printed("info g.zarr --full --json")) <= names(section("info"))
    assert set(printed("export g.zarr g.csv --json")) <= names(section("export"))
    printed("append g.zarr new-edges.txt --json")
    assert set(printed("info g.zarr --json")["versions"][1]) <= names(section("info"))
    printed("sample g.zarr w.zarr --version 0 --json")
    found = printed("refresh w.zarr --json")
    assert found.keys() - {"refreshed"} <= names(section("sample"))
    assert set(found["refreshed"]) == names(section("refresh")) - {"refreshed"}
    assert set(printed("compact g.zarr --json")) == names(section("compact"))


def test_what_stands_in_objects_of_a_list_stands_on_the_page(folder):
    printed("sample karate s.zarr --json")
    for command, name in (("verify s.zarr", "checks"), ("evaluate karate s.zarr --measures degree", "rows")):
        found = printed(f"{command} --json")[name]
        assert set(found[0]) <= names(section(command.split()[0])), command
    shown = next(iter(printed("algorithms --json").values()))
    assert set(shown) | set(printed("datasets list --json")[0]) <= names(section("algorithms, csaw datasets list"))


def test_truths_and_numbers_are_those_of_json(folder):
    """Not their names as text, whatever computed them."""
    rows = "".join(f"{i % 7},{i % 5},{i}\n" for i in range(60))
    Path("times.csv").write_text(f"src,dst,time\n{rows}")
    printed("partition times.csv t.zarr --time-column time --weight-column none --json")
    printed("sample t.zarr s.zarr --algo temporal --json")
    for check in printed("verify s.zarr --json")["checks"]:
        assert {type(value) for name, value in check.items() if name in ("ok", "tested", "testable")} == {bool}
    with pytest.raises(TypeError, match="found object"):
        json_value(object())


def test_a_failure_leaves_standard_output_empty(folder):
    done = CliRunner().invoke(cli, ["sample", "nothing.zarr", "s.zarr", "--json"])
    assert done.exit_code != 0
    assert not done.stdout
