"""C structs of the .cu and .cuh files, filled by the names of their members: the CUDA text is the one place that says order and type.

Needs no GPU and no CuPy, so that tests can hold every struct and every place that fills one against the text.
"""

import re
from functools import cache
from struct import Struct
from typing import Any, NamedTuple

import numpy as np

from csaw.engine.cuda.compile import FOLDER

CODES = {"i64": "q", "u64": "Q", "double": "d", "int": "i", "u32": "I", "float": "f"}
ARRAYS = {  # of what a pointer points to: the element types an array may have; any, where kernels read bytes
    "i64": ("int64",), "u64": ("uint64",), "u32": ("uint32",), "int": ("int32",), "double": ("float64",), "float": ("float32",),
    "vertex_t": ("uint32", "uint64"), "unsigned short": ("uint16",), "unsigned char": ("uint8", "bool"), "uint2": ("uint32",),
}  # fmt: skip


class Member(NamedTuple):
    """One member: its C type without const, and whether it is a pointer."""

    kind: str
    pointer: bool

    @property
    def code(self) -> str:
        """The type as the module ``struct`` names it."""
        return "Q" if self.pointer else CODES[self.kind]


@cache
def members(name: str) -> dict[str, Member]:
    """The members of a struct, in order; LookupError when no file declares it with members of plain types."""
    declaration = re.compile(rf"\bstruct (?:alignas\([^)]*\) )?{name} \{{(.*?)\}};", re.DOTALL)
    for file in sorted(FOLDER.rglob("*.cu*")):
        text = re.sub(r"//[^\n]*", "", file.read_text())
        if found := declaration.search(text):
            return _parsed(found[1])
    raise LookupError(f"no .cu or .cuh file declares struct {name}")


def _parsed(body: str) -> dict[str, Member]:
    out: dict[str, Member] = {}
    for declaration in filter(None, (part.strip() for part in body.split(";"))):
        first, *others = declaration.removeprefix("const ").split(",")
        kind, name = re.fullmatch(r"((?:unsigned )?\w+\b[*\s]*?)\s*(\**\w+)", first.strip()).groups()  # type: ignore[union-attr]
        for one in (name, *others):
            pointer = "*" in kind or "*" in one
            out[one.strip().lstrip("*")] = Member(kind.strip("* "), pointer)
    return out


@cache
def _layout(name: str) -> tuple[dict[str, Member], Struct, np.dtype]:
    fields = members(name)
    layout = Struct("@" + "".join(field.code for field in fields.values()) + "0q")  # as long as an array of them needs
    return fields, layout, np.dtype((np.void, layout.size))


def record(name: str) -> np.dtype:
    """The struct as an element of a NumPy array; a pointer is uint64."""
    return np.dtype([(key, np.dtype(field.code)) for key, field in members(name).items()])


def struct(name: str, **values: Any) -> np.ndarray:
    """The struct ``name`` by value, as a launch takes it.

    A pointer is an array on the device, None, or an address (np.uint64). TypeError when a member is missing, unknown, or an array of another type.
    """
    fields, layout, dtype = _layout(name)
    if values.keys() != fields.keys():
        raise TypeError(f"struct {name}: {', '.join(sorted(values.keys() ^ fields.keys()))} missing or unknown")
    packed = layout.pack(*(_value(f"{name}.{key}", field, values[key]) for key, field in fields.items()))
    return np.frombuffer(bytearray(packed), dtype)


def _value(where: str, field: Member, value: Any) -> Any:
    if not field.pointer:
        return value
    if value is None or isinstance(value, np.uint64):
        return value or 0
    allowed = ARRAYS.get(field.kind)
    if allowed is not None and value.dtype.name not in allowed:
        raise TypeError(f"struct {where}: expected an array of {' or '.join(allowed)}, found {value.dtype}")
    return value.data.ptr


def parameters(values: tuple[float, ...]) -> np.ndarray:
    """The struct Params that compile.py declares: the options' values, floats as double, others as i64."""
    codes = "".join("d" if isinstance(value, float) else "q" for value in values)
    layout = Struct(f"@{codes}0q" if codes else "@b")
    packed = layout.pack(*(values or (0,)))
    return np.frombuffer(bytearray(packed), np.dtype((np.void, layout.size)))
