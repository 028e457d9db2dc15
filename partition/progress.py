"""Progress on standard error: a bar on a terminal and in Jupyter, plain lines elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

QUIET_SECONDS = 2.0  # between plain progress lines
Update = Callable[[int], None]


@contextmanager
def progress(what: str, total: int, unit: str, enabled: bool = True) -> Iterator[Update]:
    """``update(done_so_far)``: a bar on a terminal and in Jupyter, plain lines elsewhere, nothing when not enabled."""
    if not enabled:
        yield lambda done: None
    elif sys.stderr.isatty() or in_jupyter():
        yield from _bar(what, total, unit)
    else:
        yield _lines(what, total, unit)


@contextmanager
def progress_of(wish: Any, what: str, total: int, unit: str) -> Iterator[Update]:
    """The progress that the argument ``progress`` of a Python function asks for.

    wish: None, a bar in Jupyter and nothing elsewhere; True or False, as the command has it, or nothing; or a function that is called with ``done`` and ``total``.
    """
    if callable(wish):
        yield lambda done: wish(done, total)
        return
    with progress(what, total, unit, enabled=wanted(wish)) as update:
        yield update


@contextmanager
def steps(what: str, enabled: bool = True) -> Iterator[Callable[[str], None]]:
    """``update(doing)`` says what is being done: one line that changes on a terminal and in Jupyter, a line each elsewhere, nothing when not enabled."""
    if not enabled:
        yield lambda doing: None
    elif sys.stderr.isatty() or in_jupyter():
        from rich.console import Console

        with Console(stderr=True).status(what) as status:
            yield lambda doing: status.update(f"{what} {doing}")
    else:
        yield lambda doing: print(f"csaw: {what} {doing}", file=sys.stderr)


def wanted(wish: bool | None) -> bool:
    """Whether the argument ``progress`` of a Python function asks for any: None does in Jupyter."""
    return in_jupyter() if wish is None else bool(wish)


def in_jupyter() -> bool:
    """Whether this is a Jupyter notebook that can show a bar, for which rich needs ipywidgets."""
    if "IPython" not in sys.modules:
        return False
    from importlib.util import find_spec

    from rich.console import Console

    return Console(stderr=True).is_jupyter and find_spec("ipywidgets") is not None


def _bar(what: str, total: int, unit: str) -> Iterator[Update]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[rate]}"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task, began = bar.add_task(what, total=total, rate=""), time.monotonic()

        def update(done: int) -> None:
            bar.update(task, completed=done, rate=f"{done / max(time.monotonic() - began, 1e-9):,.0f} {unit}/s")

        yield update


def _lines(what: str, total: int, unit: str) -> Update:
    began = last = time.monotonic()

    def update(done: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= QUIET_SECONDS:
            last = now
            share = f" of {total:,} ({100 * done / total:.0f} %)" if total else ""
            print(f"csaw: {what}: {done:,}{share} {unit}, {done / (now - began):,.0f}/s", file=sys.stderr)

    return update
