"""NextDoor's samplers as the walks and traversals that csaw draws.

IndividualSampling                                 a Walk
IndividualSampling with sample_size                a Traversal whose vertices select with replacement
IndividualSampling with ``draws_seeds = True``     mini-batches whose seeds are drawn, as those of mvs are
IndividualSampling with step_transits              a Traversal with clocks: one of its roots moves at a step
CollectiveSampling                                 a Traversal that draws vertices from its frontier's neighbors,
                                                   or of the whole graph: a vertex is as likely as the sum of the
                                                   biases of the edges to it
CollectiveSampling, unique or ``replace = False``  a Traversal that selects edges of its frontier
"""

import ast
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import NamedTuple

from csaw.engine.api.algorithm import MOST_STEPS, Algorithm, MiniBatches, Traversal, Walk, every_hop
from csaw.engine.api.bases import CollectiveSampling, IndividualSampling, TransitSampling, equally_likely
from csaw.engine.api.derived_law import law_by, readable
from csaw.engine.api.hook_language import function_in, refuse_foreign, users_code
from csaw.engine.api.written import Written, function_of
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError

# Read the methods ``next`` and ``step_transits`` of NextDoor's samplers: from what they draw, by which bias, and what
# ``next`` does with the edge, as a hook ``update``.

FIELDS = {"random": "random", "vertex": "random_vertex"}  # of ``random``, as hooks call them
EDGE = "drawn_edge"  # the name of an edge to which next gives none
LOOPS = (ast.For, ast.While)
FORM = "expected random.choice({0}) or random.choice({0}, self.METHOD)"


class Choice(NamedTuple):
    """The choice that a method draws.

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
    body = [one for one in written.function.body if not _is_docstring(one)]
    _refuse_loops(written, call)
    edge = _name_of(written, call)
    if _ends_at_edge(body, call, edge):
        return Choice(bias, from_graph)
    edge = edge or EDGE
    return Choice(bias, from_graph, _update(written, call, names, edge), edge, body[0].lineno)


def read_transits(kind: type[TransitSampling]) -> Choice:
    """The choice of ``kind.step_transits``: a root, by its bias."""
    written, names = _method(kind, "step_transits", ("step", "sample", "i", "random"))
    body = [one for one in written.function.body if not _is_docstring(one)]
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
    found = [one.arg for one in written.function.args.args]
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


def _nodes(written: Written) -> Iterator[ast.AST]:
    return (node for one in written.function.body for node in ast.walk(one))


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
    found: FunctionType = getattr(kind, bias.attr)
    found.__dict__["csaw_name"] = bias.attr
    return found


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
    body = [hook.visit(one) for one in written.function.body]
    arguments = ast.arguments([], [ast.arg(names[0]), ast.arg(edge)], None, [], [], None, [])
    end = ast.Return(ast.UnaryOp(ast.USub(), ast.Constant(1)))
    tree = ast.FunctionDef("update", arguments, [*body, end], [], None, None, type_params=[])  # type: ignore[call-arg]
    text = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    scope = dict(written.scope)
    exec(compile(text, written.file, "exec"), scope)  # noqa: S102 - the user's own code, as with --algo FILE
    made = function_in(scope, "update")
    made.__dict__.update(csaw_source=text, csaw_name="next")
    return made


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


METHODS = ("steps", "next", "sample_size", "step_transits", "unique")
MOST_DEPTHS = 65535
MADE = {"walk_length", "depth", "sizes", "layout", "clocks", "collective", "draws_from", "update"}
MADE |= {"edge_bias", "vertex_bias"}
SEEDS = {"epochs": 1, "shuffle": False, "drop_last": False}  # where they are drawn anew for each mini-batch


def translated(kind: type[TransitSampling]) -> type[Algorithm]:
    """Make the Walk or the Traversal that draws what ``kind`` says. OptionError, with the line, where none does."""
    if sum(issubclass(kind, one) for one in (IndividualSampling, CollectiveSampling, Walk, Traversal)) != 1:
        raise OptionError(
            f"{kind.__name__}: expected a class of one of IndividualSampling, CollectiveSampling, Walk and Traversal"
        )
    for name in METHODS:
        if _has(kind, name):
            written_method(kind, name)
        elif name in ("steps", "next"):
            raise OptionError(f"{kind.__name__}.{name}: not defined; a class of {kind.__base__.__name__} has one")  # type: ignore[union-attr]
    choice = read_next(kind)
    makes = _collective if kind.collective else _individual
    if not kind.collective and not _has(kind, "sample_size"):
        makes = _of_roots if _has(kind, "step_transits") else _walk
    elif _has(kind, "step_transits"):
        line = written_method(kind, "step_transits")
        raise line.wrong(line.tree.lineno, "only a class of IndividualSampling without sample_size may choose a root")
    base, attributes = makes(kind, choice)
    if choice.update is not None and base is not Walk:
        raise written_method(kind, "next").wrong(
            choice.line, "only a walk may return anything but the dst of the edge; a walk has no sample_size"
        )
    _check_names(kind, "walk_length" if "walk_length" in attributes else "depth")
    attributes |= {"edge_bias": choice.bias, "__module__": kind.__module__, "__doc__": kind.__doc__}
    known = kind.options()
    _refuse_made(kind, attributes, base)
    return type(kind.__name__, (kind, base), {name: one for name, one in attributes.items() if name not in known})


def _has(kind: type[TransitSampling], name: str) -> bool:
    return getattr(kind, name) is not getattr(TransitSampling, name)


def _walk(kind: type[TransitSampling], choice: Choice) -> tuple[type[Algorithm], dict[str, object]]:
    if _has(kind, "unique") or choice.from_graph:
        name = "next" if choice.from_graph else "unique"
        line = written_method(kind, name)
        raise line.wrong(line.tree.lineno, "a walk draws one vertex of its transit at a step; give a sample_size")
    attributes: dict[str, object] = {"walk_length": property(_walk_length)}
    if choice.update is not None:
        attributes["update"] = choice.update
        found = readable(choice.update, "update", choice.edge)
        if found and not (hasattr(kind, "law") or hasattr(kind, "dead_end")):
            attributes["law"] = law_by(found, None)
    return Walk, attributes


def _of_roots(kind: type[TransitSampling], choice: Choice) -> tuple[type[Algorithm], dict[str, object]]:
    def sizes(self: TransitSampling) -> tuple[int, ...]:
        return (1,)

    moves = {"clocks": True, "vertex_bias": read_transits(kind).bias}
    return Traversal, {
        "walk_length": property(_walk_length),
        "sizes": sizes,
        "unique": False,
        "replace": False,
        **moves,
    }


def _individual(kind: type[TransitSampling], choice: Choice) -> tuple[type[Algorithm], dict[str, object]]:
    if choice.from_graph:
        line = written_method(kind, "next")
        raise line.wrong(line.tree.lineno, "only a class of CollectiveSampling may draw from transits.graph.edges")
    replace = property(lambda self: bool(kind.replace) and not self.unique)
    if kind.draws_seeds:
        return MiniBatches, {**_hops(kind), "visited_once": True, "replace": replace, **SEEDS}
    layout = "subgraphs" if kind.visited_once else "hops"
    return Traversal, {**_hops(kind), "layout": layout, "replace": replace}


def _collective(kind: type[TransitSampling], choice: Choice) -> tuple[type[Algorithm], dict[str, object]]:
    drawn = "vertices" if choice.from_graph else "neighbors"

    def draws_from(self: Traversal) -> str:
        if (self.unique or not kind.replace) and choice.from_graph:
            raise OptionError(
                "vertices of the whole graph are drawn independently; expected replace = True and no unique"
            )
        if kind.visited_once and kind.replace and not self.unique:
            raise OptionError("expected unique(step) or replace = False with visited_once = True")
        return "edges" if self.unique or not kind.replace else drawn

    replace = property(lambda self: self.draws_from != "edges")
    return Traversal, {**_hops(kind), "draws_from": property(draws_from), "replace": replace}


def _hops(kind: type[TransitSampling]) -> dict[str, object]:
    """The sizes of the hops, and whether their vertices are different, by the user's methods."""

    def sizes(self: TransitSampling) -> tuple[int, ...]:
        steps = _depth(self)
        found = tuple(map(self.sample_size, range(1 if steps is None else steps)))
        for size in found:
            if not isinstance(size, int) or isinstance(size, bool):
                line = written_method(kind, "sample_size")
                raise line.wrong(line.tree.lineno, f"expected a number of vertices, found {quoted(size)}")
        return every_hop(found[0], None) if steps is None else found

    def unique(self: TransitSampling) -> bool:
        steps = range(_depth(self) or 1)
        with users_code(f"{self.name()}.unique failed:"):
            found = {bool(kind.unique(self, step)) for step in steps}
        if len(found) > 1:
            line = written_method(kind, "unique")
            raise line.wrong(line.tree.lineno, "expected the same answer for all steps, found both")
        return found.pop() if found else False

    return {"sizes": sizes, "unique": property(unique), "depth": property(_depth)}


