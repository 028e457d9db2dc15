"""The Python that hooks are written in: what is refused, which calls become functions with the same bits on every
machine, and errors about what a user has written, of a hook with the line.
"""

import ast
import copy
import inspect
import math
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import TypeAlias

from csaw.partition.base.quoting import quoted
from csaw.partition.errors import CsawError, OptionError

# Errors about a hook name the line of the user's file.


class HookError(OptionError):
    """An error about a node of a hook's text; ``line`` counts from where the text begins."""

    def __init__(self, node: ast.AST, said: str) -> None:
        super().__init__(said)
        self.line: int = getattr(node, "lineno", 1)


class PlacedError(OptionError):
    """An error that names its line already."""


WRITTEN: dict[str, type] = {}
"""The classes that a program has given, by the files that they were written out to."""


def code_of(function: object) -> CodeType | None:
    """The code of a function where the user has written it; None where it has none."""
    code: CodeType | None = getattr(function, "__code__", None)
    if code is None or code.co_filename not in WRITTEN:
        return code
    return getattr(getattr(WRITTEN[code.co_filename], code.co_name, None), "__code__", code)


def placed(error: OptionError, function: object) -> OptionError:
    """The error with the file and the line of ``function`` that it is about, where that is in a file."""
    code = code_of(function)
    if isinstance(error, PlacedError) or code is None or hasattr(function, "csaw_source"):
        return error
    line = code.co_firstlineno - 1 + (error.line if isinstance(error, HookError) else 1)
    return PlacedError(f"line {line} of {Path(code.co_filename).name}: {error}")


# Calls of what a user has written: whatever it raises is an error of its own, named in one line.

SHIPPED = "csaw.engine.algorithms."
OURS = f"{Path(__file__).resolve().parents[2]}{os.sep}"  # where csaw's own code lies


def is_own(kind: type) -> bool:
    """Whether an algorithm is not one of those that csaw ships, as it ships them."""
    return not kind.__module__.startswith(SHIPPED)


@contextmanager
def users_code(what: str) -> Iterator[None]:
    """Raise OptionError about ``what`` when the body raises anything or asks Python to exit.

    The body runs code of the user's.
    """
    try:
        yield
    except CsawError as error:
        if str(error).startswith("line "):  # it names its place already
            raise
        raise OptionError(f"{what} {_line_of(error)}{error}") from error
    except (Exception, SystemExit) as error:
        said = f": {error}" if str(error) else ""
        raise OptionError(f"{what} {_line_of(error)}{type(error).__name__}{said}") from error


def _line_of(error: BaseException) -> str:
    """The last line of the user's file that led to an error, to begin its message with."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        foreign = (
            frame.filename.startswith(("<", OURS, sys.prefix, sys.base_prefix)) or "site-packages" in frame.filename
        )
        if not foreign and not str(Path(frame.filename).resolve()).startswith(OURS):
            return f"line {frame.lineno} of {Path(frame.filename).name}: "
    return ""


Scope: TypeAlias = dict[str, object]
"""The values that a function can see outside itself, by name."""
PORTABLE = {
    "exp": "csaw_exponential",
    "log": "csaw_logarithm",
    "pow": "csaw_power",
    "power": "csaw_power",
}  # see engine/draws/portable.py
WHOLE = {"floor", "ceil", "trunc"}  # math makes integers of them
BASES = {"log2": math.log(2.0), "log10": math.log(10.0)}
EXACT = {
    "sqrt",
    "fabs",
    "abs",
    "floor",
    "ceil",
    "trunc",
    "copysign",
    "ldexp",
    "isnan",
    "isinf",
    "isfinite",
    "minimum",
    "maximum",
}
DIVISIONS = (ast.Div, ast.Mod, ast.FloorDiv)
FOREIGN: dict[type[ast.AST], str] = {
    ast.Raise: "raise",
    ast.Assert: "assert",
    ast.Try: "try",
    ast.TryStar: "try",
    ast.With: "with",
    ast.Import: "import",
    ast.ImportFrom: "import",
    ast.Global: "global",
    ast.Nonlocal: "nonlocal",
    ast.Delete: "del",
    ast.ClassDef: "class",
    ast.FunctionDef: "a nested def",
    ast.AsyncFunctionDef: "async",
    ast.AsyncFor: "async",
    ast.AsyncWith: "async",
    ast.Await: "await",
    ast.Yield: "yield",
    ast.YieldFrom: "yield",
    ast.Lambda: "lambda",
    ast.NamedExpr: ":=",
    ast.JoinedStr: "an f-string",
    ast.Dict: "a dict",
    ast.Set: "a set",
    ast.DictComp: "a dict",
    ast.SetComp: "a set",
    ast.GeneratorExp: "a generator",
    ast.Starred: "*",
    ast.Match: "match",
}


def refuse_foreign(body: Iterable[ast.AST], where: str) -> None:
    """OptionError about what a function of numbers that a GPU runs too cannot be written with."""
    for node in (node for statement in body for node in ast.walk(statement)):
        if isinstance(node, ast.Constant) and not _is_plain(node.value):
            raise HookError(node, f"{where}: expected numbers of 64 bits, found {quoted(node.value)}")
        if divides_by_zero(node):
            raise HookError(node, f"{where}: {ast.unparse(node)} divides by zero")
        if type(node) in FOREIGN:
            raise HookError(
                node,
                f"{where}: {FOREIGN[type(node)]} cannot be used here; a hook may use numbers, assignments, "
                "if, for, while, return and functions of math",
            )


def divides_by_zero(node: ast.AST) -> bool:
    """Whether a node is a division by the number 0."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, DIVISIONS):
        return False
    return isinstance(node.right, ast.Constant) and node.right.value == 0


