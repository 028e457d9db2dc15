"""A bias given as a Python function: ``lambda e: e.weight * 2`` is the expression ``e.weight * 2``."""

import ast
import math
from types import FunctionType, ModuleType

from csaw.engine.api.expression import parsed
from csaw.engine.api.written import Written, function_of, number_of
from csaw.partition.errors import OptionError


def expression_of(given: object) -> str:
    """The expression that a bias is given as, or that a function of one edge returns.

    Numbers that the function reads from outside are written as they are now. OptionError, with the line, for a function
    that is no such expression. TypeError for what is neither.
    """
    if isinstance(given, str):
        return given
    if not isinstance(given, FunctionType):
        raise TypeError
    written = function_of(given)
    returned, edge = _returned(written), _edge(written)
    text = ast.unparse(ast.fix_missing_locations(_Expression(written, edge).visit(returned)))
    try:
        parsed(text)
    except OptionError as error:
        raise written.wrong(returned.lineno, str(error).partition(": ")[2]) from error
    return text


def _returned(written: Written) -> ast.expr:
    """The expression that a function returns, where it is all that it does."""
    tree = written.tree
    if isinstance(tree, ast.Lambda):
        return tree.body
    *before, last = tree.body
    if any(not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)) for one in before):
        raise written.wrong(before[0].lineno, "expected return and an expression alone; write a class for more")
    if not isinstance(last, ast.Return) or last.value is None:
        raise written.wrong(last.lineno, "expected return and an expression alone; write a class for more")
    return last.value


def _edge(written: Written) -> str:
    """The name of the only argument, the edge."""
    taken = written.tree.args  # type: ignore[union-attr]
    names = [one.arg for one in (*taken.posonlyargs, *taken.args)]
    if len(names) != 1 or taken.vararg or taken.kwarg or taken.kwonlyargs or taken.defaults:
        raise written.wrong(written.tree.lineno, "expected a function of one edge, such as lambda e: e.weight * 2")
    return names[0]


class _Expression(ast.NodeTransformer):
    """The edge is called e, functions of math stand by its name, and numbers of names as themselves."""

    def __init__(self, written: Written, edge: str) -> None:
        self.written, self.edge = written, edge

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id == self.edge:
            return ast.Name("e", node.ctx)
        if node.id not in self.written.scope:
            return node  # of Python itself, which is checked with the whole expression
        value = self.written.scope[node.id]
        number = number_of(value)
        if number is not None and -math.inf < number < math.inf:
            size = ast.Constant(abs(number) if not isinstance(number, bool) else number)
            return ast.UnaryOp(ast.USub(), size) if number < 0 else size
        if isinstance(value, ModuleType) and value is math:
            return ast.Name("math", node.ctx)
        if getattr(math, name := getattr(value, "__name__", ""), None) is value:
            return ast.Attribute(ast.Name("math", ast.Load()), name, node.ctx)
        raise self.written.wrong(
            node.lineno,
            f"{node.id} is {type(value).__name__}; a bias may read numbers and functions of math from outside",
        )
