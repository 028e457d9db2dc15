"""Algorithms given as classes: each is written to a separate file, with everything that it reads.

A cell of a notebook and the body of a function are no files. What is written out is: the class, the classes and
functions beside it that it uses, the numbers that it reads from outside as they are now, and its imports. The file is
then what any file of a user's algorithm is, for every process: its SHA-256 names it, and it is named FILE.py:CLASS.
"""

import ast
import builtins
import hashlib
import inspect
import math
import sys
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType

from csaw.engine.api.algorithm import Algorithm, Traversal, Walk
from csaw.engine.api.bases import TransitSampling
from csaw.engine.api.hook_language import WRITTEN, scope_of
from csaw.engine.api.hook_scope import source_of
from csaw.engine.api.option import Option
from csaw.engine.api.written import Written, class_of, function_of, number_of, outer_names
from csaw.partition.base.cache import cache_dir, code_folder, own_file, write_own
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError

FOLDER = "classes"
HEAD = "from __future__ import annotations\n\n"  # names in annotations are not looked up
PUBLIC = "csaw.engine.algorithm"  # the names of csaw that files of algorithms import, wherever they are defined
CSAW = "csaw."  # begins the names of modules of csaw's own
PLAIN = (bool, int, float, str, bytes, tuple, list, dict, Option, type(None))  # values of which repr tells all
CLASS = "class:"  # begins the name of such an algorithm in a request


def file_of(kind: type[Algorithm]) -> str:
    """Write a class out, and return its name FILE.py:CLASS.

    OptionError for what is no class of an algorithm, has no source, or reads what cannot be written as text.
    """
    if not issubclass(kind, Walk | Traversal | TransitSampling) or kind.__module__.startswith(CSAW):
        raise OptionError(
            f"algo: expected an algorithm, or a class derived from Walk or Traversal, found {quoted(kind)}"
        )
    text = text_of(kind).encode()
    path = code_folder(FOLDER) / f"{hashlib.sha256(text).hexdigest()}.py"
    if not own_file(path) or path.read_bytes() != text:
        write_own(path, text)
    WRITTEN[str(path)] = kind
    return f"{path}:{kind.__name__}"


def recorded_name(name: str) -> str:
    """The name that requests have for the algorithm ``name``: of a class that was written out without its path."""
    file, _, wanted = name.rpartition(":")
    is_written = file and Path(file).parent == cache_dir() / FOLDER
    return f"{CLASS}{wanted}" if is_written else name


def refuse_changed(kind: type, written: type) -> None:
    """OptionError if a class has been changed since it was defined, so that ``written``, which its text defines, is
    another one: what its methods and values are now would not be kept with the sample.
    """
    for name in sorted({*dir(kind), *dir(written)}):
        if name.startswith("__"):
            continue
        now, then = (inspect.getattr_static(one, name, None) for one in (kind, written))
        if now is not then and _said(now) != _said(then):
            raise OptionError(
                f"algo: {kind.__name__}.{name} was set after the class was defined, so it would not be stored "
                f"with the sample; define it in the class, or in a class derived from {kind.__name__}"
            )


def _said(value: object, within: tuple[object, ...] = ()) -> object:
    """The content of an attribute: the representation of a plain value; of a function its text, its defaults, and what
    the numbers and functions that it reads say.
    """
    value = getattr(value, "__func__", getattr(value, "fget", value))
    if not isinstance(value, FunctionType):
        number = number_of(value)
        return repr(value if number is None else number) if isinstance(value, PLAIN) or number is not None else None
    if value in within or value.__module__.startswith(CSAW):
        return value.__qualname__
    try:
        tree = ast.parse(source_of(value)).body[0]
    except (OptionError, SyntaxError):  # a lambda, whose lines are no statement of their own
        return None
    names = {one.id for one in ast.walk(tree) if isinstance(one, ast.Name)}
    scope = scope_of(value)
    read = {name: _said(one, (*within, value)) for name, one in scope.items() if name in names}
    of_modules = [
        (ast.unparse(one), repr(number_of(getattr(scope.get(one.value.id), one.attr, None))))
        for one in ast.walk(tree)
        if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name)
    ]
    known = {name: one for name, one in read.items() if one is not None}
    return ast.dump(tree), repr(value.__defaults__), known, of_modules


def text_of(kind: type[Algorithm]) -> str:
    """The text of a file that defines the class."""
    file = _File(kind.__module__)
    written = class_of(kind)
    file.define(kind.__name__, kind, written, written.tree.lineno)
    blocks = [HEAD + "".join(sorted(file.imports)), "".join(file.values), *file.definitions]
    return "\n\n".join(block for block in blocks if block)


class _File:
    """A file that is being written: names that it has, and their text. ``home``: the module that is written out."""

    def __init__(self, home: str) -> None:
        self.home = home
        self.held: dict[str, object] = {}
        self.imports: set[str] = set()
        self.values: list[str] = []
        self.definitions: list[str] = []

    def define(self, name: str, value: object, by: Written, line: int) -> None:
        """Write a class or a function, and before it all that it reads."""
        self.held[name] = value
        written = class_of(value) if isinstance(value, type) else function_of(value)  # type: ignore[arg-type]
        if not hasattr(written.tree, "name"):
            raise by.wrong(line, f"{name} is a lambda; write it with def")
        for read in outer_names(written.tree):
            if read.id in written.scope:
                self._bring(read.id, written.scope[read.id], written, read.lineno)
            elif not hasattr(builtins, read.id):
                raise written.wrong(read.lineno, f"{read.id} is not known; define it before, and outside of functions")
        alias = f"\n\n{name} = {written.tree.name}\n" if written.tree.name != name else ""
        self.definitions.append(written.text + alias)

    def _bring(self, name: str, value: object, by: Written, line: int) -> None:
        """Write the value of a name that a definition reads; OptionError, with the line, where it is no text."""
        value = getattr(value, "py_func", value)  # of a function that Numba compiles
        if name in self.held:
            if self.held[name] is not value and self.held[name] != value:
                raise by.wrong(line, f"{name} is something else in another part of the algorithm; rename one of them")
            return
        number = number_of(value)
        if number is not None or isinstance(value, str):
            self.held[name] = value
            self.values.append(f"{name} = {_shown(value if number is None else number)}\n")
        elif isinstance(value, ModuleType) and value.__name__ != "__main__":
            self.held[name] = value
            self.imports.add(f"import {value.__name__}{f' as {name}' if value.__name__ != name else ''}\n")
        elif (place := self._place_of(name, value)) is not None:
            self.held[name] = value
            self.imports.add(f"from {place[0]} import {place[1]}{f' as {name}' if place[1] != name else ''}\n")
        elif isinstance(value, type | FunctionType):
            self.define(name, value, by, line)
        else:
            raise by.wrong(
                line,
                f"{name} is {quoted(value)}, which cannot be stored with the sample; an algorithm may read its "
                "options, and from outside numbers, text, functions, classes and modules",
            )

    def _place_of(self, name: str, value: object) -> tuple[str, str] | None:
        """The module and the name by which another process can import a value; None where it has to be written."""
        if vars(import_module(PUBLIC)).get(name) is value:
            return PUBLIC, name
        module, known = (
            getattr(value, "__module__", None),
            getattr(value, "__qualname__", getattr(value, "_name", None)),
        )
        if module in (None, "__main__", self.home) or getattr(sys.modules.get(module), "__spec__", None) is None:
            return None
        return (module, known) if known and getattr(sys.modules[module], known, None) is value else None


def _shown(value: object) -> str:
    return f"float('{value}')" if isinstance(value, float) and not math.isfinite(value) else repr(value)