def rounded_apart(where: str, name: str) -> str:
    """Say that a function of math gives other bits on other machines, and name those that do not."""
    return (
        f"{where}: {name}() is rounded differently from machine to machine, so samples would differ; "
        f"use + - * / **, sqrt, exp, log, log2, log10, floor, ceil, min, max"
    )


def _is_plain(value: object) -> bool:
    if isinstance(value, int):
        return -(2**63) <= value < 2**63
    return value is None or isinstance(value, (float, str))


class Portable(ast.NodeTransformer):
    """Powers, exponentials and logarithms by engine functions; what else libraries round their own way is refused."""

    def __init__(self, scope: Scope, where: str) -> None:
        self.scope, self.where = scope, where

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Rewrite what it computes, where variables hide what the module calls so; decorators and types are left."""
        local = stored_names(node) | {one.arg for one in node.args.args}
        node.args.defaults = [self.visit(one) for one in node.args.defaults]
        self.scope = {name: value for name, value in self.scope.items() if name not in local}
        node.body = [self.visit(one) for one in node.body]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if _has_state(self.scope.get(node.id)):
            raise self._draws(node)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Allow only numbers from modules, because the code of a function in another file is not visible here."""
        owner, value = self._value(node.value), self._value(node)
        if any(map(_has_state, (owner, value))):
            raise self._draws(node)
        if isinstance(owner, ModuleType) and not isinstance(value, (bool, int, float)):
            raise HookError(
                node,
                f"{self.where}: {ast.unparse(node)} cannot be used here; a hook may call functions of math, and "
                "your own functions if they are imported by name, as in from mine import bias",
            )
        if isinstance(owner, ModuleType) and owner is not math:
            return number_node(value)  # as it is now: the text would stand for whatever it is later
        self.generic_visit(node)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        return call_of("csaw_power", node.left, node.right) if isinstance(node.op, ast.Pow) else node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        if isinstance(node.op, ast.Invert) and is_truth(node.operand):
            raise HookError(
                node,
                f"{self.where}: {ast.unparse(node)}: ~ is for integers; write not {ast.unparse(node.operand)}",
            )
        self.generic_visit(node)
        if isinstance(node.op, ast.Invert):  # of a variable that is a truth, compilers would make not
            node.operand = ast.BinOp(ast.Constant(0), ast.Add(), node.operand)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Pow):
            return node
        return ast.Assign([node.target], call_of("csaw_power", read_again(node.target), node.value))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        name = self._library_function(node.func)
        if name is None:
            self.generic_visit(node)
            return _held(node) if self._makes_integer(node, None) else node
        node.args = [self.visit(one) for one in node.args]
        node.keywords = [self.visit(one) for one in node.keywords]
        if name in EXACT:
            return _held(node) if self._makes_integer(node, name) else node
        if name in PORTABLE:
            return call_of(PORTABLE[name], *node.args)
        if name in BASES and len(node.args) == 1:
            return ast.BinOp(call_of(PORTABLE["log"], *node.args), ast.Div(), ast.Constant(BASES[name]))
        raise HookError(node, rounded_apart(self.where, name))

    def _makes_integer(self, node: ast.Call, name: str | None) -> bool:
        """Whether a call makes an integer of a number that may be none; ``name``: that of a library's function."""
        function = node.func
        if len(node.args) != 1 or node.keywords or is_truth(node.args[0]) or _is_held(node.args[0]):
            return False
        if name is None:
            return isinstance(function, ast.Name) and function.id in ("int", "round") and function.id not in self.scope
        of_math = isinstance(function, ast.Name) or self._value(function.value) is math  # type: ignore[attr-defined]
        return name in WHOLE and of_math  # NumPy's are floats

    def _value(self, node: ast.expr) -> object:
        """The value of a name, or of an attribute of a module; None for anything else."""
        if isinstance(node, ast.Name):
            return self.scope.get(node.id)
        owner = self._value(node.value) if isinstance(node, ast.Attribute) else None
        return getattr(owner, node.attr, None) if isinstance(owner, ModuleType) else None  # type: ignore[attr-defined]

    def _draws(self, node: ast.expr) -> HookError:
        return HookError(
            node,
            f"{self.where}: {ast.unparse(node)} draws numbers that do not follow from the seed of a run, so samples "
            "would differ; only update and dead_end of a sampler may draw, by e.random()",
        )

    def _library_function(self, function: ast.expr) -> str | None:
        """The name of a called function of math or NumPy; None for any other call."""
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            module = self.scope.get(function.value.id)
            return function.attr if isinstance(module, ModuleType) and module.__name__ in ("math", "numpy") else None
        if isinstance(function, ast.Name):
            value = self.scope.get(function.id, pow if function.id == "pow" else None)
            known = value is pow or getattr(value, "__module__", None) == "math"
            return value.__name__ if known and isinstance(value, BuiltinFunctionType) else None
        return None


