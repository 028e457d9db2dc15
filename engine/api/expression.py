"""Expressions for a bias: only numbers, by an allow-list of syntax that is checked before anything is compiled or
evaluated.

    e.weight  e.dst_degree  e.time ...       the fields of an edge, FIELDS, and the edge columns of the graph, which are
                         known when it is compiled
    e.is_neighbor(a, b)  e.path(i)           the calls that hooks may make, CALLS; the name in e.column("name", a) is
                         the only text + - * / // % **  & | ^ ~  << >>          a shift is by a number from 0 to 63
    < <= > >= == !=  and or not  a if b else c
    abs(x)  min(x, y)  math.exp(x)  math.pi  FUNCTIONS, and of math MATH and NUMBERS

The command line, Python and the manifests of stores have theirs checked here. Whatever is accepted ends, in little
memory, and reads numbers of the edge
alone: powers are computed with floats, and nothing else makes a number much longer than the expression is.
"""

import ast
import math
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import NoReturn

from csaw.engine.api.hook_language import EXACT, FOREIGN, divides_by_zero, is_truth, rounded_apart
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import BiasError, OptionError

WHERE = "--edge-bias"
LONGEST, DEEPEST = 1000, 100  # most characters of an expression, and most levels of its syntax
FIELDS = ("src", "dst", "prev", "depth", "instance", "source", "weight", "src_degree", "dst_degree", "vertices")
CALLS = ("is_neighbor", "column", "path", "random", "random_vertex")
NO_COLUMNS = (*CALLS, "id", "degree")  # names that no edge column has, so that they are refused here
FUNCTIONS: dict[str, Sequence[int]] = {
    "abs": (1,),
    "int": (1,),
    "float": (1,),
    "bool": (1,),
    "round": (1,),
    "pow": (2,),
    "min": range(2, LONGEST),
    "max": range(2, LONGEST),
}
"""Functions that may be called by their names, with the numbers of arguments that they take."""
MATH: dict[str, Sequence[int]] = {name: (1,) for name in ("exp", "log", "log2", "log10", *EXACT) if hasattr(math, name)}
MATH |= dict.fromkeys(("pow", "copysign", "ldexp"), (2,))
NUMBERS = ("pi", "e", "tau", "inf", "nan")
OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.BitAnd, ast.BitOr, ast.BitXor)
SHIFTS = (ast.LShift, ast.RShift)
COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
FAILURES = (ArithmeticError, LookupError, TypeError, ValueError)  # of a number that has no result
JUDGED = """\
def edge_bias(self, e):
    try:
        return {}
    except FAILURES as error:
        failed(e, error)
"""


