"""Rewrite hooks, the methods of an algorithm, into plain functions: source text for any compiler of Python scalars.

    self.NAME          params[k]; options with choices become constants, and branches they rule out are dropped
    e.dst, e.weight    arguments                         e.weight is the literal 1.0 in an unweighted run
    e.src_degree       degree(graph, src)                e.vertices             vertex_count(graph)
    e.is_neighbor(a,b) is_neighbor(graph, a, b)          e.random()             fraction(hook_word(..., call site))
    e.column("x", a)   column_value(graph, k, a)     k is the number of the column
    e.path(i)          path_vertex(graph, depth, i)  of walks
    a ** b             csaw_power(a, b)                  math.exp, math.log     the same on every device: portable.py

Every hook gets the same arguments, ARGUMENTS, so a kernel need not know which of them it reads.
"""

import ast
import threading
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from csaw.engine.api.algorithm import LARGEST, Algorithm, Traversal, Walk
from csaw.engine.api.expression import no_field
from csaw.engine.api.hook_language import PORTABLE, Portable, refuse_foreign, scope_of
from csaw.engine.api.hook_scope import BUILTINS, INLINED, Own, globals_of, source_of
from csaw.partition.errors import OptionError

ARGUMENTS = ("params", "graph", "seed", "instance", "depth", "source", "prev", "src", "dst", "weight")
# Hold this while making syntax trees: in Python 3.11, two threads that make some at once get a SystemError (CPython issue 106905).
TREES = threading.RLock()
VALUES = ("src", "dst", "prev", "depth", "instance", "source")
FAR = "is_neighbor of another vertex than prev and src"  # the row of that vertex may not be in memory
OTHER = "is_neighbor of another edge than prev to dst"  # so that more rows are needed than one that has this edge
STATIC = frozenset({"src", "dst", "weight", "src_degree", "dst_degree", "vertices", "column"})
ENGINE = (
    "degree",
    "vertex_count",
    "is_neighbor",
    "column_value",
    "path_vertex",
    "hook_word",
    "fraction",
    "below_wide",
    "int64",
    "uint64",
)
VERTEX_HOOKS, OF_VERTEX = ("vertex_bias", "dead_end"), ("dst", "dst_degree", "weight")  # what only an edge has
PLACES = ("src", "dst", "prev", "source")  # always a vertex, or none


@dataclass(frozen=True)
class Hook:
    """One rewritten method. ``source``: text that defines ``name(*ARGUMENTS)``. ``reads``: the fields of ``e`` that it reads."""

    name: str
    source: str
    reads: frozenset[str]

    @cached_property
    def constant(self) -> float | None:
        """The number that it always returns; None if the result can vary."""
        body = ast.parse(self.source).body[-1].body  # type: ignore[attr-defined]
        last = body[-1]
        if len(body) == 1 and isinstance(last, ast.Return) and isinstance(last.value, ast.Constant):
            return float(last.value.value) if isinstance(last.value.value, (int, float)) else None
        return None

    @property
    def static(self) -> bool:
        """Whether its result depends on the edge alone, so that tables of it can be made once."""
        return self.reads <= STATIC


def params(algorithm: Algorithm) -> tuple[float, ...]:
    """The values of the algorithm's numeric options, in the order of ``params[k]``."""
    values = (getattr(algorithm, name) for name in _numeric(algorithm))
    return tuple(LARGEST if value is None else value for value in values)  # None: no limit


def edge_bias(algorithm: Algorithm, weighted: bool) -> Hook:
    """The algorithm's edge_bias, rewritten; OptionError if it uses anything that a hook cannot."""
    return _rewrite(algorithm, "edge_bias", weighted, random=False)


def others(algorithm: Algorithm, weighted: bool) -> dict[str, Hook | None]:
    """The hooks update, dead_end and vertex_bias by name; None if the algorithm does not override it."""
    bases: dict[str, Any] = {"update": Walk, "dead_end": Walk, "vertex_bias": Traversal}
    return {
        name: _rewrite(algorithm, name, weighted, random=name != "vertex_bias")
        if isinstance(algorithm, base) and getattr(type(algorithm), name) is not getattr(base, name)
        else None
        for name, base in bases.items()
    }


