"""Graphs in memory from edges that a program holds: what ``csaw partition`` would store of the same edges, with the
same fingerprint.
"""

from collections.abc import Mapping, Sequence
from inspect import signature

import numpy as np
from numpy.typing import ArrayLike

from csaw.partition.arrays.words import Words
from csaw.partition.base.plain_data import Record
from csaw.partition.base.quoting import quoted
from csaw.partition.base.sorting import distinct
from csaw.partition.errors import FormatError, NoEdgesError, OptionError
from csaw.partition.graph.edge_columns import FLOATS, TIME, are_whole, given_columns
from csaw.partition.graph.given_arrays import column_of, weights_of
from csaw.partition.graph.in_memory import MOST_VERTICES, InMemory, has_repeats, merged, rows_of_edges, too_many
from csaw.partition.ingestion.arrow_streams import is_stream, table_in_memory
from csaw.partition.ingestion.hetero_data import hetero_in_memory, is_hetero
from csaw.partition.ingestion.ingest_options import POLICIES, IngestOptions
from csaw.partition.ingestion.object_columns import edge_columns_of, given_times, refuse_other_indexes
from csaw.partition.ingestion.objects import AUTO, Edges, Foreign, Wish, edges_of, library_of

Ids = np.ndarray | list[bytes]
"""Integers, or words as they are stored."""
TABLE_FACTOR = 4  # a table over the range of ids, where that is at most so many times the number of ends


def graph_in_memory(
    data: Foreign,
    *,
    weights: ArrayLike | None = AUTO,
    directed: bool | None = None,
    duplicates: str | None = None,
    self_loops: str = "keep",
    reverse: bool = False,
    vertex_ids: ArrayLike | None = None,
    source_column: Wish = None,
    target_column: Wish = None,
    edge_columns: Mapping[str, ArrayLike] | Sequence[str] | None = None,
    time: ArrayLike | str | None = None,
) -> InMemory:
    """The graph of an object of another library, see objects.py; the vertices keep their original ids.

    weights, source_column, target_column: as for :func:`edges_of`. directed: whether an edge has one direction; False
    stores each in both (default: as the object says, otherwise True).
    duplicates, self_loops, reverse: as of :class:`IngestOptions`; ``duplicates`` None keeps those of multigraphs, of
    igraph and of an edge_index unless ``directed`` is given, and the first of others.
    vertex_ids: original ids by number, [V], where vertices are numbers (default: None, the numbers).
    edge_columns: further numbers of the edges, as for :func:`csaw.graph`; time: their times, as there.

    OptionError and FormatError for what is no graph; StoreError for weights that are negative or not finite.
    """
    if is_hetero(data):
        _refuse_options(locals())
        return hetero_in_memory(data)
    refuse_other_indexes(data, edge_columns, weights=weights, time=time)
    found, further, times = _read(data, weights, source_column, target_column, edge_columns, time)
    usual = "keep" if times else found.duplicates if directed is None else "first"
    said = usual if duplicates is None else duplicates
    if found.added is not None and duplicates is None and not times:
        found = found._replace(weights=found.added)
    options = IngestOptions(directed=directed, duplicates=said, self_loops=self_loops, reverse=reverse)
    if vertex_ids is not None:
        found = found._replace(vertices=_named(found, vertex_ids))
    ends, ids, vertices = numbered(found)
    kept = _kept_weights(found, ends[0].size, counts=said == "sum")
    if times and any(str(name).partition(":")[0].lower() == TIME.name for name in further):
        raise OptionError("time: the graph also has an edge column time; give only one of them")
    columns = given_columns({**further, **times}, ends[0].size)
    source, target, number = _kept(*(ends[::-1] if reverse else ends), self_loops == "drop")
    both_ways = not (found.directed if directed is None else directed)
    if both_ways:
        source, target, number = _in_both_directions(source, target, number)
    try:
        indptr, indices, heavy, number = _rows(found.name, source, target, kept, number, vertices, said)
    except MemoryError as error:
        raise too_many(found.name, vertices) from error
    made = InMemory(
        f"{found.name} in memory",
        indptr,
        indices,
        heavy,
        directed=not both_ways,
        vertex_ids=ids,
        edge_columns={column.text: values[number] for column, values in columns.items()},
        read_as=_read_as(found.name, ["weight"] * (heavy is not None) + [c.name for c in columns], both_ways, ids),
    )
    made.report.update(_told(made, options, ends, counts=found.weights is None and said == "sum"))
    return made


