"""What a kernel's machine code depends on: its own code and that of every function it calls, however deep.

Numba compiles what a kernel calls into the kernel, so a stamp of its own file would let old code run after a change of
another file. A stamp depends on no path, date or line number: clones of one checkout share their machine code, and a
change of a comment compiles nothing.
"""

import hashlib
from collections.abc import Iterator, Mapping
from functools import cache
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

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
    yield function.__qualname__
    yield from _of_code(function.__code__)
    yield from _of_value((function.__defaults__, *sorted((function.__kwdefaults__ or {}).items())), called)
    for cell in function.__closure__ or ():
        yield from _of_value(cell.cell_contents, called)
    for name in sorted(set(_names(function.__code__)) & function.__globals__.keys()):
        yield f"name {name}"
        yield from _of_value(function.__globals__[name], called)


def _of_code(code: CodeType) -> Iterator[str]:
    """What a code object does: its instructions, names and constants, and those of functions within it."""
    yield repr((code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars))
    yield repr((code.co_argcount, code.co_kwonlyargcount, code.co_flags))
    for constant in code.co_consts:
        yield from _of_code(constant) if isinstance(constant, CodeType) else _of_value(constant, [])


def _of_value(value: Any, called: list[FunctionType]) -> Iterator[str]:
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
        named = isinstance(value, BuiltinFunctionType | ModuleType | np.ufunc)
        yield f"{type(value).__qualname__} {value.__name__ if named else value}"


def _function_of(value: Any) -> FunctionType | None:
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
