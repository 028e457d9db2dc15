"""The names that users gave to graphs whose stores are in csaw's cache, for errors and other words about these."""

from pathlib import Path

from csaw.partition.errors import CsawError, StoreError

NAMES: dict[str, str] = {}
"""By the path of a store."""


def noted(store: Path, name: str) -> Path:
    """The path ``store``, which errors and warnings call ``name`` from now on."""
    NAMES[str(store.absolute())] = NAMES[str(store)] = name
    return store


def in_words(error: CsawError) -> str:
    """The message of an error, with graphs in the cache as the user named them. Those about files keep their paths."""
    return str(error) if isinstance(error, StoreError) else with_names(str(error))


def with_names(text: str) -> str:
    """A text with graphs in the cache as the user named them."""
    for path, name in NAMES.items():
        text = text.replace(path, name)
    return text
