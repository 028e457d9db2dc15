"""Loaders for training: walks and skip-grams as PyTorch datasets, mini-batches of neighbors as PyTorch Geometric has
them, layers of vertices with their matrices.

PyTorch and PyTorch Geometric are optional: ``pip install torch torch_geometric``. A name loads what it
needs.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from csaw.engine.loaders.event_loader import EventLoader
    from csaw.engine.loaders.hgt_loader import HGTLoader
    from csaw.engine.loaders.layer_loader import LayerLoader
    from csaw.engine.loaders.layers import Layers
    from csaw.engine.loaders.link_neighbor_loader import LinkNeighborLoader
    from csaw.engine.loaders.neighbor_loader import NeighborLoader, NeighborSampler
    from csaw.engine.loaders.walks import SkipGrams, WalkDataset, WalkStream

_WHERE = {
    "EventLoader": "event_loader",
    "HGTLoader": "hgt_loader",
    "LayerLoader": "layer_loader",
    "Layers": "layers",
    "LinkNeighborLoader": "link_neighbor_loader",
    "NeighborLoader": "neighbor_loader",
    "NeighborSampler": "neighbor_loader",
    "SkipGrams": "walks",
    "WalkDataset": "walks",
    "WalkStream": "walks",
}
__all__ = [
    "EventLoader",
    "HGTLoader",
    "LayerLoader",
    "Layers",
    "LinkNeighborLoader",
    "NeighborLoader",
    "NeighborSampler",
    "SkipGrams",
    "WalkDataset",
    "WalkStream",
]


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> object:
    """Names load with their module: walks need PyTorch alone."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"csaw.engine.loaders.{_WHERE[name]}"), name)
