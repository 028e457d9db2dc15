"""``njit`` and ``prange`` with machine code cached in the user's cache folder, never in site-packages."""

import hashlib
import io
import sys
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import cache, cached_property, partial
from pathlib import Path
from subprocess import Popen
from time import sleep
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import IO, TypeVar, overload

import numpy as np

from csaw.partition.base.kernel_time import refuse_settings

# What a kernel's machine code depends on: its own code and that of every function it calls, however deep.
#
# Numba compiles what a kernel calls into the kernel, so a stamp of its own file would let old code run after a change
# of another file. A stamp depends on no path, date or line number: clones of one checkout share their machine code, and
# a change of a comment compiles nothing.

PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...), np.generic, np.dtype)


def stamp_of(function: FunctionType, options: Mapping[str, object]) -> str:
    """A digest of a kernel's code, of Numba's ``options`` for it, and of all that it calls and reads, 24 hex digits."""
    digest = hashlib.sha256(repr(sorted(options.items())).encode())
    met = [function]
    for one in met:
        own, called = _described(one)
        digest.update(own)
        met += [other for other in called if other not in met]
    return digest.hexdigest()[:24]


@cache
def _described(function: FunctionType) -> tuple[bytes, tuple[FunctionType, ...]]:
    """A digest of a function without those that it calls, and these."""
    called: list[FunctionType] = []
    digest = hashlib.sha256()
    for part in _of_function(function, called):
        digest.update(f"{part}\n".encode())
    return digest.digest(), tuple(dict.fromkeys(called))


def _of_function(function: FunctionType, called: list[FunctionType]) -> Iterator[str]:
    yield f"{function.__module__}.{function.__qualname__}"  # machine code names its modules, and imports them
    yield from _of_code(function.__code__)
    yield from _of_value((function.__defaults__, *sorted((function.__kwdefaults__ or {}).items())), called)
    for cell in function.__closure__ or ():
        yield from _of_value(cell.cell_contents, called)
    for name in sorted(set(_names(function.__code__)) & function.__globals__.keys()):
        yield f"name {name}"
        yield from _of_value(function.__globals__[name], called)


def _of_code(code: CodeType) -> Iterator[str]:
    """The content of a code object: its instructions, names and constants, and those of functions within it."""
    yield repr((code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars))
    yield repr((code.co_argcount, code.co_kwonlyargcount, code.co_flags))
    for constant in code.co_consts:
        yield from _of_code(constant) if isinstance(constant, CodeType) else _of_value(constant, [])


def _of_value(value: object, called: list[FunctionType]) -> Iterator[str]:
    """The texts that describe a value which a kernel reads; functions are added to ``called``."""
    if isinstance(value, PLAIN):
        yield f"{type(value).__qualname__} {value!r}"
    elif isinstance(value, tuple | list):
        yield f"{type(value).__qualname__} of {len(value)}"
        for one in value:
            yield from _of_value(one, called)
    elif isinstance(value, frozenset | set):
        yield f"{type(value).__qualname__} {sorted(map(repr, value))}"
    elif isinstance(value, np.ndarray):
        yield f"array {value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    elif (function := _function_of(value)) is not None:
        called.append(function)
        yield f"{type(value).__qualname__} {function.__qualname__} {getattr(value, 'targetoptions', '')}"
    elif isinstance(value, type):
        yield f"class {value.__module__}.{value.__qualname__} {list(getattr(value, '__annotations__', {}).items())}"
    else:  # Numba's types, functions in C, modules of other packages: kernels name what they call of csaw's
        named = value.__name__ if isinstance(value, BuiltinFunctionType | ModuleType | np.ufunc) else value
        yield f"{type(value).__qualname__} {named}"


def _function_of(value: object) -> FunctionType | None:
    """The function in Python that a value is made of: itself, or one that Numba compiles, or an intrinsic of it."""
    if isinstance(value, FunctionType):
        return value
    return getattr(value, "py_func", None) or getattr(value, "_defn", None)


