"""The tutorials run as they stand, one block after the other, and reach what they say."""

import os
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.graphs import random_store
from helpers.ingested import read
from helpers.machine import need_package
from helpers.notebook import cells_of, output_of, run
from helpers.outputs import masked

from csaw.engine import sample

ROOT = Path(__file__).parents[1]
ENV = os.environ | {"PYTHONPATH": str(ROOT / "tests" / "_src"), "OMP_NUM_THREADS": "1"}  # their matrices are small
LEAST = {
    "embeddings": [0.95, 0.95, 0.95],
    "graphsage": [0.88, 0.89, 0.72],
    "ladies": [0.96, 0.97],
    "large-network": [],
    "papers": [0.88, 0.88],
    "shop": [0.55, 0.83],
    "temporal-links": [0.68, 0.78],
}  # accuracies and AUCs, in the order in which they are printed
MOST = {"shop": [0.66, 1.0], "temporal-links": [0.74, 1.0]}  # times, and what others say, are worth something
NEEDS = {
    "embeddings": ("gensim", "torch"),
    "graphsage": ("torch", "torch_geometric"),
    "ladies": ("torch", "torch_geometric"),
    "large-network": (),
    "papers": ("torch", "torch_geometric"),
    "shop": ("pandas", "pyarrow", "torch", "torch_geometric"),
    "temporal-links": ("torch",),
}
MARK = "\x1e"
TUTORIALS = sorted(path.stem for path in (ROOT / "docs" / "tutorials").glob("*.md"))


def blocks_of(text):
    """The commands and programs of a page in order, each with the output that the page shows of it, or None.

    A block of ``console`` has commands and their outputs; one of ``text`` right behind a program has that one's.
    """
    for kind, block, shown in re.findall(
        r"```(sh|python|console)\n(.*?)```(?:\n\n```text\n(.*?)```)?", text, re.DOTALL
    ):
        if kind == "python":
            yield kind, block, shown or None
        elif kind == "sh":
            yield from (("sh", line, None) for line in block.splitlines())
        else:
            yield from (("sh", *said.split("\n", 1)) for said in block.split("$ ")[1:])


def script_of(text):
    """The blocks as one program: commands of a shell are run from it. A line MARK goes before what each prints."""
    lines = ["import subprocess, sys"]
    for kind, block, _ in blocks_of(text):
        lines.append(f"print({MARK!r}, flush=True)")
        if kind == "python":
            lines.append(block)
            continue
        command, *arguments = shlex.split(block)
        if command == "python":
            words = [str(ROOT / "docs" / "tutorials" / arguments[0]), *arguments[1:]]
        else:
            assert command == "csaw"
            words = ["-m", "csaw.cli", *arguments]
        lines.append(f"subprocess.run([sys.executable, *{words}], check=True)")
    return "\n".join(lines)


def assert_shown(shown, said):
    """What a page shows is what was printed, but for times, sizes, and lines that dots stand for.

    Accuracies and AUCs differ by the processor: they may be .03 apart.
    """
    said, first = masked(said).splitlines(), 0
    parts = [part.strip("\n").splitlines() for part in re.split(r"^\.\.\.$", masked(shown), flags=re.MULTILINE)]
    for number, part in enumerate(parts):
        places = [0] if number == 0 else range(first, len(said) - len(part) + 1)
        if number == len(parts) - 1 and part:
            places = [len(said) - len(part)]
            assert places[0] >= first
        fits = [k for k in places if k + len(part) <= len(said)]
        found = [k for k in fits if all(map(alike, part, said[k:]))]
        assert found, "\n".join(["the page shows", *part, "and this was printed:", *said])
        first = found[0] + len(part)


def alike(one, other):
    """Whether two lines are the same, but for accuracies that are near each other."""
    accuracy = re.compile(r"(?<=accuracy )\d\.\d+|(?<=AUC )\d\.\d+|(?<=from )\d\.\d+|(?<= to )\d\.\d+")
    numbers = [list(map(float, accuracy.findall(line))) for line in (one, other)]
    return accuracy.sub("_", one) == accuracy.sub("_", other) and numbers[0] == pytest.approx(numbers[1], abs=0.03)


@pytest.mark.parametrize(
    ("shown", "said", "same"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a\n", "a\nb\n", False),
        ("...\nb\n", "a\nb\n", True),
        ("a\n...\n", "a\nb\n", True),
        ("a\n...\nc\n", "a\nb\nc\n", True),
        ("a\n...\nb\n", "a\nb\nc\n", False),
        ("...\nb\n...\na\n...\n", "a\nb\nc\n", False),
        ("a\nb\n...\n", "a\n", False),
        ("it: accuracy 0.70\n", "it: accuracy 0.72\n", True),
        ("it: accuracy 0.70\n", "it: accuracy 0.74\n", False),
        ("drawn in 1.2 s\n", "drawn in 40 ms\n", True),
    ],
)
def test_an_output_that_a_page_shows_is_compared(shown, said, same):
    if same:
        assert_shown(shown, said)
    else:
        with pytest.raises(AssertionError):
            assert_shown(shown, said)