def _read(
    data: Foreign,
    weights: ArrayLike | None,
    source_column: Wish,
    target_column: Wish,
    edge_columns: Mapping[str, ArrayLike] | Sequence[str] | None,
    time: ArrayLike | str | None,
) -> tuple[Edges, Mapping[str, ArrayLike], Mapping[str, ArrayLike]]:
    """The edges of an object, further columns of them, and their times as another one."""
    if library_of(type(data)) is not None or not is_stream(data):
        found = edges_of(data, weights, source_column, target_column)
        return found, edge_columns_of(data, edge_columns or {}), given_times(data, time)
    found, columns = table_in_memory(data, weights, source_column, target_column, edge_columns, time)
    if weights is not None and not isinstance(weights, str):
        found = found._replace(weights=weights)
    named = edge_columns if isinstance(edge_columns, Mapping) else list(columns.items())[: len(edge_columns or ())]
    times = dict(list(columns.items())[-1:]) if isinstance(time, str) else given_times(data, time)
    return found, dict(named), times


def _kept_weights(found: Edges, edges: int, *, counts: bool) -> np.ndarray | None:
    """The weights that a graph keeps. ``counts``: an edge without one has the weight 1, so that a weight is the number
    of repeats.
    """
    weights = np.ones(edges, np.float32) if counts and found.weights is None else found.weights
    return None if weights is None else weights_of(f"weights: {found.name}", weights, edges)


def _told(made: InMemory, options: IngestOptions, ends: tuple[np.ndarray, np.ndarray], *, counts: bool) -> Record:
    """The facts that the report of an ingest has, too: how many edges and self loops there were, how many edges
    repeated others, and how the graph was made of them, which ``csaw append`` follows. ``counts``: weights are numbers
    of repeats.
    """
    rows, loops = ends[0].size, int((ends[0] == ends[1]).sum())
    drops, kept = options.self_loops == "drop", made.edges
    if not made.directed:  # a self loop is in one row, any other edge in two
        owners = np.repeat(np.arange(made.vertices), np.diff(made.indptr))
        kept = int(np.count_nonzero(owners <= made.indices.astype(np.int64)))
    return {
        "edges": rows,
        "duplicates": rows - loops * drops - kept,
        "duplicates_policy": options.duplicates,
        "self_loops": loops,
        "self_loops_dropped": drops,
        "weights": "repeats" if counts else "column" if made.weighted else "none",
        **({"reversed": True} if options.reverse else {}),
    }


