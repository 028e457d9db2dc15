"""Random Python in place of a bias: it is refused before anything runs, or it is an expression of numbers, and has the
value that a slow reading of it gives.

What csaw does meanwhile is watched by an audit hook: a refusal reads the text once, and what is accepted compiles and
defines one function.
"""

import ast
import math
import operator
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import numba
import numpy as np

from csaw.engine.api import hooks, registry
from csaw.engine.api.algorithm import VertexColumns
from csaw.engine.draws import portable
from csaw.partition.errors import BiasError, OptionError
from fuzz.judge import Failure

SECONDS = 20
COMPILED_EVERY = 10  # accepted cases, one of which is compiled as a kernel is
NONE = -1
FIELDS = ("src", "dst", "prev", "depth", "instance", "source", "weight", "src_degree", "dst_degree", "vertices")
METHODS = ("is_neighbor", "column", "path", "random", "random_vertex")
ONE = {
    name: getattr(math, name)
    for name in ("exp", "log", "log2", "log10", "sqrt", "fabs", "floor", "ceil", "trunc", "isnan", "isinf", "isfinite")
}
ONE |= {"abs": abs, "int": int, "float": float, "bool": bool, "round": round}
TWO = {"copysign": math.copysign, "ldexp": math.ldexp}
OF_MATH = (
    "exp",
    "log",
    "log2",
    "log10",
    "sqrt",
    "fabs",
    "floor",
    "ceil",
    "trunc",
    "isnan",
    "isinf",
    "isfinite",
    "copysign",
    "ldexp",
    "pow",
)
BINARY = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
UNARY = {ast.UAdd: operator.pos, ast.USub: operator.neg, ast.Not: operator.not_, ast.Invert: operator.invert}
ORDERS = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
SYMBOLS = ["+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<", "<=", ">", ">=", "==", "!=", "and", "or"]
NUMBERS = [
    "0",
    "1",
    "2",
    "3",
    "0.5",
    "-1",
    "7",
    "1e-3",
    "1e308",
    "5e-324",
    "1e400",
    "9223372036854775807",
    "9223372036854775808",
    "9" * 400,
    "0x1F",
    "1_000",
    "1j",
    "True",
    "math.pi",
    "math.inf",
    "math.nan",
]
NAMES = [
    "e",
    "math",
    "self",
    "v",
    "x",
    "__builtins__",
    "__import__",
    "os",
    "eval",
    "exec",
    "open",
    "getattr",
    "type",
    "object",
    "edge_bias",
    "power",
    "failed",
    "FAILURES",
    "error",
    "abs",
    "int",
    "print",
    "params",
    "graph",
    "csaw_power",
]
ATTRIBUTES = [
    "__class__",
    "__base__",
    "__subclasses__",
    "__init__",
    "__globals__",
    "__builtins__",
    "__loader__",
    "__dict__",
    "__mro__",
    "real",
    "imag",
    "numerator",
    "bit_length",
    "as_integer_ratio",
    "_view",
    "hex",
    "load_module",
    "__call__",
    "__self__",
    "__func__",
    "__code__",
    "gi_frame",
    "f_globals",
    "tb_frame",
    "__traceback__",
    "__doc__",
    "sin",
    "gcd",
    "dst",
    "random",
    "vertex_columns",
]
FOREIGN = [
    "{a}.{t}",
    "{a}[{b}]",
    "{a}[{b}:{b}]",
    "[{a}, {b}]",
    "({a}, {b})",
    "{{{a}}}",
    "{{{a}: {b}}}",
    "[x for x in {a}]",
    "(x for x in {a})",
    "{{x: x for x in {a}}}",
    "lambda: {a}",
    "lambda e: {a}",
    "(x := {a})",
    "{n}({a})",
    "{n}",
    "{n}.{t}",
    "e.{t}",
    "math.{t}",
    "math.{t}({a})",
    "e.{t}({a})",
    "{a}({b})",
    "f'{{{a}}}'",
    "'{t}'",
    "b'{t}'",
    "...",
    "None",
    "{a} in {b}",
    "{a} not in {b}",
    "{a} is {b}",
    "{a} @ {b}",
    "*{a}",
    "min(*{a})",
    "min({a}, key={b})",
    "max({a}, {b}, default={a})",
    "pow({a}, {b}, {a})",
    "e.is_neighbor(a={a}, b={b})",
    "e.is_neighbor",
    "e.column({a}, {b})",
    "e.column('x' + 'y', {a})",
    "await {a}",
    "yield {a}",
    "(yield)",
    "{a} if {b}",
    "{a}; {b}",
    "import os",
    "del {n}",
    "{a} = {b}",
    "print({a})",
    "().__class__",
    "__import__('os').system('true')",
    "open('canary', 'w')",
    "{a} << {b}",
    "{a} >> -1",
    "{a} ** {a} ** {a} ** {b}",
    "1 << 63 << 63 << {a}",
    "round({a}, -{b})",
    "int({a}, {b})",
    "float('1')",
    "int()",
    "min({a})",
    "{n}.{t}.{t}.{t}({a})",
    "e.random()",
    "e.random_vertex()",
    "{a}!r",
    "{a} #{b}",
    "(\n{a}\n)",
    "{a} \\\n+ {b}",
]
LOOKALIKES = {
    "e": "ｅеℯ",
    "v": "ｖν",
    "a": "ａа",
    "o": "ｏо",
    "i": "ｉі",
    "_": "＿",
    "x": "ｘх",
    "s": "ｓѕ",
    "m": "ｍ",
    "l": "ｌⅼ",
    ".": "․",
}
EVENTS: list[str] = []
WATCHING: list[bool] = []
QUIET = {"compile", "exec", "object.__getattr__"}


