"""Kernels compiled for one plan: each function of the kernel files with its constants folded in, in a separate file in
a cache folder.

Numba caches compiled code by file and cannot cache a function that closes over another; with a file for each function,
a second process starts at once. A file's name is a hash of its text, so two plans share the machine code of every
function that reads no hook and none of the constants in which they differ; what a text imports is in the stamp of its
machine code (partition/base/compile.py). Parameters such as p and q stay run-time arguments, so changing them
compiles nothing.
"""

import ast
import hashlib
import importlib.util
import operator
import sys
import threading
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from csaw.engine.api.hooks import TREES, Hook
from csaw.partition.base.cache import code_folder, own_file, write_own
from csaw.partition.base.kernel_time import finds

if TYPE_CHECKING:
    from numba.core.dispatcher import Dispatcher

FOLDER = Path(__file__).with_name("kernels")
FILES = (
    "constants.py",
    "access.py",
    "weigh.py",
    "by_time.py",
    "walk.py",
    "envelopes.py",
    "temporal.py",
    "questions.py",
    "rejection.py",
    "select.py",
    "traverse.py",
    "layers.py",
    "budgets.py",
    "hops.py",
    "hops_by_relation.py",
    "clocks.py",
    "links.py",
    "links_in_time.py",
)
HEADER = """\
# Written by csaw; delete at will.
import math
import numpy as np
from numba import int64, uint64
from csaw.engine.cpu.kernels.access import GraphArrays, borrowed
from csaw.engine.cpu.kernels.memory import borrow, lowest, matches, prefetch
from csaw.engine.draws.addresses import *
from csaw.engine.draws.portable import LN2, halved
from csaw.engine.draws.portable import exponential as csaw_exponential, logarithm as csaw_logarithm, power as csaw_power
from csaw.engine.draws.random import *
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_tools import copied, empty, full, place_behind, place_between, place_of, zeros
"""
SAME = {"GraphArrays", "borrowed"}  # do not depend on constants; written again, each would be another type
# If two threads load a module, one copy is freed, and with it machine code that the other thread calls.
loading = threading.Lock()


class Kernels:
    """The functions of the kernel files, as attributes, for these constants and hooks.

    They stand in place of those in engine/cpu/kernels/constants.py.

    A function is loaded, with the functions it calls, when it is first asked for. ``files``: paths of kernel files,
    from those that sample. ``header``: what the file of each function begins with.
    """

    def __init__(
        self, constants: Mapping[str, object], hooks: list[Hook], files: tuple[str, ...] = FILES, header: str = HEADER
    ) -> None:
        with TREES:
            functions, given = _parsed(tuple(_body(file) for file in files))
        self._header = header
        self._functions: dict[str, ast.FunctionDef | Hook] = {**functions, **{hook.name: hook for hook in hooks}}
        self._constants = {**given, **constants}
        self._modules: dict[str, ModuleType] = {}

    def __getattr__(self, name: str) -> "Dispatcher":
        if name not in self._functions:
            raise AttributeError(f"no kernel file has a function {name}")
        with finds(), TREES:
            function = getattr(self._module(name), name)
        setattr(self, name, function)  # an attribute from now on: every slice of a batch asks for it
        return function

    def _module(self, name: str) -> ModuleType:
        if name not in self._modules:
            function = self._functions[name]
            tree = ast.parse(function.source) if isinstance(function, Hook) else Folding(self._constants)(function)
            called = sorted(names_of(tree) & self._functions.keys() - {name})
            imports = [f"from {self._module(other).__name__} import {other}\n" for other in called]
            self._modules[name] = _load(name, "".join([self._header, *imports, ast.unparse(tree), "\n"]))
        return self._modules[name]


@cache
def _parsed(texts: tuple[str, ...]) -> tuple[dict[str, ast.FunctionDef], dict[str, object]]:
    """The functions of kernel files by name, and the constants that these files define.

    Files share their names, so each is defined once.
    """
    functions: dict[str, ast.FunctionDef] = {}
    constants: dict[str, object] = {}
    for statement in (statement for text in texts for statement in ast.parse(text).body):
        if isinstance(statement, ast.FunctionDef) and statement.name not in SAME:
            assert statement.name not in functions, statement.name
            functions[statement.name] = statement
        elif isinstance(statement, ast.Assign):
            found = _assigned(statement)
            assert not (twice := found.keys() & constants.keys()), twice
            constants |= found
    return functions, constants


