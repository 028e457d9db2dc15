"""Loaders for training: ``from csaw.loader import NeighborLoader``. :mod:`csaw.engine.loaders` describes them."""

from typing import TYPE_CHECKING

from csaw.engine import loaders

if TYPE_CHECKING:
    from csaw.engine.loaders import *

__all__ = loaders.__all__


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> object:
    """Names load with their module, because PyTorch is optional."""
    return getattr(loaders, name)
