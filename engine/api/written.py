"""The source of a class or function that a user wrote in a file, in a cell of a notebook, or inside another function,
and the names that it reads from outside.
"""

import ast
import builtins
import inspect
import linecache
import math
import re
import textwrap
from collections.abc import Callable, Iterator
from functools import lru_cache
from types import CodeType, FunctionType, ModuleType
from typing import NamedTuple

from csaw.engine.api.expression import parsed
from csaw.engine.api.hook_language import Scope, plain_number, scope_of, stored_names
from csaw.partition.base.quoting import quoted, shown
from csaw.partition.errors import OptionError

Definition = ast.ClassDef | ast.FunctionDef | ast.Lambda
CELL = re.compile(r"<ipython-input-|ipykernel_|<python-input-")  # names of cells of IPython, Jupyter and Python 3.13
Spot = tuple[int | None, int | None, int | None, int | None]
"""First and last line of a piece of compiled code, and its columns in these."""
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Written(NamedTuple):
    """A definition: its syntax tree, with the lines of its file, and the values that it can see outside itself."""

    tree: Definition
    file: str
    lines: list[str]
    scope: Scope

    @property
    def function(self) -> ast.FunctionDef:
        """The tree of a function that is written with def."""
        assert isinstance(self.tree, ast.FunctionDef)
        return self.tree

    @property
    def text(self) -> str:
        """The lines of the definition, without the indentation of what they stand in."""
        first = min([self.tree.lineno, *(one.lineno for one in getattr(self.tree, "decorator_list", ()))])
        held = "".join(self.lines[first - 1 : self.tree.end_lineno])
        return textwrap.dedent(held).rstrip() + "\n"

    def wrong(self, line: int, said: str) -> OptionError:
        """An error about a line of the file."""
        text = shown(self.lines[line - 1].strip().removesuffix(":"))
        return OptionError(f"line {line} of {self.file}, {text}: {said}")


def class_of(kind: type) -> Written:
    """The definition of a class. OptionError where its source is not known."""
    methods = [
        one for one in map(_function, vars(kind).values()) if one and one.__qualname__.startswith(kind.__qualname__)
    ]
    file, lines = _found(methods[0] if methods else kind) or _cell_of(kind)
    inside = {one.__code__.co_firstlineno for one in methods if one.__code__.co_filename == file}
    made = [
        one for one in ast.walk(_parsed(lines, kind)) if isinstance(one, ast.ClassDef) and one.name == kind.__name__
    ]
    trees = [one for one in made if all(one.lineno <= line <= (one.end_lineno or 0) for line in inside)]
    if not trees:
        raise _no_source(kind)
    scope: Scope = {} if methods else dict(vars(inspect.getmodule(kind) or builtins))
    for method in methods:
        scope |= scope_of(method)
    return Written(trees[-1], file, lines, {base.__name__: base for base in kind.__mro__[1:]} | scope)


def function_of(function: FunctionType) -> Written:
    """The definition of a function or of a lambda. OptionError where its source is not known."""
    file, lines = _found(function) or (None, [])
    if file is None:
        raise _no_source(function)
    code, kind = function.__code__, ast.Lambda if function.__name__ == "<lambda>" else ast.FunctionDef
    trees = [
        one for one in ast.walk(_parsed(lines, function)) if isinstance(one, kind) and _begins(one, code.co_firstlineno)
    ]
    if len(trees) > 1:  # lambdas of one line, which may be inside each other
        spots = [spot for spot in code.co_positions() if spot[3]]
        trees = [one for one in trees if spots and all(_is_inside(one, spot) for spot in spots)]
        trees = sorted(trees, key=lambda one: (one.lineno, one.col_offset))[-1:]
    if len(trees) != 1:
        raise _no_source(function)
    return Written(trees[0], file, lines, scope_of(function))


def outer_names(tree: ast.AST) -> Iterator[ast.Name]:
    """The names that a definition reads and does not define itself; those of annotations are left out."""
    if isinstance(tree, FUNCTIONS):
        made = {argument.arg for argument in ast.walk(tree.args) if isinstance(argument, ast.arg)} | _made(tree)
        given = [*getattr(tree, "decorator_list", ()), *tree.args.defaults, *filter(None, tree.args.kw_defaults)]
        body = tree.body if isinstance(tree.body, list) else [tree.body]
        yield from (name for one in given for name in outer_names(one))
        yield from (name for one in body for name in outer_names(one) if name.id not in made)
    elif isinstance(tree, ast.ClassDef):
        made = {name for one in tree.body if not isinstance(one, FUNCTIONS) for name in _made(one)}
        yield from (name for one in (*tree.decorator_list, *tree.bases, *tree.keywords) for name in outer_names(one))
        for one in tree.body:  # a class's own names are not seen by its methods
            yield from (name for name in outer_names(one) if isinstance(one, FUNCTIONS) or name.id not in made)
    elif isinstance(tree, ast.AnnAssign):
        yield from outer_names(tree.value) if tree.value else ()
    elif isinstance(tree, ast.Name):
        yield from [tree] if isinstance(tree.ctx, ast.Load) else ()
    else:
        yield from (name for one in ast.iter_child_nodes(tree) for name in outer_names(one))


