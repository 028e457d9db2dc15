"""Read the methods ``next`` and ``step_transits`` of NextDoor's samplers: from what they draw, by which bias, and what
``next`` does with the edge, as a hook ``update``.
"""

import ast
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any, NamedTuple

from csaw.engine.api.hook_language import refuse_foreign
from csaw.engine.api.transit_sampling import TransitSampling, equally_likely
from csaw.engine.api.written import Written, function_of
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError

FIELDS = {"random": "random", "vertex": "random_vertex"}  # of ``random``, as hooks call them
EDGE = "drawn_edge"  # the name of an edge to which next gives none
LOOPS = (ast.For, ast.While)
FORM = "expected random.choice({0}) or random.choice({0}, self.METHOD)"


class Choice(NamedTuple):
    """What a method draws.

    ``bias``: the user's method, or one that makes all equally likely. ``update``: a hook, where ``next`` returns
    anything but the end of the edge. ``edge``: the name of the edge in it. ``line``: of the user's file, where it
    begins.
    """

    bias: Callable[..., float]
    from_graph: bool = False
    update: Callable[..., int] | None = None
    edge: str = EDGE
    line: int = 0


def read_next(kind: type[TransitSampling]) -> Choice:
    """The choice of ``kind.next``. OptionError, with the line, where it does anything that is no hook."""
    written, names = _method(kind, "next", ("step", "transits", "random"))
    me, _, transits, random = names
    call = _choice(written, random)
    from_graph = ast.unparse(call.args[0]) == f"{transits}.graph.edges" if call.args else False
    bias = _bias(kind, written, call, me, f"{transits}.graph.edges" if from_graph else f"{transits}.edges")
    _refuse_foreign(written, "next")
    body = [one for one in written.tree.body if not _is_docstring(one)]  # type: ignore[union-attr]
    _refuse_loops(written, call)
    edge = _name_of(written, call)
    if _ends_at_edge(body, call, edge):
        return Choice(bias, from_graph)
    edge = edge or EDGE
    return Choice(bias, from_graph, _update(written, call, names, edge), edge, body[0].lineno)


def read_transits(kind: type[TransitSampling]) -> Choice:
    """The choice of ``kind.step_transits``: a root, by its bias."""
    written, names = _method(kind, "step_transits", ("step", "sample", "i", "random"))
    body = [one for one in written.tree.body if not _is_docstring(one)]  # type: ignore[union-attr]
    call = _choice(written, names[4])
    if not (len(body) == 1 and isinstance(body[0], ast.Return) and body[0].value is call):
        raise written.wrong(body[0].lineno, f"expected 'return {names[4]}.choice({names[2]}.roots)' alone")
    return Choice(_bias(kind, written, call, names[0], f"{names[2]}.roots"))


def written_method(kind: type[TransitSampling], name: str) -> Written:
    """The definition of a method of the user's class."""
    method = getattr(kind, name)
    written = function_of(method) if isinstance(method, FunctionType) else None
    if written is None or isinstance(written.tree, ast.Lambda):
        raise OptionError(f"{kind.__name__}.{name}: expected a method written with def, found {quoted(method)}")
    return written


def _method(kind: type[TransitSampling], name: str, names: tuple[str, ...]) -> tuple[Written, list[str]]:
    """The definition of a method, and the names of its arguments."""
    written = written_method(kind, name)
    found = [one.arg for one in written.tree.args.args]  # type: ignore[union-attr]
    if len(found) != 1 + len(names):
        raise written.wrong(written.tree.lineno, f"expected def {name}(self, {', '.join(names)})")
    return written, found


def _refuse_foreign(written: Written, name: str) -> None:
    """OptionError, with the line, about what no hook can be written with."""
    for node in reversed(list(_nodes(written))):  # the innermost first
        try:
            refuse_foreign([node], name)
        except OptionError as error:
            raise written.wrong(getattr(node, "lineno", written.tree.lineno), str(error)) from error


def _nodes(written: Written) -> Iterator[Any]:
    return (node for one in written.tree.body for node in ast.walk(one))  # type: ignore[union-attr]


def _choice(written: Written, random: str) -> ast.Call:
    """The one call of ``random.choice``."""
    calls = [
        one for one in _nodes(written) if isinstance(one, ast.Call) and ast.unparse(one.func) == f"{random}.choice"
    ]
    if len(calls) != 1:
        line = calls[1].lineno if calls else written.tree.lineno
        raise written.wrong(line, f"expected one call of {random}.choice, found {len(calls)}")
    return calls[0]


def _refuse_loops(written: Written, call: ast.Call) -> None:
    """OptionError about a loop that draws edges."""
    for loop in (one for one in _nodes(written) if isinstance(one, LOOPS)):
        if call in ast.walk(loop):
            raise written.wrong(
                loop.lineno, "an edge cannot be drawn in a loop; let the bias of an edge say how likely it is accepted"
            )


