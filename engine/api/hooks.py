"""Rewrite hooks, the methods of an algorithm, into plain functions: source text for any compiler of Python scalars.

    self.NAME          params[k]; options with choices become constants, and branches they rule out are dropped
    e.dst, e.weight    arguments                         e.weight is the literal 1.0 in an unweighted run
    e.src_degree       degree(graph, src)                e.vertices             vertex_count(graph)
    e.is_neighbor(a,b) is_neighbor(graph, a, b)          e.random()             fraction(hook_word(..., call site)),
                                                                                in a loop of the site and the turn
    e.column("x", a)   column_value(graph, k, a)     k is the number of the column
    e.time             edge_integer(graph, k), edge_real(graph, k)  of an edge column; k is its number among those given
    e.path(i)          path_vertex(graph, depth, i)  of walks
    e.start_time       start_time(graph)             of walks in time, as e.previous_time
    a ** b             csaw_power(a, b)                  math.exp, math.log     alike on every device: draws/portable.py

Every hook gets the same arguments, ARGUMENTS, so a kernel need not know which of them it reads.
"""

import ast
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar, overload

from csaw.engine.api.algorithm import LARGEST, Algorithm, Traversal, Walk
from csaw.engine.api.expression import no_field
from csaw.engine.api.hook_language import (
    PORTABLE,
    HookError,
    Portable,
    call_of,
    placed,
    plain_number,
    refuse_foreign,
    scope_of,
    stored_names,
)
from csaw.engine.api.hook_scope import INLINED, Surroundings, require_values, source_of
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError

if TYPE_CHECKING:
    from csaw.partition.graph.edge_columns import EdgeColumn


# Rewrite what a hook reads of its algorithm and of its edge into numbers and calls of engine functions.

Columns = Sequence["EdgeColumn"] | None
VALUES = ("src", "dst", "prev", "depth", "instance", "source")
FAR = "is_neighbor of another vertex than prev and src"  # the row of that vertex may not be in memory
OTHER = "is_neighbor of another edge than prev to dst"  # so that more rows are needed than one that has this edge
VERTEX_HOOKS = ("vertex_bias", "dead_end")
OF_EDGE = ("dst", "dst_degree", "weight")  # what only an edge has
TIMES = ("previous_time", "start_time")  # what a walk in time knows
PLACES = ("src", "dst", "prev", "source")  # always a vertex, or none
TURN = "csaw_turn"  # the variable of a hook that counts how often bodies of its loops begin
MOST_SITES = 64  # calls that draw in a hook with loops: each turn has so many addresses


def numeric(algorithm: Algorithm) -> list[str]:
    """The names of the options that are numbers, in the order of ``params[k]``."""
    return [name for name, declared in algorithm.options().items() if declared.kind in (int, float, bool)]


