"""The commands and the program of the guide to graphs of several types run and print what it says."""

import re
import runpy
import shlex
from pathlib import Path

import numpy as np
from click.testing import CliRunner
from helpers.machine import need_package

import csaw
from csaw.cli.main import cli

PAGE = (Path(__file__).parents[1] / "docs" / "guides" / "types.md").read_text()
VARIES = re.compile(r"\(\d.*|Next: .*")  # sizes and seconds


def printed(command):
    done = CliRunner().invoke(cli, shlex.split(command)[1:])
    assert done.exit_code == 0, f"{command}\n{done.output}"
    return [VARIES.sub("", line) for line in done.stdout.splitlines()]


def test_the_guide_to_types_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("writes.csv").write_text("author,paper\nann,1\nann,2\nbob,2\nbob,3\n")
    Path("venues.csv").write_text("paper,venue\n1,kdd\n2,kdd\n3,www\n")
    Path("more-writes.csv").write_text("author,paper\nann,3\nbob,3\n")
    Path("more-venues.csv").write_text("paper,venue\n2,www\n2,icml\n")
    for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL):
        command, *shown = block.splitlines()
        out = printed(command.removeprefix("$ "))
        assert [line for line in shown if VARIES.sub("", line) not in out and line != "..."] == []
    program, *_ = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (wanted,) = re.findall(r"names\)  # (.*)", program)
    Path("papers.zarr").rename("moved.zarr")
    Path("program.py").write_text(program)
    capsys.readouterr()
    runpy.run_path("program.py")
    assert capsys.readouterr().out.splitlines() == [wanted, "(2, 5)"]
    assert "# (2, 5)" in program
    first, second, export, batches, hops, trees, labor, budgets = "".join(
        re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    ).splitlines()
    printed(first)
    walks = csaw.open_samples("walks.zarr").walks[:].tolist()
    printed(second)
    assert csaw.open_samples("walks.zarr").walks[:].tolist() == walks
    printed(export)
    printed(batches)
    relations = csaw.open_samples("batches.zarr")["relation"]
    assert set(relations[:].tolist()) == {0, 1, 2}
    printed(hops)
    held = csaw.open_samples("hops.zarr")
    assert held["hop_1"].shape[1] == 11  # a place of a venue, and ten of authors
    assert np.unique(held["relation_1"][:, 0]).tolist() == [1]
    assert np.unique(held["relation_1"][:, 1:]).tolist() == [0, 2]
    printed(trees)
    held = csaw.open_samples("trees.zarr")
    assert set(held["relation"][:].tolist()) == {0, 2}
    printed(labor)
    assert set(csaw.open_samples("labor.zarr")["relation"][:].tolist()) == {0, 1, 2}
    printed(budgets)
    assert set(csaw.open_samples("batches.zarr")["relation"][:].tolist()) == {0, 1, 2, 3}
    assert f"The first line is `{Path('walks.txt').read_text().splitlines()[0]}`." in PAGE


def test_the_loop_over_hetero_data_runs():
    torch, pyg = need_package("torch"), need_package("torch_geometric.data")
    data = pyg.HeteroData()
    data["paper"].x, data["paper"].train_mask = torch.randn(5, 2), torch.ones(5, dtype=torch.bool)
    data["author"].x = torch.randn(3, 2)
    data["author", "writes", "paper"].edge_index = torch.tensor([[0, 1, 2, 0], [0, 1, 2, 3]])
    _, program, links = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    held = {"data": data, "model": lambda x, edges: x}
    exec(program, held)  # noqa: S102 - of our own page
    assert held["out"].shape == (5, 2)
    assert held["batch"]["author"].n_id.tolist() == [0, 1, 2]
    exec("from csaw.engine.loaders import LinkNeighborLoader\n" + links, held)  # noqa: S102 - of our own page
    [batch] = held["loader"]
    assert batch["author", "writes", "paper"].edge_label.tolist() == [1] * 4 + [0] * 4
