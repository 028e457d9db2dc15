"""Every error a user can cause. ``csaw.cli.main`` catches ``CsawError`` and prints it without a traceback."""

from typing import ClassVar, Self


class CsawError(Exception):
    """Base of all errors that say what was expected, what was found and what to do."""

    exit_status: ClassVar[int] = 1
    """Exit status of a command that ends with this error; 2 where it was used wrongly."""


class FormatError(CsawError, ValueError):
    """Text or a table in the wrong format; the message begins with ``file:line:``."""


class NoEdgesError(FormatError):
    """An input without a single edge; ``left_out``: rows that do not fulfill the conditions of ``--where``."""

    left_out = 0


class StoreError(CsawError, OSError):
    """A graph or sample store that is missing, incomplete, of a later version, or cannot be written."""


class ChangedError(StoreError):
    """A file of a store that is missing or does not match its checksum; the message names the file."""


class RepeatedEdgesError(StoreError):
    """A sample does not record which of several edges with the same ends and the same time it contains."""


class OptionError(CsawError, ValueError):
    """A parameter outside its range, or one that belongs to another algorithm."""

    exit_status = 2


class UnknownNameError(CsawError, LookupError):
    """An unknown name; the message lists the known names."""

    exit_status = 2


class BudgetError(CsawError, MemoryError):
    """A run that needs more memory or disk space than is available; the message has both numbers and what to do."""

    def __new__(cls, *arguments: object) -> Self:
        """MemoryError's own refuses a class whose first base is another: it is what an unpickler asks for."""
        return CsawError.__new__(cls, *arguments)


class ClosedError(CsawError, ValueError):
    """Something was read after it, or its source, was closed, like a closed file."""


class BiasError(CsawError, ValueError):
    """A bias that is negative, NaN or infinite; the message names the edge or vertex."""


class MissingDependencyError(CsawError, ImportError):
    """An optional library that is not installed; the message says which extra to install."""


class DeviceError(CsawError, RuntimeError):
    """No usable GPU, or no library to use it with; the message says what is missing and what to do."""


class ClusterError(CsawError, RuntimeError):
    """A cluster that cannot be reached or used, or that was lost; the message says what to do."""
