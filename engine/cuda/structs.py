"""C structs of the engine's .cu and .cuh files, filled by the names of their members.

Only the CUDA text declares their order and types.

Needs no GPU and no CuPy, so that tests can compare every struct, and every place that fills one, with the text.
"""

import re
from functools import cache
from pathlib import Path
from struct import Struct
from typing import Any, NamedTuple

import numpy as np

ENGINE = Path(__file__).parents[1]
CODES = {"i64": "q", "u64": "Q", "double": "d", "int": "i", "u32": "I", "float": "f"}
# by the type that a pointer points to: the element types that an array may have (any, if kernels read bytes)
ARRAYS = {
    "i64": ("int64",),
    "u64": ("uint64",),
    "u32": ("uint32",),
    "int": ("int32",),
    "double": ("float64",),
    "float": ("float32",),
    "vertex_t": ("uint32", "uint64"),
    "unsigned short": ("uint16",),
    "unsigned char": ("uint8", "bool"),
    "uint2": ("uint32",),
}


class Member(NamedTuple):
    """One member: its C type without const, and whether it is a pointer."""

    kind: str
    pointer: bool

    @property
    def code(self) -> str:
        """The character that the module ``struct`` has for the type."""
        return "Q" if self.pointer else CODES[self.kind]


@cache
def members(name: str) -> dict[str, Member]:
    """The members of a struct, by name and in order. LookupError if no file declares it with members of plain types."""
    declaration = re.compile(rf"\bstruct (?:alignas\([^)]*\) )?{name} \{{(.*?)\}};", re.DOTALL)
    for file in sorted(ENGINE.rglob("kernels/*.cu*")):
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
def _layout(name: str) -> tuple[dict[str, str | None], Struct, np.dtype]:
    """For each member the element types that its array may have, as characters (None: no pointer; empty: any); and the
    struct's layout.
    """
    fields = members(name)
    kinds = {key: _characters(field) if field.pointer else None for key, field in fields.items()}
    layout = Struct(
        "@" + "".join(field.code for field in fields.values()) + "0q"
    )  # padded to the length of an element in an array
    return kinds, layout, np.dtype((np.void, layout.size))


def _characters(field: Member) -> str:
    allowed = {np.dtype(kind) for kind in ARRAYS.get(field.kind, ())}
    return "".join(char for char in np.typecodes["AllInteger"] + "?fd" if np.dtype(char) in allowed)


def record(name: str) -> np.dtype:
    """The NumPy dtype of a struct; a pointer is uint64."""
    return np.dtype([(key, np.dtype(field.code)) for key, field in members(name).items()])


def struct(name: str, **values: Any) -> np.ndarray:
    """Fill struct ``name``, to pass it by value to a launch.

    Takes some microseconds, because short runs launch every 50.

    Give a pointer as an array on the GPU, None, or an address (np.uint64). TypeError if a member is missing, unknown,
    or an array of another type.
    """
    kinds, layout, dtype = _layout(name)
    if values.keys() != kinds.keys():
        raise TypeError(f"struct {name}: {', '.join(sorted(values.keys() ^ kinds.keys()))} missing or unknown")
    packed = []
    for key, allowed in kinds.items():
        value = values[key]
        if allowed is None or isinstance(value, np.uint64):
            packed.append(value)
        elif value is None:
            packed.append(0)
        elif allowed and value.dtype.char not in allowed:
            expected = " or ".join(ARRAYS[members(name)[key].kind])
            raise TypeError(f"struct {name}.{key}: expected an array of {expected}, found {value.dtype}")
        else:
            packed.append(value.data.ptr)
    return np.frombuffer(bytearray(layout.pack(*packed)), dtype)


def parameters(values: tuple[float, ...]) -> np.ndarray:
    """Fill the struct Params that compile.py declares: the values of options, floats as double, others as i64."""
    codes = "".join("d" if isinstance(value, float) else "q" for value in values)
    layout = Struct(f"@{codes}0q" if codes else "@b")
    packed = layout.pack(*(values or (0,)))
    return np.frombuffer(bytearray(packed), np.dtype((np.void, layout.size)))
