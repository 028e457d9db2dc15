"""CSV (RFC 4180), with a header. Times are numbers with decimals or dates, as the input of the graph has them, and
floats have the fewest digits that give them again.

Of samples a walk a row, ``instance,v0,v1,...``, with empty cells after its end, and in time ``instance,v0,t1,v1,...``,
where t1 is the time of the edge to v1; or rows ``instance,src,dst,depth``, in time ``instance,src,dst,depth,time``, of
layers ``instance,src,dst,depth,weight``, of links and their negatives ``instance,src,dst,label``, of disjoint
mini-batches with ``batch`` behind them, of which all but the first two are empty for a vertex without an edge.

Of graphs rows ``source,target``, with ``weight``, ``edge_id`` and further columns where the store has them; an
undirected edge is one row. Of lists their columns, and a row in a line.
"""

from collections.abc import Callable
from typing import IO

import numpy as np

from csaw.engine.export.common import NUMBER, TABLES_LACK, WEIGHT
from csaw.engine.export.graph_rows import Edges, Listed
from csaw.engine.export.tables import (
    Rows,
    columns_of,
    csv_words,
    kind_of_ids,
    kind_of_times,
    names_of_ends,
    packed,
    write_edges,
    write_rows,
)
from csaw.engine.samples import Samples
from csaw.engine.samples.ahead import in_order, pieces
from csaw.engine.samples.array import check_names
from csaw.engine.samples.edges import are_alone, edge_arrays, edge_columns, numbered_edges
from csaw.engine.samples.layouts.layout import BATCH, EDGE_WEIGHT
from csaw.partition.errors import OptionError
from csaw.partition.graph.types import RELATION

LACKS = TABLES_LACK
SUFFIXES = (".csv", ".csv.gz")


def write_samples(samples: Samples, file: IO[bytes], name: str, update: Callable[[int], None], threads: int) -> None:
    if samples.has_walks and not samples.layout.has_limit:
        raise OptionError(
            f"{samples.path}: walks without a limit do not fit the table of a .csv file; export to .parquet, .txt "
            "or .npz"
        )
    walks = samples.layout.has_limit
    ids, timed = kind_of_ids(samples.vertex_dtype, samples.words), "times" in samples
    time = kind_of_times(samples.time_units)
    steps = (
        [name for k in range(1, samples.walks.shape[1]) for name in ([f"t{k}"] * timed + [f"v{k}"])] if walks else []
    )
    names = ["instance", "v0", *steps] if walks else list(edge_columns(samples))
    of_walks = [time if name.startswith("t") else ids for name in names[1:]]
    kinds = (
        [NUMBER, *of_walks]
        if walks
        else [
            NUMBER,
            ids,
            ids,
            NUMBER,
            *({EDGE_WEIGHT: WEIGHT, BATCH: NUMBER, RELATION.name: NUMBER}.get(name, time) for name in names[4:]),
        ]
    )
    rows = Rows([b"", *[b","] * (len(names) - 1), b"\n"], kinds, csv_words(samples.words))

    def made(start: int, stop: int) -> memoryview:
        return (_walks if walks else _edges)(samples, rows, start, stop)

    with packed(file, name) as out:
        out.write(",".join(names).encode() + b"\n")
        for done, some in in_order(samples, edge_arrays(samples), pieces(samples), made, threads):
            out.write(some)
            update(done)


def _walks(samples: Samples, rows: Rows, start: int, stop: int) -> memoryview:
    arrays = samples.group(start, stop)
    walks, filled = arrays["walks"], arrays["lengths"].astype(np.int64) + 2
    _check(samples, walks[np.arange(walks.shape[1]) < filled[:, None] - 1])
    if "times" in arrays:
        cells = np.empty((len(walks), 2 * walks.shape[1] - 1), np.uint64)
        cells[:, ::2] = walks.astype(np.int64).view(np.uint64) if walks.dtype.kind == "i" else walks
        cells[:, 1::2] = np.ascontiguousarray(arrays["times"]).view(np.uint64)
        walks, filled = cells, 2 * filled - 2
    return rows.table(samples.numbers(np.arange(start, stop)), walks, filled)


def _edges(samples: Samples, rows: Rows, start: int, stop: int) -> memoryview:
    edges = numbered_edges(samples, start, stop)
    _check(samples, edges["src"])
    _check(samples, edges["dst"])
    names = edge_columns(samples)
    filled = np.where(are_alone(edges), 2, len(names))
    return rows.text([edges[name] for name in names], filled)


def _check(samples: Samples, ids: np.ndarray) -> None:
    """StoreError for an id without a string, which a damaged store may have."""
    if samples.words is not None:
        check_names(samples.path, ids, len(samples.words))


HOLDS = ("ids", "edge_ids", "edge_columns")


def write_graph(edges: Edges, file: IO[bytes], name: str, update: Callable[[int], None]) -> None:
    further = columns_of(edges)
    columns = [*names_of_ends(edges.words, ("source", "target"), further), *further]
    with packed(file, name) as out:
        out.write(",".join(columns).encode() + b"\n")
        write_edges(edges, out, update, [b"", *[b","] * (len(columns) - 1), b"\n"], csv_words(edges.words))


def write_list(listed: Listed, file: IO[bytes], name: str, update: Callable[[int], None]) -> None:
    with packed(file, name) as out:
        out.write(",".join(column.name for column in listed.columns).encode() + b"\n")
        write_rows(listed, out, update, b",", csv_words(listed.words))
