"""Find algorithms by name: a file of engine/algorithms, or a custom ``FILE.py:CLASS``.

The digest of a user's file is of its text, and of the user's own files beside it that it imports. Imports are read from
the text, for nothing of the file may run before its digest is compared. Installed packages and Python's own modules are
no part of it.
"""

import ast
import hashlib
import importlib
import inspect
import linecache
import pkgutil
import sys
import sysconfig
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from functools import cache, partial
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import decode_source
from pathlib import Path
from types import ModuleType
from typing import TypeAlias

from csaw.engine.api.algorithm import NO_COLUMNS, Algorithm, Traversal, VertexColumns, Walk
from csaw.engine.api.bases import TransitSampling
from csaw.engine.api.declarations import check_declarations
from csaw.engine.api.derived_law import law_of_walk
from csaw.engine.api.expression import bias_of
from csaw.engine.api.hook_language import WRITTEN, is_own, users_code
from csaw.engine.api.option import NONE, InUnits, Option, flag_of
from csaw.engine.api.termination import refuse_endless
from csaw.engine.api.translation import translated
from csaw.engine.api.written_classes import file_of, refuse_changed
from csaw.partition.base.arguments import is_misread, unboxed
from csaw.partition.base.plain_data import OptionValue, Record, Values
from csaw.partition.base.quoting import meant, quoted, shown
from csaw.partition.errors import OptionError, UnknownNameError

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


Algo: TypeAlias = str | type[Algorithm] | Algorithm
"""An algorithm, as a caller has it: a name, FILE.py:CLASS, or a class or an instance, shipped or of the user's own."""
SET_BY_RUNS = {"vertex_columns", "file_digest", "in_units", "rule"}  # attributes of an instance that are no options
OF_COMMANDS = frozenset(
    ("graph", "out", "algo", "option", "own", "directed", "virtual", "virtual_from", "resume", "overwrite", "progress")
    + ("policy", "measure", "json", "as_json", "dry_run", "cluster", "shard", "moved_to", "quiet", "verbose", "help")
    + ("profile", "short_help", "help_all", "version")
)
"""Names that csaw sample, and its function in Python, take beside the options of runs and algorithms."""


def names() -> list[str]:
    """Every shipped algorithm's name on the command line."""
    return list(_names())


@cache
def _names() -> tuple[str, ...]:
    package = import_module("csaw.engine.algorithms")
    return tuple(sorted(m.name.replace("_", "-") for m in pkgutil.iter_modules(package.__path__)))


def named(algo: Algo, options: Mapping[str, OptionValue]) -> tuple[str, Values]:
    """The name of an algorithm, and its options: a class, shipped or the user's own, has one, too.

    Of an instance the options are in it, too, unless ``options`` say otherwise. Names are returned as they are, and
    judged when they are loaded. OptionError where a class cannot be written out.
    """
    if isinstance(algo, Algorithm):
        if strange := sorted(vars(algo).keys() - algo.options().keys() - SET_BY_RUNS):
            raise OptionError(
                f"algo: {strange[0]} of this {type(algo).__name__} is not an option, so it would not be stored "
                "with the sample; declare it with option() in the class"
            )
        held = algo.parameters()
        times = {name: units for name, units in algo.in_units.items() if type(held.get(name)) is int}
        built = {name: InUnits(held[name], units) for name, units in times.items()}
        options = {**held, **built, **options}
        algo = type(algo)
    if not (isinstance(algo, type) and issubclass(algo, Algorithm)):
        return algo, dict(options)
    shipped = not is_own(algo) and algo.name() in names() and _shipped(algo.name()) is algo
    return (algo.name() if shipped else file_of(algo)), dict(options)


def find(name: str, edge_bias: str | None = None) -> type[Algorithm]:
    """Return the algorithm class called ``name``; with ``edge_bias``, a subclass whose bias is that expression.

    UnknownNameError if there is none; OptionError if the expression, or the user's own file, is malformed.
    """
    found = load(name)[0]
    return found if edge_bias is None else with_edge_bias(found, edge_bias)


def described() -> Record:
    """By the name of each shipped algorithm its paper, and its options with their defaults."""
    return {
        one.name(): {"paper": one.paper, "options": {name: each.default for name, each in one.options().items()}}
        for one in map(find, names())
    }


