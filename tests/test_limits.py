"""Code that a reader takes in at once: functions of 40 lines beside signature and docstring, modules of 500.

Each exception stands here with its reason.
"""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
FUNCTION, MODULE = 40, 500
LOOP = "one loop over walkers or bytes in flight: what it keeps in registers would go through memory between functions"
EXCEPTIONS = {
    "engine/cpu/kernels/clocks.py:run_clocks": LOOP,
    "engine/cpu/kernels/hops.py:draw_minibatch": LOOP,
    "engine/cpu/kernels/rejection.py:take_turns": LOOP,
    "engine/cpu/kernels/select.py:successive": LOOP,
    "engine/cpu/kernels/traverse.py:select_neighbors": "the ladder of methods, each decided when it is compiled",
    "engine/cpu/kernels/traverse.py:select_by_sums": LOOP,
    "partition/ingestion/text/numbers.py:parse_weight": LOOP,
    "partition/ingestion/text/odd_rows.py:parse_block": LOOP,
}
FOLDERS = ("cli", "datasets", "engine", "package", "partition")


def modules():
    return [f for top in FOLDERS for f in sorted((ROOT / top).rglob("*")) if f.suffix in (".py", ".cu", ".cuh")]


def functions():
    """Every function: its name with the file's, and its lines without signature and docstring."""
    for file in modules():
        for node in ast.walk(ast.parse(file.read_text())) if file.suffix == ".py" else ():
            if isinstance(node, ast.FunctionDef):
                body = node.body[ast.get_docstring(node) is not None :]
                lines = body[-1].end_lineno - body[0].lineno + 1 if body else 0
                yield f"{file.relative_to(ROOT)}:{node.name}", lines


def test_functions_are_short_or_have_a_reason():
    long = {name: lines for name, lines in functions() if lines > FUNCTION}
    assert long.keys() == EXCEPTIONS.keys(), long


def test_modules_are_short():
    lengths = {str(file.relative_to(ROOT)): len(file.read_text().splitlines()) for file in modules()}
    assert not {name: lines for name, lines in lengths.items() if lines > MODULE}