@pytest.mark.slow(reason="trains networks and compiles kernels, for minutes")
@pytest.mark.parametrize("name", TUTORIALS)
def test_a_tutorial_runs_and_is_as_accurate_as_it_says(tmp_path, name):
    for module in NEEDS[name]:
        need_package(module)
    text = (ROOT / "docs" / "tutorials" / f"{name}.md").read_text()
    (tmp_path / "tutorial.py").write_text(script_of(text))
    done = subprocess.run(
        [sys.executable, "tutorial.py"], check=False, cwd=tmp_path, env=ENV, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    printed = done.stdout.split(f"{MARK}\n")[1:]
    for (kind, block, shown), said in zip(blocks_of(text), printed, strict=True):
        if shown is not None:
            assert_shown(shown, said)
        else:
            assert kind == "sh" or not said, f"the page does not show what this prints, {said!r}:\n{block}"
    found = [float(number) for number in re.findall(r"(?:accuracy|AUC) (\d\.\d+)", done.stdout)]
    assert len(found) == len(LEAST[name])
    assert all(one >= least for one, least in zip(found, LEAST[name], strict=True)), done.stdout
    assert all(one <= most for one, most in zip(found, MOST.get(name, found), strict=True)), done.stdout
    print(done.stdout)


def test_the_loaders_of_the_guide_run(tmp_path, monkeypatch, capsys):
    torch = need_package("torch")
    pyg = need_package("torch_geometric")
    monkeypatch.chdir(tmp_path)
    graph = random_store("graph.zarr", vertices=200, edges=900)
    sample(graph, "walks.zarr", "deepwalk", walk_length=5, device="cpu")
    data = pyg.data.Data(x=torch.ones(200, 3), y=torch.arange(200), edge_index=torch.randint(200, (2, 900)))
    data.train_mask, seeds = torch.arange(200) < 150, []
    here = {"data": data, "train": lambda x, edge_index, y: seeds.extend(y.tolist())}
    guide = (ROOT / "docs" / "guides" / "loaders.md").read_text()
    blocks = [block for block in re.findall(r"```python\n(.*?)```", guide, re.DOTALL) if "csaw.engine.loaders" in block]
    assert len(blocks) == 3
    for block in blocks:
        exec(block, here)  # noqa: S102
    assert sorted(seeds) == sorted([*range(150)] * 2)
    assert sum(pairs.center.numel() for pairs in here["stored"]) > 0
    assert "torch.Size" in capsys.readouterr().out


def test_the_script_of_skip_grams_tells_two_cliques_apart(tmp_path, monkeypatch):
    need_package("torch")
    monkeypatch.chdir(tmp_path)
    cliques = [(f"{name}{a}", f"{name}{b}") for name in "xy" for a in range(8) for b in range(a)]
    text = "".join(f"{a} {b}\n" for a, b in [*cliques, ("x0", "y0")])
    read(tmp_path, text, directed=False)
    sample("g.zarr", "walks.zarr", "deepwalk", walk_length=10, num_walks=4, device="cpu")
    for more in ([], ["--walks", "walks.zarr"]):
        given = ["skipgram.py", "g.zarr", "vectors.npz", "--dim", "4", "--epochs", "12", "--rate", "0.1", *more]
        monkeypatch.setattr(
            sys, "argv", [*given, "--walk-length", "10", "--num-walks", "4", "--batch", "8", "--device", "cpu"]
        )
        runpy.run_path(str(ROOT / "docs" / "tutorials" / "skipgram.py"), run_name="__main__")
        with np.load("vectors.npz") as found:
            unit = found["vectors"] / np.linalg.norm(found["vectors"], axis=1, keepdims=True)
            of_x = np.array([name.startswith("x") for name in found["ids"]])
        alike = unit @ unit.T
        assert alike[of_x][:, of_x].mean() > alike[of_x][:, ~of_x].mean() + 0.4


def test_the_notebook_runs_and_has_the_outputs_of_its_cells(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    cells = cells_of(ROOT / "docs" / "tutorials" / "notebook.ipynb")
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert len(code) >= 5
    for cell in code:
        assert masked(run("".join(cell["source"]), names)) == masked(output_of(cell)), "see tests/helpers/notebook.py"


@pytest.mark.parametrize("name", TUTORIALS)
def test_every_block_of_a_tutorial_is_code(name):
    compile(script_of((ROOT / "docs" / "tutorials" / f"{name}.md").read_text()), name, "exec")


def test_the_example_of_the_readme_runs(capsys):
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    exec(block, {})  # noqa: S102
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_the_guide_to_python_runs(tmp_path, monkeypatch, capsys):
    need_package("networkx")
    monkeypatch.chdir(tmp_path)
    here: dict[str, object] = {}
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "guides" / "python.md").read_text(), re.DOTALL)
    for block in blocks:
        exec(block, here)  # noqa: S102
    said = capsys.readouterr().out
    assert "<csaw samples in memory: 340 walks of 20 steps, node2vec, seed 7, 6,800 edges>" in said
    assert said.count("True\n") == 2
