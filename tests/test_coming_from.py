"""Each line of csaw on the page for users of other programs runs."""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from helpers.machine import need_package

import csaw

PAGE = (Path(__file__).parents[1] / "docs" / "coming-from.md").read_text()
ROW = re.compile(r"^\|(?:[^|]*\|){2} `([^|]*)` \|$", re.MULTILINE)
LINES = {
    title: ROW.findall(text)
    for title, text in re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
}


@pytest.fixture
def names(tmp_path, monkeypatch):
    """What the page says that a reader has: a graph, some vertices, files, a table and a Data object."""
    torch, data = need_package("torch"), need_package("torch_geometric.data")
    pandas = need_package("pandas")
    monkeypatch.chdir(tmp_path)
    edges = np.random.default_rng(1).integers(0, 30, (150, 2))
    Path("edges.txt").write_text("".join(f"{a} {b}\n" for a, b in edges))
    Path("weighted.txt").write_text("".join(f"{a} {b} 1.5\n" for a, b in edges))
    table = pandas.DataFrame({"src": edges[:, 0], "dst": edges[:, 1], "w": 1.0})
    index = torch.from_numpy(np.concatenate([edges, edges[:, ::-1]]).T.copy())
    times = torch.arange(index.shape[1]) % 20
    Path("events.txt").write_text("".join(f"{a} {b} {t % 20}\n" for t, (a, b) in enumerate(edges)))
    hetero = data.HeteroData({"paper": {"num_nodes": 30}, ("paper", "cites", "paper"): {"edge_index": index}})
    return {
        "csaw": csaw,
        "hetero": hetero,
        "mask": torch.arange(30) < 20,
        "graph": csaw.graph(edges, directed=False),
        "nodes": [0, 5],
        "table": table,
        "data": data.Data(edge_index=index, num_nodes=30, time=times),
        "times": times[:30],
        "events": data.TemporalData(src=index[0], dst=index[1], t=times),
    }


@pytest.mark.parametrize("title", LINES)
def test_each_line_of_csaw_runs(names, title):
    Path("lines.py").write_text("\n".join(LINES[title]))
    made = runpy.run_path("lines.py", init_globals=names)
    for name in ("loader", "stream"):
        assert name not in made or list(made[name])
    if "loader" in made:
        made["loader"].close()


def test_every_row_has_a_line_of_csaw():
    rows = re.findall(r"^\|.*\|$", PAGE, re.MULTILINE)
    heads = [row for row in rows if row.startswith(("| what |", "|---"))]
    assert sum(map(len, LINES.values())) == len(rows) - len(heads)
