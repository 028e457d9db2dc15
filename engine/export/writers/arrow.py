"""Arrow files (IPC, which Feather is, too): the tables of :mod:`csaw.engine.export.arrow_tables` as they are in memory.

They are not compressed, so that readers may map them into memory.
"""

from collections.abc import Callable
from typing import IO, TYPE_CHECKING

from csaw.engine.export.arrow import plain_schema, pyarrow
from csaw.engine.export.arrow_tables import HOLDS, of_graph, of_samples
from csaw.engine.export.common import TABLES_LACK
from csaw.engine.export.graph_rows import Edges
from csaw.engine.samples import Samples

if TYPE_CHECKING:
    from csaw.engine.export.arrow_tables import Tables

__all__ = ["HOLDS", "IS_BINARY", "LACKS", "SUFFIXES", "write_graph", "write_samples"]

LACKS = TABLES_LACK
SUFFIXES = (".arrow", ".feather")
IS_BINARY = True


def write_samples(
    samples: Samples, file: IO[bytes], name: str, update: Callable[[int], None], threads: int = 1
) -> None:
    _write(file, of_samples(samples, 0, samples.instances), update)


def write_graph(edges: Edges, file: IO[bytes], name: str, update: Callable[[int], None]) -> None:
    _write(file, of_graph(edges), update)


def _write(file: IO[bytes], given: "Tables", update: Callable[[int], None]) -> None:
    schema, tables = given
    shown = plain_schema(schema)
    with pyarrow().ipc.new_file(file, shown) as out:
        for done, table in tables:
            out.write_table(table.cast(shown))
            update(done)
