"""Rewrite what a hook reads of its algorithm and of its edge into numbers and calls of engine functions."""

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from csaw.engine.api.algorithm import Algorithm, Walk
from csaw.engine.api.expression import no_field
from csaw.engine.api.hook_language import call_of, plain_number
from csaw.engine.api.hook_place import HookError
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError

if TYPE_CHECKING:
    from csaw.partition.graph.edge_columns import EdgeColumn  # imports NumPy, which a command's help does without

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

    def visit(self, node: ast.AST) -> Any:
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
            raise OptionError(f"{self.where}: nothing can be drawn in a list; draw in a loop")
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
                    f"{self.where}: {self.view}.{name} is known on walks in time alone; derive the class from "
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
