"""Compile custom hooks by themselves first, so that an error names the hook and not a kernel around it."""

from typing import Protocol

import numpy as np
from numba import float64, int64, typeof, types, uint64
from numba.core.errors import NumbaError

from csaw.engine.api.hook_language import placed
from csaw.engine.cpu.kernels.access import GraphArrays
from csaw.engine.cpu.specialize import Kernels
from csaw.engine.schedule.specialization import Specialization
from csaw.partition.errors import OptionError

NOISE = (
    "Failed in",
    ">>>",
    "There are",
    "- ",
    "File ",
    "During",
    "This ",
    "^",
    "Of which",
    "Overload",
    "Rejected",
    "Enable",
    "Known",
)
RETURNS = {"edge_bias": "a number", "vertex_bias": "a number", "update": "a vertex", "dead_end": "a vertex"}
VERTICES = ("update", "dead_end")


def check_own_hooks(backend: Specialization) -> None:
    """Raise OptionError if a hook of the user's own algorithm cannot be compiled, or may return no number."""
    algorithm, hooks = backend.algorithm, backend.hooks()
    kernels = Kernels(backend.constants() | {"STREAMED": backend.streamed}, hooks)
    signature = (typeof(backend.params), _graph(backend), uint64, *(int64,) * 6, float64)
    for hook in hooks:
        where, function = f"{algorithm.name()}.{hook.name}", getattr(kernels, hook.name)
        try:
            function.compile(signature)
        except NumbaError as error:
            said = OptionError(f"{where} cannot be compiled: {reason_of(error)}")
            raise placed(said, getattr(type(algorithm), hook.name)) from error
        returned = types.unliteral(function.overloads[signature].signature.return_type)
        if not isinstance(returned, (types.Integer, types.Float)):
            said = OptionError(
                f"{where}: expected every path to return {RETURNS[hook.name]}, found {named_type(returned)}"
            )
            raise placed(said, getattr(type(algorithm), hook.name))
        if hook.name in VERTICES and isinstance(returned, types.Float):
            said = OptionError(
                f"{where}: expected a vertex, which is an integer, found a number with a fraction; "
                "convert it with int()"
            )
            raise placed(said, getattr(type(algorithm), hook.name))


class Named(Protocol):
    """An algorithm or a measure."""

    def name(self) -> str: ...


def refused_for_gpus(owner: Named, hook: str, reason: Exception) -> OptionError:
    """The error, with the line of the user's file, for a hook that a CPU can run and a GPU cannot."""
    said = f"{owner.name()}.{hook} cannot be compiled for a GPU: {reason_of(reason)}; pass --device cpu"
    return placed(OptionError(said), getattr(type(owner), hook))


def _graph(backend: Specialization) -> types.Type:
    """Numba's type of the graph that hooks get."""
    ids = np.dtype(backend.store.id_dtype)
    kinds: dict[str, object] = {
        "indptr": np.int64,
        "indices": ids,
        "weights": np.float32,
        "table": ids,
        "sums": np.int64,
        "possible": np.uint32,
        "strength": np.float64,
        "bloom": np.uint64,
        "members": np.uint32,
        "member_weights": np.float32,
        "events": np.uint32,
        "event_times": np.int64,
        "far_ends": np.uint32,
        "moved": np.int64,
        "loaded": np.uint8,
        "near": np.uint32,
        "begins": np.int64,
        "alone": np.uint8,
        "cases": np.uint8,
        "columns": np.float64,
        "path": ids,
        "known": np.int64,
    }
    arrays = {name: np.empty(0, kind) for name, kind in kinds.items()}
    further = tuple(np.empty(0, column.dtype) for column in backend.needs.edge_columns)
    return typeof(GraphArrays(**arrays, edge_columns=further, previous=0, began=0, word=np.uint64(0), edge=0))


def named_type(kind: types.Type) -> str:
    """The type that a hook returns, in words, if it is not a number."""
    if isinstance(kind, types.Optional):
        return f"None on one of them and {kind.type} on another"
    known = {types.none: "None", types.unicode_type: "text", types.boolean: "True or False; write 1.0 if ... else 0.0"}
    return known.get(kind, str(kind))


def reason_of(error: Exception) -> str:
    """The most informative line of an error, such as Numba's report."""
    lines = [line.strip() for line in str(error).splitlines()]
    return next((line for line in lines if line and not line.startswith(NOISE)), type(error).__name__)[:300]