def _names(code: CodeType) -> Iterator[str]:
    """The names that a code object, and those within it, look up outside of it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


refuse_settings()  # before Numba reads them

import numba
from numba import prange
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, _CacheLocator
from numba.core.dispatcher import Dispatcher
from numba.core.event import Event, Listener, register
from numba.core.runtime import rtsys

from csaw.partition.base.cache import code_folder, make_own, own_file, write_own
from csaw.partition.base.file_locks import lock
from csaw.partition.base.kernel_time import compiles, finds
from csaw.partition.base.stages import COMPILING, stage

# `njit` and `prange`, with cached machine code.

__all__ = ["inner", "njit", "prange"]


Function = TypeVar("Function", bound=Callable[..., object])
FOLDER = code_folder("numba")  # StoreError before anything is compiled where it may not be used
POLL_SECONDS = 0.005
DIGEST = 8  # bytes of that of the types, in the name of a file
awaited: dict[Callable[..., object], Popen[bytes]] = {}  # functions that another process compiles at this time


class _LockedCacheFile(IndexDataCacheFile):
    """A cache file that one process saves at a time, so that none leaves out what another has just added.

    The name of a function's code follows from the types that it is for: where the file system has no locks, two
    processes may lose an entry, which is compiled again, but never find code for other types under its name.

    The index names machine code that is there already. Numba writes the index first: a process that reads it at once
    would load what an earlier version of the source has left under the name. What it loads is of this user alone: it is
    code.
    """

    def _load_index(self) -> dict[Hashable, str]:
        if not own_file(Path(self._index_path)):
            return {}
        try:
            return super()._load_index()
        except (ImportError, AttributeError):  # it names a class of an argument that lies elsewhere by now
            return {}

    def _load_data(self, name: str) -> object:
        place = Path(self._data_path(name))
        if not own_file(place):
            raise FileNotFoundError(place)  # for which Numba compiles it
        return super()._load_data(name)

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[IO[bytes]]:
        made = io.BytesIO()
        yield made
        write_own(Path(filepath), made.getvalue())

    def save(self, key: Hashable, data: object) -> None:
        name = self._data_name(int.from_bytes(hashlib.sha256(self._dump(key)).digest()[:DIGEST]))
        with open(self._index_path + ".lock", "w") as file:
            lock(file.fileno(), wait=True)
            self._save_data(name, data)
            self._save_index(self._load_index() | {key: name})


class _Place(_CacheLocator):
    """Where the machine code of a function is kept: by the name of its package, whatever checkout it belongs to."""

    def __init__(self, package: str) -> None:
        self.folder = FOLDER / (package or "specialized")

    @classmethod
    def from_function(cls, function: Callable[..., object], file: str) -> "_Place":
        return cls(function.__module__.rpartition(".")[0])

    def get_cache_path(self) -> str:
        return str(self.folder)

    def ensure_cache_path(self) -> None:
        make_own(self.folder)

    def get_source_stamp(self) -> None:
        """None: the stamp is part of the names of files."""

    def get_disambiguator(self) -> None:
        """None, as above."""


class _Code(CompileResultCacheImpl):
    _locator_classes: list[type[object]] = [_Place]  # noqa: RUF012  # as Numba declares it


class _Cache(FunctionCache):
    """A function's machine code on disk, in files with the stamp of all that it depends on in their names.

    So one version of csaw never reads what another has left there, and several can use one cache side by side.

    Code that is there loads without the registries of Numba's compiler, which import SciPy's linear algebra among other
    things and took a third of the time of a small run. Numba loads them itself before it compiles.
    """

    _impl_class = _Code

    def __init__(self, function: FunctionType, options: Mapping[str, object]) -> None:
        self._name, self._py_func, self._impl = repr(function), function, _Code(function)
        self._cache_path, self.function, self.options = self._impl.locator.get_cache_path(), function, options
        self.enable()

    @cached_property
    def _cache_file(self) -> _LockedCacheFile:  # type: ignore[override]  # Numba sets it at once
        """The file, once the function is called: then all that it calls is defined."""
        module, version = self.function.__module__.rpartition(".")[2], f"py{sys.version_info[0]}{sys.version_info[1]}"
        name = f"{module}.{self.function.__qualname__}.{version}.{stamp_of(self.function, self.options)}"
        return _LockedCacheFile(self._cache_path, name, None)

    def _index_key(self, sig: Iterable[object], codegen: object) -> tuple[object, ...]:
        """Numba's key, and the names of the fields of named tuples, which a kernel reads by their places."""
        return (*super()._index_key(sig, codegen), tuple(_fields(sig)))

    def load_overload(self, sig: object, target_context: object) -> object:
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            child = awaited.get(self.function)
            while child is not None:
                ended = child.poll() is not None  # before the look, so that the last one finds all that it left
                found = self._load_overload(sig, target_context)
                if ended or found is not None:
                    break
                sleep(POLL_SECONDS)
            else:
                found = self._load_overload(sig, target_context)
            if found is None:
                _load_compiler()
            return found


