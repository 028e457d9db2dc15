"""The commands and the programs of the guide to daily files run, in their order."""

import ast
import re
import runpy
import shlex
from pathlib import Path

from click.testing import CliRunner
from helpers.machine import need_package

from csaw.cli.main import cli

PAGE = (Path(__file__).parents[1] / "docs" / "guides" / "daily.md").read_text()


def test_the_guide_to_daily_files_runs(tmp_path, monkeypatch, capsys):
    need_package("torch_geometric")
    monkeypatch.chdir(tmp_path)
    for folder in (Path("days"), Path("timed")):
        folder.mkdir()
    Path("days/2026-11-20.txt").write_text("1 2\n2 3\n")
    Path("days/2026-11-21.txt").write_text("2 3\n3 4\n5 1\n")
    Path("timed/2026-11-20.txt").write_text("1 2 0\n2 1 1\n")
    Path("timed/2026-11-21.txt").write_text("1 3 2\n3 1 2\n2 1 2\n")
    printed = []
    for kind, block in re.findall(r"```(sh|python)\n(.*?)```", PAGE, re.DOTALL):
        if kind == "python":
            capsys.readouterr()
            Path("program.py").write_text(block)
            runpy.run_path("program.py")
            printed.append(capsys.readouterr().out)
            continue
        for line in block.splitlines():
            done = CliRunner().invoke(cli, shlex.split(line)[1:])
            assert done.exit_code == 0, f"{line}\n{done.output}"
    assert [line.split()[0] for line in printed[-4].splitlines()] == ["all.zarr", "window.zarr"]
    assert set(ast.literal_eval(printed[-3])) == {"drawn", "kept", "rows", "why"}
