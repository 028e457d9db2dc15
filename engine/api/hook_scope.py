"""Write as source text the names of the user's module that hooks use in addition to their arguments.

Each gets a name of its own there.
"""

import ast
import inspect
import math
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import BuiltinFunctionType, FunctionType, ModuleType

from csaw.engine.api.hook_language import (
    PORTABLE,
    HookError,
    Portable,
    placed,
    plain_number,
    refuse_foreign,
    scope_of,
    stored_names,
)
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError

OWN = "own_"
# A division by zero gives infinity or NaN, as on a GPU, and an error then names the bias.
INLINED, CALLED = '@inner(forceinline=True, error_model="numpy")\n', '@inner(error_model="numpy")\n'
BUILTINS = ("abs", "min", "max", "int", "float", "bool", "round", "pow", "range", "len", "True", "False", "None")


def source_of(method: Callable[..., object]) -> str:
    try:
        return getattr(method, "csaw_source", None) or textwrap.dedent(inspect.getsource(method))
    except (OSError, TypeError) as error:
        name = getattr(method, "__qualname__", quoted(method))
        raise OptionError(
            f"expected a method written with def, in a file, found {name}, which has no source"
        ) from error


class Own(ast.NodeTransformer):
    """Gives names of the user's module those that they have in the text of a hook."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.names.get(node.id, node.id), node.ctx)


class Surroundings:
    """Source text for what a hook reads beside its arguments: numbers, modules, and functions with what they read.

    Each gets a name with a prefix, so that it cannot hide a name of a kernel, and a number where another thing is
    called so already: a name may mean one thing in the hook's file and another in that of a function that it calls.
    """

    def __init__(self, where: str) -> None:
        self.where, self.text = where, ""
        self.things: dict[str, object] = {}
        self.taken: set[str] = set()  # names of the function that is written

    def named(self, tree: ast.FunctionDef, function: Callable[..., object]) -> ast.FunctionDef:
        """The tree of a function, which reads nothing from outside but by the names of this text; what these mean is
        written before.
        """
        scope = scope_of(function)
        self.taken = stored_names(tree) | {a.arg for a in ast.walk(tree.args) if isinstance(a, ast.arg)}
        read = {n.id for one in tree.body for n in ast.walk(one) if isinstance(n, ast.Name)} - self.taken
        read -= set(PORTABLE.values()) | {name for name in BUILTINS if name not in scope}
        taken, names = self.taken, {}
        for name in sorted(read):
            names[name] = self._named(name, scope.get(name))
            self.taken = taken  # of this function again: another one may have been written
        named: ast.FunctionDef = Own(names).visit(tree)
        return named

    def _named(self, name: str, value: object) -> str:
        value = getattr(value, "py_func", value)  # a user's own @njit function
        if (number := plain_number(value)) is not None:
            said = repr(number) if abs(number) < math.inf else f"float('{number}')"
            return self._added(name, said, lambda own: f"{own} = {said}\n")
        if isinstance(value, ModuleType):
            return self._added(name, value, lambda own: f"import {value.__name__} as {own}\n")
        if isinstance(value, BuiltinFunctionType) and value.__module__ == "math":
            return self._added(name, value, lambda own: f"from math import {value.__name__} as {own}\n")
        if isinstance(value, FunctionType):
            return self._added(name, value, lambda own: self._function(value, name, own))
        raise OptionError(
            f"{self.where}: {name} is not a number, a function or a module, the only things that a hook can use"
        )

    def _added(self, name: str, thing: object, written: Callable[[str], str]) -> str:
        """The name of a thing, which is written down unless it is there already."""
        own = OWN + name
        while own in self.taken or (own in self.things and self.things[own] != thing):
            own += "_"
        if own not in self.things:
            self.things[own] = thing
            text = written(own)  # which may write down others before
            self.text += text
        return own

    def _function(self, function: FunctionType, name: str, own: str) -> str:
        tree = ast.parse(source_of(function)).body[0]
        if not isinstance(tree, ast.FunctionDef):
            raise OptionError(f"{self.where}: {name} must be a function written with def")
        try:
            refuse_foreign(tree.body, self.where)
            require_values(tree, self.where)
            tree = Portable(scope_of(function), self.where).visit(tree)
        except OptionError as error:
            raise placed(error, function) from error
        tree.decorator_list = []
        tree.args.defaults = [self._default(one, name) for one in function.__defaults__ or ()]
        tree = self.named(tree, function)
        tree.name = own
        return f"{CALLED}{ast.unparse(ast.fix_missing_locations(tree))}\n"

    def _default(self, value: object, name: str) -> ast.expr:
        """The value of an argument that is not given, of the moment when Python read the function."""
        if (number := plain_number(value)) is None or not abs(number) < math.inf:
            raise OptionError(f"{self.where}: expected a finite number as the default of an argument of {name}")
        return ast.Constant(number)


# Variables of a hook have a value wherever they are read, which Python finds out while it runs and kernels never do.
#
# A variable has one behind an ``if`` where both branches give it one, or where the branch that does not ends the hook
# or the turn of its loop. A loop may have no turn, unless it is ``while True`` or over a range that is not empty.

Known = frozenset[str] | None
"""Variables that have a value for sure; None where a statement is never reached."""


def require_values(function: ast.FunctionDef, where: str) -> None:
    """HookError about a variable of a hook, or of a function that it calls, that may be read before it has a value."""
    given = {one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)}
    _Reading(stored_names(function) - given, where).body(function.body, frozenset())


class _Reading:
    """Follows the ways through a function."""

    def __init__(self, variables: set[str], where: str) -> None:
        self.variables, self.where = variables, where
        self.breaks: list[Known] = []  # what is known where each loop that a statement stands in is left,
        self.continues: list[Known] = []  # and where a turn of it ends before its last statement

    def body(self, statements: Sequence[ast.stmt], known: Known) -> Known:
        """The variables that have a value behind some statements."""
        for statement in statements:
            if known is None:
                return None
            known = self._behind(statement, known)
        return known

    def _behind(self, statement: ast.stmt, known: frozenset[str]) -> Known:
        match statement:
            case ast.If():
                self._read(statement.test, known)
                return _both(self.body(statement.body, known), self.body(statement.orelse, known))
            case ast.For() | ast.While():
                return self._loop(statement, known)
            case ast.Return():
                self._read(statement.value, known)
                return None
            case ast.Break():
                self.breaks[-1] = _both(self.breaks[-1], known)
                return None
            case ast.Continue():
                self.continues[-1] = _both(self.continues[-1], known)
                return None
            case ast.AugAssign(target=ast.Name(id=name)):
                self._read(ast.Name(name, ast.Load()), known, statement)
        self._read(statement, known)
        return known | stored_names(statement)

    def _loop(self, loop: ast.For | ast.While, known: frozenset[str]) -> Known:
        self._read(loop.iter if isinstance(loop, ast.For) else loop.test, known)
        inside = known | (stored_names(loop.target) if isinstance(loop, ast.For) else set())
        self.breaks.append(None)
        self.continues.append(None)
        behind = self.body(loop.body, inside)
        left, behind = self.breaks.pop(), _both(behind, self.continues.pop())
        if _is_endless(loop):
            return left
        ended = behind if _has_turns(loop) and behind is not None else known
        if not loop.orelse:
            return _both(ended, left)
        return _both(self.body(loop.orelse, ended), left)

    def _read(self, node: ast.AST | None, known: frozenset[str], at: ast.AST | None = None) -> None:
        """Look at all names that are read in a part of a statement."""
        for one in ast.walk(node) if node is not None else ():
            read = isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load) and one.id in self.variables
            if read and one.id not in known | _of_comprehensions(node):  # type: ignore[attr-defined]
                raise HookError(
                    at or one,
                    f"{self.where}: {one.id} may have no value here; give it one on every way that leads here",  # type: ignore[attr-defined]
                )


def _both(a: Known, b: Known) -> Known:
    """The variables that have a value where two ways meet."""
    if a is None or b is None:
        return b if a is None else a
    return a & b


def _of_comprehensions(node: ast.AST | None) -> frozenset[str]:
    """The variables of lists in brackets and the like, which live inside of them."""
    if node is None:
        return frozenset()
    found: Iterable[ast.AST] = (one.target for one in ast.walk(node) if isinstance(one, ast.comprehension))
    return frozenset().union(*map(stored_names, found))


def _is_endless(loop: ast.For | ast.While) -> bool:
    return isinstance(loop, ast.While) and isinstance(loop.test, ast.Constant) and bool(loop.test.value)


def _has_turns(loop: ast.For | ast.While) -> bool:
    """Whether a loop has a turn for sure: one over a range of a number above 0."""
    over = loop.iter if isinstance(loop, ast.For) else None
    if not (isinstance(over, ast.Call) and isinstance(over.func, ast.Name) and over.func.id == "range"):
        return False
    ends = [one.value for one in over.args if isinstance(one, ast.Constant) and isinstance(one.value, int)]
    return len(ends) == len(over.args) and len(range(*ends)) > 0 if ends else False
