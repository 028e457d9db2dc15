"""Threads for kernels with a user's own hooks: what a hook raises there is an error that names it."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import ParamSpec, TypeVar

from csaw.engine.api.algorithm import Algorithm
from csaw.engine.api.hook_place import code_of, placed
from csaw.partition.errors import CsawError, OptionError

Given = ParamSpec("Given")
Made = TypeVar("Made")
RAISED = (ArithmeticError, AssertionError, LookupError, ValueError)
"""Errors of compiled hooks: csaw's kernels raise nothing."""
OURS = "csaw.engine."


class HookThreads(ThreadPoolExecutor):
    """Threads that raise OptionError where one of the ``hooks`` of an ``algorithm``, by name, raises anything."""

    def __init__(self, threads: int, algorithm: Algorithm, hooks: Sequence[str]) -> None:
        super().__init__(threads)
        self._algorithm, self._hooks = algorithm, hooks

    def submit(self, work: Callable[Given, Made], /, *given: Given.args, **named: Given.kwargs) -> Future[Made]:
        def told() -> Made:
            try:
                return work(*given, **named)
            except CsawError:
                raise
            except RAISED as error:
                raise raised_by(self._algorithm, self._hooks, error) from error

        return super().submit(told)


def raised_by(algorithm: Algorithm, hooks: Sequence[str], error: Exception) -> OptionError:
    """The error for what a user's hook raised. Compiled code does not say which, nor where: with one, its line is
    named, of several the file.
    """
    kind = type(algorithm)
    own = [name for name in hooks if not getattr(getattr(kind, name, None), "__module__", OURS).startswith(OURS)]
    which = " or ".join(f"{algorithm.name()}.{name}" for name in own or hooks)
    said = OptionError(
        f"{which} raised {type(error).__name__}: {error}; let it test an index, or another value, before it uses it"
    )
    if len(own) == 1:
        return placed(said, getattr(kind, own[0]))
    codes = filter(None, (code_of(getattr(kind, name)) for name in own))
    files = sorted({Path(code.co_filename).name for code in codes})
    return OptionError(f"{', '.join(files)}: {said}") if files else said