class Unknown(Exception):
    """An expression has something in it that none has by the documentation."""


class Slow(Exception):
    """The alarm of a case."""


class Expressions:
    """Cases in this process: nothing of csaw is started but what reads an expression, and what computes it."""

    def __init__(self, folder: Path) -> None:
        self.columns = VertexColumns(("x", "größe"), np.array([[0.5, 2.0, 3.0], [7.0, 8.0, 9.0]]))
        self.accepted, self.base = 0, registry.find("biased")
        sys.addaudithook(lambda event, arguments: EVENTS.append(event) if WATCHING else None)
        signal.signal(signal.SIGALRM, _slow)
        self._kernel(
            "e.weight ** 2", registry.build("biased", {}, "e.weight ** 2"), edge_of(Random(1))
        )  # what is imported late

    def case(self, random: Random, place: Path) -> list[Failure]:
        """One text, read as the command line, Python and manifests have theirs read."""
        place.mkdir(exist_ok=True)
        text = spoiled(
            random, expression(random, random.choice([1, 2, 3, 3, 4, 6]), random.choice([0.0, 0.0, 0.1, 0.4]))
        )
        signal.alarm(SECONDS)
        try:
            return [
                Failure(kind, where, f"--edge-bias {text!r}", detail)
                for kind, where, detail in self._faults(text, random)
            ]
        except Slow:
            return [Failure("hang", "an expression", f"--edge-bias {text!r}", "")]
        except Exception as error:  # noqa: BLE001 - what is no error of csaw's is what is looked for
            return [Failure("traceback", type(error).__name__, f"--edge-bias {text!r}", str(error)[:300])]
        finally:
            signal.alarm(0)

    def _faults(self, text: str, random: Random) -> Iterator[tuple[str, str, str]]:
        try:
            with watched() as events:
                kind = registry.with_edge_bias(self.base, text)
        except OptionError:
            if set(events) - {"compile"} or len(events) > 1:
                yield "ran", "before a refusal", str(events)
            return
        if set(events) - QUIET or events.count("exec") != 1 or events.count("compile") != 2:
            yield "ran", "while a function was made", str(events)
        if lacking := columns_of(text):
            with suppress(OptionError):
                hooks.edge_bias(kind(), True, ())
                yield "accepted", "edge columns that the graph lacks", f"{lacking}"
            return
        self.accepted += 1
        for edge in (edge_of(random) for _ in range(3)):
            with watched() as events:
                found = outcome(lambda edge=edge: kind.edge_bias(None, edge))
            if set(events) - QUIET or "exec" in events or "compile" in events:
                yield "ran", "while it was computed", str(events)
            wanted = outcome(lambda edge=edge: value_of(ast.parse(text, mode="eval").body, edge))
            if not same(found, wanted):
                yield "wrong result", "the law in Python", f"found {found}, expected {wanted} at {vars(edge)}"
            elif self.accepted % COMPILED_EVERY == 0 and isinstance(wanted, float | int):
                yield from self._compiled(text, kind(), edge, wanted)

    def _compiled(self, text: str, algorithm: Any, edge: Any, wanted: float) -> Iterator[tuple[str, str, str]]:
        """Compare with what a kernel computes, where no integer leaves 64 bits on the way."""
        try:
            found = self._kernel(text, algorithm, edge)
        except (
            OptionError,
            numba.core.errors.NumbaError,
        ):  # of one kind of number here and another there, which a run refuses, too
            return
        if not same(found, wanted) and within_64_bits(ast.parse(text, mode="eval").body, edge):
            yield "wrong result", "a kernel", f"found {found}, expected {wanted} at {vars(edge)}"

    def _kernel(self, text: str, algorithm: Any, edge: Any) -> Any:
        algorithm.vertex_columns = self.columns
        source = hooks.edge_bias(algorithm, True).source
        scope = dict(KERNEL)
        exec(source, scope)  # noqa: S102 - csaw has accepted it
        graph = (edge.src_degree, edge.dst_degree, edge.vertices, edge.src)
        return scope["edge_bias"](
            (), graph, 0, edge.instance, edge.depth, edge.source, edge.prev, edge.src, edge.dst, edge.weight
        )


