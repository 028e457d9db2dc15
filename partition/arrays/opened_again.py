"""Stores that are pickled: another process opens them again by their path, and sees whether they are the same."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from csaw.partition.errors import StoreError

Opened = TypeVar("Opened")
PLACE = "a pickled store is only its path, which must exist where it is unpickled"


def opened_again(path: str, wanted: str, opens: Callable[[Path], Opened], identity: Callable[[Opened], str]) -> Opened:
    """Open the store at ``path``; StoreError where it is gone, or has another ``identity`` than the one that was
    pickled.
    """
    try:
        found = opens(Path(path))
    except StoreError as error:
        raise StoreError(f"{error}; {PLACE}") from error
    if identity(found) != wanted:
        raise StoreError(f"{path} has been replaced since it was pickled; open it again in the process that pickles it")
    return found
