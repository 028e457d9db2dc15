"""Variables of a hook have a value wherever they are read, which Python finds out while it runs and kernels never do.

A variable has one behind an ``if`` where both branches give it one, or where the branch that does not ends the hook or
the turn of its loop. A loop may have no turn, unless it is ``while True`` or over a range that is not empty.
"""

import ast
from collections.abc import Iterable, Sequence

from csaw.engine.api.hook_language import stored_names
from csaw.engine.api.hook_place import HookError

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