def _slow(*_: object) -> None:
    raise Slow


def columns_of(text: str) -> set[str]:
    """The names that an expression reads as columns of edges; a graph says whether it has them."""
    parsed = ast.parse(text, mode="eval")
    read = [node for node in ast.walk(parsed) if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)]
    return {node.attr for node in read if ast.unparse(node.value) == "e"} - {*FIELDS, *METHODS}


@contextmanager
def watched() -> Iterator[list[str]]:
    """What Python tells its audit hooks meanwhile."""
    EVENTS.clear()
    found: list[str] = []
    WATCHING.append(True)
    try:
        yield found
    finally:
        WATCHING.clear()
        found += EVENTS


def expression(random: Random, levels: int, strange: float) -> str:
    """A random expression of so many levels; ``strange``: the chance that a part is something else than a number."""
    if random.random() < strange:
        parts = {name: expression(random, min(levels, 2) - 1, strange / 2) if levels > 0 else "e.dst" for name in "ab"}
        return random.choice(FOREIGN).format(**parts, n=random.choice(NAMES), t=random.choice(ATTRIBUTES))
    if levels <= 0:
        return random.choice(
            [random.choice(NUMBERS[:10]), random.choice(NUMBERS), *(f"e.{random.choice(FIELDS)}" for _ in range(4))]
        )
    a, b, c = (expression(random, levels - random.choice([1, 1, 2]), strange) for _ in range(3))
    made = [
        lambda: f"({a} {random.choice(SYMBOLS)} {b})",
        lambda: f"{a} {random.choice(SYMBOLS)} {b}",
        lambda: f"({a} if {b} else {c})",
        lambda: f"({random.choice(['-', '+', 'not ', '~'])}{a})",
        lambda: f"{random.choice(['abs', 'int', 'float', 'bool', 'round'])}({a})",
        lambda: f"{random.choice(['min', 'max'])}({a}, {b}{random.choice(['', ', ' + c])})",
        lambda: f"math.{random.choice(OF_MATH[:12])}({a})",
        lambda: f"math.{random.choice(OF_MATH[12:])}({a}, {b})",
        lambda: f"pow({a}, {b})",
        lambda: f"({a} {random.choice(['<<', '>>'])} {random.choice(['0', '1', '3', '63', '64'])})",
        lambda: f"e.is_neighbor({a}, {b})",
        lambda: f"e.column('{random.choice(['x', 'größe', 'y'])}', {a})",
        lambda: f"e.path({a})",
        lambda: f"({a} < {b} <= {c})",
    ]  # the first ones more often
    return made[min(random.randrange(len(made)), random.randrange(len(made)))]()


