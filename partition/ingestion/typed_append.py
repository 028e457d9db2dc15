"""``csaw append`` to a graph of several types: the relations that new edges may have, how these are read, and which
vertices may be new.

A type is a range of dense ids, and vertices keep theirs. So only the last type, whose range ends at V, can grow.
"""

import os
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from csaw.partition.arrays.words import Words
from csaw.partition.base.plain_data import Record, Values
from csaw.partition.errors import FormatError, OptionError, StoreError
from csaw.partition.graph.edge_columns import WEIGHT
from csaw.partition.graph.grown_ids import GrownIds
from csaw.partition.graph.in_memory import InMemory, rows_of_edges
from csaw.partition.graph.merging import ERROR, REMOVE
from csaw.partition.graph.store import GraphStore
from csaw.partition.graph.types import RELATION, RELATIONS_READ, REVERSES, Relation, Types
from csaw.partition.ingestion.buckets import Rows, merged_by_relation
from csaw.partition.ingestion.hetero_data import NAME, WEIGHTS, edges_of, how_read, is_hetero, words_of
from csaw.partition.ingestion.ingest_options import POLICIES, IngestOptions
from csaw.partition.ingestion.job import budget_of, crew_of
from csaw.partition.ingestion.text.pieces import Ends
from csaw.partition.ingestion.text.word_cells import Cells
from csaw.partition.ingestion.typed_rows import RelationFiles, TypedRows

if TYPE_CHECKING:
    from torch_geometric.data import HeteroData

AGAIN = "make it again with csaw partition from all of its files"


def fitting(base: GraphStore, edges: object) -> object:
    """The new edges, if they have relations where the graph has some; files with how the graph read each relation.

    OptionError for a relation that the graph lacks, or edges without one; StoreError as of ``reverses_of``.
    """
    typed = isinstance(edges, RelationFiles) or is_hetero(edges)
    if base.types is None:
        if typed:
            raise OptionError(f"edges: {base.base} has one type of vertices; expected edges without relations")
        return edges
    if not typed:
        known = ", ".join(map(str, known_relations(base)))
        raise OptionError(
            f"edges: {base.base} has several types of vertices; expected the files of each relation, as "
            f"SOURCE-NAME-TARGET=FILE or in a dict, or a HeteroData; its relations are {known}"
        )
    if not isinstance(edges, RelationFiles):
        return edges
    require_known_relations(base, [one for one, _ in edges.files])
    said = {one: _read_before(base, one) for one, _ in edges.files}
    ways = {
        one: {"id_type": how["ids"]} | ({} if how["weights"] else {"weight_column": "none"})
        for one, how in said.items()
        if how
    }
    return replace(edges, reversed=reverses_of(base), ways=ways, weighted=base.weighted)


def _read_before(base: GraphStore, relation: Relation) -> Record:
    """How the ids and weights of a relation were read, as the report has it; nothing where it does not say."""
    said = base.report.get(RELATIONS_READ)
    found = said.get(str(relation)) if isinstance(said, dict) else None
    return found if isinstance(found, dict) and {"ids", "weights"} <= found.keys() else {}


def reverses_of(base: GraphStore) -> bool:
    """Whether the second half of a graph's relations are made of the edges of the first.

    StoreError where a report does not tell, as that of an early csaw.
    """
    assert base.types is not None
    said, relations = base.report.get(REVERSES), base.types.relations
    if said is True and base.types.are_reversed:
        return True
    both = [one for one in relations if one.reverse in relations]
    if both and said is not False:
        raise StoreError(
            f"the report of {base.base} does not say whether {both[0].reverse} always has the edges of {both[0]}, "
            f"because an earlier csaw or a program made it; {AGAIN}"
        )
    return False


