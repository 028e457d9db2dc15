"""Calls of what a user has written: whatever it raises is an error of its own, named in one line."""

from collections.abc import Iterator
from contextlib import contextmanager

from csaw.partition.errors import CsawError, OptionError

SHIPPED = "csaw.engine.algorithms."


def is_own(kind: type) -> bool:
    """Whether an algorithm is not one of those that csaw ships, as it ships them."""
    return not kind.__module__.startswith(SHIPPED)


@contextmanager
def users_code(what: str) -> Iterator[None]:
    """Raise OptionError about ``what`` when the body raises anything or asks Python to exit.

    The body runs code of the user's.
    """
    try:
        yield
    except CsawError as error:
        raise OptionError(f"{what} {error}") from error
    except (Exception, SystemExit) as error:
        said = f": {error}" if str(error) else ""
        raise OptionError(f"{what} {type(error).__name__}{said}") from error
