"""The hooks of a measure of the user's own as plain functions, by the machinery of samplers' hooks.

    self.NAME          params[k]; a vertex option is the number of its vertex
    e.src, e.dst       src, dst               v.id         src
    e.src_degree       src_degree             v.degree     src_degree
    e.value            value, that of e.src   v.value      value
    e.dst_value        other                  v.combined   other
    e.weight           weight                 v.total      total, the sum of what the hook ``total`` gives
    e.round, v.round   number                 e.nothing    a literal: what changes nothing in ``combine``

Every hook gets the same arguments, ARGUMENTS, so a kernel need not know which of them it reads.
"""

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

from csaw.engine.api.hook_errors import placed
from csaw.engine.api.hooks import TREES, Hook, Rewriter, expression, written_out
from csaw.engine.api.option import LARGEST, Option
from csaw.partition.errors import OptionError

ARGUMENTS = (
    "params",
    "number",
    "vertices",
    "total",
    "src",
    "dst",
    "src_degree",
    "dst_degree",
    "value",
    "other",
    "weight",
)
COMBINES = ("min", "max", "sum", "or")  # their places are the numbers in cuda/kernels/rounds.cuh
RULES = {"round": "number", "vertices": "vertices", "nothing": "", "total": "total"}
OF_EDGE = {
    "src": "src",
    "dst": "dst",
    "src_degree": "src_degree",
    "dst_degree": "dst_degree",
    "value": "value",
    "dst_value": "other",
    "weight": "weight",
} | RULES
OF_VERTEX = {"id": "src", "degree": "src_degree", "value": "value", "combined": "other"} | RULES
FIELDS: Mapping[str, Mapping[str, str]] = {
    "start": {name: OF_VERTEX[name] for name in ("id", "degree", "vertices", "nothing")},
    "edge": OF_EDGE,
    "vertex": OF_VERTEX,
    "total": {name: OF_VERTEX[name] for name in ("id", "degree", "value", "vertices", "round", "nothing")},
}
"""What the view of each hook has, and the argument that it is."""


class Hooked(Protocol):
    """What the rounds of a measure know of its class, which engine/analytics/own_measure.py declares."""

    combine: ClassVar[str]
    rounds: int | None
    limit: int
    tolerance: float | None
    reads_weights: bool

    @property
    def keeps_best(self) -> bool:
        """Whether a value is the best of all that has come to its vertex in any round."""

    @property
    def sends_alike(self) -> bool:
        """Whether a vertex passes the same along each of its edges."""

    @property
    def sends_by_value(self) -> bool:
        """Whether nothing but its value decides what a vertex passes along."""

    def reads(self, field: str) -> bool:
        """Whether a hook that makes values reads this field."""

    def hooks(self, *, real: bool) -> dict[str, Hook]:
        """The hooks of the class, rewritten for values that are floats or integers."""

    @classmethod
    def name(cls) -> str:
        """The name of the measure."""

    @classmethod
    def options(cls) -> dict[str, Option]:
        """All options by name."""

    @classmethod
    def has(cls, hook: str) -> bool:
        """Whether the class has a hook of its own."""


@dataclass(frozen=True)
class VertexOption(Option):
    """An option that is the original id of a vertex; hooks read the number of that vertex."""


class _Rewriter(Rewriter):
    """Rewrites what a hook of a measure reads of its options and of its edge or vertex."""

    def __init__(self, measure: Hooked, name: str, where: str, me: str, view: str, real: bool) -> None:
        # Of an algorithm, it reads the options, which a measure has, too.
        super().__init__(measure, where, me, view, True, None, random=False, of_vertex=name != "edge")  # type: ignore[arg-type]
        self.measure, self.fields, self.real = measure, FIELDS[name], real

    def _option(self, name: str) -> ast.expr:
        if name in (names := numbers(self.measure)):
            return expression(f"params[{names.index(name)}]")
        return super()._option(name)

    def _field(self, name: str) -> ast.expr:
        name = {"src": "id", "src_degree": "degree"}.get(name, name) if self.of_vertex else name
        if name not in self.fields or (name == "total" and not self.measure.has("total")):
            missing = "; it is what the hook total gives in all" if name == "total" and name in self.fields else ""
            raise OptionError(f"{self.where}: no {self.view}.{name}; there are {', '.join(self.fields)}{missing}")
        self.reads.add(name)
        if name == "nothing":
            return ast.Constant(nothing(self.measure.combine, self.real))
        return expression(self.fields[name])

    def _engine_call(self, name: str, arguments: list[ast.expr]) -> ast.expr:
        raise OptionError(f"{self.where}: no call {self.view}.{name}(...); a measure's hook reads fields alone")


def nothing(combine: str, real: bool) -> float:
    """Return the number that changes nothing where it is combined with others."""
    least = float("inf") if real else LARGEST
    found = {"min": least, "max": -least}.get(combine, 0)
    return float(found) if real else found


def numbers(measure: Hooked) -> list[str]:
    """The names of the options that are numbers or vertices, in the order of ``params[k]``."""
    return [
        name
        for name, one in measure.options().items()
        if one.kind in (int, float, bool) or isinstance(one, VertexOption)
    ]


def rewritten(measure: Hooked, name: str, real: bool) -> Hook:
    """Rewrite one hook; OptionError, with the line of the user's file, if it uses anything that a hook cannot.

    ``real``: whether values are floats.
    """
    method = getattr(type(measure), name)

    def rewriter_of(where: str, me: str, view: str) -> _Rewriter:
        return _Rewriter(measure, name, where, me, view, real)

    try:
        with TREES:
            text, rewriter = written_out(measure.name(), method, name, ARGUMENTS, rewriter_of)
    except RecursionError as error:
        raise OptionError(f"{measure.name()}.{name}: nested too deeply, or calls itself; write it in steps") from error
    except OptionError as error:
        raise placed(error, method) from error
    return Hook(name, text, frozenset(rewriter.reads))