def _bias(kind: type[TransitSampling], written: Written, call: ast.Call, me: str, wanted: str) -> Callable[..., float]:
    """The method that is the bias of a choice from ``wanted``."""
    if not 1 <= len(call.args) <= 2 or call.keywords or ast.unparse(call.args[0]) != wanted:
        raise written.wrong(call.lineno, FORM.format(wanted))
    if len(call.args) == 1:
        return equally_likely
    bias = call.args[1]
    if not (isinstance(bias, ast.Attribute) and ast.unparse(bias.value) == me and hasattr(kind, bias.attr)):
        raise written.wrong(call.lineno, f"{FORM.format(wanted)}, a method of the class, found {ast.unparse(bias)}")
    _refuse_foreign(written_method(kind, bias.attr), bias.attr)
    found: Any = getattr(kind, bias.attr)
    found.csaw_name = bias.attr
    return found  # type: ignore[no-any-return]


def _name_of(written: Written, call: ast.Call) -> str | None:
    """The name that an assignment gives to the edge; None where there is no assignment."""
    for one in _nodes(written):
        if isinstance(one, ast.Assign) and one.value is call:
            if len(one.targets) == 1 and isinstance(one.targets[0], ast.Name):
                return one.targets[0].id
            raise written.wrong(one.lineno, "expected one name for the edge")
    return None


def _ends_at_edge(body: list[ast.stmt], call: ast.Call, edge: str | None) -> bool:
    """Whether ``next`` is nothing but a choice and the end of the edge."""
    last = body[-1]
    if not isinstance(last, ast.Return) or not isinstance(last.value, ast.Attribute) or last.value.attr != "dst":
        return False
    if len(body) == 1:
        return last.value.value is call
    first, end = body[0], last.value.value
    assigned = isinstance(first, ast.Assign) and first.value is call
    return len(body) == 2 and assigned and isinstance(end, ast.Name) and end.id == edge


def _update(written: Written, call: ast.Call, names: list[str], edge: str) -> Callable[..., int]:
    """``next`` as a hook of a walk, whose edge has been drawn."""
    hook = _Update(written, call, names, edge)
    body = [hook.visit(one) for one in written.tree.body]  # type: ignore[union-attr]
    arguments = ast.arguments([], [ast.arg(names[0]), ast.arg(edge)], None, [], [], None, [])
    end = ast.Return(ast.UnaryOp(ast.USub(), ast.Constant(1)))
    tree = ast.FunctionDef("update", arguments, [*body, end], [], None, None, type_params=[])  # type: ignore[call-arg,arg-type]
    text = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    scope = dict(written.scope)
    exec(compile(text, written.file, "exec"), scope)  # noqa: S102 - the user's own code, as with --algo FILE
    made: Any = scope["update"]
    made.csaw_source, made.csaw_name = text, "next"
    return made  # type: ignore[no-any-return]


class _Update(ast.NodeTransformer):
    """Gives what ``next`` reads the names that it has in hooks."""

    def __init__(self, written: Written, call: ast.Call, names: list[str], edge: str) -> None:
        self.written, self.call, self.edge = written, call, edge
        self.me, self.step, self.transits, self.random = names

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        if node.value is self.call:
            return ast.Pass()
        self.generic_visit(node)
        return node

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        if node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None):
            return ast.Return(ast.UnaryOp(ast.USub(), ast.Constant(1)))
        self.generic_visit(node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if node is self.call:
            return ast.Name(self.edge, ast.Load())
        target = node.func
        if isinstance(target, ast.Attribute) and ast.unparse(target.value) == self.random and target.attr in FIELDS:
            return ast.Call(ast.Attribute(ast.Name(self.edge, ast.Load()), FIELDS[target.attr], ast.Load()), [], [])
        self.generic_visit(node)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        if ast.unparse(node) == f"{self.transits}[0]":
            return ast.Attribute(ast.Name(self.edge, ast.Load()), "src", ast.Load())
        self.generic_visit(node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if isinstance(node.ctx, ast.Store) and node.id in (self.step, self.edge):
            raise self.written.wrong(node.lineno, f"{node.id} cannot be set here; choose another name")
        if node.id == self.step:
            return ast.Attribute(ast.Name(self.edge, ast.Load()), "depth", ast.Load())
        if node.id in (self.transits, self.random):
            raise self.written.wrong(
                node.lineno,
                f"next may use {self.transits}.edges in one {self.random}.choice, {self.transits}[0], "
                f"{self.random}.random() and {self.random}.vertex(); nothing else of {node.id}",
            )
        return node


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
