"""``csaw append`` to a graph of several types: the relations that new edges may have, how these are read, and which
vertices may be new.

A type is a range of dense ids, and vertices keep theirs. So only the last type, whose range ends at V, can grow.
"""

import os
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from csaw.partition.arrays.words import Words
from csaw.partition.base.plain_data import Record, Values
from csaw.partition.errors import FormatError, OptionError, StoreError
from csaw.partition.graph.edge_columns import WEIGHT
from csaw.partition.graph.in_memory import InMemory, rows_of_edges
from csaw.partition.graph.merging import ERROR, REMOVE, Policy
from csaw.partition.graph.store import GraphStore
from csaw.partition.graph.types import MOST_RELATIONS, RELATION, RELATIONS_READ, REVERSES, Relation
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
    known_relations(base, edges.relations)
    ways = {
        one: {"id_type": how["ids"]} | ({} if how["weights"] else {"weight_column": "none"})
        for one, _ in edges.files
        if (how := _read_before(base, one))
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
    half = len(relations) // 2
    if said is True and relations[half:] == tuple(one.reverse for one in relations[:half]):
        return True
    both = [one for one in relations if one.reverse in relations]
    if both and said is not False:
        raise StoreError(
            f"the report of {base.base} does not say whether {both[0].reverse} always has the edges of {both[0]}, "
            f"because an earlier csaw or a program made it; {AGAIN}"
        )
    return False


def known_relations(base: GraphStore, given: Sequence[Relation] = ()) -> tuple[Relation, ...]:
    """The relations that new edges can have, not made of those of others. OptionError if others are ``given``."""
    assert base.types is not None
    relations = base.types.relations
    known = relations[: len(relations) // 2] if reverses_of(base) else relations
    if others := [one for one in given if one not in known]:
        why = "makes its edges from those of another relation" if others[0] in relations else "has no such relation"
        raise OptionError(f"{others[0]}: {base.base} {why}; expected {', '.join(map(str, known))}")
    return known


def policy_by_relation(base: GraphStore, word: str) -> Policy:
    """The policy for new edges that are there already, which relations tell apart if the graph has some."""
    if base.types is None:
        return Policy(word, base.directed, by_relation=RELATION in base.further_columns and word != REMOVE)
    return Policy(word, True, True, len(known_relations(base)) if reverses_of(base) else MOST_RELATIONS)


def numbers_of(base: GraphStore, new: GraphStore) -> np.ndarray | None:
    """The number in ``base`` of each relation of the new edges, uint8; None for a graph with one type."""
    if base.types is None:
        return None
    assert new.types is not None
    return np.array([base.types.relations.index(one) for one in new.types.relations], RELATION.dtype)


def require_fit(base: GraphStore, new: GraphStore, dense: np.ndarray, edges: object, options: Values) -> None:
    """FormatError for a new vertex of another type than the last, or a relation without weights that had some.

    ``dense``: of the vertices of ``new``, as GrownIds has them. ``options``: how files were read.
    """
    assert base.types is not None
    assert new.types is not None
    for relation in new.types.relations if base.weighted else ():
        if not _read_before(new, relation).get("weights", True) and _read_before(base, relation).get("weights", True):
            raise FormatError(
                f"{relation}: {base.base} has weights, but the new edges have none; name their column with "
                "--weight-column"
            )
    last, added = base.types.names[-1], np.flatnonzero(dense >= base.vertices)
    kinds = np.array(new.types.names)[new.types.of(added)]
    if not (wrong := added[kinds != last]).size:
        return
    words = new.stored_ids()
    assert isinstance(words, Words)
    word, place = bytes(next(iter(words.encoded(wrong[:1])))), NAME
    if isinstance(edges, RelationFiles):
        place = _place(edges, IngestOptions(**options), np.frombuffer(word, np.uint8), base.base.parent)
    raise FormatError(
        f"{place}: {word.decode(errors='backslashreplace')} is not in {base.base}, and the type "
        f"{kinds[kinds != last][0]} cannot get new vertices: the ids of a type are a range, and only that of the last "
        f"type, {last}, can grow; {AGAIN}"
    )


def _place(given: RelationFiles, options: IngestOptions, word: np.ndarray, folder: Path) -> str:
    """The relation, the file and the row in which a vertex comes first. A pipe cannot be read again."""
    budget = budget_of(options, folder)
    with crew_of(options) as crew:
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
    known_relations(base, types.relations)
    rows, loops = source.size, source == target
    kept = np.flatnonzero(~loops) if options["self_loops"] == "drop" else np.arange(rows)
    if reverses:
        forward = types.relations
        types = replace(types, relations=(*forward, *(one.reverse for one in forward)))
        source, target = np.append(source, target), np.append(target, source)
        relation, kept = np.append(relation, relation + len(forward)), np.append(kept, kept + rows)
    indptr, indices, order = rows_of_edges(source[kept], target[kept], types.bounds[-1])
    order = kept[order]
    many, columns = len(types.relations), {RELATION: relation[order].astype(RELATION.dtype)}
    if weighted:
        columns[WEIGHT] = np.ones(order.size, WEIGHT.dtype) if weights is None else weights[order % rows]
    held = merged_by_relation(Rows(0, indptr, indices, columns), POLICIES[options["duplicates"]])
    fewer = (order.size - held.rows.indices.size) // (1 + reverses)
    if policy == ERROR and held.repeats:
        raise FormatError(f"{NAME}: some edges are repeated; pass --duplicates keep, first or sum to accept them")
    made = InMemory(
        f"{NAME} in memory",
        held.rows.indptr,
        held.rows.indices,
        held.rows.columns.get(WEIGHT),
        directed=True,
        vertex_ids=words_of(types),
        edge_columns={RELATION.text: held.rows.columns[RELATION]},
        types=replace(types, edges=tuple(np.bincount(held.rows.columns[RELATION], minlength=many).tolist())),
        read_as=f"{NAME}, {len(types.names)} types and {len(types.relations)} relations",
    )
    made.report.update({"edges": rows, "duplicates": fewer, "self_loops": int(loops.sum())} | how_read(data, reverses))
    return made