def parsed(text: object) -> ast.expr:
    """The syntax tree of an expression; OptionError if it is anything else than a bias of numbers."""
    try:
        if not isinstance(text, str) or len(text) > LONGEST:
            raise ValueError
        tree = ast.parse(text, WHERE, "eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        _refuse_whole(text, error)
    level: list[ast.AST] = [tree]
    for _ in range(DEEPEST):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    if level:
        _refuse_whole(text, None)
    _Allowed().visit(tree)
    return tree


def bias_of(text: object) -> Callable[..., object]:
    """The method ``edge_bias`` that an expression stands for, with its source as ``csaw_source``.

    OptionError as for :func:`parsed`.
    """
    tree = parsed(text)
    # Write the tree as text again: a comment or line break in the expression would change the code around it.
    source = f"def edge_bias(self, e):\n    return {ast.unparse(tree)}\n"
    judged = JUDGED.format(ast.unparse(ast.fix_missing_locations(_Powers().visit(tree))))
    scope: dict[str, object] = {
        "__builtins__": _builtins(),
        "math": math,
        "power": power,
        "failed": _failed,
        "FAILURES": FAILURES,
    }
    exec(compile(judged, WHERE, "exec"), scope)  # noqa: S102 - numbers alone, as checked above
    made = scope["edge_bias"]
    assert isinstance(made, FunctionType)
    made.__dict__["csaw_source"] = source
    return made


def power(x: float, y: float) -> float:
    """x^y of floats, which takes no long time; infinity or NaN where it has no finite result, as in kernels."""
    try:
        return math.pow(x, y)
    except OverflowError:
        return -math.inf if x < 0 and float(y) % 2 == 1 else math.inf  # kernels compute with floats
    except ValueError:
        return math.inf if x == 0 else math.nan


def _builtins() -> dict[str, Callable[..., object]]:
    return {"abs": abs, "int": int, "float": float, "bool": bool, "round": round, "pow": power, "min": min, "max": max}


def _failed(e: object, error: Exception) -> NoReturn:
    src, dst = getattr(e, "src", None), getattr(e, "dst", None)
    raise BiasError(
        f"the bias of edge {src} -> {dst} (dense ids) is not a number: {error}; a bias must be a finite "
        "number of at least 0"
    ) from error


def _refuse_whole(text: object, error: Exception | None) -> NoReturn:
    raise OptionError(
        f"{WHERE}: expected an expression such as 'e.weight * 2', with at most {LONGEST} characters and "
        f"{DEEPEST} levels, found {quoted(text)}"
    ) from error


def _refuse(node: ast.AST) -> NoReturn:
    said = FOREIGN.get(type(node)) or quoted(ast.unparse(node))
    raise OptionError(
        f"{WHERE}: {said} cannot be used here; an expression may use numbers, fields of e such as e.weight, + "
        f"- * / // % **, comparisons, and, or, not, if else, {', '.join(FUNCTIONS)}, and from math "
        f"{', '.join(sorted(MATH))}, {', '.join(NUMBERS)}"
    )


class _Allowed(ast.NodeVisitor):
    """Visits an expression, and refuses every node that no method of its own allows."""

    def generic_visit(self, node: ast.AST) -> NoReturn:
        _refuse(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        whole = isinstance(node.value, int) and -(2**63) <= node.value < 2**63
        if not whole and not isinstance(node.value, float):
            raise OptionError(f"{WHERE}: expected 64-bit numbers, found {quoted(node.value)}")

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Invert) and is_truth(node.operand):  # compilers read it as not, Python as -1 or -2
            raise OptionError(f"{WHERE}: {ast.unparse(node)}: ~ is for integers; write not {ast.unparse(node.operand)}")
        self.visit(node.operand)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if divides_by_zero(node):
            raise OptionError(f"{WHERE}: {ast.unparse(node)} divides by zero")
        if isinstance(node.op, SHIFTS):
            by = node.right.value if isinstance(node.right, ast.Constant) else None
            if not isinstance(by, int) or not 0 <= by < 64:
                raise OptionError(f"{WHERE}: expected a shift by a number from 0 to 63, found {ast.unparse(node)}")
        elif not isinstance(node.op, OPERATORS):
            _refuse(node)
        self.visit(node.left)
        self.visit(node.right)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self._visit_all(node.values)

    def visit_Compare(self, node: ast.Compare) -> None:
        if not all(isinstance(one, COMPARISONS) for one in node.ops):
            _refuse(node)
        self._visit_all([node.left, *node.comparators])

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._visit_all([node.test, node.body, node.orelse])

    def visit_Attribute(self, node: ast.Attribute) -> None:
        of = _name(node.value)
        if of == "e" and (node.attr.startswith("_") or node.attr in NO_COLUMNS):
            raise OptionError(f"{WHERE}: {no_field('e', node.attr)}")
        if of != "e" and not (of == "math" and node.attr in NUMBERS):
            _refuse(node)

    def visit_Call(self, node: ast.Call) -> None:
        if node.keywords or any(isinstance(one, ast.Starred) for one in node.args):
            _refuse(node)
        given, function = node.args, node.func
        if isinstance(function, ast.Attribute) and _name(function.value) == "e" and function.attr in CALLS:
            if function.attr == "is_neighbor" and any(_asks(one) for end in given for one in ast.walk(end)):
                raise OptionError(f"{WHERE}: the arguments of e.is_neighbor(a, b) cannot call e.is_neighbor again")
            self._visit_all(given[1:] if function.attr == "column" and given and _is_text(given[0]) else given)
            return
        if isinstance(function, ast.Attribute) and _name(function.value) == "math":
            if function.attr not in MATH and callable(getattr(math, function.attr, None)):
                raise OptionError(rounded_apart(WHERE, function.attr))
            takes: Sequence[int] = MATH.get(function.attr, ())
        else:
            takes = FUNCTIONS.get(_name(function), ())
        if len(given) not in takes:
            _refuse(node)
        self._visit_all(given)

    def _visit_all(self, nodes: list[ast.expr]) -> None:
        for node in nodes:
            self.visit(node)


def no_field(
    view: str, name: str, columns: Sequence[str] | None = None, further: Sequence[str] = (), *, draws: bool = False
) -> str:
    """Say that hooks have no field ``name``. ``columns``: names of the edge columns of the graph, where it is known;
    ``further``: fields that these hooks have beside those of all; ``draws``: whether they may draw random numbers.
    """
    calls = ("is_neighbor(a, b)", "column(name, a)", "path(i)", *(("random()", "random_vertex()") if draws else ()))
    there = f"no {view}.{name}; there are {', '.join((*FIELDS, *further, *calls))}"
    if columns is None:
        return there
    timed = "; csaw partition --time-column gives each edge a time" if name == "time" else ""
    return f"{there}; the edge columns of the graph: {', '.join(columns) or 'none'}{timed}"


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _asks(node: ast.AST) -> bool:
    """Whether a node is e.is_neighbor.

    Kernels write what it is asked of several times, so that one in another would double with each level.
    """
    return isinstance(node, ast.Attribute) and node.attr == "is_neighbor"


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


class _Powers(ast.NodeTransformer):
    """Powers by :func:`power`: those of Python's integers have no end."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        return (
            ast.Call(ast.Name("power", ast.Load()), [node.left, node.right], [])
            if isinstance(node.op, ast.Pow)
            else node
        )

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        is_power = _name(node.value) == "math" and node.attr == "pow"
        return ast.Name("power", ast.Load()) if is_power else node