class Rewriter(ast.NodeTransformer):
    """Rewrites what a hook reads of its algorithm and of its edge, and notes what that is."""

    def __init__(
        self,
        algorithm: Algorithm,
        where: str,
        me: str,
        view: str,
        weighted: bool,
        columns: Columns,
        *,
        random: bool,
        of_vertex: bool,
    ) -> None:
        self.algorithm, self.where, self.me, self.view, self.of_vertex = algorithm, where, me, view, of_vertex
        self.weighted, self.random = weighted, random
        self.columns = None if columns is None else [column for column in columns if column.name != "weight"]
        self.reads: set[str] = set()
        self.columns_read: set[str] = set()
        self.sites = 0
        self.loops = 0  # in which the statement stands
        self.turns = False  # whether a loop draws
        self.engine: set[str] = set()  # engine functions that the text calls

    @overload
    def visit(self, node: ast.expr) -> ast.expr: ...

    @overload
    def visit(self, node: ast.stmt) -> ast.stmt: ...

    @overload
    def visit(self, node: ast.AST) -> ast.AST: ...

    def visit(self, node: ast.AST) -> ast.AST:
        """Rewrite a node; an error is about the innermost node that it comes from."""
        try:
            return super().visit(node)
        except HookError:
            raise
        except OptionError as error:
            raise HookError(node, str(error)) from error

    def visit_Call(self, node: ast.Call) -> ast.expr:
        target = node.func
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == self.view:
            return self._engine_call(target.attr, [self.visit(a) for a in node.args])
        self.generic_visit(node)
        return node

    def visit_For(self, node: ast.For) -> ast.stmt:
        return self._loop(node)

    def visit_While(self, node: ast.While) -> ast.stmt:
        return self._loop(node)

    def _loop(self, node: ast.For | ast.While) -> ast.stmt:
        """A loop, which counts its turns if it draws: each turn has random numbers of its own."""
        before, self.loops = self.sites, self.loops + 1
        self.generic_visit(node)
        self.loops -= 1
        if self.sites > before:
            self.turns = True
            node.body.insert(0, ast.AugAssign(ast.Name(TURN, ast.Store()), ast.Add(), ast.Constant(1)))
        return node

    def visit_ListComp(self, node: ast.ListComp) -> ast.expr:
        before = self.sites
        self.generic_visit(node)
        if self.sites > before:
            raise OptionError(f"{self.where}: random numbers cannot be drawn inside a list; draw in a loop")
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        ends = [node.left, *node.comparators]
        texts = [one for one in ends if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        if texts and not all(isinstance(one, ast.Constant | ast.Tuple | ast.List) for one in ends):
            raise OptionError(f"{self.where}: expected numbers, found {quoted(texts[0].value)} in a comparison")
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if isinstance(node.value, ast.Name) and node.value.id == self.me:
            return self._option(node.attr)
        if isinstance(node.value, ast.Name) and node.value.id == self.view:
            return self._field({"id": "src", "degree": "src_degree"}.get(node.attr, node.attr))
        self.generic_visit(node)
        return node

    def _option(self, name: str) -> ast.expr:
        declared = self.algorithm.options().get(name)
        if declared is not None and declared.kind in (int, float, bool):
            return expression(f"params[{numeric(self.algorithm).index(name)}]")
        value = getattr(self.algorithm, name, None)
        if (number := plain_number(value)) is not None:
            return ast.Constant(number)
        if isinstance(value, str):
            return ast.Constant(str.__str__(value))
        if declared is not None and value is None:
            raise OptionError(f"{self.where}: reads self.{name}, an option that has no value; give it one")
        raise OptionError(f"{self.where}: self.{name} is not an option or a number")

    def _field(self, name: str) -> ast.expr:
        if self.of_vertex and name in OF_EDGE:
            raise OptionError(f"{self.where}: no {self.view}.{name}; a vertex is not an edge: it has id and degree")
        self.reads.add(name)
        if name == "weight":
            if self.weighted:
                return expression("weight")
            self.reads.discard("weight")
            return ast.Constant(1.0)
        if name in VALUES:
            return expression(name)
        if name in TIMES:
            if not getattr(self.algorithm, "timed", False):
                raise OptionError(
                    f"{self.where}: {self.view}.{name} is available only on walks in time; derive the class from "
                    "TemporalWalk"
                )
            self.engine.add(name)
            return expression(f"{name}(graph)")
        if name in ("src_degree", "dst_degree"):
            self.engine.add("degree")
            return expression(f"degree(graph, {name[:3]})")
        if name == "vertices":
            self.engine.add("vertex_count")
            return expression("vertex_count(graph)")
        return self._of_edge(name)

    def _of_edge(self, name: str) -> ast.expr:
        """The number that the edge has in the column ``name``."""
        names = [column.name for column in self.columns or ()]
        if name not in names and (self.columns is not None or name.startswith("_")):
            further = TIMES if getattr(self.algorithm, "timed", False) else ()
            raise OptionError(f"{self.where}: {no_field(self.view, name, names, further, draws=self.random)}")
        if self.of_vertex:
            raise OptionError(f"{self.where}: no {self.view}.{name}; a vertex is not an edge: it has id and degree")
        self.columns_read.add(name)
        number = names.index(name) if names else 0  # without names, the graph is not known yet
        function = "edge_integer" if self.columns and self.columns[number].is_integer else "edge_real"
        self.engine.add(function)
        return expression(f"{function}(graph, {number})")

    def _engine_call(self, name: str, arguments: list[ast.expr]) -> ast.expr:
        self.reads.add(name)
        if name == "is_neighbor" and len(arguments) == 2:
            self.engine.add("is_neighbor")
            if not (isinstance(arguments[0], ast.Name) and arguments[0].id in ("prev", "src")):
                self.reads.add(FAR)
            if [a.id if isinstance(a, ast.Name) else "" for a in arguments] != ["prev", "dst"]:
                self.reads.add(OTHER)
            call = call_of("is_neighbor", expression("graph"), *arguments)
            return self._if_vertices(call, [a for a in arguments if not (isinstance(a, ast.Name) and a.id in PLACES)])
        if name == "column" and len(arguments) == 2:
            self.engine.add("column_value")
            return call_of("column_value", expression("graph"), ast.Constant(self._column(arguments[0])), arguments[1])
        if name == "path" and len(arguments) == 1:
            if not isinstance(self.algorithm, Walk):
                raise OptionError(f"{self.where}: only hooks of a walk may call {self.view}.path(i)")
            self.engine |= {"path_vertex", "int64"}
            return call_of("path_vertex", expression("graph"), expression("depth"), call_of("int64", arguments[0]))
        if name in ("random", "random_vertex") and not arguments:
            if not self.random:
                raise OptionError(
                    f"{self.where}: a bias must be a function of its edge; only update and dead_end may call {name}()"
                )
            self.sites += 1
            self.engine |= {"hook_word", "fraction", "below_wide", "vertex_count", "uint64", "int64"}
            site = f"{self.sites - 1} + {MOST_SITES} * {TURN}" if self.loops else f"{self.sites - 1}"
            word = f"hook_word(seed, instance, depth, {site})"
            if name == "random":
                return expression(f"fraction({word})")
            return expression(f"int64(below_wide({word}, uint64(vertex_count(graph))))")
        raise OptionError(f"{self.where}: no call {self.view}.{name}(...) with {len(arguments)} arguments")

    def _column(self, name: ast.expr) -> int:
        """The number of a column of data; OptionError where none of that name was given."""
        names, found = self.algorithm.vertex_columns.names, ast.unparse(name)
        if isinstance(name, ast.Constant) and name.value in names:
            return names.index(name.value)
        said = isinstance(name, ast.Constant) and isinstance(name.value, str)
        expected = "no such column is given" if said else "expected the name of a column in quotes"
        given = f"the columns are {', '.join(names)}" if names else "give columns with --columns"
        raise OptionError(f"{self.where}: {self.view}.column({found}, ...): {expected}; {given}")

    def _if_vertices(self, call: ast.expr, doubtful: list[ast.expr]) -> ast.expr:
        """A call that asks about an edge, made only if its ends are vertices, because only vertices have rows."""
        for end in doubtful:
            self.engine.add("vertex_count")
            inside = ast.Compare(ast.Constant(0), [ast.LtE(), ast.Lt()], [end, expression("vertex_count(graph)")])
            call = ast.IfExp(ast.UnaryOp(ast.Not(), inside), ast.Constant(False), call)
        return call


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


# Hooks as plain functions.

AnyRewriter = TypeVar("AnyRewriter", bound=Rewriter)
ARGUMENTS = ("params", "graph", "seed", "instance", "depth", "source", "prev", "src", "dst", "weight")
# Hold this while making syntax trees: in Python 3.11, two threads that make some at once get a SystemError (CPython
# issue 106905).
TREES = threading.RLock()
OF_EDGES = ("edge_bias", "update", "edge")  # hooks of samplers and of measures that get an edge, not a vertex
STATIC = frozenset({"src", "dst", "weight", "src_degree", "dst_degree", "vertices", "column"})
ENGINE = (
    "degree",
    "vertex_count",
    "is_neighbor",
    "column_value",
    "edge_integer",
    "edge_real",
    "path_vertex",
    "previous_time",
    "start_time",
    "hook_word",
    "fraction",
    "below_wide",
    "int64",
    "uint64",
)


@dataclass(frozen=True)
class Hook:
    """One rewritten method.

    ``source``: text that defines ``name(*ARGUMENTS)``. ``reads``: the fields of ``e`` that it reads. ``columns``: those
    of them that are edge columns beside the weight.
    """

    name: str
    source: str
    reads: frozenset[str]
    columns: frozenset[str] = frozenset()

    @cached_property
    def constant(self) -> float | None:
        """The number that it always returns; None if the result can vary."""
        body = ast.parse(self.source).body[-1].body  # type: ignore[attr-defined]
        last = body[-1]
        if len(body) > 1 or not isinstance(last, ast.Return) or last.value is None:
            return None
        try:
            value = ast.literal_eval(last.value)  # -1 is an operation of a constant
        except ValueError:
            return None
        return float(value) if isinstance(value, (int, float)) else None

    @property
    def static(self) -> bool:
        """Whether its result depends on the edge alone, so that tables of it can be made once."""
        return self.reads - self.columns <= STATIC

    @property
    def by_edge(self) -> bool:
        """Whether it reads numbers of the edge itself, so that the edge must be known and not only its ends."""
        return "weight" in self.reads or bool(self.columns)


def params(algorithm: Algorithm) -> tuple[float, ...]:
    """The values of the algorithm's numeric options, in the order of ``params[k]``."""
    values = (getattr(algorithm, name) for name in numeric(algorithm))
    return tuple(LARGEST if value is None else value for value in values)  # None: no limit


def edge_bias(algorithm: Algorithm, weighted: bool, columns: Columns = None) -> Hook:
    """Rewrite the algorithm's edge_bias; OptionError if it uses anything that a hook cannot.

    ``columns``: the edge columns that it may read, in the order in which kernels number them (default: None, of a graph
    that is not known yet: any, and the hook tells what it reads but cannot be compiled).
    """
    return _rewrite(algorithm, "edge_bias", weighted, columns, random=False)


def others(algorithm: Algorithm, weighted: bool, columns: Columns = None) -> dict[str, Hook | None]:
    """Rewrite the hooks update, dead_end and vertex_bias, by name; None if the algorithm has no use for it: it does not
    override it, or what it overrides is never called.

    ``columns``: as for :func:`edge_bias`.
    """
    found = {
        name: _rewrite(algorithm, name, weighted, columns, random=name != "vertex_bias")
        if _is_called(algorithm, name)
        else None
        for name in ("update", "dead_end", "vertex_bias")
    }
    if isinstance(algorithm, Traversal) and found["update"] is not None:
        weighted_update = found["update"] if weighted else _rewrite(algorithm, "update", True, columns, random=True)
        _check_update(algorithm, weighted_update)
    return found


def _is_called(algorithm: Algorithm, name: str) -> bool:
    """Whether a hook decides anything; that of the base class does where vertices are selected by their degree."""
    base = Walk if isinstance(algorithm, Walk) else Traversal
    if name == "vertex_bias" and algorithm.rule.calls_vertex_bias:
        return True
    return hasattr(base, name) and getattr(type(algorithm), name) is not getattr(base, name)


def _check_update(algorithm: Traversal, update: Hook) -> None:
    """OptionError if the update of a traversal reads what is not known once its edge is drawn."""
    if update.by_edge:
        read = min(update.columns or {"weight"})
        said = f"e.{read} is not known here, where only the ends of an edge are; edge_bias may read it"
    elif "prev" in update.reads and algorithm.rule.together:
        said = "e.prev is not available with collective = True, because edges share a pool"
    else:
        return
    raise placed(OptionError(f"{algorithm.name()}.update: {said}"), type(algorithm).update)


def _rewrite(algorithm: Algorithm, name: str, weighted: bool, columns: Columns, random: bool) -> Hook:
    try:
        return _rewritten(algorithm, name, weighted, columns, random)
    except OptionError as error:
        raise placed(error, getattr(type(algorithm), name)) from error
    except RecursionError as error:
        raise OptionError(
            f"{algorithm.name()}.{name}: nested too deeply, or calls itself; write it in steps"
        ) from error


def _rewritten(algorithm: Algorithm, name: str, weighted: bool, columns: Columns, random: bool) -> Hook:
    method, of_vertex = getattr(type(algorithm), name), name in VERTEX_HOOKS

    def rewriter_of(where: str, me: str, view: str) -> Rewriter:
        return Rewriter(algorithm, where, me, view, weighted, columns, random=random, of_vertex=of_vertex)

    text, rewriter = written_out(algorithm.name(), method, name, ARGUMENTS, rewriter_of)
    return Hook(name, text, frozenset(rewriter.reads), frozenset(rewriter.columns_read))


def written_out(
    owner: str,
    method: Callable[..., object],
    name: str,
    arguments: tuple[str, ...],
    rewriter_of: Callable[[str, str, str], AnyRewriter],
) -> tuple[str, AnyRewriter]:
    """Write a hook of the class ``owner`` as text that defines ``name(*arguments)``.

    ``rewriter_of(where, name of self, name of the view)`` makes what rewrites it, which is returned, too. OptionError
    if the hook uses anything that a hook cannot.
    """
    tree = ast.parse(source_of(method)).body[0]
    if not isinstance(tree, ast.FunctionDef) or len(tree.args.args) != 2:
        view = "e" if name in OF_EDGES else "v"
        raise OptionError(f"{owner}.{name}: expected a method 'def {name}(self, {view})'")
    where = f"{owner}.{getattr(method, 'csaw_name', name)}"
    refuse_foreign(tree.body, where)
    require_values(tree, where)
    _refuse_shadows(tree, where, arguments)
    me, view = (a.arg for a in tree.args.args)
    surroundings = Surroundings(where)
    tree = surroundings.named(Portable(scope_of(method), where).visit(tree), method)
    rewriter = rewriter_of(where, me, view)
    body = _fold(tree.body, rewriter) or [ast.Return(ast.Constant(None))]
    if rewriter.turns:
        body.insert(0, ast.Assign([ast.Name(TURN, ast.Store())], ast.Constant(0)))
        if rewriter.sites > MOST_SITES:
            raise OptionError(
                f"{where}: expected at most {MOST_SITES} calls that draw random numbers, found {rewriter.sites}"
            )
    function = ast.FunctionDef(name, _arguments(arguments), body, [], None, None, type_params=[])  # type: ignore[call-arg]
    if view in {n.id for s in body for n in ast.walk(s) if isinstance(n, ast.Name)}:
        field = "degree" if rewriter.of_vertex else "weight"
        raise OptionError(
            f"{where}: {view} cannot be passed to a function; pass the numbers that the function needs, as in "
            f"mine({view}.{field})"
        )
    text = ast.unparse(ast.fix_missing_locations(function))
    return f"{surroundings.text}{INLINED}{text}\n", rewriter


def _refuse_shadows(tree: ast.FunctionDef, where: str, arguments: tuple[str, ...]) -> None:
    """OptionError if a variable of the hook has the name of one of its arguments or of an engine function."""
    for name in sorted(stored_names(tree) & {*arguments, *PORTABLE.values(), *ENGINE, TURN}):
        raise OptionError(f"{where}: a variable cannot be called {name} here; choose another name")


def _arguments(names: tuple[str, ...]) -> ast.arguments:
    return ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])


def _fold(body: list[ast.stmt], rewriter: Rewriter) -> list[ast.stmt]:
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


def _constant(test: ast.expr) -> tuple[bool, object]:
    if any(
        not isinstance(n, (ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.cmpop, ast.boolop, ast.unaryop))
        for n in ast.walk(test)
    ):
        return False, None
    return True, eval(compile(ast.fix_missing_locations(ast.Expression(test)), "<folded>", "eval"))  # constants only