def _fields(kinds: Iterable[object]) -> Iterator[tuple[str, ...]]:
    """The names of the fields of each of some types, and of those in it; only named tuples have some."""
    for kind in kinds:
        yield getattr(kind, "fields", ())
        yield from _fields(getattr(kind, "types", ()))


def _load_compiler() -> None:
    """Load what Numba compiles with, but not SciPy's linear algebra, which takes half as long again.

    Numba imports it to see whether it is there, and anew where a function multiplies matrices; csaw depends on SciPy.
    """
    if "numba.np.arraymath" in sys.modules:
        return
    from numba.np import linalg

    ensure, linalg.ensure_blas = linalg.ensure_blas, lambda: None
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        linalg.ensure_blas = ensure


def is_cached(dispatcher: object) -> bool:
    """Whether there is machine code of this function on disk, for any types."""
    cache = vars(dispatcher).get("_cache")
    return isinstance(cache, _Cache) and bool(cache._cache_file._load_index())


@overload
def njit(function: Function, **options: object) -> "Dispatcher[Function]": ...


@overload
def njit(function: None = None, **options: object) -> "Callable[[Function], Dispatcher[Function]]": ...


def njit(
    function: Function | None = None, **options: object
) -> "Dispatcher[Function] | Callable[[Function], Dispatcher[Function]]":
    """``numba.njit`` with the machine code kept on disk: ``@njit`` or ``@njit(nogil=True)``."""
    if not isinstance(function, FunctionType):
        return partial(njit, **options)
    options = {"no_cfunc_wrapper": True} | options  # nothing calls it from C
    compiled: Callable[..., Callable[[Function], Dispatcher[Function]]] = numba.njit
    dispatcher = compiled(**options)(function)
    vars(dispatcher)["_cache"] = _Cache(function, options)
    return dispatcher


class _Follower(Listener):
    """Has a context of its own for each of Numba's events, in the thread in which it happens, where they are nested.

    The compiler's lock is held, or waited for, while Numba looks for machine code on disk and while it compiles, and
    one thread holds it where Numba compiles, nested where one kernel calls another.
    """

    def __init__(self, context: Callable[[Event], AbstractContextManager[object]]) -> None:
        self.context, self.thread = context, threading.local()

    def on_start(self, event: Event) -> None:
        entered = self.context(event)
        entered.__enter__()
        self.thread.__dict__.setdefault("entered", []).append(entered)

    def on_end(self, event: Event) -> None:
        if entered := getattr(self.thread, "entered", None):  # none where one compiled while this file was imported
            entered.pop().__exit__(None, None, None)


def _timed(event: Event) -> AbstractContextManager[None]:
    return compiles(event.data["dispatcher"].py_func.__name__) if event.data else finds()


register("numba:compile", _Follower(lambda event: stage(COMPILING)))
for _kind in ("numba:compiler_lock", "numba:compile"):
    register(_kind, _Follower(_timed))


# For compiled callers alone: what Python would call is not made.
inner = partial(njit, no_cpython_wrapper=True)
