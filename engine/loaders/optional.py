"""PyTorch and PyTorch Geometric, if they are installed."""

from importlib import import_module
from types import ModuleType

from csaw.partition.errors import MissingDependencyError

NAMES = {"torch": "PyTorch", "torch_geometric": "PyTorch Geometric"}


def needed(module: str) -> ModuleType:
    """Import a module of PyTorch or PyTorch Geometric; MissingDependencyError says what to install."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingDependencyError(f"this loader needs {NAMES[package]}: pip install {package}") from error