def load(name: str, check: Callable[[str], None] = lambda digest: None) -> tuple[type[Algorithm], str]:
    """Return the algorithm class called ``name`` and the SHA-256 of the user's file, or "" where csaw ships it.

    ``check`` is called with the SHA-256 before the file runs. Errors as for :func:`find`.
    """
    if not isinstance(name, str):
        raise UnknownNameError(
            f"--algo: expected the name of an algorithm, FILE.py:CLASS, or a class, found {quoted(name)}"
        )
    if ".py" not in name:
        return _shipped(name), ""
    text, digest = code_of(name)
    check(digest)
    return _from_file(name, text), digest


def code_of(name: str, flag: str = "--algo") -> tuple[bytes, str]:
    """Return the text of the file that ``FILE.py:CLASS`` names, and its SHA-256, in which are the files it imports.

    UnknownNameError where there is no such file. ``flag``: the option that errors are about.
    """
    file, _, wanted = name.partition(":")
    if not wanted:
        raise OptionError(f"{flag}: expected FILE.py:CLASS, found {quoted(name)}")
    if not Path(file).is_file():
        raise UnknownNameError(f"{flag}: {shown(file)} is not a file")
    if Path(file).suffix != ".py":
        raise UnknownNameError(f"{flag}: {shown(file)} is not a Python file")
    try:
        text = Path(file).read_bytes()
    except OSError as error:
        raise UnknownNameError(f"{flag}: {file} cannot be read: {error.strerror}") from error
    return text, digest_of(file, text)


def build(
    name: str,
    parameters: Values,
    edge_bias: str | None = None,
    columns: VertexColumns = NO_COLUMNS,
    of_the_run: Iterable[str] = (),
    units: str | None = None,
) -> Algorithm:
    """Make the algorithm with its options and the columns that its hooks read, and check all.

    ``of_the_run``: names of the options beside them, which no option of the algorithm may have, and one of which a
    misspelled name may mean. ``units``: of the times of the graph, None where it has none.

    Raises UnknownNameError or OptionError.
    """
    kind, digest = load(name)
    _refuse_taken(kind, {*of_the_run, *OF_COMMANDS})
    if kind.__init__ is Algorithm.__init__:
        kind.refuse_unknown(parameters, partial(_hint, of_the_run))
    parameters = in_units(kind.options(), parameters, units)
    return make(kind if edge_bias is None else with_edge_bias(kind, edge_bias), digest, parameters, columns)


def _refuse_taken(kind: type[Algorithm], of_the_run: AbstractSet[str]) -> None:
    """OptionError about an option of a user's own class that could never be given, because runs have one so called."""
    if taken := sorted(kind.options().keys() & of_the_run):
        raise OptionError(f"{kind.__name__}.{taken[0]}: every run has an option of this name; choose another one")


def _hint(of_the_run: Iterable[str], flag: str, known: list[str]) -> str:
    """The algorithms that have an option which another one lacks; where none has it, an option that may be meant."""
    owners = [name for name in names() if flag in map(flag_of, find(name).options())]
    if owners:
        return f"; {', '.join(owners)} {'have' if len(owners) > 1 else 'has'} {flag}"
    return meant(flag, [*known, *map(flag_of, of_the_run)])


def make(kind: type[Algorithm], digest: str, parameters: Values, columns: VertexColumns) -> Algorithm:
    """Make an algorithm of the class and the SHA-256 that :func:`load` has returned, as :func:`build` does."""
    if not is_own(kind) or kind.__init__ is Algorithm.__init__:
        algorithm = kind(**parameters)
    else:
        with users_code(
            f"--algo {kind.__name__}: __init__ must take options by name and pass them on to super().__init__;"
        ):
            algorithm = kind(**parameters)
    algorithm.vertex_columns, algorithm.file_digest = columns, digest
    algorithm.in_units = {name: value.units for name, value in parameters.items() if isinstance(value, InUnits)}
    if is_own(kind):
        check_declarations(algorithm)
    if isinstance(algorithm, Walk) and algorithm.walk_length is None:
        refuse_endless(algorithm)
    return algorithm