def number_of(value: object) -> bool | int | float | None:
    """The number that a value is, also one of NumPy; None for anything else."""
    if type(value).__module__ == "numpy" and getattr(value, "ndim", 1) == 0:
        value = value.item()  # type: ignore[attr-defined]
    return plain_number(value)


def _function(value: object) -> FunctionType | None:
    """The function of a method, of whatever kind."""
    value = getattr(value, "__func__", getattr(value, "fget", value))
    value = getattr(value, "py_func", value)
    return value if isinstance(value, FunctionType) else None


def _found(what: Callable[..., object]) -> tuple[str, list[str]] | None:
    """The name and the lines of the file, or cell, in which something is defined."""
    try:
        lines = inspect.findsource(what)[0]
    except (OSError, TypeError, SyntaxError):
        return None
    code = getattr(what, "__code__", None)
    if code is not None and not any(_is_same(code, one) for one in _codes("".join(lines))):
        raise OptionError(
            f"{code.co_filename} has changed since Python read {code.co_qualname} from it; import it again, in a "
            "new process"
        )
    return (code.co_filename if code else inspect.getfile(what)), lines


@lru_cache(16)
def _codes(text: str) -> list[CodeType]:
    """All compiled functions of a text."""
    try:
        found = [compile(text, "<text>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)]  # as cells of notebooks have it
    except (SyntaxError, ValueError):
        return []
    for one in found:
        found += [inside for inside in one.co_consts if isinstance(inside, CodeType)]
    return found


def _is_same(a: CodeType, b: CodeType) -> bool:
    """Whether two functions stand in the same line and do the same."""
    consts = ([repr(one) for one in code.co_consts if not isinstance(one, CodeType)] for code in (a, b))
    names = ((code.co_name, code.co_firstlineno, code.co_names, code.co_varnames) for code in (a, b))
    return next(names) == next(names) and next(consts) == next(consts) and a.co_code == b.co_code


def _cell_of(kind: type) -> tuple[str, list[str]]:
    """The last cell that defines a class without methods, which does not know where it is from."""
    for file in reversed([file for file in linecache.cache if CELL.search(file)]):
        lines = linecache.getlines(file)
        if any(re.match(rf"\s*class {kind.__name__}\b", line) for line in lines):
            return file, lines
    raise _no_source(kind)


def _parsed(lines: list[str], what: object) -> ast.Module:
    try:
        return ast.parse("".join(lines))
    except SyntaxError as error:
        raise _no_source(what) from error


def _no_source(what: object) -> OptionError:
    name = getattr(what, "__qualname__", quoted(what))
    return OptionError(
        f"{name} has no source that csaw can read, as at Python's prompt or in generated code; write it in a "
        "file or in a notebook cell"
    )


def _begins(tree: ast.FunctionDef | ast.Lambda, line: int) -> bool:
    """Whether a definition begins in a line; a function does with its decorators."""
    return line in (tree.lineno, *(one.lineno for one in getattr(tree, "decorator_list", ())))


def _is_inside(tree: ast.FunctionDef | ast.Lambda, spot: Spot) -> bool:
    """Whether a place of compiled code is inside of a definition."""
    first, last, begin, end = (one or 0 for one in spot)
    until = tree.end_lineno or 0, tree.end_col_offset or 0
    return (tree.lineno, tree.col_offset) <= (first, begin) and (last, end) <= until


def _made(tree: ast.AST) -> set[str]:
    """The names that are assigned, defined or imported anywhere in a piece of code."""
    names = stored_names(tree) | {
        one.name for one in ast.walk(tree) if isinstance(one, (ast.FunctionDef, ast.ClassDef)) and one is not tree
    }
    imported = [alias for one in ast.walk(tree) if isinstance(one, ast.Import | ast.ImportFrom) for alias in one.names]
    return names | {(one.asname or one.name).partition(".")[0] for one in imported}


# A bias given as a Python function: `lambda e: e.weight * 2` is the expression `e.weight * 2`.


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
