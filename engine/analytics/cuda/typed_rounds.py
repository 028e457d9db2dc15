"""The hooks of a custom measure, compiled into kernels for a GPU: twin of those in analytics/cpu/rounds.py.

Numba types the hooks on the CPU first, so that both devices compute with the same types, and numba-cuda compiles the
same text of them.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from csaw.engine.analytics.rounds import ARGUMENTS, COMBINES, FIELDS, Hooked, is_real
from csaw.engine.cuda.compile import Unit
from csaw.engine.cuda.hook_code import HookRefused, Signature

if TYPE_CHECKING:
    from csaw.engine.analytics.cpu.rounds import Types

KERNELS = Path(__file__).with_name("kernels")
FILES = {True: ("rounds_begin.cu", "rounds_best.cu"), False: ("rounds_begin.cu", "rounds.cu")}
"""The files with the kernels of a measure, by whether it keeps the best of all that has come."""
OF_BEGINNING = ("start", "total")
"""The hooks that see no rows: their ``other`` is 0, and their ``total`` 0.0."""


class Typed(NamedTuple):
    """The source of a measure's kernels, a name for it, and its types."""

    unit: Unit
    name: str
    types: "Types"


def typed(measure: Hooked, params: tuple[float, ...], id_dtype: np.dtype) -> Typed:
    """Return the kernels of a measure for rows of such ids, to be compiled, and remember them.

    OptionError as of ``types_of``.
    """
    from csaw.engine.analytics.cpu.rounds import types_of

    known: dict[tuple[object, ...], Typed] = vars(measure).setdefault("_typed", {})
    if (params, id_dtype) not in known:
        found = types_of(measure, params)
        unit = _unit(measure, params, found, id_dtype)
        known[params, id_dtype] = Typed(unit, repr(unit), found)
    return known[params, id_dtype]


def _unit(measure: Hooked, params: tuple[float, ...], found: "Types", id_dtype: np.dtype) -> Unit:
    constants: dict[str, int] = {f"HAS_{name.upper()}_HOOK": measure.has(name) for name in FIELDS}
    constants |= {
        "COMBINE": COMBINES.index(measure.combine),
        "REAL": is_real(found.value),
        "COMBINED_REAL": is_real(found.combined),
        "TOTAL_REAL": is_real(found.total),
        "SENT": measure.sends_alike,
        "WIDE": id_dtype.itemsize == 8,
    }
    hooks = measure.hooks(real=is_real(found.value))
    files = tuple(str(KERNELS / name) for name in FILES[measure.keeps_best])
    return Unit(files, constants, list(hooks.values()), params, _signatures(hooks, found))


def compiled(measure: Hooked, unit: Unit, architecture: str) -> Unit:
    """Compile a measure's kernels for an architecture such as ``sm_90``; returns ``unit``, which finds them then.

    OptionError, with the line of the user's file, about a hook that a CPU can run and a GPU cannot.
    """
    try:
        unit.compile(architecture)
    except HookRefused as error:
        from csaw.engine.cpu.typed_hooks import refused_for_gpus

        raise refused_for_gpus(measure, error.name, error.reason) from error
    return unit


def _signatures(hooks: Mapping[str, object], found: "Types") -> dict[str, Signature]:
    """How kernels call each hook: the numbers of ARGUMENTS after ``params``."""
    value, combined, total = (_c_type(kind) for kind in found)
    returns = {"start": value, "edge": combined, "vertex": value, "total": total}
    others = {"start": "i64", "edge": value, "vertex": combined, "total": "i64"}
    made = {}
    for name in hooks:
        kinds = dict.fromkeys(ARGUMENTS[1:], "i64") | {"weight": "double"}
        kinds |= {"total": "double" if name in OF_BEGINNING else total, "other": others[name]}
        kinds["value"] = "i64" if name == "start" else value
        made[name] = Signature(returns[name], kinds, "")
    return made


def _c_type(kind: np.dtype) -> str:
    return "double" if is_real(kind) else "i64"