def _kept(source: np.ndarray, target: np.ndarray, drops_loops: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The edges that stay, and the number that each of them has in the object."""
    if not drops_loops:
        return source, target, np.arange(source.size)
    number = np.flatnonzero(source != target)
    return source[number], target[number], number


def _refuse_options(given: Mapping[str, object]) -> None:
    """OptionError for an option of ``graph_in_memory`` that is not at its default."""
    for name, declared in signature(graph_in_memory).parameters.items():
        value, usual = given[name], declared.default
        same = value is usual or (isinstance(value, str | bool) and value == usual)
        if usual is not declared.empty and not same:
            raise OptionError(f"{name}: a HeteroData object says this itself; leave it out")


def _read_as(name: str, columns: list[str], undirected: bool, ids: np.ndarray | Words | None) -> str:
    way, kind = "undirected" if undirected else "directed", "string" if isinstance(ids, Words) else "int"
    return f"{name}, {' '.join(['source', 'target', *columns])}, {way}, ids {kind}"


def _named(found: Edges, vertex_ids: ArrayLike) -> list[int | str]:
    """The ids that a user gives to vertices that are numbers."""
    given = column_of("vertex_ids", vertex_ids).ravel().tolist()
    if not isinstance(found.vertices, int) or len(given) != found.vertices:
        wanted = (
            f"an id for each of {found.vertices:,} vertices"
            if isinstance(found.vertices, int)
            else "none, for the vertices have ids"
        )
        raise OptionError(f"vertex_ids: {found.name}: expected {wanted}, found {len(given):,}")
    return given


def numbered(found: Edges) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray | Words | None, int]:
    """The ends of edges as dense ids, int64 [E] each; the original ids by dense id, which rise, None for 0 to V - 1;
    and V.
    """
    vertices = found.vertices if isinstance(found.vertices, int) else None
    ends = [_ids(found.name, each) for each in (found.sources, found.targets)]
    if len(ends[0]) != len(ends[1]):
        raise OptionError(
            f"{found.name}: expected as many targets as sources, found {len(ends[1]):,} and {len(ends[0]):,}"
        )
    if found.vertices is not None and vertices is None:
        ids = _ids(found.name, found.vertices)
        if not len(ids):
            raise FormatError(f"{found.name}: no vertices found; expected at least one")
        sources, targets = _below(found.name, ends, len(ids))
        distinct, rank = _ranks(found.name, [ids])
        if len(distinct) != len(ids):
            raise OptionError(
                f"{found.name}: expected a different id for each vertex, found "
                f"{len(ids) - len(distinct):,} repeated ones"
            )
        return (rank[0][sources], rank[0][targets]), _original(distinct), len(distinct)
    if vertices is not None:
        if vertices > MOST_VERTICES:
            raise too_many(found.name, vertices)
        sources, targets = _below(found.name, ends, vertices)
        return (sources.astype(np.int64), targets.astype(np.int64)), None, vertices
    if not len(ends[0]):
        raise NoEdgesError(f"{found.name}: no edges found; expected at least one")
    distinct, (source, target) = _ranks(found.name, ends)
    return (source, target), _original(distinct), len(distinct)


def _below(where: str, ends: Sequence[Ids], vertices: int) -> list[np.ndarray]:
    """The ends, which are numbers below ``vertices``; OptionError for others."""
    numbers = [each for each in ends if isinstance(each, np.ndarray)]
    if len(numbers) < len(ends) or any(e.size and not 0 <= int(e.min()) <= int(e.max()) < vertices for e in numbers):
        raise OptionError(f"{where}: expected vertices from 0 to {vertices - 1:,}, found others")
    return numbers


def _ids(where: str, given: ArrayLike) -> Ids:
    """Ids of the input as int64, as uint64 where one needs it, or as words in UTF-8.

    OptionError for ids that are neither integers nor strings, or not all the same.
    """
    if isinstance(given, Words):
        return list(map(bytes, given.encoded()))
    held = column_of(where, given)
    if held.ndim != 1:
        raise OptionError(f"{where}: expected a column of vertex ids, found the shape {held.shape}")
    if held.dtype.kind in "iu":
        return held.astype(
            np.uint64 if held.dtype.kind == "u" and held.max(initial=0) > 2**63 - 1 else np.int64, copy=False
        )
    if held.dtype.kind == "f":
        if missing := int(np.isnan(held).sum()):
            raise OptionError(
                f"{where}: expected an id at both ends of each edge, found nan ({missing:,} of {held.size:,})"
            )
        wrong = held[~are_whole(held)]
        if wrong.size:
            raise OptionError(f"{where}: expected vertex ids that are integers or strings, found {wrong[0]}; {FLOATS}")
        return held.astype(np.int64)
    if held.dtype.kind not in "bOUT":
        raise OptionError(f"{where}: expected vertex ids that are integers or strings, found {held.dtype}")
    values = held.tolist()
    if all(isinstance(one, int | np.integer) and not isinstance(one, bool) for one in values):
        try:
            return np.array(values, np.uint64 if max(values, default=0) > 2**63 - 1 else np.int64)
        except OverflowError as error:
            raise _beyond(where) from error
    if none := [one for one in values if _is_missing(one)]:
        raise OptionError(
            f"{where}: expected an id at both ends of each edge, found {none[0]} ({len(none):,} of {len(values):,})"
        )
    others = [one for one in values if not isinstance(one, str)]
    if others:
        other = next((one for one in others if type(one) is not int), others[0])
        raise OptionError(
            f"{where}: expected vertex ids that are all integers or all strings, found {quoted(other)} "
            f"({type(other).__name__}); number the vertices first"
        )
    return list(map(bytes, Words.of(values).encoded()))


def _beyond(where: str) -> OptionError:
    return OptionError(
        f"{where}: expected 64-bit ids, from -2^63 to 2^63 - 1 or from 0 to 2^64 - 1, found others; give them "
        "as strings"
    )


def _is_missing(value: object) -> bool:
    """Whether a table has no value here: None, nan, or what pandas calls NA."""
    return value is None or (isinstance(value, float) and np.isnan(value)) or type(value).__name__ == "NAType"


def _ranks(where: str, columns: list[Ids]) -> tuple[Ids, list[np.ndarray]]:
    """All ids, rising, each once, and the rank of every id of each column, int64."""
    words = [isinstance(column, list) for column in columns if len(column)]
    if any(words):
        if not all(words):
            raise OptionError(f"{where}: expected vertex ids that are all integers or all strings, found both")
        rising_words = sorted({word for column in columns for word in column})
        place = {word: number for number, word in enumerate(rising_words)}
        return rising_words, [np.fromiter((place[word] for word in each), np.int64, len(each)) for each in columns]
    numbers = [np.asarray(column) for column in columns]
    low = min(int(column.min()) for column in numbers if column.size)
    high = max(int(column.max()) for column in numbers if column.size)
    if low < 0 and high > 2**63 - 1:
        raise _beyond(where)
    if high - low < TABLE_FACTOR * sum(map(len, numbers)):
        seen = np.zeros(high - low + 1, np.bool_)
        offsets = [(column - column.dtype.type(low)).astype(np.int64) for column in numbers]
        for each in offsets:
            seen[each] = True
        rank = np.cumsum(seen) - 1
        rising = np.flatnonzero(seen).astype(np.uint64 if high > 2**63 - 1 else np.int64)
        return rising + rising.dtype.type(low), [rank[each] for each in offsets]
    kind = np.uint64 if high > 2**63 - 1 else np.int64
    both = [column.astype(kind) for column in numbers]
    found = distinct(np.concatenate(both))
    return found, [np.searchsorted(found, each) for each in both]


def _original(distinct: Ids) -> np.ndarray | Words | None:
    """Rising ids as a store keeps them; None where they are 0 .. V - 1."""
    if isinstance(distinct, list):
        return Words.of(distinct)
    identity = distinct.size == 0 or (int(distinct[0]) == 0 and int(distinct[-1]) == distinct.size - 1)
    return None if identity else distinct


def _in_both_directions(source: np.ndarray, target: np.ndarray, number: np.ndarray) -> tuple[np.ndarray, ...]:
    """Every edge and, right after it, its opposite with the same number; a self loop once."""
    kept = np.column_stack([np.ones(source.size, np.bool_), source != target]).ravel()
    there = np.column_stack([source, target]).ravel()[kept]
    back = np.column_stack([target, source]).ravel()[kept]
    return there, back, np.repeat(number, 2)[kept]


def _rows(
    where: str,
    source: np.ndarray,
    target: np.ndarray,
    weights: np.ndarray | None,
    number: np.ndarray,
    vertices: int,
    duplicates: str,
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, np.ndarray]:
    """CSR of edges, repeated ones treated as ``duplicates`` says.

    Args:
        where: names the edges in messages.
        source, target: int64 [E], dense ids.
        weights: float32, by the numbers of the edges, or None.
        number: int64 [E], the number of each edge.
        vertices: of the graph.
        duplicates: one of POLICIES, or ``error``.

    Returns:
        ``indptr``, ``indices``, ``weights``, and the number of each entry, for repeated edges that of the first.
    """
    indptr, indices, order = rows_of_edges(source, target, vertices)
    number = number[order]
    held = np.empty(0, np.float32) if weights is None else weights[number]
    kept, fewer, _ = merged(POLICIES[duplicates], indptr, indices, held, number)
    if duplicates == "error" and has_repeats(indptr, indices):
        raise FormatError(f"{where}: some edges are repeated; pass duplicates keep, first or sum to accept them")
    if weights is not None and duplicates == "sum" and fewer and not np.isfinite(held[:kept]).all():
        raise FormatError(
            f"{where}: the weights of a repeated edge add up to more than float32 can hold; scale them down, or "
            "pass duplicates first"
        )
    return indptr, indices[:kept], None if weights is None else held[:kept], number[:kept]
