"""Exact, reproducible samples of huge graphs: what the commands of csaw do, as functions that take the same names and
values.

    import csaw

    walks = csaw.sample("karate", algo="node2vec", p=0.5, walk_length=20, seed=7)       # in memory
    csaw.partition("web-Google.txt.gz", "web.zarr", memory="4GiB")
    stored = csaw.sample("web.zarr", "walks.zarr", algo="node2vec", num_walks=10)
    print(csaw.evaluate("web.zarr", stored, measures="degree"))

A graph is a store's path, a file of edges, a dataset's name, or an object of another library: :func:`csaw.graph` has
the list.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from csaw import cli as cli
    from csaw import datasets as datasets
    from csaw import engine as engine
    from csaw.commands import evaluate, graph, sample, stream
    from csaw.engine.analytics.evaluation.evaluate import Evaluation
    from csaw.engine.export import export
    from csaw.engine.runs.sample_stream import Stream
    from csaw.engine.samples import Samples, open_samples
    from csaw.partition import GraphStore, PartitionModule, open_graph
    from csaw.partition.base.version import VERSION as __version__
    from csaw.partition.errors import CsawError

    partition: PartitionModule

_WHERE = {
    "CsawError": "partition.errors",
    "Evaluation": "engine.analytics.evaluation.evaluate",
    "GraphStore": "partition.graph.store",
    "Samples": "engine.samples",
    "Stream": "engine.runs.sample_stream",
    "evaluate": "commands",
    "export": "engine.export",
    "graph": "commands",
    "open_graph": "partition.graph.store",
    "open_samples": "engine.samples",
    "sample": "commands",
    "stream": "commands",
}
_MODULES = ("cli", "datasets", "engine", "partition")
__all__ = [
    "CsawError",
    "Evaluation",
    "GraphStore",
    "Samples",
    "Stream",
    "__version__",
    "evaluate",
    "export",
    "graph",
    "open_graph",
    "open_samples",
    "partition",
    "sample",
    "stream",
]


if not TYPE_CHECKING:  # which would take any name for one that is there

    def __getattr__(name: str) -> Any:
        """Names load with their module: ``import csaw`` alone imports neither NumPy nor Numba."""
        if name in _MODULES:
            return import_module(f"csaw.{name}")
        if name == "__version__":
            return import_module("csaw.partition.base.version").VERSION
        if name not in _WHERE:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"csaw.{_WHERE[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES])