def known_relations(base: GraphStore) -> tuple[Relation, ...]:
    """The relations that new edges can have: not those made of the edges of others."""
    assert base.types is not None
    relations = base.types.relations
    return relations[: len(relations) // 2] if reverses_of(base) else relations


def require_known_relations(base: GraphStore, given: list[Relation]) -> None:
    """OptionError for a relation that new edges cannot have."""
    assert base.types is not None
    known = known_relations(base)
    if not (others := [one for one in given if one not in known]):
        return
    listed = ", ".join(map(str, known))
    if others[0] in base.types.relations:
        raise OptionError(f"{others[0]}: {base.base} makes its edges of those of another relation; expected {listed}")
    raise OptionError(f"{others[0]}: {base.base} has no such relation; expected {listed}")


def numbers_of(base: GraphStore, new: GraphStore) -> np.ndarray | None:
    """The number in ``base`` of each relation of the new edges, uint8; None for a graph with one type."""
    if base.types is None:
        return None
    assert new.types is not None
    return np.array([base.types.relations.index(one) for one in new.types.relations], RELATION.dtype)


def grown_types(base: GraphStore, vertices: int, edges: np.ndarray) -> Types | None:
    """The types of ``base`` with more vertices of the last one; ``edges`` int64, by the number of their relation."""
    if base.types is None:
        return None
    counts = tuple(edges[: len(base.types.relations)].tolist())
    return replace(base.types, bounds=(*base.types.bounds[:-1], vertices), edges=counts)


def require_weights(base: GraphStore, new: GraphStore) -> None:
    """FormatError for a relation whose edges have weights in ``base``, but not in the files that were read."""
    assert new.types is not None
    for relation in new.types.relations:
        how = _read_before(new, relation)
        if base.weighted and how and not how["weights"] and _read_before(base, relation).get("weights", True):
            raise FormatError(
                f"{relation}: {base.base} has weights, but the new edges have none; name their column with "
                "--weight-column"
            )


def require_room(
    base: GraphStore, new: GraphStore, grown: GrownIds, given: object, options: IngestOptions | None
) -> None:
    """FormatError for a new vertex of another type than the last; ``given`` and ``options``: how files were read."""
    assert base.types is not None
    assert new.types is not None
    last = base.types.names[-1]
    added = np.flatnonzero(grown.dense >= base.vertices)
    kinds = new.types.of(added)
    wrong = added[np.array([name != last for name in new.types.names])[kinds]]
    if not wrong.size:
        return
    words, kind = new.stored_ids(), new.types.names[int(new.types.of(wrong[:1])[0])]
    assert isinstance(words, Words)
    word = bytes(next(iter(words.encoded(wrong[:1]))))
    place = NAME
    if isinstance(given, RelationFiles) and options is not None:
        place = _place(given, options, np.frombuffer(word, np.uint8), base.base.parent)
    raise FormatError(
        f"{place}: {word.decode(errors='backslashreplace')} is not in {base.base}, and the type {kind} cannot get new "
        f"vertices: the ids of a type are a range, and only that of the last type, {last}, can grow; {AGAIN}"
    )


def _place(given: RelationFiles, options: IngestOptions, word: np.ndarray, folder: Path) -> str:
    """The relation, the file and the row in which a vertex comes first. A pipe cannot be read again."""
    with crew_of(options) as crew:
        budget = budget_of(options, folder)
        for relation, path in [(one, path) for one, paths in given.files for path in paths if os.path.isfile(path)]:
            alone, before = replace(given, files=((relation, (path,)),), reversed=False), 0
            with suppress(FormatError, OptionError), closing(TypedRows(alone, options, crew, budget, None)) as rows:
                for piece in rows:
                    if found := [row for one in (piece.src, piece.dst) for row in _rows_with(one, word)[:1].tolist()]:
                        return f"{relation}: {path}: row {before + min(found) + 1}"
                    before += piece.columns[-1].size
    return ", ".join(map(str, (one for one, _ in given.files)))


def _rows_with(ends: Ends, word: np.ndarray) -> np.ndarray:
    """The rows whose end is this word."""
    assert isinstance(ends, Cells)
    found = np.flatnonzero(ends.sizes == word.size)
    for place, letter in enumerate(word):
        found = found[ends.text[ends.starts[found] + place] == letter]
    return found


def of_hetero(base: GraphStore, data: "HeteroData", policy: str, options: Values) -> InMemory:
    """The edges of a HeteroData as a graph by itself.

    ``options``: as of ``of_edges``. OptionError for an edge type that ``base`` lacks, FormatError for repeated edges
    where these must not be.
    """
    weighted, reverses = base.weighted and policy != REMOVE, reverses_of(base)
    types, source, target, relation, weights = edges_of(data, WEIGHTS if weighted else None)
    require_known_relations(base, list(types.relations))
    rows, loops = source.size, source == target
    kept = np.flatnonzero(~loops) if options["self_loops"] == "drop" else np.arange(rows)
    if reverses:
        many = len(types.relations)
        types = replace(types, relations=(*types.relations, *(one.reverse for one in types.relations)))
        source, target, relation = (
            np.append(source, target),
            np.append(target, source),
            np.append(relation, relation + many),
        )
        kept = np.append(kept, kept + rows)
    indptr, indices, order = rows_of_edges(source[kept], target[kept], types.bounds[-1])
    order = kept[order]
    columns = {RELATION: relation[order].astype(RELATION.dtype)}
    if weighted:
        columns[WEIGHT] = np.ones(order.size, WEIGHT.dtype) if weights is None else weights[order % rows]
    held = merged_by_relation(Rows(0, indptr, indices, columns), POLICIES[options["duplicates"]])
    fewer = (order.size - held.rows.indices.size) // (1 + reverses)
    if policy == ERROR and held.repeats:
        raise FormatError(f"{NAME}: some edges are repeated; pass --duplicates keep, first or sum to accept them")
    counts = np.bincount(held.rows.columns[RELATION], minlength=len(types.relations))
    made = InMemory(
        f"{NAME} in memory",
        held.rows.indptr,
        held.rows.indices,
        held.rows.columns.get(WEIGHT),
        directed=True,
        vertex_ids=words_of(types),
        edge_columns={RELATION.text: held.rows.columns[RELATION]},
        types=replace(types, edges=tuple(counts.tolist())),
        read_as=f"{NAME}, {len(types.names)} types and {len(types.relations)} relations",
    )
    made.report.update({"edges": rows, "duplicates": fewer, "self_loops": int(loops.sum())} | how_read(data, reverses))
    return made
