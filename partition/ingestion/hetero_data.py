"""Graphs of several types in memory: HeteroData of PyTorch Geometric."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from csaw.partition.arrays.words import Words
from csaw.partition.base.plain_data import Record
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError
from csaw.partition.graph.given_arrays import weights_of
from csaw.partition.graph.in_memory import MOST_VERTICES, InMemory, rows_of_edges, too_many
from csaw.partition.graph.types import RELATION, RELATIONS_READ, REVERSES, Relation, Types, distinct, prefix_of
from csaw.partition.ingestion.objects import Foreign, numpy_of, rows_of
from csaw.partition.ingestion.typed_rows import typed

if TYPE_CHECKING:
    from torch_geometric.data import HeteroData

NAME, WEIGHTS = "HeteroData", "edge_weight"


def is_hetero(data: Foreign) -> bool:
    """Whether an object is a HeteroData, whose library is not imported here."""
    return type(data).__name__ == NAME and type(data).__module__.startswith("torch_geometric.")


class Edges(NamedTuple):
    """The edges of a HeteroData, one edge type after the other.

    Attributes:
        types: their types and relations.
        source: the dense id of the source of each.
        target: that of the target.
        relation: the number of the relation of each.
        weights: float32, 1 for those of an edge type without weights; None if none has any.
    """

    types: Types
    source: np.ndarray
    target: np.ndarray
    relation: np.ndarray
    weights: np.ndarray | None


def edges_of(data: "HeteroData", weight: str | None, *, turned: bool = False) -> Edges:
    """The edges of a HeteroData, whose edge types are the relations, in their order.

    ``weight``: the attribute of an edge type that has its weights; None: none. ``turned``: each edge leads from its
    target to its source, and so does its relation.

    OptionError for nodes or edges that are none.
    """
    try:
        kinds = distinct(Relation.of(*one) for one in getattr(data, "edge_types", ()))
    except OptionError as error:
        raise OptionError(f"{NAME}: edge types become relations of csaw: {error}") from error
    if not kinds:
        raise OptionError(f"{NAME}: expected at least one edge type, found none")
    names = {*data.node_types, *(end for one in kinds for end in (one.source, one.target))}
    sizes = {name: _size(data, name) for name in sorted(names, key=prefix_of)}
    if (vertices := sum(sizes.values())) > MOST_VERTICES:
        raise too_many(NAME, vertices)
    bounds = np.cumsum([0, *sizes.values()]).tolist()
    first = dict(zip(sizes, bounds, strict=False))
    ends, weights = list[tuple[np.ndarray, np.ndarray]](), list[np.ndarray | None]()
    for one in kinds:
        held = data[one.source, one.name, one.target]
        if getattr(held, "edge_index", None) is None:
            raise OptionError(f"{NAME}: {one}: expected an edge_index, found none")
        source, target = rows_of(held.edge_index).astype(np.int64)
        _require(source, sizes[one.source], f"{one}: sources")
        _require(target, sizes[one.target], f"{one}: targets")
        ends.append((source + first[one.source], target + first[one.target]))
        given = None if weight is None else getattr(held, weight, None)
        weights.append(None if given is None else weights_of(f"{one}: {weight}", numpy_of(given).ravel(), source.size))
    counts = tuple(source.size for source, _ in ends)
    source, target = (np.concatenate([each[k] for each in ends]) for k in (0, 1))
    heavy = None
    if any(one is not None for one in weights):
        ones = (np.ones(count, np.float32) if one is None else one for one, count in zip(weights, counts, strict=True))
        heavy = np.concatenate(list(ones))
    relations = tuple(Relation(one.target, one.name, one.source) if turned else one for one in kinds)
    types = Types(tuple(sizes), tuple(bounds), relations, counts)
    number = np.repeat(np.arange(len(relations), dtype=RELATION.dtype), counts)
    return Edges(types, *((target, source) if turned else (source, target)), number, heavy)


def hetero_in_memory(data: "HeteroData") -> InMemory:
    """The graph of a HeteroData: node 5 of the type ``paper`` is the vertex ``paper:5``, with edges or without.

    Edges that repeat are kept; ``edge_weight`` becomes the weights, and edges of a type without it have the weight 1 if
    another type has some. OptionError as for :func:`edges_of`.
    """
    edges = edges_of(data, WEIGHTS)
    try:
        held, _ = in_memory(edges, f"{NAME} in memory", words_of(edges.types))
    except MemoryError as error:
        raise too_many(NAME, edges.types.bounds[-1]) from error
    held.report.update({"duplicates_policy": "keep"} | how_read(data, reverses=False))
    return held


def how_read(data: "HeteroData", reverses: bool) -> Record:
    """How a HeteroData is read, for the report of a store. ``reverses``: whether each edge gets another one."""
    read = {
        str(Relation.of(*one)): {"ids": "int", "weights": getattr(data[one], WEIGHTS, None) is not None}
        for one in data.edge_types
    }
    return {REVERSES: reverses, RELATIONS_READ: read}


def in_memory(
    edges: Edges, name: str, vertex_ids: Words | None = None, columns: Mapping[str, np.ndarray] | None = None
) -> tuple[InMemory, np.ndarray]:
    """A graph of these edges, with further edge columns, and the number among them of each stored edge."""
    types = edges.types
    indptr, indices, order = rows_of_edges(edges.source, edges.target, types.bounds[-1])
    held = InMemory(
        name,
        indptr,
        indices,
        None if edges.weights is None else edges.weights[order],
        directed=True,
        vertex_ids=vertex_ids,
        edge_columns={RELATION.text: edges.relation[order]}
        | {column: values[order] for column, values in (columns or {}).items()},
        types=types,
        read_as=f"{name.removesuffix(' in memory')}, {len(types.names)} types and {len(types.relations)} relations",
    )
    return held, order


def _size(data: "HeteroData", name: str) -> int:
    found = data[name].num_nodes if name in data.node_types else None
    if isinstance(found, bool) or not isinstance(found, int | np.integer) or found < 0:
        raise OptionError(f"{NAME}: {name}: expected num_nodes or features, found {quoted(found)}")
    return int(found)


def _require(vertices: np.ndarray, below: int, said: str) -> None:
    """OptionError for a node that its type does not have."""
    wrong = vertices[(vertices < 0) | (vertices >= below)]
    if wrong.size:
        raise OptionError(f"{NAME}: {said}: expected nodes from 0 to {below - 1}, found {wrong[0]}")


def words_of(types: Types) -> Words:
    """The ids of all vertices: the name of a type and a number."""
    sizes = np.diff(types.bounds)
    cells = [typed(np.arange(size), prefix_of(name)) for name, size in zip(types.names, sizes, strict=True)]
    lengths = np.concatenate([one.sizes for one in cells])
    return Words(np.append(0, np.cumsum(lengths)), np.concatenate([one.text for one in cells]))
