"""Arrow's PyCapsule interface of graphs and samples, by which other libraries read them as tables."""

from importlib import import_module


class ArrowTable:
    """Gives a graph or samples the method by which pyarrow, polars, DuckDB and others read its rows."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the rows that ``csaw export`` writes to Parquet as a stream of Arrow, in batches made as it is read.

        Args:
            requested_schema: A capsule with the schema that the reader prefers (default: None).

        Returns:
            A PyCapsule with an ``ArrowArrayStream``.

        Raises:
            MissingDependencyError: pyarrow is not installed.
        """
        # a room above, which reads both, makes the tables
        return import_module("csaw.engine.export.arrow_tables").stream_of(self).__arrow_c_stream__(requested_schema)
