"""``csaw append``: edges added to a graph store, or removed from it, as a new version beside the old one.

The edges are read into a small store as ``csaw partition`` reads them, get the dense ids of the graph, and are dealt to
the partitions that they change. These are written anew; the files of all others are shared with the version before.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import closing, nullcontext
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import numpy as np

from csaw.partition.arrays.spool import Budget
from csaw.partition.base.parallel import heeding, ordered
from csaw.partition.base.plain_data import Record, Values
from csaw.partition.base.stages import EDGES, stage
from csaw.partition.errors import FormatError, NoEdgesError, StoreError
from csaw.partition.graph.attributes import EDGE_IDS, STRING
from csaw.partition.graph.clusters import Made, joined_clusters
from csaw.partition.graph.edge_columns import EDGE_ID, TIME, TIME_ORDER, WEIGHT
from csaw.partition.graph.grown_ids import GrownIds, grown_ids
from csaw.partition.graph.growth import STAYING
from csaw.partition.graph.merging import KEEP, LAST, REMOVE, SUM, Arrays, Counts, last_of_each
from csaw.partition.graph.regions import Region, regions_of
from csaw.partition.graph.store import INDICES, GraphStore, open_graph
from csaw.partition.graph.types import RELATION
from csaw.partition.graph.versions import APPENDED, GROWN, VersionDraft
from csaw.partition.graph.write import StoreWriter
from csaw.partition.ingestion.append_options import of_files, of_objects, policy_of, refuse_unfit
from csaw.partition.ingestion.arrow_streams import read_dates, stream_of
from csaw.partition.ingestion.dealt_edges import DealtEdges, Merged, Merging
from csaw.partition.ingestion.given_graph import graph_in_memory
from csaw.partition.ingestion.ingest_options import IngestOptions
from csaw.partition.ingestion.job import crew_of, memory_of
from csaw.partition.ingestion.pipeline import ingest
from csaw.partition.ingestion.text.readers import Progress
from csaw.partition.ingestion.typed_append import (
    fitting,
    numbers_of,
    of_hetero,
    policy_by_relation,
    require_fit,
)
from csaw.partition.ingestion.typed_rows import RelationFiles

NEW = "new.zarr"  # in the folder of the draft, until the edges are merged
KEPT_SHARE = 4  # times less than the memory: new edges that wait in it
SLACK = 1.25  # times the largest partition of a store: one that changes may grow so much without being cut
ROOM = 4  # times the bytes of a partition: what it was, what it becomes, and what is written
LAYOUT = ("memory", "threads", "partition_bytes")
OF_VERSION = ("edges", "duplicates", "self_loops")
"""Counts in the report of a store that grow with what is appended."""


class Appended(NamedTuple):
    """The newest version of a store after an append, what was appended, and whether that made this version: an append
    that changes nothing makes none.
    """

    store: GraphStore
    report: Record
    is_new: bool

    def as_dict(self) -> Record:
        """Plain data, which ``csaw append --json`` prints."""
        store, none = self.store, dict.fromkeys(("vertices_added", "partitions_written", "partitions_kept"), 0)
        return {
            "graph": str(store.base),
            "version": store.version,
            "new_version": self.is_new,
            "vertices": store.vertices,
            "stored_edges": store.edges,
            "partitions": len(store.partitions),
            "fingerprint": store.fingerprint,
            **none,
            **self.report,
            "read_as": self.report.get("read_as", []),
            "warnings": self.report.get("warnings", []),
        }


def append_edges(path: Path, edges: object, given: Values, update: Progress | None = None) -> Appended:
    """Add edges to the store at ``path``, or remove them.

    Args:
        path: of the store.
        edges: a list of files, the files of each relation, or a graph in memory, as ``csaw.graph`` takes it.
        given: options by the names of AppendOptions, but ``partition_bytes`` for the size of partitions.
        update: called with the number of bytes read and the total.

    Returns:
        The newest version, and what was appended.

    Raises:
        OptionError: an option is out of its range or contradicts the store.
        FormatError: a row is no edge, or one is there already and must not be.
        StoreError: there is no such store, it cannot grow, or it cannot be written.
        BudgetError: the memory is too little.
    """
    with VersionDraft(path) as draft:
        base = open_graph(path)
        refuse_unfit(base)
        edges = fitting(base, edges)
        policy = policy_of(base, given)
        layout = IngestOptions(**{name: given[name] for name in LAYOUT if given.get(name) is not None})
        try:
            new = _read(base, policy, edges, given, draft.folder / NEW, update)
        except NoEdgesError as error:
            left = {"left_out": error.left_out} if given.get("where") else {}
            return Appended(base, said(policy, Counts(), 0) | left, False)
        require_same_kind(base, new, policy)
        append = Append(base, new, policy, layout)
        if base.types is not None and policy != REMOVE:
            options = of_files(base, policy, given) if are_files(edges) else {}
            require_fit(base, new, append.grown.dense, edges, options)
        return append.into(draft, again=bool(given.get("again")))


def are_files(edges: object) -> bool:
    """Whether these are paths of files, and not a graph in memory."""
    if isinstance(edges, RelationFiles):
        return True
    return isinstance(edges, list) and bool(edges) and all(isinstance(one, str | os.PathLike) for one in edges)


def _read(
    base: GraphStore, policy: str, edges: object, given: Values, place: Path, update: Progress | None
) -> GraphStore:
    """The new edges as a graph by itself: a store at ``place``, or one in memory."""
    given = dict(given)
    times = None if base.time is None or policy == REMOVE else TIME.name
    if (stream := stream_of(edges, given)) is None and not are_files(edges):
        named = of_objects(base, policy, given)
        return graph_in_memory(edges, **named) if base.types is None else of_hetero(base, edges, policy, named)
    with nullcontext() if stream is None else closing(stream):
        if stream is not None:
            read_dates(stream, given, usual=times, counts_decimals=False)
        options = IngestOptions(**of_files(base, policy, given))
        try:
            return ingest(stream or edges, place, options, update)  # type: ignore[arg-type]
        except StoreError as error:  # a full disk, say: nobody knows the folder of the draft
            raise type(error)(str(error).replace(str(place), str(base.base))) from error


def require_same_kind(base: GraphStore, new: GraphStore, policy: str) -> None:
    """Raise FormatError where new edges lack what the edges of a store have, or are of another kind."""
    name, kinds, way = base.base, ("integers", "strings"), ("undirected", "directed")
    if (new.id_kind == STRING) != (base.id_kind == STRING):
        held, found = (kinds[store.id_kind == STRING] for store in (base, new))
        raise FormatError(f"expected vertex ids that are {held}, as {name} has them, found {found}")
    if new.directed != base.directed:
        raise FormatError(
            f"{name} is {way[base.directed]}, but the new edges are {way[new.directed]}; pass --{way[base.directed]} "
            "to read them so"
        )
    if policy == REMOVE:
        return
    if new.weighted != base.weighted:
        raise FormatError(f"{name} has weights, but the new edges have none; name their column with --weight-column")
    texts = [", ".join(sorted(one.text for one in store.further_columns)) or "none" for store in (base, new)]
    if texts[0] != texts[1]:
        raise FormatError(
            f"{name} has the edge columns {texts[0]}; expected the same of the new edges, found {texts[1]}"
        )
    if EDGE_IDS in base.attributes and EDGE_IDS not in new.attributes:
        raise FormatError(f"{name} stores which rows of its files its edges come from; append edges of a file")


class Append:
    """An append of the edges of ``new`` to the store ``base``."""

    def __init__(self, base: GraphStore, new: GraphStore, policy: str, layout: IngestOptions) -> None:
        self.base, self.new, self.word = base, new, policy
        self.policy, self.memory, self.crew = policy_by_relation(base, policy), memory_of(layout), crew_of(layout)
        self.most = layout.partition_bytes or self._most_bytes()
        self.names = [INDICES, *(one.array for one in base.edge_columns if one != TIME_ORDER)]
        self.numbers = EDGE_IDS in base.attributes and policy != REMOVE
        self.grown = grown_ids(base, new, policy != REMOVE)
        self.digest = sha256(f"{new.fingerprint} {policy}".encode()).hexdigest()[:32]

    def _most_bytes(self) -> int:
        """Most bytes of a partition that changes, where the options do not say: as before, and at least a little more
        than the largest partition has.
        """
        told = self.base.report.get(APPENDED, {}).get("partition_bytes", 0)
        largest = max((part.nbytes for part in self.base.partitions), default=0)
        return max(int(told) or int(SLACK * largest), min(256 << 20, max(self.memory // 8, 1 << 20)))

    def into(self, draft: VersionDraft, *, again: bool) -> Appended:
        """Write the next version, if it differs from the newest. ``again``: even if that was made of the same edges."""
        base, last = self.base, self.base.report.get(APPENDED, {})
        if self.word in (KEEP, SUM) and last.get("digest") == self.digest and not again:
            raise StoreError(
                f"{base.base}: its newest version, {base.version}, was made by appending the same edges; if this is "
                "the same append, nothing is left to do; to append the edges once more, pass --again"
            )
        grown = self.grown
        regions = regions_of(base, self._more(grown), self._edge_bytes(), self.most)
        budget = Budget(self.memory // KEPT_SHARE, base.base.parent)
        with self.crew, closing(DealtEdges(regions, self.names, budget, self.policy)) as dealt:
            dealt.deal(self.new, grown.dense, base.attributes.get(EDGE_IDS, 0), numbers_of(base, self.new))
            with self._writer(draft, grown) as writer:
                return self._written(draft, writer, grown, regions, dealt)

    def _more(self, grown: GrownIds) -> np.ndarray:
        """How many edges each vertex gets at most."""
        more = np.zeros(grown.vertices, np.int64)
        for part in self.new.partitions:
            at = grown.dense[part.first_vertex : part.last_vertex]
            more[at[at >= 0]] = np.diff(self.new.read_offsets(part.number))[at >= 0]
        return more

    def _edge_bytes(self) -> int:
        return self.base.id_dtype.itemsize + sum(one.dtype.itemsize for one in self.base.edge_columns if one != EDGE_ID)

    def _writer(self, draft: VersionDraft, grown: GrownIds) -> StoreWriter:
        base = self.base
        return StoreWriter(
            draft,
            vertices=grown.vertices,
            weighted=base.weighted,
            compression=None if base.is_plain else "lz4",
            crew=self.crew,
            input_rows=base.attributes[EDGE_IDS] + self._rows * self.numbers if EDGE_IDS in base.attributes else None,
            edge_columns=base.further_columns,
        )

    @property
    def _rows(self) -> int:
        """Rows of the input that are edges; 0 for a graph in memory, which has none."""
        return int(self.new.report.get("edges", 0))

    def _written(
        self, draft: VersionDraft, writer: StoreWriter, grown: GrownIds, regions: list[Region], dealt: DealtEdges
    ) -> Appended:
        base, counts, kept = self.base, dealt.counts, 0
        with stage("merging edges", base.edges, EDGES) as told:
            for one in self._merged(writer, regions, dealt):
                self._add(writer, one)
                counts, kept = counts.and_of(one.counts), kept + (one.linked is not None)
                told(min(writer.edges, base.edges))
        vertices = grown.vertices - base.vertices
        partitions = {"partitions_written": len(regions) - kept, "partitions_kept": kept}
        found = (
            said(self.word, counts, self._rows or dealt.edges)
            | {"vertices_added": vertices}
            | partitions
            | self._read_as()
        )
        if not (counts.changes or vertices or self.numbers):
            return Appended(base, found, False)
        clusters = self._clusters() if base.clusters else None  # from the new edges, which go next
        shutil.rmtree(draft.folder / NEW, ignore_errors=True)
        held = {"version": int(draft.path.name), "of": base.fingerprint, "digest": self.digest, **found}
        if grew := [*base.growth[: None if vertices else -1]]:
            held[GROWN] = grew
        report = self._report(counts, writer) | {APPENDED: held | {"partition_bytes": self.most}}
        store = writer.finish(
            directed=base.directed,
            vertex_ids=grown.ids,
            report=report,
            clusters=None if clusters is None else lambda _: clusters,
            partitioner=grown.partitioner,
            types=base.types and base.types.grown(grown.vertices, writer.edges_of_relations.tolist()),
        )
        return Appended(store, found, True)

    def _merged(self, writer: StoreWriter, regions: list[Region], dealt: DealtEdges) -> Iterator[Merged]:
        """All partitions in order; threads merge some of them at the same time, as many as the memory has room for."""
        merging = Merging(self.base, dealt, self.policy, writer)
        largest = max([self.base.largest_partition * self._edge_bytes(), self.most], default=1)
        ahead = max(0, min(self.crew.threads, self.memory // (ROOM * largest)) - 1)
        work = heeding(partial(merging.region))
        return ordered((self.crew.pool.submit(work, number, one) for number, one in enumerate(regions)), ahead)

    def _add(self, writer: StoreWriter, one: Merged) -> None:
        """Hand a partition to the writer."""
        indptr, arrays = one.rows
        if one.linked is not None:
            writer.keep(indptr, arrays, one.facts, one.linked)
            return
        further = {column.name: arrays[column.array] for column in self.base.further_columns}
        weights, numbers = arrays.get(WEIGHT.array), arrays.get(EDGE_ID.array)
        writer.extend(indptr, arrays[INDICES], weights, one.facts, numbers, further)
        writer.end_partition()

    def _clusters(self) -> tuple[np.ndarray, Made]:
        """The cluster of each vertex: new ones join those of their neighbors."""
        base, dense, ends = self.base, self.grown.dense, list[np.ndarray]()
        assert base.clusters is not None
        for part in self.new.partitions:
            kinds = {INDICES: self.new.id_dtype} | ({RELATION.array: RELATION.dtype} if self.policy.by_relation else {})
            held: Arrays = {name: np.empty(part.edges, kind) for name, kind in kinds.items()}
            self.new.read_edges(part.number, held)
            owners = np.repeat(
                np.arange(part.first_vertex, part.last_vertex), np.diff(self.new.read_offsets(part.number))
            )
            if self.word == LAST:  # repeated rows are one edge
                owners, held = last_of_each(owners, self.policy.keys(held), held)
            both = np.stack([dense[owners], dense[held[INDICES]]])
            once = base.directed | (both[0] <= both[1])  # an undirected edge is in both rows
            ends.append(both[:, once & (both.max(axis=0) >= base.vertices)])
        made = base.clusters
        found = joined_clusters(base.read_clusters(), made.count, np.concatenate(ends, axis=1), self.grown.vertices)
        return found, {"count": made.count, "method": made.method, "seed": made.seed}

    def _read_as(self) -> Record:
        """How the new edges were read, and what was found odd about them."""
        told = [one for one in self.new.report.get("warnings", ()) if "weights are " not in one]
        read_as = self.new.report.get("read_as")
        chosen = {name: self.new.report[name] for name in ("where", "left_out") if name in self.new.report}
        return chosen | ({"read_as": read_as} if read_as else {}) | ({"warnings": told} if told else {})

    def _report(self, counts: Counts, writer: StoreWriter) -> Record:
        """The report of the version: what is known of all edges without looking at them again."""
        before = self.base.report
        found = {name: before[name] for name in STAYING if name in before}
        added = {"edges": self._rows, "duplicates": counts.repeated, "self_loops": self.new.report.get("self_loops", 0)}
        added = dict.fromkeys(added, 0) if self.word == REMOVE else added
        found |= {name: before[name] + added[name] for name in OF_VERSION if type(before.get(name)) is int}
        return found | {"vertices": writer.vertices, "stored_edges": writer.edges}


def said(policy: str, counts: Counts, rows: int) -> Record:
    """Describe an append as plain data, for the report of a version and for the user."""
    found = {f"edges_{name}": count for name, count in counts._asdict().items()}
    return {"duplicates_policy": policy, "rows": rows, **found}
