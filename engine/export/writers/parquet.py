"""Parquet: the tables of :mod:`csaw.engine.export.arrow_tables`, each a row group.

A file has one writer. Large samples are a folder of files, each written by a thread, in the order of instances.
"""

from collections.abc import Callable
from typing import IO

from csaw.engine.export.arrow import write_tables
from csaw.engine.export.arrow_tables import HOLDS, of_graph, of_list, of_samples
from csaw.engine.export.common import TABLES_LACK
from csaw.engine.export.graph_rows import Edges, Listed
from csaw.engine.samples import Samples
from csaw.engine.samples.ahead import Span, group_bytes

__all__ = ["HOLDS", "IS_BINARY", "LACKS", "SUFFIXES", "parts", "write_graph", "write_list", "write_part"]

LACKS = TABLES_LACK
SUFFIXES = (".parquet",)
IS_BINARY = True
PART = 1 << 27  # bytes of the store in each file of a folder, about


def parts(samples: Samples) -> list[Span]:
    """Return the first and last instance of each file, the last one exclusive: whole groups that have ``PART`` bytes
    together.
    """
    step = -(-PART // group_bytes(samples)) * samples.group_size
    starts = range(0, max(samples.instances, 1), step)
    return [(start, min(start + step, samples.instances)) for start in starts]


def write_part(samples: Samples, file: IO[bytes], start: int, stop: int, update: Callable[[int], None]) -> None:
    """Write the instances ``start`` to before ``stop``, which are whole groups, as one file.

    ``update`` is called with the number after the last instance that is written.
    """
    known = samples.manifest.get("graph", {}).get("vertices", 2**63 - 1)
    write_tables(file, *of_samples(samples, start, stop), known, update)


def write_graph(edges: Edges, file: IO[bytes], name: str, update: Callable[[int], None]) -> None:
    write_tables(file, *of_graph(edges), edges.store.vertices, update)


def write_list(listed: Listed, file: IO[bytes], name: str, update: Callable[[int], None]) -> None:
    write_tables(file, *of_list(listed), listed.store.vertices, update)