def spoiled(random: Random, text: str) -> str:
    """The text, one time out of three with letters that look like others, with a part gone, doubled or many times, or
    deep in brackets.
    """
    how = random.randrange(18)
    if how == 0:
        return "".join(
            random.choice(LOOKALIKES[one]) if one in LOOKALIKES and random.random() < 0.3 else one for one in text
        )
    begin = random.randrange(len(text) + 1)
    end = min(len(text), begin + random.randrange(6))
    depth = random.choice([20, 90, 150, 450])
    other = {
        1: text[:begin] + text[end:],
        2: text[:end] + text[begin:],
        3: text[:begin] + random.choice("()[]{}\"'\\\0\n\t;:@=,._\u202e\ufeff") + text[begin:],
        4: "(" * depth + text + ")" * depth,
        5: "-" * depth + text,
        6: "+".join([text] * min(depth, 200)),
        7: " " + text + "\n" * 3,
    }
    return other.get(how, text)


def edge_of(random: Random) -> Any:
    """An edge with small numbers and a few at their ends."""
    numbers = {name: random.choice([0, 1, 2, 3, 5, 100, 2**31, 2**53]) for name in FIELDS}
    numbers |= {"prev": random.choice([-1, 0, 2]), "weight": random.choice([1.0, 0.5, 0.0, 2.5, 1e30])}
    if numbers["src"] == numbers["dst"]:
        numbers["dst_degree"] = numbers["src_degree"]
    vertices = numbers["vertices"]

    def is_neighbor(a: float, b: float) -> bool:
        return 0 <= a < vertices and 0 <= b < vertices and (a + b) % 2 == 1

    return SimpleNamespace(**numbers, is_neighbor=is_neighbor, column=column, path=lambda steps: 2 * int(steps))


def column(name: str, vertex: float) -> float:
    """The columns of the cases, in closed form."""
    known = {"x": vertex + 0.5, "größe": 3.0 * vertex}
    if name not in known:
        raise KeyError(name)
    return known[name]


def power(x: float, y: float) -> float:
    """x^y by NumPy."""
    with np.errstate(all="ignore"):
        if x == 0 and y < 0:
            return math.inf
        return float(np.power(np.float64(x), np.float64(y)))


def value_of(node: ast.expr, edge: Any) -> Any:
    """The number that an expression is, read node by node; Unknown for what the documentation does not have."""

    def read(one: ast.expr) -> Any:
        return value_of(one, edge)

    match node:
        case ast.Constant(value=bool() | int() | float()):
            return node.value
        case ast.BinOp(op=ast.Pow()):
            return power(read(node.left), read(node.right))
        case ast.BinOp() if type(node.op) in BINARY:
            return BINARY[type(node.op)](read(node.left), read(node.right))
        case ast.UnaryOp():
            return UNARY[type(node.op)](read(node.operand))
        case ast.IfExp():
            return read(node.body) if read(node.test) else read(node.orelse)
        case ast.BoolOp():
            for one in node.values:
                found = read(one)
                if bool(found) == isinstance(node.op, ast.Or):
                    break
            return found
        case ast.Compare():
            return _compared(node, edge)
        case ast.Attribute(value=ast.Name(id="e")) if node.attr in FIELDS:
            return getattr(edge, node.attr)
        case ast.Attribute(value=ast.Name(id="math")) if node.attr in ("pi", "e", "tau", "inf", "nan"):
            return getattr(math, node.attr)
        case ast.Call(keywords=[]):
            return _called(node, edge)
    raise Unknown(ast.dump(node)[:200])