def _assigned(statement: ast.Assign) -> dict[str, object]:
    """The names that an assignment defines, with their values."""
    value = eval(
        compile(ast.Expression(statement.value), "<constant>", "eval")
    )  # it has the kernel files' own numbers alone
    names = [node.id for node in ast.walk(statement.targets[0]) if isinstance(node, ast.Name)]
    return dict(zip(names, value if isinstance(value, tuple) else (value,), strict=True))


def _load(function: str, text: str) -> ModuleType:
    """The module of a text, which defines ``function``."""
    stamp = hashlib.sha256(text.encode()).hexdigest()[:24]
    name = f"csaw_kernel_{function}_{stamp}"
    with loading:
        return sys.modules.get(name) or _imported(name, text)


def _imported(name: str, text: str) -> ModuleType:
    path = code_folder("kernels") / f"{name}.py"
    if not own_file(path):
        write_own(path, text.encode())
    own_file(Path(importlib.util.cache_from_source(path)))
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@cache
def _body(file: str) -> str:
    return (FOLDER / file).read_text()


# Constant folding in functions of kernel files: branches that the constants rule out are dropped, and with them the
# functions they call.

COMPARED = {ast.Eq: operator.eq, ast.NotEq: operator.ne}


def names_of(tree: ast.AST) -> set[str]:
    """Names that a function reads but does not define; of a module, those that its statements read, each by itself."""
    if isinstance(tree, ast.Module):
        return {name for statement in tree.body for name in names_of(statement)}
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    own = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    own |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    return {node.id for node in names} - own


class Folding(ast.NodeTransformer):
    """Copies functions with these constants, without docstrings and without statements after a way out.

    Call it with a function.
    """

    def __init__(self, constants: dict[str, object]) -> None:
        self.constants = constants

    def __call__(self, function: ast.FunctionDef) -> ast.FunctionDef:
        read = names_of(function)
        self.constants = {name: value for name, value in self.constants.items() if name in read}
        return ast.fix_missing_locations(self.visit(_copy(function)))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.body = self._block(node.body[1:] if ast.get_docstring(node) is not None else node.body)
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self.constants:
            return node
        return ast.parse(repr(self.constants[node.id]), mode="eval").body

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        node.operand = self.visit(node.operand)
        known = isinstance(node.op, ast.Not) and isinstance(node.operand, ast.Constant)
        return ast.Constant(not node.operand.value) if known else node  # type: ignore[attr-defined]

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        sides, compared = (node.left, *node.comparators), COMPARED.get(type(node.ops[0]))
        if len(sides) > 2 or compared is None or not all(isinstance(side, ast.Constant) for side in sides):
            return node
        return ast.Constant(compared(*(side.value for side in sides)))  # type: ignore[attr-defined]

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        decides = isinstance(node.op, ast.Or)
        rest = [self.visit(value) for value in node.values]
        while len(rest) > 1 and isinstance(rest[0], ast.Constant):
            rest = rest[:1] if bool(rest[0].value) == decides else rest[1:]
        return ast.BoolOp(node.op, rest) if len(rest) > 1 else rest[0]

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.test, ast.Constant):
            return node.body if node.test.value else node.orelse
        return node

    def visit_If(self, node: ast.If) -> ast.stmt | list[ast.stmt]:
        test = self.visit(node.test)
        if isinstance(test, ast.Constant):
            taken = node.body if test.value else node.orelse
            return self._block(taken) if taken else []
        return ast.If(test, self._block(node.body), self._block(node.orelse) if node.orelse else [])

    def visit_For(self, node: ast.For) -> ast.For:
        node.target, node.iter, node.body = self.visit(node.target), self.visit(node.iter), self._block(node.body)
        return node

    def visit_While(self, node: ast.While) -> ast.While:
        node.test, node.body = self.visit(node.test), self._block(node.body)
        return node

    def _block(self, statements: Iterable[ast.stmt]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for statement in statements:
            folded = self.visit(statement)
            out += folded if isinstance(folded, list) else [folded]
            if out and isinstance(out[-1], (ast.Return, ast.Continue, ast.Break)):
                break
        return out or [ast.Pass()]


def _copy(function: ast.FunctionDef) -> ast.FunctionDef:
    [copy] = ast.parse(ast.unparse(function)).body
    assert isinstance(copy, ast.FunctionDef)
    return copy
