"""Exact, reproducible samples of huge graphs. Functions do what the commands of csaw do, with the same names and
values.

    import csaw

    walks = csaw.node2vec("karate", p=0.5, walk_length=20, seed=7)                      # in memory
    csaw.partition("web-Google.txt.gz", "web.zarr", memory="4GiB")
    stored = csaw.sample("web.zarr", "walks.zarr", algo="node2vec", num_walks=10)
    print(csaw.evaluate("web.zarr", stored, measures="degree"))
    csaw.list_triangles("web.zarr", "triangles.parquet")
    print(csaw.verify(stored).ok, csaw.info("web.zarr")["vertices"])

Each algorithm is a function, and csaw.sample draws any of them. A graph is the path of a store, a file of edges, the
name of a dataset, or an object of another library: :func:`csaw.graph` lists them.
"""

from importlib import import_module

_WHERE = {
    "CsawError": "partition.errors",
    "Evaluation": "engine.analytics.evaluation.evaluate",
    "GraphStore": "partition.graph.store",
    "Samples": "engine.samples",
    "Stream": "engine.runs.sample_stream",
    "algorithms": "stores",
    "append": "stores",
    "changed": "stores",
    "compact": "stores",
    "evaluate": "evaluation",
    "export": "engine.stores.export",
    "graph": "commands",
    "info": "stores",
    "list_support": "evaluation",
    "list_triangles": "evaluation",
    "open_graph": "partition.graph.store",
    "open_samples": "engine.stores",
    "refresh": "stores",
    "sample": "commands",
    "seal": "stores",
    "stream": "commands",
    "verify": "stores",
}
_MODULES = ("algorithm", "cli", "datasets", "engine", "loader", "measure", "partition")
__all__ = [
    "CsawError",
    "Evaluation",
    "GraphStore",
    "Samples",
    "Stream",
    "__version__",
    "algorithms",
    "append",
    "changed",
    "compact",
    "datasets",
    "evaluate",
    "export",
    "graph",
    "info",
    "list_support",
    "list_triangles",
    "open_graph",
    "open_samples",
    "partition",
    "refresh",
    "sample",
    "seal",
    "stream",
    "verify",
]


def __getattr__(name: str) -> object:
    """Names load with their module, so ``import csaw`` imports neither NumPy nor Numba.

    Type checkers read ``__init__.pyi`` in this folder.
    """
    if name in _MODULES:
        return import_module(f"csaw.{name}")
    if name == "__version__":
        return import_module("csaw.partition.base.version").VERSION
    if name in _WHERE:
        return getattr(import_module(f"csaw.{_WHERE[name]}"), name)
    if not name.startswith("_") and name in _algorithms():
        return import_module("csaw.algorithm_functions").function_of(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _algorithms() -> list[str]:
    """Names of algorithms as functions, which are those of their modules."""
    from pkgutil import iter_modules

    return [found.name for found in iter_modules(import_module("csaw.engine.algorithms").__path__)]


def __dir__() -> list[str]:
    return sorted([*__all__, *_algorithms(), *_MODULES])
