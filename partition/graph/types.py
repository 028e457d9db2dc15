"""Types of vertices and relations between them: what a graph of several kinds of things says of its vertices and edges.

The vertices of a type are a range of dense ids, and its ids begin with its name: ``author:17``. An edge has the number
of its relation in the edge column ``relation``, which hooks read as ``e.relation``.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Self, TypedDict, TypeGuard

import numpy as np

from csaw.partition.arrays.words import Words
from csaw.partition.base.quoting import meant, quoted
from csaw.partition.errors import OptionError
from csaw.partition.graph.edge_columns import EdgeColumn

RELATION = EdgeColumn("relation", np.dtype(np.uint8), "number of the relation")
MOST_RELATIONS = 256
SEPARATOR = ":"  # between the name of a type and an id
REVERSED = "rev_"  # before the name of a relation: the one with the same edges, each from its target to its source
REVERSES, RELATIONS_READ = "reverse_relations", "relations_read"
"""Entries of the report of a store: whether it was made with a reverse of each relation; and of each relation whether
its ids were read as integers or as strings, and its edges with weights.
"""
TYPE = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,67}")  # with the REVERSED of a name of 64


class DescribedRelation(TypedDict):
    """A relation as the attributes of a store describe it."""

    source: str
    name: str
    target: str
    edges: int


class DescribedTypes(TypedDict):
    """The types of a graph as its attributes describe them: names, in the order of dense ids, with their numbers of
    vertices; and relations, in the order of their numbers.
    """

    vertices: dict[str, int]
    relations: list[DescribedRelation]


@dataclass(frozen=True)
class Relation:
    """Edges of one kind, from vertices of the type ``source`` to those of the type ``target``."""

    source: str
    name: str
    target: str

    @classmethod
    def parsed(cls, text: str) -> Self:
        """Read ``SOURCE-NAME-TARGET``, of which only NAME may have hyphens. OptionError for anything else."""
        if text.count("-") <= 1:
            raise OptionError(f"{quoted(text)}: expected SOURCE-NAME-TARGET, such as author-writes-paper")
        source, _, rest = text.partition("-")
        name, _, target = rest.rpartition("-")
        return cls.of(source, name, target)

    @classmethod
    def of(cls, source: str, name: str, target: str) -> Self:
        """The relation of these names. OptionError for a name that is none."""
        for kind, one, pattern in (("type", source, TYPE), ("relation", name, NAME), ("type", target, TYPE)):
            if not isinstance(one, str) or not pattern.fullmatch(one):
                most, hyphens = (67, " and hyphens") if pattern is NAME else (63, "")
                raise OptionError(
                    f"{quoted('-'.join(map(str, (source, name, target))))}: expected SOURCE-NAME-TARGET, such as "
                    f"author-writes-paper; the name of a {kind} is a letter and up to {most} letters, digits, "
                    f"underscores{hyphens}, found {quoted(one)}"
                )
        return cls(source, name, target)

    @property
    def reverse(self) -> Self:
        """The relation of the same edges in the other direction."""
        return type(self)(self.target, REVERSED + self.name, self.source)

    def __str__(self) -> str:
        return f"{self.source}-{self.name}-{self.target}"


def distinct(relations: Iterable[Relation]) -> tuple[Relation, ...]:
    """The relations. OptionError if they are too many, or one is there twice."""
    found = tuple(relations)
    if len(found) > MOST_RELATIONS:
        raise OptionError(f"expected at most {MOST_RELATIONS} relations, found {len(found)}")
    types = {end for one in found for end in (one.source, one.target)}
    if both := sorted(types & {one.name for one in found}):
        raise OptionError(f"{both[0]} is the name of a type and of a relation; rename one of them")
    for number, one in enumerate(found):
        if one in found[:number]:
            raise OptionError(
                f"{one} is there twice; give the files of a relation as one folder, and no relation {REVERSED}NAME "
                "beside --reverse-relations"
            )
    return found


@dataclass(frozen=True)
class Types:
    """The types of the vertices of a graph, and the relations of its edges.

    Attributes:
        names: of the types, in the order of dense ids.
        bounds: the first dense id of each type, and V at the end.
        relations: by the numbers that edges have in the column ``relation``.
        edges: the number of edges of each relation.
    """

    names: tuple[str, ...]
    bounds: tuple[int, ...]
    relations: tuple[Relation, ...]
    edges: tuple[int, ...]

    @classmethod
    def described(cls, said: object) -> Self:
        """The types that the attributes of a store describe. OptionError where they cannot be any."""
        if not _is_described(said):
            parts = "vertices of each type, and relations with source, name, target and edges"
            raise OptionError(f"expected {parts}, found {quoted(said)}")
        relations = distinct(Relation.of(one["source"], one["name"], one["target"]) for one in said["relations"])
        if missing := sorted({one for r in relations for one in (r.source, r.target)} - said["vertices"].keys()):
            raise OptionError(f"{missing[0]} is the type of an end of a relation, but not in the list of types")
        bounds = np.cumsum([0, *said["vertices"].values()]).tolist()
        return cls(tuple(said["vertices"]), tuple(bounds), relations, tuple(one["edges"] for one in said["relations"]))

    @property
    def attributes(self) -> DescribedTypes:
        """Their description in the attributes of a store."""
        sizes = (last - first for first, last in pairwise(self.bounds))
        return {
            "vertices": dict(zip(self.names, sizes, strict=True)),
            "relations": [
                {"source": one.source, "name": one.name, "target": one.target, "edges": edges}
                for one, edges in zip(self.relations, self.edges, strict=True)
            ],
        }

    @property
    def text(self) -> str:
        """The names and relations, in their order, as the fingerprint of a graph has them."""
        return " ".join(["types", *self.names, "relations", *map(str, self.relations)])

    def span(self, name: str) -> tuple[int, int]:
        """The first dense id of a type, and the one after its last. OptionError where there is no such type."""
        if name not in self.names:
            raise OptionError(
                f"there is no type {quoted(name)}{meant(name, self.names) or '.'} There are {', '.join(self.names)}"
            )
        number = self.names.index(name)
        return self.bounds[number], self.bounds[number + 1]

    @property
    def edge_types(self) -> tuple[tuple[str, str, str], ...]:
        """The relations turned round, by their numbers: messages go from the neighbor that was drawn to the vertex that
        it was drawn for. The reverse of ``rev_writes`` is ``writes``.
        """
        turned = (one.reverse for one in self.relations)
        return tuple((one.source, one.name.removeprefix(REVERSED * 2), one.target) for one in turned)

    def of(self, vertices: np.ndarray) -> np.ndarray:
        """The number of the type of each dense id, in an array of the same shape."""
        return np.searchsorted(self.bounds, vertices, side="right") - 1

    def grown(self, vertices: int, edges: list[int]) -> "Types":
        """The types with more vertices of the last one, and these numbers of edges by relation."""
        counts = tuple(edges[: len(self.relations)])
        return replace(self, bounds=(*self.bounds[:-1], vertices), edges=counts)

    def ends(self) -> np.ndarray:
        """The numbers of the types of source and target by relation, int64 [relations, 2]."""
        place = {name: number for number, name in enumerate(self.names)}
        return np.array([(place[one.source], place[one.target]) for one in self.relations], np.int64).reshape(-1, 2)


def _is_described(said: object) -> TypeGuard[DescribedTypes]:
    """Whether attributes have the parts of types, with values of their types; integers are from 0."""
    if not (
        isinstance(said, dict) and isinstance(said.get("vertices"), dict) and isinstance(said.get("relations"), list)
    ):
        return False
    relations = [one if isinstance(one, dict) else {} for one in said["relations"]]
    texts = [one.get(name) for one in relations for name in ("source", "name", "target")]
    counts = [*said["vertices"].values(), *(one.get("edges") for one in relations)]
    return all(type(one) is str for one in texts) and all(type(one) is int and one >= 0 for one in counts)


def bounds_of(words: Words, relations: Sequence[Relation]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The types that these relations join, and the bounds of their vertices among all ``words``, ascending.

    Words of one type stand together, as they begin with its name.
    """
    sorted_names = sorted({one for r in relations for one in (r.source, r.target)}, key=prefix_of)
    bounds = [_first_from(words, prefix_of(name)) for name in sorted_names]
    return tuple(sorted_names), (*bounds, len(words))


def prefix_of(name: str) -> bytes:
    """The beginning of the ids of a type."""
    return f"{name}{SEPARATOR}".encode()


def _first_from(words: Words, wanted: bytes) -> int:
    """The place of the first word that does not come before ``wanted``."""
    low, high = 0, len(words)
    while low < high:
        middle = (low + high) >> 1
        begin, end = words.offsets[middle], words.offsets[middle + 1]
        if words.text[begin:end].tobytes() < wanted:
            low = middle + 1
        else:
            high = middle
    return low


def text_of(types: Types | None) -> str:
    """The text of the types of a graph; empty where it has only one."""
    return "" if types is None else types.text