def with_edge_bias(base: type[Algorithm], expression: str) -> type[Algorithm]:
    """Make a subclass of ``base`` whose edge_bias is a one-line expression over ``e``. OptionError if it is none."""
    return type(base.__name__, (base,), {"edge_bias": bias_of(expression), "label": base.name()})


def _shipped(name: str) -> type[Algorithm]:
    if name not in names():
        raise UnknownNameError(
            f"--algo: no algorithm called {quoted(name)}{meant(name, names()) or '.'} There are {', '.join(names())}, "
            "or FILE.py:CLASS"
        )
    module = import_module(f"csaw.engine.algorithms.{name.replace('-', '_')}")
    return next(c for c in vars(module).values() if _defined_in(c, module.__name__))


def _from_file(name: str, text: bytes) -> type[Algorithm]:
    """Run the ``text`` of the file in ``FILE.py:CLASS`` and return the class."""
    file, _, wanted = name.partition(":")
    module = module_of(file, text)
    found = vars(module).get(wanted)
    if not (inspect.isclass(found) and issubclass(found, (Walk, Traversal, TransitSampling))):
        raise UnknownNameError(f"--algo: {file} has no Walk or Traversal class called {quoted(wanted)}")
    if found.__module__ == module.__name__:
        if (given := WRITTEN.get(str(Path(file).absolute()))) is not None:
            refuse_changed(given, found)
        found.file_text = decode_source(text)
    if issubclass(found, TransitSampling):
        return translated(found)
    if issubclass(found, Walk) and (law := law_of_walk(found)):
        found.law = law  # type: ignore[method-assign]
    return found


def module_of(file: str, text: bytes, flag: str = "--algo") -> ModuleType:
    """Run the ``text`` of a file of the user's; OptionError, about the option ``flag``, where that fails."""
    place = str(Path(file).absolute())
    module = ModuleType("csaw_user_" + Path(file).stem)
    module.__file__ = place
    with users_code(f"{flag}: {file} cannot be imported:"), importing_beside(file, text):
        # Its text alone: a loader of Python's would run what a folder __pycache__ beside it holds, if that says that it
        # is of this file.
        exec(compile(text, place, "exec"), vars(module))  # noqa: S102 - the user has named it
        linecache.cache[place] = (len(text), None, decode_source(text).splitlines(keepends=True), place)
    return module


def _defined_in(value: object, module: str) -> bool:
    return inspect.isclass(value) and issubclass(value, Algorithm) and value.__module__ == module


# Options that are times, lengths of time or scales, in the units of a graph.


def _reading(options: Mapping[str, Option], given: Mapping[str, OptionValue], name: str) -> str:
    """Find what an option ``reads`` beside the others, as they are given or by default."""
    if (declared := options.get(name)) is None or declared.reads_beside is None:
        return declared.reads if declared else ""
    other, wanted = declared.reads_beside
    value = given[other] if other in given else getattr(options.get(other), "default", None)
    return declared.reads if value == wanted else ""


def in_units(options: Mapping[str, Option], given: Mapping[str, OptionValue], units: str | None) -> Values:
    """The options that are ``given``, with times and lengths of time in the ``units`` of a graph; None: it has none.

    OptionError for what is none in these units.
    """
    found = dict(given)
    for name, value in given.items():
        kind, flag = _reading(options, given, name), flag_of(name)
        none = value is None or (isinstance(value, str) and value == NONE)
        if isinstance(value, InUnits):
            if units is not None and value.units not in ("", units):
                raise OptionError(
                    f"{flag}: expected a time for this graph, whose times are in {units}, found {value} "
                    f"{value.units} of an algorithm that was built for another; build it again"
                )
        elif kind and units is not None and not none:
            from csaw.partition.ingestion.time_value import length_of, scale_of, time_of

            if is_misread(value):
                raise OptionError(f"{flag}: expected a time or a length of time, found {quoted(value)}")
            value = unboxed(value)
            if kind == "scale":
                found[name] = scale_of(flag, value, units)
                continue
            read = time_of(flag, value, units) if kind == "time" else length_of(flag, value, units, least=0)
            found[name] = InUnits(read, units)
    return found