def stored_names(tree: ast.AST) -> set[str]:
    """The names that are assigned anywhere in a piece of code."""
    return {one.id for one in ast.walk(tree) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}


def is_truth(node: ast.expr) -> bool:
    """Whether the value of an expression is True or False, by its form."""
    match node:
        case ast.Compare() | ast.UnaryOp(op=ast.Not()) | ast.Constant(value=bool()):
            return True
        case ast.BoolOp(values=parts) | ast.Call(func=ast.Name(id="min" | "max"), args=parts):
            return all(map(is_truth, parts))
        case ast.IfExp(body=one, orelse=other):
            return is_truth(one) and is_truth(other)
        case ast.BinOp(op=ast.BitAnd() | ast.BitOr() | ast.BitXor(), left=one, right=other):
            return is_truth(one) and is_truth(other)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name.startswith("is") or name == "bool"
    return False


def plain_number(value: object) -> bool | int | float | None:
    """The number that a constant of the user's code is for Python's operators, also one of an IntEnum or of another
    class of numbers; None for what is none.
    """
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int.__pos__(value)
    return float.__pos__(value) if isinstance(value, float) else None


def number_node(value: object) -> ast.expr:
    """The expression of a number; one without a finite value is what a float overflows to."""
    number = plain_number(value)
    assert number is not None
    infinite = ast.BinOp(ast.Constant(1e308), ast.Mult(), ast.Constant(10.0))
    if math.isnan(number):
        return ast.BinOp(infinite, ast.Sub(), infinite)
    if math.isinf(number):
        return infinite if number > 0 else ast.UnaryOp(ast.USub(), infinite)
    return ast.Constant(number)


def _has_state(value: object) -> bool:
    """Whether a value is, or is of, a module of random numbers."""
    owner = value if isinstance(value, ModuleType) else getattr(value, "__self__", value)
    module = owner.__name__ if isinstance(owner, ModuleType) else type(owner).__module__
    return f"{module}.".startswith(("random.", "numpy.random."))


def call_of(name: str, *arguments: ast.expr) -> ast.Call:
    """Return the call of the function ``name`` with these arguments."""
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


def _is_held(node: ast.expr) -> bool:
    """Whether an expression is a constant that 64 bits hold as an integer."""
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float) and -(2**63) <= node.value < 2**63


def _held(call: ast.Call) -> ast.expr:
    """The call, or 0 where 64 bits do not hold the number that it is given: machines make different integers of it."""
    number = copy.deepcopy(call.args[0])
    bits = ast.Compare(ast.Constant(-(2.0**63)), [ast.LtE(), ast.Lt()], [number, ast.Constant(2.0**63)])
    return ast.IfExp(bits, call, ast.Constant(0))


def read_again(target: ast.expr) -> ast.expr:
    """The expression that reads what an assignment writes."""
    return ast.parse(ast.unparse(target), mode="eval").body


def function_in(scope: Scope, name: str) -> FunctionType:
    """The function that a text, run in this scope, has defined."""
    found = scope[name]
    assert isinstance(found, FunctionType)
    return found


def scope_of(function: Callable[..., object]) -> Scope:
    """The names that a function can see outside itself."""
    return {**getattr(function, "__globals__", {}), **inspect.getclosurevars(function).nonlocals}
