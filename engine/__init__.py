"""Sampling: ``csaw.engine.sample(graph, out, algo="node2vec", p=0.5)`` and ``open_samples(out)``; without files,
``stream(graph, ...)``.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from csaw.engine.runs.draw import draw_batches
    from csaw.engine.runs.execute import execute, sample
    from csaw.engine.runs.job import prepare
    from csaw.engine.runs.sample_stream import stream
    from csaw.engine.runs.virtual import commit_virtual, open_virtual
    from csaw.engine.stores import open_samples

_WHERE = {
    "draw_batches": "runs.draw",
    "open_samples": "stores",
    "prepare": "runs.job",
    "sample": "runs.execute",
    "execute": "runs.execute",
    "stream": "runs.sample_stream",
    "commit_virtual": "runs.virtual",
    "open_virtual": "runs.virtual",
}
_MODULES = ("algorithm", "algorithms", "loaders")  # what the guides use, as csaw.engine.algorithm.Walk
__all__ = ["commit_virtual", "draw_batches", "execute", "open_samples", "open_virtual", "prepare", "sample", "stream"]


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES})


def __getattr__(name: str) -> object:
    """Names load with their module: importing a registry must not import Numba."""
    if name in _MODULES:
        return import_module(f"csaw.engine.{name}")
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"csaw.engine.{_WHERE[name]}"), name)
