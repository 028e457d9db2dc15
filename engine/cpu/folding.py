"""Constant folding in functions of kernel files: branches that the constants rule out are dropped, and with them the
functions they call.
"""

import ast
import operator
from collections.abc import Iterable

COMPARED = {ast.Eq: operator.eq, ast.NotEq: operator.ne}


def names_of(tree: ast.AST) -> set[str]:
    """Names that a function reads but does not define; of a module, those that its statements read, each by itself."""
    if isinstance(tree, ast.Module):
        return {name for statement in tree.body for name in names_of(statement)}
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    own = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    own |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    return {node.id for node in names} - own


class Folding(ast.NodeTransformer):
    """Copies functions with these constants, without docstrings and without statements after a way out.

    Call it with a function.
    """

    def __init__(self, constants: dict[str, object]) -> None:
        self.constants = constants

    def __call__(self, function: ast.FunctionDef) -> ast.FunctionDef:
        read = names_of(function)
        self.constants = {name: value for name, value in self.constants.items() if name in read}
        return ast.fix_missing_locations(self.visit(_copy(function)))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.body = self._block(node.body[1:] if ast.get_docstring(node) is not None else node.body)
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self.constants:
            return node
        return ast.parse(repr(self.constants[node.id]), mode="eval").body

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        node.operand = self.visit(node.operand)
        known = isinstance(node.op, ast.Not) and isinstance(node.operand, ast.Constant)
        return ast.Constant(not node.operand.value) if known else node  # type: ignore[attr-defined]

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        sides, compared = (node.left, *node.comparators), COMPARED.get(type(node.ops[0]))
        if len(sides) > 2 or compared is None or not all(isinstance(side, ast.Constant) for side in sides):
            return node
        return ast.Constant(compared(*(side.value for side in sides)))  # type: ignore[attr-defined]

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        decides = isinstance(node.op, ast.Or)
        rest = [self.visit(value) for value in node.values]
        while len(rest) > 1 and isinstance(rest[0], ast.Constant):
            rest = rest[:1] if bool(rest[0].value) == decides else rest[1:]
        return ast.BoolOp(node.op, rest) if len(rest) > 1 else rest[0]

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.test, ast.Constant):
            return node.body if node.test.value else node.orelse
        return node

    def visit_If(self, node: ast.If) -> ast.stmt | list[ast.stmt]:
        test = self.visit(node.test)
        if isinstance(test, ast.Constant):
            taken = node.body if test.value else node.orelse
            return self._block(taken) if taken else []
        return ast.If(test, self._block(node.body), self._block(node.orelse) if node.orelse else [])

    def visit_For(self, node: ast.For) -> ast.For:
        node.target, node.iter, node.body = self.visit(node.target), self.visit(node.iter), self._block(node.body)
        return node

    def visit_While(self, node: ast.While) -> ast.While:
        node.test, node.body = self.visit(node.test), self._block(node.body)
        return node

    def _block(self, statements: Iterable[ast.stmt]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for statement in statements:
            folded = self.visit(statement)
            out += folded if isinstance(folded, list) else [folded]
            if out and isinstance(out[-1], (ast.Return, ast.Continue, ast.Break)):
                break
        return out or [ast.Pass()]


def _copy(function: ast.FunctionDef) -> ast.FunctionDef:
    [copy] = ast.parse(ast.unparse(function)).body
    assert isinstance(copy, ast.FunctionDef)
    return copy
