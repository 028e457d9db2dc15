"""What kernels and the code that launches them share: C structs of the engine's .cu and .cuh files, filled by the names
of their members, and numbers, declared here once and defined in front of every kernel's text.

The CUDA text alone declares the order and types of members. Needs no GPU and no CuPy, so that tests can compare every
struct, and every place that fills one, with the text.
"""

import re
from functools import cache
from pathlib import Path
from struct import Struct
from typing import Any, NamedTuple

import numpy as np

from csaw.engine.plan.choices import DETECTOR_CODES, Collision, GraphLayout, Method

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
    if name not in _bodies():
        raise LookupError(f"no .cu or .cuh file declares struct {name}")
    return _parsed(_bodies()[name])


@cache
def _bodies() -> dict[str, str]:
    """The members of each struct, as its first declaration spells them, without comments."""
    found: dict[str, str] = {}
    for file in sorted(ENGINE.rglob("kernels/*.cu*")):
        text = re.sub(r"//[^\n]*", "", file.read_text())
        for begun in re.finditer(r"\bstruct (?:alignas\([^)]*\) )?(\w+) \{", text):
            found.setdefault(begun[1], text[begun.end() : text.find("};", begun.end())])
    return found


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


WARP = 32
BLOCK = 256  # threads of a block in most launches
HUB_BLOCK = 512  # threads that serve a long row
LONG_ROW = 1024  # neighbors from which a row is worth a group of HUB_BLOCK threads while a layout is built
WALK_BLOCK = BLOCK  # most walkers of a block
TREE_BLOCK = 128  # threads that draw an instance
TRIAL_BLOCK = 128  # threads, a warp an entry, that try edges: their picks are in shared memory
STAGED_PARENTS = 128  # most parents of a block of a hop
BLOCK_PICKS = 1280  # picks of a hop that keep a block busy
CHUNK_CELLS = 2048  # cells of a mini-batch's hop that a block numbers
MOST_PARTS = 1024  # of the items of a mini-batch,
PART_SLOTS = 2048  # places in the hash table of each for keys of four bytes,
PART_KEYS = 1536  # keys that it has at most on average,
PART_TILE = 4096  # and items that a block moves to their parts; half as many of each for keys of eight
PUSH_PIECE = 1024  # entries that a block pushes along at a time
SUM_PIECE = 512  # floats that are summed together: PIECE of engine/analytics/cpu/kernels/sums.py
MOST_PROCESSORS = 256  # numbers that multiprocessors have
ROW_LANES = 8  # threads that sum the row of a vertex at a level of betweenness
SETTLED = 4  # vertices of a thread that gives them new ranks
GROUP_BUCKETS = 1024  # ranges of edges that parents are grouped by
GROUP_BLOCK = 1024  # threads of a block that groups parents,
GROUP_TILE = 16  # and parents of each
NEAR_BITS = 8  # log2 of the vertices that share an entry of a table of ranges
OFFSET_BITS = 40  # bits of an edge's offset; the number of its piece is above them

SHARED = {
    "HUB_BLOCK": HUB_BLOCK,
    "ROW_LANES": ROW_LANES,
    "SETTLED": SETTLED,
    "LONG_ROW": LONG_ROW,
    "WALK_BLOCK": WALK_BLOCK,
    "TREE_BLOCK": TREE_BLOCK,
    "TRIAL_BLOCK": TRIAL_BLOCK,
    "STAGED_PARENTS": STAGED_PARENTS,
    "CHUNK_CELLS": CHUNK_CELLS,
    "SUM_PIECE": SUM_PIECE,
    "PUSH_PIECE": PUSH_PIECE,
    "MOST_PARTS": MOST_PARTS,
    "PART_SLOTS": PART_SLOTS,
    "PART_TILE": PART_TILE,
    "MOST_PROCESSORS": MOST_PROCESSORS,
    "GROUP_BUCKETS": GROUP_BUCKETS,
    "GROUP_BLOCK": GROUP_BLOCK,
    "GROUP_TILE": GROUP_TILE,
    "NEAR_BITS": NEAR_BITS,
    "OFFSET_BITS": OFFSET_BITS,
    "SELECT_UNIFORM": Method.UNIFORM.code,
    "SELECT_KEYS": Method.KEYS.code,
    "SELECT_REJECTION": Method.REJECTION.code,
    "BIPARTITE": Collision.BIPARTITE.code,
    "UPDATED": Collision.UPDATED.code,
    "CONTIGUOUS": DETECTOR_CODES["contiguous"],
    "LINEAR": DETECTOR_CODES["linear"],
} | {layout.name: layout.code for layout in GraphLayout}
