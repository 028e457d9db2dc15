"""A user's file of an algorithm or a measure: its digest, and its imports of what lies beside it.

The digest is of the file's text, and of the user's own files that it imports. Imports are read from the text, for
nothing of the file may run before its digest is compared. Installed packages and Python's own modules are no part of
it.
"""

import ast
import hashlib
import importlib
import sys
import sysconfig
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

PATHS = threading.RLock()  # held while sys.path or sys.modules are others
STANDARD = Path(sysconfig.get_paths()["stdlib"])


@contextmanager
def importing_beside(file: str | Path, text: bytes) -> Iterator[None]:
    """Let a file that the block runs import what lies beside it, as a script of Python's may.

    Its own imports are read from their files as they are now, whatever has been imported by their names before, and
    stay out of ``sys.modules``: another file may have others of these names.
    """
    with PATHS:
        own, wrote = own_imports(file, text), sys.dont_write_bytecode
        before = {name: sys.modules.pop(name) for name in own if name in sys.modules}
        importlib.invalidate_caches()
        sys.dont_write_bytecode = True  # a text that is changed within a second would not be read again
        try:
            with _looking_beside(file):
                yield
        finally:
            sys.dont_write_bytecode = wrote
            for name in own:
                sys.modules.pop(name, None)
            sys.modules.update(before)


@contextmanager
def _looking_beside(file: str | Path) -> Iterator[None]:
    with PATHS:
        before = list(sys.path)
        sys.path[:] = [*before, str(Path(file).absolute().parent)]
        try:
            yield
        finally:
            sys.path[:] = before


def own_imports(file: str | Path, text: bytes) -> dict[str, Path]:
    """The files of the user's own that a file imports, and those that these import, by the names of their modules."""
    found: dict[str, Path] = {}
    with _looking_beside(file):
        _follow(text, "", found)
    return found


def digest_of(file: str | Path, text: bytes) -> str:
    """The SHA-256 of a file's text, if it imports no other file of the user's; otherwise of it and of theirs."""
    own, found = hashlib.sha256(text).hexdigest(), own_imports(file, text)
    if not found:
        return own
    whole = hashlib.sha256(own.encode())
    for name, one in sorted(found.items()):
        whole.update(f"\0{name}\0{hashlib.sha256(one.read_bytes()).hexdigest()}".encode())
    return whole.hexdigest()


def _follow(text: bytes, package: str, found: dict[str, Path]) -> None:
    """Add the files that a file in ``package`` imports, by the names of their modules, and those that they import."""
    for name in _imports(text, package):
        file = None if name in found else _own_file(name)
        if file is not None:
            found[name] = file
            inside = name if file.name == "__init__.py" else name.rpartition(".")[0]
            _follow(file.read_bytes(), inside, found)


def _imports(text: bytes, package: str) -> Iterator[str]:
    """The names of all modules that may be imported: of ``from a import b`` a, and a.b, which may be one."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return  # said when the file runs
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                yield from _with_parents(one.name)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            module = ".".join([*filter(None, parts), *filter(None, [node.module])])
            yield from _with_parents(module)
            yield from (f"{module}.{one.name}" for one in node.names if module and one.name != "*")


def _with_parents(name: str) -> Iterator[str]:
    parts = name.split(".") if name else []
    yield from (".".join(parts[: count + 1]) for count in range(len(parts)))


def _found(name: str) -> ModuleSpec | None:
    """The module that Python would import by a name without a dot, whether or not it has done so; nothing runs."""
    specs = (finder.find_spec(name, None) for finder in sys.meta_path if hasattr(finder, "find_spec"))
    return next((one for one in specs if one is not None), None)


def _own_file(name: str) -> Path | None:
    """The file of a module of the user's own; None where it is another's, or is no file of Python text."""
    first, *others = name.split(".")
    try:
        spec = _found(first) if first != "csaw" else None
        for count in range(len(others)):
            places: Sequence[str] = (spec and spec.submodule_search_locations) or ()
            spec = PathFinder.find_spec(".".join([first, *others[: count + 1]]), list(places)) if places else None
    except (ImportError, ValueError, AttributeError):
        return None
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return None
    file = Path(spec.origin)
    beside = file.parents[len(others) + (file.name == "__init__.py")]  # where the first name was found
    installed = beside == STANDARD or any(beside.glob("*.dist-info"))
    return None if installed or not file.is_file() else file
