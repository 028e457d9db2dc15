"""Libraries that csaw does without until something needs them."""

from importlib import import_module
from types import ModuleType

from csaw.partition.errors import MissingDependencyError

NAMES = {"torch": "PyTorch", "torch_geometric": "PyTorch Geometric"}
"""What a package is called, where that is not its name."""


def needed(module: str, by: str = "this") -> ModuleType:
    """Import a module of a library that may be missing.

    Args:
        module: its name, such as ``scipy.sparse``.
        by: what needs it, which the error begins with.

    Raises:
        MissingDependencyError: it cannot be imported; the message says what to install.
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingDependencyError(f"{by} needs {NAMES.get(package, package)}: pip install {package}") from error
