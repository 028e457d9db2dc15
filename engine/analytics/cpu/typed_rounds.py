"""Compile the hooks of a measure of the user's own, each alone first, so that an error names the hook and its line."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numba import float64, int64, typeof, types
from numba.core.errors import NumbaError

from csaw.engine.analytics.rounds import ARGUMENTS, Hooked, is_real
from csaw.engine.api.hook_errors import placed
from csaw.engine.api.hooks import Hook
from csaw.engine.cpu.specialize import Kernels
from csaw.engine.cpu.typed_hooks import named_type, reason_of
from csaw.partition.errors import OptionError

FILES = ("../../analytics/cpu/kernels/rounds.py", "../../analytics/cpu/kernels/rounds_best.py")
MOST_KNOWN = 256  # kernels and single hooks, of some dozens of measures
MIXED = "start gives an integer, and this a number with a fraction; write a float there, such as 0.0, or int() here"
HEADER = """\
# Written by csaw; delete at will.
import math
import numpy as np
from numba import float64, int64, uint64
from csaw.engine.analytics.cpu.kernels.atomics import fetch_least, fetch_most, fetch_or
from csaw.engine.analytics.cpu.kernels.lanes import LANES, PIECE, emptied, ordered_sum
from csaw.engine.analytics.cpu.kernels.sssp import INFINITE
from csaw.engine.draws.portable import exponential as csaw_exponential, logarithm as csaw_logarithm, power as csaw_power
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_tools import empty, zeros
"""


class Types(NamedTuple):
    """The types of a measure's values, of what is combined, and of its total: int64 or float64."""

    value: np.dtype
    combined: np.dtype
    total: np.dtype


@dataclass(frozen=True)
class Compiled:
    """The kernels of a measure, and its types."""

    kernels: Kernels
    types: Types


def compiled(measure: Hooked, params: tuple[float, ...], *, weighted: bool, some: bool = False) -> Compiled:
    """Compile the hooks of a measure.

    ``weighted``: whether the rows that are read have weights; ``some``: whether active vertices alone are pulled to.

    OptionError as of ``types_of``.
    """
    found = types_of(measure, params)
    constants = {
        "COMBINE": measure.combine,
        "REAL": is_real(found.value),
        "COMBINED_REAL": is_real(found.combined),
        "TOTAL_REAL": is_real(found.total),
        "ORDERED": measure.combine == "sum" and is_real(found.combined),
        "WEIGHTED": weighted,
        "SOME": some,
        "EVERY": not measure.has("edge"),
        "SENT": measure.sends_alike,
    }
    hooks = measure.hooks(real=is_real(found.value)).values()
    return Compiled(_kernels(tuple(constants.items()), tuple(hooks), FILES), found)


@lru_cache(MOST_KNOWN)
def _kernels(constants: tuple[tuple[str, object], ...], hooks: tuple[Hook, ...], files: tuple[str, ...]) -> Kernels:
    """The kernels of these constants and hooks, the same ones each time: to write them takes some milliseconds."""
    return Kernels(dict(constants), list(hooks), files, HEADER)


def types_of(measure: Hooked, params: tuple[float, ...]) -> Types:
    """The types of a measure, by compiling its hooks one after the other.

    OptionError if a hook cannot be compiled, or may return no number or one of another type than values are of.
    """
    one = _Typing(measure, params)
    value = one.returned("start", False, {})
    real = isinstance(value, types.Float)
    kinds = {"value": value, "other": value}
    total = one.returned("total", real, {"value": value}) if measure.has("total") else float64
    kinds["total"] = total
    combined = one.returned("edge", real, kinds) if measure.has("edge") else value
    if measure.combine in ("min", "max"):  # whose nothing, of integers, is another number than that of floats
        if isinstance(combined, types.Float) and not real:
            raise one.error("edge", MIXED)
        combined = value
    kinds["other"] = combined
    last = one.returned("vertex", real, kinds) if measure.has("vertex") else combined
    if isinstance(last, types.Float) and not real:
        hook = "vertex" if measure.has("vertex") else "edge"
        raise one.error(hook, MIXED)
    real_bits = isinstance(combined, types.Float)
    if measure.combine == "or" and (real_bits or (real and not measure.has("vertex"))):
        hook = "edge" if measure.has("edge") and real_bits else "start"
        raise one.error(
            hook,
            "expected an integer, whose bits are combined by or, found a float; a power such as 2**k is one, 1 << k is "
            "an integer",
        )
    return Types(*map(_dtype, (value, combined, total)))


def _dtype(kind: types.Type) -> np.dtype:
    return np.dtype(np.float64 if isinstance(kind, types.Float) else np.int64)


class _Typing:
    """Compiles the hooks of a measure one by one."""

    def __init__(self, measure: Hooked, params: tuple[float, ...]) -> None:
        self.measure, self.params = measure, params

    def returned(self, hook: str, real: bool, kinds: Mapping[str, types.Type]) -> types.Type:
        """Compile a hook for values that are ``real`` or not, and return int64 or float64, what it returns.

        ``kinds``: types of arguments that are no integers by nature.
        """
        given: dict[str, Any] = dict.fromkeys(ARGUMENTS, int64) | {"params": typeof(self.params), "weight": float64}
        signature = tuple((given | {"total": float64} | dict(kinds))[name] for name in ARGUMENTS)
        hooks = tuple(one for name, one in self.measure.hooks(real=real).items() if name == hook)
        function = getattr(_kernels((), hooks, ()), hook)
        try:
            function.compile(signature)
        except NumbaError as error:
            said = f"{self.measure.name()}.{hook} cannot be compiled: {reason_of(error)}"
            raise placed(OptionError(said), getattr(type(self.measure), hook)) from error
        found = types.unliteral(function.overloads[signature].signature.return_type)
        if not isinstance(found, (types.Integer, types.Float, types.Boolean)):
            raise self.error(hook, f"expected a number on every way out, found {named_type(found)}")
        return float64 if isinstance(found, types.Float) else int64

    def error(self, hook: str, said: str) -> OptionError:
        """An error about a hook, with its line."""
        return placed(OptionError(f"{self.measure.name()}.{hook}: {said}"), getattr(type(self.measure), hook))
