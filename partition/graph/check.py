"""Whether a graph store is as it was written: every file, every number, and the attributes that describe them.

Each edge of an undirected graph is in the rows of both of its ends, as often in one as in the other, and with the same
numbers: sums of hashes over all entries, so that one pass over them in any order, and no memory, tells.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import inf

import numpy as np

from csaw.partition.arrays.nodes import read_group
from csaw.partition.arrays.words import Words
from csaw.partition.base.compile import inner, njit
from csaw.partition.base.kernel_tools import GAMMA, mixed
from csaw.partition.base.parallel import go_on
from csaw.partition.base.quoting import format_size
from csaw.partition.base.stages import EDGES, stage, tell
from csaw.partition.errors import OptionError, StoreError
from csaw.partition.graph.attributes import EDGE_IDS
from csaw.partition.graph.clusters import make_clusters
from csaw.partition.graph.edge_columns import EDGE_ID, TIME, TIME_ORDER, WEIGHT
from csaw.partition.graph.fingerprint import Fingerprint, fingerprint_of_arrays
from csaw.partition.graph.growth import wrong_facts
from csaw.partition.graph.partition_writer import weights_between
from csaw.partition.graph.parts import Graph, Partition
from csaw.partition.graph.store import INDICES, GraphStore
from csaw.partition.graph.time_order import time_order
from csaw.partition.graph.types import MOST_RELATIONS, RELATION, Types, prefix_of, text_of

# Whether each number that edges have in the input belongs to one edge: both rows of an undirected edge have the same
# one, and no other edge has it.
#
# Sums of hashes tell the first, as in ``Symmetry``. For the second, a bit for each number of a window says that it was
# met; numbers beyond the first window are looked at in further passes over the store, so that memory is bounded.

WINDOW = 2**30  # numbers, an eighth of it in bytes
NO_NUMBER = 2**63 - 1


class Numbering:
    """Looks at the numbers of edges, each ``below`` the number of rows of the input."""

    def __init__(self, below: int, directed: bool) -> None:
        self.below, self.directed, self.low, self.twice = below, directed, 0, 0
        self.symmetry = Symmetry()
        self.met = np.zeros(max(1, -(-min(below, WINDOW) // 8)), np.uint8)
        self.next = NO_NUMBER  # the least number beyond the window

    def add(self, first: int, indptr: np.ndarray, indices: np.ndarray, numbers: np.ndarray) -> None:
        """Add the rows of the vertices from ``first`` on, ``indptr`` from 0, to what was added in this pass."""
        if not self.directed and self.low == 0:
            self.symmetry.add(first, indptr, indices, numbers)
        twice, beyond = meet(first, indptr, indices, numbers, self.directed, self.low, self.met)
        self.twice, self.next = self.twice + twice, min(self.next, beyond)

    def passes(self) -> Iterator[None]:
        """Begin each further pass, for which all rows are added again."""
        while self.next < NO_NUMBER:
            self.low, self.next = self.next, NO_NUMBER
            self.met[:] = 0
            yield

    @property
    def both_same(self) -> bool:
        """Whether both rows of each edge have the same numbers; others pass once in 2^128."""
        return self.symmetry.holds


@njit(nogil=True)
def meet(
    first: int,
    indptr: np.ndarray,
    indices: np.ndarray,
    numbers: np.ndarray,
    directed: bool,
    low: int,
    met: np.ndarray,
) -> tuple[int, int]:
    """Mark the numbers from ``low`` on in the bits ``met``, of the first row of each undirected edge.

    Returns how many were marked before, and the least number beyond the bits.
    """
    twice, beyond = 0, NO_NUMBER
    high = low + 8 * met.size
    for v in range(indptr.size - 1):
        for k in range(indptr[v], indptr[v + 1]):
            number = numbers[k]
            if number < low or not (directed or first + v <= np.int64(indices[k])):
                continue
            if number >= high:
                beyond = min(beyond, number)
                continue
            place, bit = (number - low) >> 3, np.uint8(1 << ((number - low) & 7))
            twice += (met[place] & bit) != 0
            met[place] |= bit
    return twice, beyond


@dataclass(frozen=True)
class Finding:
    """One property of a store: its name, whether it holds, and what was checked or what is wrong."""

    name: str
    ok: bool
    details: str


class StoreCheck:
    """Reads a whole store, a partition at a time, and collects the values with which its attributes must agree."""

    def __init__(self, store: GraphStore) -> None:
        self.store = store
        self.fingerprint = Fingerprint(1, store.further_columns)  # of a partition while its rows are looked at
        self.max_degree, self.unsorted, self.repeats = 0, 0, 0
        self.above_0, self.heaviest = inf, -inf
        self.bytes = 0
        self.symmetry, self.wrong_times, self.wrong_bytes = Symmetry(), 0, 0
        others = [EDGE_ID.array, TIME_ORDER.array]  # which are checked by themselves
        self.two_sided = [one.array for one in store.edge_columns if one.array not in others]
        self.same_numbers = Symmetry() if self.two_sided and not store.directed else None
        rows = store.attributes.get(EDGE_IDS)
        self.numbering = None if rows is None else Numbering(rows, store.directed)
        self.strangers = 0  # edges between other types than those of their relation
        self.edges_of_relations = np.zeros(MOST_RELATIONS, np.int64)

    def findings(self) -> Iterator[Finding]:
        """Yield all findings. After a property that does not hold, those that depend on it are left out."""
        found = "checksums" if self.store.checksums else "files (a store of format version 1 has no checksums)"
        wrong = _error(self._read)
        yield Finding(
            found, not wrong, wrong or f"{len(self.store.partitions):,} partition(s), {format_size(self.bytes)}"
        )
        if wrong:
            return
        yield Finding("rows", self.unsorted == 0, f"{self.unsorted:,} of {self.store.vertices:,} rows are not sorted")
        yield self._agrees("fingerprint", self.store.fingerprint, self.fingerprint.hexdigest(text_of(self.store.types)))
        yield self._agrees("largest degree", self.store.max_degree, self.max_degree)
        yield from self._range_of_weights()
        yield self._agrees("repeated edges", self.store.multigraph, self.repeats > 0)
        wrong_ones = ", ".join(wrong_facts(self.store))
        yield Finding("report", not wrong_ones, f"wrong: {wrong_ones}" if wrong_ones else "agrees with the graph")
        yield from self._derived()

    def _range_of_weights(self) -> Iterator[Finding]:
        """Yield the finding on the least weight above 0 and the largest, which the choice of a selection method trusts.

        A store says none where no weight is above 0; one of format version 1 never says any.
        """
        said = self.store.weight_range
        found = (self.above_0, self.heaviest) if self.heaviest > 0 else None
        if said is not None or (found is not None and self.store.attributes["format_version"] > 1):
            yield self._agrees("weights above 0", said or "none", found or "none")

    def _derived(self) -> Iterator[Finding]:
        """Yield the findings on arrays that follow from others, of which the fingerprint has none."""
        store = self.store
        if not store.directed:
            both = "each edge is in both rows" if self.symmetry.holds else "edges are in the row of one end only"
            yield Finding("symmetry", self.symmetry.holds, both)
            if self.same_numbers is not None and self.symmetry.holds:
                held = "each edge has the same numbers in both rows"
                wrong = "edges have other weights or columns in the row of one end than in that of the other"
                yield Finding("numbers", self.same_numbers.holds, held if self.same_numbers.holds else wrong)
        if self.numbering is not None:
            yield self._numbered(self.numbering)
        if store.time is not None:
            edges = f"{self.wrong_times:,} of {store.edges:,} places by time are not those of the times"
            yield Finding("time order", self.wrong_times == 0, edges)
        if store.types is not None:
            yield from self._typed(store.types)
        yield Finding(
            "bytes", self.wrong_bytes == 0, f"{self.wrong_bytes:,} partitions whose size differs from the stated one"
        )
        if store.clusters is not None:
            yield Finding("clusters", self._are_clusters(), f"{store.clusters.count:,} by {store.clusters.method}")

    def _typed(self, types: Types) -> Iterator[Finding]:
        """Yield the findings on the types of vertices and on the relations of edges."""
        words = self.store.stored_ids()
        named = isinstance(words, Words)
        wrong = misnamed(words.offsets, words.text, types) if isinstance(words, Words) else self.store.vertices
        yield Finding("types", named and not wrong, f"{wrong:,} vertices whose ids do not begin with their type")
        counted = tuple(self.edges_of_relations[: len(types.relations)].tolist())
        if self.strangers or counted == types.edges:
            said = f"{self.strangers:,} edges whose ends are not of the types of their relation"
            yield Finding("relations", self.strangers == 0, said)
        else:
            yield self._agrees("relations", list(types.edges), list(counted))

    def _numbered(self, numbering: Numbering) -> Finding:
        """The finding on the numbers that edges have in the input, for which the store may be read again."""
        store, name = self.store, EDGE_ID.name.replace("_", " ") + "s"
        for _ in numbering.passes():
            for part in store.partitions:
                go_on()
                arrays = {INDICES: np.empty(part.edges, store.id_dtype), EDGE_IDS: np.empty(part.edges, np.int64)}
                store.read_edges(part.number, arrays)
                numbering.add(part.first_vertex, store.read_offsets(part.number), arrays[INDICES], arrays[EDGE_IDS])
        read = store.attributes["report"].get("edges", numbering.below)
        if read != numbering.below:
            return Finding(name, False, f"expected {read} edges of the input, found {numbering.below}")
        if not (store.directed or numbering.both_same):
            return Finding(name, False, "edges have other numbers in one of their rows than in the other")
        return Finding(name, numbering.twice == 0, f"{numbering.twice:,} edges have the number of another one")

    def _are_clusters(self) -> bool:
        """Whether clusters are as many as is said, and those of their method, where that takes no more memory than they
        do.
        """
        clusters = self.store.clusters
        assert clusters is not None
        found = self.store.read_clusters()
        if clusters.method != "metis" and int(found.max(initial=-1)) + 1 != clusters.count:
            return False
        if clusters.method != "random" or self.store.version:  # new vertices have joined those of their neighbors
            return True
        try:
            return bool(
                np.array_equal(found, make_clusters(self.store, clusters.count, clusters.method, clusters.seed))
            )
        except OptionError:  # more of them than vertices
            return False

    def _agrees(self, name: str, said: object, found: object) -> Finding:
        said, found = (("no", "yes")[one] if isinstance(one, bool) else one for one in (said, found))
        return Finding(name, said == found, str(found) if said == found else f"expected {said}, found {found}")

    def _read(self) -> None:
        store = self.store
        read_group(store.path / "partitions")
        for part in store.partitions:
            go_on()
            tell(part.first_edge, store.edges, EDGES)
            read_group(store.path / "partitions" / f"{part.number:05d}")
            offsets = store.read_offsets(part.number)
            arrays = {column.array: np.empty(part.edges, column.dtype) for column in store.edge_columns}
            arrays[INDICES] = np.empty(part.edges, store.id_dtype)
            store.read_edges(part.number, arrays)
            self.fingerprint.add(offsets, arrays)
            self.max_degree = max(self.max_degree, int(np.diff(offsets).max(initial=0)))
            _, above_0, heaviest = weights_between(arrays.get(WEIGHT.array))
            self.above_0, self.heaviest = min(self.above_0, above_0), max(self.heaviest, heaviest)
            unsorted, repeats = _order_of_rows(offsets, arrays[INDICES])
            self.unsorted, self.repeats = self.unsorted + unsorted, self.repeats + repeats
            self._follow(part, offsets, arrays)
            self.bytes += offsets.nbytes + sum(array.nbytes for array in arrays.values())
        store.stored_ids()  # raises StoreError for words that do not fit their text
        if store.clusters is not None:
            self.bytes += store.read_clusters().nbytes
        ids = store.id_arrays
        self.fingerprint.add_ids(*ids)
        self.bytes += sum(array.nbytes for array in ids)

    def _follow(self, part: Partition, offsets: np.ndarray, arrays: dict[str, np.ndarray]) -> None:
        """Compare what follows from other arrays of a partition."""
        if not self.store.directed:
            self.symmetry.add(part.first_vertex, offsets, arrays[INDICES])
        if self.same_numbers is not None:
            numbers = numbers_of((arrays[name] for name in self.two_sided), part.edges)
            self.same_numbers.add(part.first_vertex, offsets, arrays[INDICES], numbers)
        if self.numbering is not None:
            self.numbering.add(part.first_vertex, offsets, arrays[INDICES], arrays[EDGE_ID.array])
        if self.store.time is not None:
            order = time_order(offsets, arrays[TIME.array])
            self.wrong_times += int((order != arrays[TIME_ORDER.array]).sum())
        if self.store.types is not None:
            types, relation = self.store.types, arrays[RELATION.array]
            of_type = np.array(types.bounds), types.ends()
            self.strangers += strangers(part.first_vertex, offsets, arrays[INDICES], relation, *of_type)
            self.edges_of_relations += np.bincount(relation, minlength=MOST_RELATIONS)
        held = sum(array.nbytes for name, array in arrays.items() if name != EDGE_ID.array)
        self.wrong_bytes += part.nbytes != held + offsets.nbytes


def check_store(store: GraphStore) -> list[Finding]:
    """Check all properties of a store on disk; see StoreCheck.findings."""
    check = StoreCheck(store)
    try:
        with stage("checking files", store.edges, EDGES):
            return list(check.findings())
    finally:
        check.fingerprint.close()


def fingerprint_of(store: GraphStore, graph: Graph) -> str:
    """Compute the fingerprint of ``graph``, all of ``store`` in memory, with the columns that hooks can read."""
    weights = {} if graph.weights is None else {"weights": graph.weights}
    further = {column.array: graph.columns[column.name] for column in store.further_columns}
    arrays = {INDICES: graph.indices, **weights, **further}
    return fingerprint_of_arrays(graph.indptr, arrays, store.id_arrays, store.further_columns, text_of(store.types))


def _error(work: Callable[[], None]) -> str:
    try:
        work()
    except StoreError as error:
        return str(error)
    return ""


@njit(nogil=True)
def _order_of_rows(indptr: np.ndarray, indices: np.ndarray) -> tuple[int, int]:
    """Number of rows that are not sorted, and number of entries that repeat the one before them."""
    unsorted, repeats = 0, 0
    for v in range(indptr.size - 1):
        falls = False
        for k in range(indptr[v] + 1, indptr[v + 1]):
            falls |= indices[k] < indices[k - 1]
            repeats += indices[k] == indices[k - 1]
        unsorted += falls
    return unsorted, repeats


class Symmetry:
    """Adds up the entries above the diagonal, and those below it, with their ends turned."""

    def __init__(self) -> None:
        self.sums = np.zeros(4, np.uint64)  # two hashes of each side

    def add(self, first: int, indptr: np.ndarray, indices: np.ndarray, numbers: np.ndarray | None = None) -> None:
        """Add the rows of the vertices from ``first`` on; ``indptr`` from 0.

        ``numbers``: one of each entry, integers [E], which both sides must have, too.
        """
        add_entries(first, indptr, indices, np.empty(0, np.uint64) if numbers is None else numbers, self.sums)

    @property
    def holds(self) -> bool:
        """Whether both sides have the same edges; two that differ pass once in 2^128."""
        return bool((self.sums[:2] == self.sums[2:]).all())


def numbers_of(columns: Iterable[np.ndarray], edges: int) -> np.ndarray:
    """A number for the values of each edge in all columns, uint64 [E]: the same where they are the same."""
    found = np.zeros(edges, np.uint64)
    for column in columns:
        values = column
        if column.dtype.kind == "f":  # 0 is -0, and no number is any other that is none
            values = np.where(np.isnan(column), np.array(np.nan, column.dtype), column + column.dtype.type(0))
        fold(found, values.view(f"u{column.dtype.itemsize}"))
    return found


def one_sided(indptr: np.ndarray, indices: np.ndarray, numbers: np.ndarray | None = None) -> tuple[int, int] | None:
    """The ends of an entry that has no reverse (with its number), or is there more often than it; None if there is
    none.
    """
    whole = Symmetry()
    whole.add(0, indptr, indices, numbers)
    if whole.holds:
        return None
    owner, ends = np.repeat(np.arange(indptr.size - 1), np.diff(indptr)), indices.astype(np.int64)
    entries = np.zeros(ends.size, [("src", np.int64), ("dst", np.int64), ("number", np.uint64)])
    entries["src"], entries["dst"], entries["number"] = owner, ends, 0 if numbers is None else numbers
    there, times = np.unique(entries, return_counts=True)
    back = there.copy()
    back["src"], back["dst"] = there["dst"], there["src"]
    at = np.minimum(np.searchsorted(there, back), there.size - 1)
    more = np.where(there[at] == back, times[at], 0) < times
    edge = there[np.flatnonzero(more)[0]]
    return int(edge["src"]), int(edge["dst"])


@inner
def pair_word(a: np.uint64, b: np.uint64) -> np.uint64:
    """A hash of two numbers."""
    return np.uint64(mixed(mixed(a + GAMMA) + b + GAMMA))


@njit(nogil=True)
def fold(words: np.ndarray, values: np.ndarray) -> None:
    """Make each word one of itself and of a value."""
    for k in range(words.size):
        words[k] = pair_word(words[k], np.uint64(values[k]))


@njit(nogil=True)
def add_entries(first: int, indptr: np.ndarray, indices: np.ndarray, numbers: np.ndarray, sums: np.ndarray) -> None:
    """Add the hashes of the entries of these rows, with their numbers if there are any, to ``sums``."""
    for v in range(indptr.size - 1):
        own = np.uint64(first + v)
        for k in range(indptr[v], indptr[v + 1]):
            other = np.uint64(indices[k])
            number = np.uint64(numbers[k]) if numbers.size > 0 else np.uint64(0)
            if own < other:
                word = pair_word(pair_word(own, other), number)
                sums[0] += word
                sums[1] += pair_word(word, other)
            elif own > other:
                word = pair_word(pair_word(other, own), number)
                sums[2] += word
                sums[3] += pair_word(word, own)


# The types of vertices, and the relations of edges.


def misnamed(offsets: np.ndarray, text: np.ndarray, types: Types) -> int:
    """Number of ids, words of a ``text``, that do not begin with the type whose range they are in."""
    wrong = 0
    for name in types.names:
        first, last = types.span(name)
        wrong += others(offsets[first : last + 1], text, np.frombuffer(prefix_of(name), np.uint8))
    return wrong


@njit(nogil=True)
def others(offsets: np.ndarray, text: np.ndarray, prefix: np.ndarray) -> int:
    """Number of words that do not begin with ``prefix``."""
    found = 0
    for word in range(offsets.size - 1):
        fits = offsets[word + 1] - offsets[word] >= prefix.size
        for k in range(prefix.size if fits else 0):
            fits &= text[offsets[word] + k] == prefix[k]
        found += not fits
    return found


@njit(nogil=True)
def strangers(
    first: int,
    indptr: np.ndarray,
    indices: np.ndarray,
    relation: np.ndarray,
    bounds: np.ndarray,
    ends: np.ndarray,
) -> int:
    """Number of edges of the rows from vertex ``first`` on whose ends are not of the types that ``ends`` has for their
    relation; ``bounds`` are those of the types among dense ids.
    """
    found = 0
    for v in range(indptr.size - 1):
        for k in range(indptr[v], indptr[v + 1]):
            number = np.int64(relation[k])
            fits = number < ends.shape[0]
            if fits:
                source, target, to = ends[number, 0], ends[number, 1], np.int64(indices[k])
                fits = bounds[source] <= first + v < bounds[source + 1] and bounds[target] <= to < bounds[target + 1]
            found += not fits
    return found
