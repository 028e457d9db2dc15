"""What Python passes to kernels by value is what the CUDA text declares: names, order, types, sizes.

No GPU is needed to know.
"""

import ast
from pathlib import Path

import numpy as np
import pytest

from csaw.engine.analytics.cpu.kernels import sums
from csaw.engine.bench import KERNELS
from csaw.engine.cuda import compile as compiler
from csaw.engine.cuda.declarations import ENGINE, SUM_PIECE, members, parameters, record, struct

FILES = {
    "Output": "walk.cu",
    "Hop": "hops.cu",
    "OfRelation": "hops.cu",
    "Frontier": "select.cu",
    "Scratch": "select.cu",
    "TrialBounds": "select.cu",
    "Clocks": "clocks.cu",
    "Order": "clocks.cu",
    "MiniBatches": "minibatches.cu",
    "MiniHop": "minibatches.cu",
    "Numbers": "minibatches.cu",
    "LevelRows": "betweenness.cu",
    "Round": "rounds.cu",
    "Trees": "trees.cu",
    "Rmat": str(KERNELS / "rmat.cu"),
    "Graph": "walk.cu",
}


def calls():
    """Every place that fills a struct: its name, the members named there, whether others come by ``**``."""
    for file in sorted(ENGINE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "struct":
                names = [keyword.arg for keyword in node.keywords]
                yield pytest.param(
                    node.args[0].value, {n for n in names if n}, None in names, id=f"{file.name}:{node.lineno}"
                )


@pytest.mark.parametrize(("name", "given", "more"), list(calls()))
def test_every_call_names_the_members_that_the_text_declares(name, given, more):
    declared = set(members(name))
    assert given <= declared if more else given == declared


def test_floats_are_summed_in_the_same_pieces():
    assert SUM_PIECE == sums.PIECE


def test_every_struct_that_is_filled_is_compared_with_the_compiler():
    assert {call.values[0] for call in calls()} == set(FILES)


def filled(name):
    return struct(name, **dict.fromkeys(members(name), 0) | {n: None for n, m in members(name).items() if m.pointer})


@pytest.mark.parametrize(("name", "file"), FILES.items())
def test_members_lie_where_the_compiler_puts_them(name, file):
    fields, at, asserts = members(name), 0, []
    for member, field in fields.items():
        size = np.dtype(field.code).itemsize
        at = -(-at // size) * size
        asserts.append(
            f"static_assert(__builtin_offsetof({name}, {member}) == {at} && sizeof({name}::{member}) == {size});"
        )
        at += size
    asserts.append(f"static_assert(sizeof({name}) == {filled(name).itemsize});")
    (path,) = ENGINE.rglob(f"kernels/{Path(file).name}")
    text = compiler._source((str(path),), compiler.CONSTANTS, {}, ()) + "\n".join(asserts)
    compiler._kernels(text, "sm_90")


@pytest.mark.parametrize("name", ["Piece", "Event"])
def test_records_have_the_size_of_their_struct(name):
    text = compiler._source(("clocks.cu",), compiler.CONSTANTS, {}, ())
    compiler._kernels(text + f"static_assert(sizeof({name}) == {record(name).itemsize});", "sm_90")


def test_every_member_of_a_piece_is_filled_where_pieces_are_placed():
    placed = next(
        node
        for node in ast.walk(ast.parse((ENGINE / "cuda" / "graphs" / "pieces.py").read_text()))
        if isinstance(node, ast.FunctionDef) and node.name == "place_pieces"
    )
    assert {n.value for n in ast.walk(placed) if isinstance(n, ast.Constant)} >= set(members("Piece"))


def test_a_member_that_is_missing_or_unknown_or_of_another_type_is_named():
    with pytest.raises(TypeError, match="struct Scratch: taken missing"):
        struct("Scratch", **dict.fromkeys(["offset", "biases", "ctps", "pool", "picked"]))
    with pytest.raises(TypeError, match="struct Scratch: more missing or unknown"):
        struct("Scratch", **dict.fromkeys([*members("Scratch"), "more"]))
    with pytest.raises(TypeError, match=r"Scratch.taken: expected an array of uint32, found float32"):
        struct("Scratch", **dict.fromkeys(members("Scratch")) | {"taken": np.zeros(1, np.float32)})
    with pytest.raises(LookupError, match="Nothing"):
        members("Nothing")


def test_parameters_are_floats_and_integers_in_their_order():
    assert parameters((0.5, 3)).tobytes() == np.float64(0.5).tobytes() + np.int64(3).tobytes()
    assert parameters(()).itemsize == 1


@pytest.mark.parametrize("name", compiler.SHARED)
def test_a_shared_number_is_said_once(name):
    texts = [file.read_text() for file in ENGINE.rglob("kernels/*.cu*")]
    assert any(name in text for text in texts)
    assert not any(f" {name} = " in text or f"#define {name} " in text for text in texts)