def _numeric(algorithm: Algorithm) -> list[str]:
    return [name for name, declared in algorithm.options().items() if declared.kind in (int, float, bool)]


def _rewrite(algorithm: Algorithm, name: str, weighted: bool, random: bool) -> Hook:
    try:
        return _rewritten(algorithm, name, weighted, random)
    except RecursionError as error:
        raise OptionError(
            f"{algorithm.name()}.{name}: nested too deeply, or calls itself; write it in steps"
        ) from error


def _rewritten(algorithm: Algorithm, name: str, weighted: bool, random: bool) -> Hook:
    method = getattr(type(algorithm), name)
    tree = ast.parse(source_of(method)).body[0]
    if not isinstance(tree, ast.FunctionDef) or len(tree.args.args) != 2:
        raise OptionError(f"{algorithm.name()}.{name}: expected a method 'def {name}(self, e)'")
    where = f"{algorithm.name()}.{name}"
    refuse_foreign(tree.body, where)
    _refuse_shadows(tree, where)
    me, view = (a.arg for a in tree.args.args)
    tree = Portable(scope_of(method), where).visit(tree)
    rewriter = _Rewriter(algorithm, where, me, view, weighted, random, OF_VERTEX if name in VERTEX_HOOKS else ())
    body = _fold(tree.body, rewriter) or [ast.Return(ast.Constant(None))]
    function = ast.FunctionDef(name, _arguments(), body, [], None, None, type_params=[])  # type: ignore[call-arg,arg-type]
    local = {n.id for s in body for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    used = {n.id for s in body for n in ast.walk(s) if isinstance(n, ast.Name)} - local - set(ARGUMENTS)
    own = used - rewriter.engine - set(BUILTINS) - set(PORTABLE.values())
    helpers = globals_of(method, own, where)
    text = ast.unparse(ast.fix_missing_locations(Own(own).visit(function)))
    return Hook(name, helpers + f"{INLINED}{text}\n", frozenset(rewriter.reads))


def _refuse_shadows(tree: ast.FunctionDef, where: str) -> None:
    """OptionError if a variable of the hook has the name of one of its arguments or of an engine function."""
    stored = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    for name in sorted(stored & {*ARGUMENTS, *PORTABLE.values(), *ENGINE}):
        raise OptionError(f"{where}: a variable cannot be called {name} here; choose another name")


def _arguments() -> ast.arguments:
    return ast.arguments([], [ast.arg(a) for a in ARGUMENTS], None, [], [], None, [])


def _fold(body: list[ast.stmt], rewriter: "_Rewriter") -> list[ast.stmt]:
    """Rewrite statements: decide branches on constants, and drop statements after a return."""
    out: list[ast.stmt] = []
    for statement in body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue  # a docstring
        if isinstance(statement, ast.If):
            test = rewriter.visit(statement.test)
            known, value = _constant(test)
            if known:
                out += _fold(statement.body if value else statement.orelse, rewriter)
            else:
                out.append(ast.If(test, _fold(statement.body, rewriter), _fold(statement.orelse, rewriter)))
        else:
            out.append(rewriter.visit(statement))
        if out and isinstance(out[-1], ast.Return):
            break
    return out


def _constant(test: ast.expr) -> tuple[bool, Any]:
    if any(not isinstance(n, (ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.cmpop, ast.boolop, ast.unaryop))
           for n in ast.walk(test)):  # fmt: skip
        return False, None
    return True, eval(compile(ast.fix_missing_locations(ast.Expression(test)), "<folded>", "eval"))  # constants only


class _Rewriter(ast.NodeTransformer):
    def __init__(self, algorithm, where, me, view, weighted, random, lacks):
        self.algorithm, self.where, self.me, self.view, self.lacks = algorithm, where, me, view, lacks
        self.weighted, self.random = weighted, random
        self.reads: set[str] = set()
        self.sites = 0
        self.engine: set[str] = set()  # engine functions that the text calls

    def visit_Call(self, node: ast.Call) -> ast.expr:
        target = node.func
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == self.view:
            return self._engine_call(target.attr, [self.visit(a) for a in node.args])
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if isinstance(node.value, ast.Name) and node.value.id == self.me:
            return self._option(node.attr)
        if isinstance(node.value, ast.Name) and node.value.id == self.view:
            return self._field({"id": "src", "degree": "src_degree"}.get(node.attr, node.attr))
        return self.generic_visit(node)  # type: ignore[return-value]

    def _option(self, name: str) -> ast.expr:
        declared = self.algorithm.options().get(name)
        if declared is not None and declared.kind in (int, float, bool):
            return _expression(f"params[{_numeric(self.algorithm).index(name)}]")
        value = getattr(self.algorithm, name, None)
        if isinstance(value, (int, float, str)):
            return ast.Constant(value)
        raise OptionError(f"{self.where}: self.{name} is not an option or a number")

    def _field(self, name: str) -> ast.expr:
        if name in self.lacks:
            raise OptionError(f"{self.where}: no {self.view}.{name}; a vertex is not an edge: it has id and degree")
        self.reads.add(name)
        if name == "weight":
            if self.weighted:
                return _expression("weight")
            self.reads.discard("weight")
            return ast.Constant(1.0)
        if name in VALUES:
            return _expression(name)
        if name in ("src_degree", "dst_degree"):
            self.engine.add("degree")
            return _expression(f"degree(graph, {name[:3]})")
        if name == "vertices":
            self.engine.add("vertex_count")
            return _expression("vertex_count(graph)")
        raise OptionError(f"{self.where}: {no_field(self.view, name)}")

    def _engine_call(self, name: str, arguments: list[ast.expr]) -> ast.expr:
        self.reads.add(name)
        if name == "is_neighbor" and len(arguments) == 2:
            self.engine.add("is_neighbor")
            if not (isinstance(arguments[0], ast.Name) and arguments[0].id in ("prev", "src")):
                self.reads.add(FAR)
            if [a.id if isinstance(a, ast.Name) else "" for a in arguments] != ["prev", "dst"]:
                self.reads.add(OTHER)
            call = _expression("is_neighbor(graph, 0, 0)")
            call.args[1:] = arguments  # type: ignore[attr-defined]
            return self._if_vertices(call, [a for a in arguments if not (isinstance(a, ast.Name) and a.id in PLACES)])
        if name == "column" and len(arguments) == 2:
            self.engine.add("column_value")
            call = _expression(f"column_value(graph, {self._column(arguments[0])}, 0)")
            call.args[2] = arguments[1]  # type: ignore[attr-defined]
            return call
        if name == "path" and len(arguments) == 1:
            if not isinstance(self.algorithm, Walk):
                raise OptionError(f"{self.where}: only hooks of a walk may call {self.view}.path(i)")
            self.engine |= {"path_vertex", "int64"}
            call = _expression("path_vertex(graph, depth, int64(0))")
            call.args[2].args[0] = arguments[0]  # type: ignore[attr-defined]
            return call
        if name in ("random", "random_vertex") and not arguments:
            if not self.random:
                raise OptionError(
                    f"{self.where}: a bias must be a function of its edge; only update and dead_end may call {name}()"
                )
            self.sites += 1
            self.engine |= {"hook_word", "fraction", "below_wide", "vertex_count", "uint64", "int64"}
            word = f"hook_word(seed, instance, depth, {self.sites - 1})"
            if name == "random":
                return _expression(f"fraction({word})")
            return _expression(f"int64(below_wide({word}, uint64(vertex_count(graph))))")
        raise OptionError(f"{self.where}: no call {self.view}.{name}(...) with {len(arguments)} arguments")

    def _column(self, name: ast.expr) -> int:
        """The number of a column of data; OptionError where none of that name was given."""
        names, found = self.algorithm.vertex_columns.names, ast.unparse(name)
        if isinstance(name, ast.Constant) and name.value in names:
            return names.index(name.value)
        given = f"the columns are {', '.join(names)}" if names else "give columns with --columns"
        raise OptionError(
            f"{self.where}: {self.view}.column({found}, ...): expected the name of a column in quotes; {given}"
        )

    def _if_vertices(self, call: ast.expr, doubtful: list[ast.expr]) -> ast.expr:
        """A call that asks about an edge, made only if its ends are vertices, because only vertices have rows."""
        for end in doubtful:
            self.engine.add("vertex_count")
            question = _expression("False if not 0 <= end < vertex_count(graph) else call")
            question.test.operand.comparators[0], question.orelse = end, call  # type: ignore[attr-defined]
            call = question
        return call


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body
