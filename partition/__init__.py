"""Graph store: text ingest, CSR partitions in Zarr, reading partitions into buffers.

``csaw.partition(...)`` makes one: the module can be called.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Unpack

from csaw.partition.base import arguments
from csaw.partition.base.python_names import in_python

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from csaw.partition.base.plain_data import Record
    from csaw.partition.graph.edge_ids import read_edge_ids
    from csaw.partition.graph.parts import Graph, Partition
    from csaw.partition.graph.store import GraphStore, open_graph
    from csaw.partition.graph.write import write_graph
    from csaw.partition.ingestion.ingest_options import IngestOptions
    from csaw.partition.ingestion.making import PartitionOptions
    from csaw.partition.ingestion.pipeline import ingest

_WHERE = {
    "Graph": "graph.parts",
    "GraphStore": "graph.store",
    "IngestOptions": "ingestion.ingest_options",
    "Partition": "graph.parts",
    "ingest": "ingestion.pipeline",
    "open_graph": "graph.store",
    "read_edge_ids": "graph.edge_ids",
    "write_graph": "graph.write",
}
__all__ = ["Graph", "GraphStore", "IngestOptions", "Partition", "ingest", "open_graph", "read_edge_ids", "write_graph"]


def __getattr__(name: str) -> object:
    """Names load with their module: ``import csaw.partition`` alone must stay cheap."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"csaw.partition.{_WHERE[name]}"), name)


class PartitionModule(ModuleType):
    """The type of this module, which does what ``csaw partition`` does when it is called.

    It holds ``open_graph`` and the other names as any module.
    """

    @in_python(
        {
            "inputs": arguments.graph,
            "edge_columns": arguments.maybe(arguments.columns),
            "out": arguments.path("the graph store to make"),
            "progress": arguments.maybe(arguments.progress("done", "total")),
        },
        edge_column="edge_columns",
    )
    def __call__(
        self,
        inputs: object,
        out: "str | Path",
        *,
        progress: "bool | Callable[[int, int], None] | None" = None,
        **options: Unpack["PartitionOptions"],
    ) -> "GraphStore":
        """Make the graph store ``out`` from files of edges, or from a graph in memory, and open it.

            csaw.partition("web-Google.txt.gz", "web.zarr", memory="4GiB")
            csaw.partition(["part-0.csv", "part-1.csv"], "web.zarr", source_column="from", target_column="to")
            csaw.partition(networkx_graph, "friends.zarr")
            csaw.partition(duckdb.sql("FROM 'calls.parquet'"), "calls.zarr", source_column="caller", time="at")

        Args:
            inputs: path of an edge list, a Matrix Market, CSV, Parquet or Arrow file, plain or compressed, or of a
                folder of them, or a pattern such as ``days/*.csv``; a list of paths, whose files make one graph; a dict
                of the relations of a graph with several types and their files, ``{("author", "writes", "paper"):
                "writes.csv"}``; or a graph in memory, as :func:`csaw.graph` accepts or returns it.
            out: path of the store to make.
            progress: True, a bar on a terminal and lines elsewhere; False, nothing; a function, which is called with
                the number of bytes read and the total. By default there is a bar in Jupyter and nothing elsewhere.
            **options: options of ``csaw partition``, with the same values: ``memory="4GiB"``, ``directed=False``,
                ``duplicates="sum"``; :class:`PartitionOptions` lists all. Tables with ``__arrow_c_stream__``, as those
                of DuckDB, polars and pandas, are read in batches like a file and take the same options, and ``weights``
                and ``time`` as for :func:`csaw.graph`. Another graph in memory takes ``weights``, ``vertex_ids``,
                ``edge_columns`` and ``time``, and of the others only ``directed``, ``reverse``, ``duplicates``,
                ``self_loops``, ``partitions``, ``partition_size``, ``balance``, ``compression`` and ``overwrite``; so
                does a table if one of these is an array.

        Returns:
            The open graph store.

        Raises:
            OptionError: an option is unknown or out of its range.
            FormatError: a row is no edge; the message has file and line.
            StoreError: ``out`` exists or cannot be written.
            BudgetError: ``memory`` is too little.
        """
        from pathlib import Path

        from csaw.partition.ingestion.making import make

        return make(inputs, Path(out), progress=progress, **options)

    @in_python({"inputs": arguments.graph}, edge_column="edge_columns")
    def preview(self, inputs: object, **options: Unpack["PartitionOptions"]) -> "Record":
        """Show how ``inputs`` would be read and its first five edges, without writing anything.

        Args:
            inputs: files or a graph in memory, as for ``csaw.partition``.
            **options: those of ``csaw.partition``.

        Returns:
            A dict: ``read_as``, a line for each way in which files are read, such as ``3 columns, source target weight,
            directed, ids int``; ``columns`` and ``edges``, the first five, of files before repeated ones are merged;
            ``directed``, and ``warnings``.

        Raises:
            OptionError: an option is unknown or out of its range.
            FormatError: a row is no edge; the message has file and line.
        """
        from csaw.partition.ingestion.making import look

        return look(inputs, dict(options))


sys.modules[__name__].__class__ = PartitionModule
