"""The names that users gave to graphs whose stores are in csaw's cache, for errors about these."""

from pathlib import Path

from csaw.partition.errors import CsawError, StoreError

NAMES: dict[str, str] = {}
"""By the path of a store."""


def noted(store: Path, name: str) -> Path:
    """The path ``store``, which errors call ``name`` from now on."""
    NAMES[str(store)] = name
    return store


def in_words(error: CsawError) -> str:
    """The message of an error, with graphs in the cache as the user named them. Those about files keep their paths."""
    message = str(error)
    if not isinstance(error, StoreError):
        for path, name in NAMES.items():
            message = message.replace(path, name)
    return message