def _walk_length(self: TransitSampling) -> int | None:
    return _counted(self, MOST_STEPS)


def _depth(self: TransitSampling) -> int | None:
    return _counted(self, MOST_DEPTHS)


def _counted(self: TransitSampling, most: int) -> int | None:
    """The number of steps that the user's method says. OptionError for whatever it raises, which a property hides."""
    with users_code(f"{self.name()}.steps failed:"):
        steps = self.steps()
    if steps is None or (isinstance(steps, int) and not isinstance(steps, bool) and 0 <= steps <= most):
        return steps
    line = written_method(type(self), "steps")
    raise line.wrong(line.tree.lineno, f"expected an integer from 0 to {most:,}, or None, found {quoted(steps)}")


def _refuse_made(kind: type[TransitSampling], attributes: dict[str, object], base: type[Algorithm]) -> None:
    """OptionError if the class says itself what follows from its methods, or what its kind does not have."""
    bases = {*TransitSampling.__mro__, IndividualSampling, CollectiveSampling}
    own = {name for one in kind.__mro__ if one not in bases for name in vars(one)}
    for name in sorted(own & MADE - kind.options().keys()):
        if getattr(kind, name) is not attributes.get(name):
            raise OptionError(f"{kind.__name__}.{name}: follows from steps, sample_size and next; remove it")
    for name in ("replace", "visited_once", "draws_seeds"):
        if not isinstance(getattr(kind, name), bool):
            raise OptionError(f"{kind.__name__}.{name}: expected True or False, found {quoted(getattr(kind, name))}")
    if kind.draws_seeds and base is not MiniBatches:
        raise OptionError(f"{kind.__name__}.draws_seeds: only an IndividualSampling with sample_size draws seeds")


def _check_names(kind: type[TransitSampling], counts: str) -> None:
    """OptionError if an option has the name of something else, or, with the name ``counts``, is not what steps says."""
    taken = sorted(kind.options().keys() & (vars(TransitSampling).keys() | {"layout", "sizes"}))
    if taken:
        raise OptionError(f"{kind.__name__}.{taken[0]}: an option cannot have this name; choose another one")
    steps = written_method(kind, "steps")
    said = ast.unparse(steps.function.body[-1])
    if counts in kind.options() and said != f"return self.{counts}":
        raise steps.wrong(
            steps.tree.lineno, f"expected 'return self.{counts}', because the class has an option of that name"
        )
