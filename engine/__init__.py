"""Sampling: ``csaw.engine.sample(graph, out, algo="node2vec", p=0.5)`` and ``open_samples(out)``; without files, ``stream(graph, ...)``."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from csaw.engine.draw import draw_batches
    from csaw.engine.run import execute, prepare, sample
    from csaw.engine.sample_stream import stream
    from csaw.engine.samples import open_samples
    from csaw.engine.virtual import commit_virtual, open_virtual

_WHERE = {
    "draw_batches": "draw",
    "open_samples": "samples",
    "prepare": "run",
    "sample": "run",
    "execute": "run",
    "stream": "sample_stream",
    "commit_virtual": "virtual",
    "open_virtual": "virtual",
}
__all__ = ["commit_virtual", "draw_batches", "execute", "open_samples", "open_virtual", "prepare", "sample", "stream"]


def __getattr__(name: str) -> Any:
    """Names load with their module: importing a registry must not import Numba."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"csaw.engine.{_WHERE[name]}"), name)
