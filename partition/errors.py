"""Every error a user can cause. ``csaw.cli.main`` catches ``CsawError`` and prints it without a traceback."""

from typing import ClassVar, Self


class CsawError(Exception):
    """Base of all errors that say what was expected, what was found and what to do."""

    exit_status: ClassVar[int] = 1
    """Exit status of a command that ends with this error; 2 where it was used wrongly."""


class FormatError(CsawError, ValueError):
    """Text or a table that does not have its format; the message begins with ``file:line:``."""


class StoreError(CsawError, OSError):
    """A graph or sample store that is missing, torn, of a later version or cannot be written."""


class ChangedError(StoreError):
    """A file of a store that is missing or has other bytes than its checksum says; the message names the file."""


class RepeatedEdgesError(StoreError):
    """A sample does not say which of several edges with the same ends, and the same time, it holds."""


class OptionError(CsawError, ValueError):
    """A parameter outside its range, or one that belongs to another algorithm."""

    exit_status = 2


class UnknownNameError(CsawError, LookupError):
    """A name that no registry has; the message lists the known names."""

    exit_status = 2


class BudgetError(CsawError, MemoryError):
    """A run that needs more memory or disk than there is; the message has both numbers and the way out."""

    def __new__(cls, *arguments: object) -> Self:
        """MemoryError's own refuses a class whose first base is another: it is what an unpickler asks for."""
        return CsawError.__new__(cls, *arguments)


class ClosedError(CsawError, ValueError):
    """Something that was read after it, or what it comes from, was closed, as of a closed file."""


class BiasError(CsawError, ValueError):
    """A bias that is negative, NaN or infinite; the message names the edge or vertex."""


class MissingDependencyError(CsawError, ImportError):
    """An optional library that is not installed; the message says which extra to install."""


class DeviceError(CsawError, RuntimeError):
    """No usable GPU, or no library to use it with; the message says what is missing and what to do."""


class ClusterError(CsawError, RuntimeError):
    """A cluster that cannot be reached or used, or that was lost; the message says what to do."""
