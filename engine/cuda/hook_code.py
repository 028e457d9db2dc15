"""Hooks as kernels call them: what C++ declares of one, and its code by numba-cuda for one kind of GPU."""

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from csaw.engine.api.hook_language import Scope, call_of, function_in
from csaw.engine.api.hook_scope import CALLED, INLINED
from csaw.engine.api.hooks import Hook


@dataclass(frozen=True)
class Signature:
    """How kernels call a hook, after the numbers of ``params``.

    ``returns``: i64 or double. ``arguments``: the C++ type of each by its name. ``otherwise``: the C++ body that stands
    where there is no such hook.
    """

    returns: str
    arguments: Mapping[str, str]
    otherwise: str


IN_A_SAMPLE = {
    "context": "const Context&",  # the hook gets its address, as a u64
    "seed": "u64",
    "instance": "i64",
    "depth": "i64",
    "source": "i64",
    "prev": "i64",
    "src": "i64",
    "dst": "i64",
    "weight": "double",
}
OF_SAMPLERS: Mapping[str, Signature] = {
    "edge_bias": Signature("double", IN_A_SAMPLE, "return 1.0;"),
    "vertex_bias": Signature("double", IN_A_SAMPLE, "return 1.0;"),
    "update": Signature("i64", IN_A_SAMPLE, "return dst;"),
    "dead_end": Signature("i64", IN_A_SAMPLE, "return -1;"),
}
"""The hooks of samplers, by name."""
NUMBERS = ("i64", "u64", "double")
DECLARATIONS = {
    "degree": "int64(uint64, int64)",
    "vertex_count": "int64(uint64)",
    "is_neighbor": "int64(uint64, int64, int64)",
    "path_vertex": "int64(uint64, int64, int64)",
    "previous_time": "int64(uint64)",
    "start_time": "int64(uint64)",
    "column_value": "float64(uint64, int64, int64)",
    "edge_integer": "int64(uint64, int64)",
    "edge_real": "float64(uint64, int64)",
    "hook_word": "uint64(uint64, int64, int64, int64)",
    "fraction": "float64(uint64)",
    "below_wide": "uint64(uint64, uint64)",
}
EXACT = 2.0**53  # integers from here on may be no floats
LESS = """\
@cuda.jit(device=True, inline="always")
def csaw_least(one, other):
    return other if other < one else one
@cuda.jit(device=True, inline="always")
def csaw_most(one, other):
    return other if other > one else one
"""
PORTABLE = {
    "csaw_power": "float64(float64, float64)",
    "csaw_exponential": "float64(float64)",
    "csaw_logarithm": "float64(float64)",
}


MAY_RAISE = (
    "it may raise an error, as an index into a tuple or an assert may, and a GPU cannot; choose by if and else instead"
)


class HookRefused(Exception):
    """A hook that numba-cuda cannot compile: its ``name``, and the ``reason``, Numba's error or one in csaw's words."""

    def __init__(self, name: str, reason: Exception) -> None:
        super().__init__(name)
        self.name, self.reason = name, reason


def hook_side(name: str, hook: Hook | None, params: tuple[float, ...], signature: Signature) -> str:
    """Return the function that a kernel calls: the compiled hook, the number it always returns, or the default."""
    declaration, body = "", signature.otherwise
    taken = ", ".join(["const Params& params", *(f"{kind} {one}" for one, kind in signature.arguments.items())])
    if hook is not None and (plain := plain_body(hook)) is not None:
        body = plain
    elif hook is not None:
        types = [c_type(p) for p in params]
        types += [kind if kind in NUMBERS else "u64" for kind in signature.arguments.values()]
        declaration = f'extern "C" __device__ {signature.returns} csaw_{name}({", ".join(types)});\n'
        given = [f"params.v{k}" for k in range(len(params))]
        given += [one if kind in NUMBERS else f"(u64)&{one}" for one, kind in signature.arguments.items()]
        body = f"return csaw_{name}({', '.join(given)});"
    return f"{declaration}__device__ __forceinline__ {signature.returns} {name}({taken}) {{ {body} }}"


