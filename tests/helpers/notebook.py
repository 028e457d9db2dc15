"""Runs the code cells of a notebook in one namespace, as Jupyter does: what a cell prints, and the value of its last
expression.
"""

import ast
import io
import json
from contextlib import redirect_stdout
from pathlib import Path


def cells_of(path: Path) -> list[dict]:
    """The cells of a notebook."""
    return json.loads(path.read_text())["cells"]


def output_of(cell: dict) -> str:
    """The output of a code cell that the notebook has."""
    parts = [one.get("text") or one.get("data", {}).get("text/plain", []) for one in cell["outputs"]]
    return "".join("".join(part) for part in parts)


def run(source: str, names: dict) -> str:
    """Run the code of a cell in ``names``; what it prints, and its value."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    said = io.StringIO()
    with redirect_stdout(said):
        exec(compile(tree, "<cell>", "exec"), names)  # noqa: S102
        value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names) if last is not None else None
        if value is not None:
            print(repr(value), end="")
    return said.getvalue()


def filled(path: Path) -> str:
    """The notebook with the outputs of its cells taken anew: ``PYTHONPATH=tests/_src:tests python -m helpers.notebook
    docs/tutorials/notebook.ipynb``.
    """
    book, names, count = json.loads(path.read_text()), {}, 0
    for cell in book["cells"]:
        if cell["cell_type"] == "code":
            count += 1
            said = run("".join(cell["source"]), names)
            stream = {"output_type": "stream", "name": "stdout", "text": said.splitlines(keepends=True)}
            cell |= {"execution_count": count, "outputs": [stream] if said else []}
    return json.dumps(book, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    import sys

    for name in sys.argv[1:]:
        Path(name).write_text(filled(Path(name)))