def _compared(node: ast.Compare, edge: Any) -> bool:
    left = value_of(node.left, edge)
    for order, other in zip(node.ops, node.comparators, strict=True):
        right = value_of(other, edge)
        if not ORDERS[type(order)](left, right):
            return False
        left = right
    return True


def _called(node: ast.Call, edge: Any) -> Any:
    match node.func:
        case ast.Attribute(value=ast.Name(id="e"), attr="column") if isinstance(
            node.args[0], ast.Constant
        ) and isinstance(node.args[0].value, str):
            return edge.column(node.args[0].value, *(value_of(one, edge) for one in node.args[1:]))
        case ast.Attribute(
            value=ast.Name(id="e"), attr="is_neighbor" | "path" | "column" | "random" | "random_vertex" as name
        ):
            return getattr(edge, name)(*(value_of(one, edge) for one in node.args))
        case ast.Attribute(value=ast.Name(id="math"), attr=name) if name in OF_MATH:
            pass
        case ast.Name(id="abs" | "int" | "float" | "bool" | "round" | "min" | "max" | "pow" as name):
            pass
        case _:
            raise Unknown(ast.dump(node.func)[:200])
    numbers = [value_of(one, edge) for one in node.args]
    known: dict[tuple[str, bool], Callable] = {
        ("pow", True): power,
        **{(name, True): two for name, two in TWO.items()},
        **{(name, False): one for name, one in ONE.items()},
    }
    if name in ("min", "max"):
        return {"min": min, "max": max}[name](*numbers)
    return known[name, len(numbers) == 2](*numbers)


def outcome(work: Callable[[], Any]) -> Any:
    """The number, or the word "none" where there is none."""
    try:
        return work()
    except (BiasError, ArithmeticError, ValueError, TypeError, LookupError, AttributeError):
        return "none"


def same(found: Any, wanted: Any) -> bool:
    """Whether two outcomes are the same, but for the last bits of powers and logarithms."""
    if isinstance(found, str) or isinstance(wanted, str):
        return bool(found == wanted)
    try:
        return bool(np.isclose(float(found), float(wanted), rtol=1e-9, atol=0.0, equal_nan=True))
    except OverflowError:
        return bool(found == wanted)


def within_64_bits(node: ast.expr, edge: Any) -> bool:
    """Whether each part of an expression is a float, or an integer of 62 bits, that Python can compute at all."""
    for part in ast.walk(node):
        if isinstance(part, ast.BinOp | ast.Call | ast.UnaryOp | ast.BoolOp | ast.IfExp):
            found = outcome(lambda part=part: value_of(part, edge))
            if isinstance(found, str) or (isinstance(found, int) and abs(found) >= 2**62) or abs(found) in (math.inf,):
                return False
    return True


@numba.njit
def _degree(graph, vertex):
    return graph[0] if vertex == graph[3] else graph[1]


@numba.njit
def _vertex_count(graph):
    return graph[2]


@numba.njit
def _is_neighbor(graph, a, b):
    return 0 <= a < graph[2] and 0 <= b < graph[2] and (a + b) % 2 == 1


@numba.njit
def _column_value(graph, number, vertex):
    return vertex + 0.5 if number == 0 else 3.0 * vertex


@numba.njit
def _path_vertex(graph, depth, steps):
    return 2 * steps


KERNEL: dict[str, Any] = {
    "degree": _degree,
    "vertex_count": _vertex_count,
    "is_neighbor": _is_neighbor,
    "column_value": _column_value,
    "path_vertex": _path_vertex,
    "inner": lambda **options: numba.njit(error_model="numpy"),
    "int64": numba.int64,
    "uint64": numba.uint64,
    "math": math,
    "csaw_power": portable.power,
    "csaw_exponential": portable.exponential,
    "csaw_logarithm": portable.logarithm,
}