def c_type(parameter: float) -> str:
    """The C++ type of an option."""
    return "double" if isinstance(parameter, float) else "i64"


def plain_body(hook: Hook) -> str | None:
    """Write a hook that is a number or the edge's weight in C++; None for others, which numba-cuda compiles.

    Of the algorithms that draw by weight alone, none needs numba-cuda, which takes longer to load than their kernels to
    compile.
    """
    if hook.constant is not None and abs(hook.constant) < EXACT:
        return f"return {hook.constant!r};"
    return "return weight;" if hook.source.endswith("):\n    return weight\n") and "@" not in hook.source[1:] else None


def compiled(hook: Hook, params: tuple[float, ...], signature: Signature, architecture: str) -> bytes:
    """LTO-IR of a hook, by numba-cuda; what it asks of the graph is declared here and defined in
    cuda/kernels/graph.cuh.

    A function that C++ calls cannot raise: numba-cuda leaves a block without an end where it would, which NVVM refuses.
    """
    from cuda.bindings import nvvm
    from numba import cuda, float64, int64, uint64
    from numba.core.errors import NumbaError

    kinds = {"i64": int64, "double": float64}
    given = [kinds[c_type(p)] for p in params] + [kinds.get(kind, uint64) for kind in signature.arguments.values()]
    capability = tuple(int(digit) for digit in (architecture[3:-1], architecture[-1]))
    try:
        code, _ = cuda.compile(
            _function(hook, len(params)),
            kinds[signature.returns](*given),
            device=True,
            abi="c",
            abi_info={"abi_name": f"csaw_{hook.name}"},
            cc=capability,
            output="ltoir",
        )
    except NumbaError as error:
        raise HookRefused(hook.name, error) from error
    except nvvm.nvvmError as error:
        if error.status != nvvm.Result.ERROR_INVALID_IR:
            raise
        raise HookRefused(hook.name, ValueError(MAY_RAISE)) from error
    return bytes(code)


def _function(hook: Hook, params: int) -> Callable[..., object]:
    """A hook as a function for numba-cuda, with ``params`` numbers in place of its first argument."""
    from numba import cuda, int64, uint64

    scalars = [f"params_{k}" for k in range(params)]
    text = re.sub(r"\bparams\[(\d+)\]", r"params_\1", hook.source)
    text = text.replace(f"def {hook.name}(params,", f"def {hook.name}({''.join(s + ', ' for s in scalars)}")
    text = text.replace(INLINED, "").replace(CALLED, '@cuda.jit(device=True, inline="always")\n')
    text = LESS + ast.unparse(_Least().visit(ast.parse(text)))
    scope: Scope = {"cuda": cuda, "int64": int64, "uint64": uint64, "math": __import__("math")}
    declared = {f"csaw_{name}": signature for name, signature in DECLARATIONS.items()} | PORTABLE
    functions = {name: cuda.declare_device(name, signature, abi="c") for name, signature in declared.items()}
    scope |= functions | {name: functions[f"csaw_{name}"] for name in DECLARATIONS}
    exec(compile(text, f"<{hook.name}>", "exec"), scope)  # noqa: S102 - the user's own code, as with --algo FILE
    return function_in(scope, hook.name)


class _Least(ast.NodeTransformer):
    """Writes min and max as comparisons from left to right, as Numba does on the CPU.

    Those of CUDA take another zero of two with different signs, and leave NaN out.
    """

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        name = {"min": "csaw_least", "max": "csaw_most"}.get(getattr(node.func, "id", ""))
        if name is None or len(node.args) < 2:
            return node
        found, *others = node.args
        for other in others:
            found = call_of(name, found, other)
        return ast.fix_missing_locations(found)
