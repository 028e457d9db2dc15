"""Progress on standard error: on a terminal and in Jupyter a line of rich's that changes, with a bar for what can be
counted; plain lines elsewhere.
"""

import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from csaw.partition.base.stages import COMPILING, current, hearing

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

QUIET_SECONDS = 2.0  # between plain progress lines
DIGITS = re.compile("[0-9]+")
Update = Callable[[int], None]
Wish = bool | Callable[[int, int], None] | None


class Progress:
    """A work that is shown: call it with the number that is done so far. This one shows nothing."""

    def __call__(self, done: int) -> None:
        pass

    def begin(self, what: str, total: int, unit: str) -> None:
        """Name the work ``what`` and count ``unit`` from now on, 0 to ``total``; a total of 0 is not known."""


@contextmanager
def progress(what: str, total: int = 0, unit: str = "", enabled: bool = True) -> Iterator[Progress]:
    """Show that ``what`` is being done, how far it is, and what it waits for; nothing when not enabled.

    A ``unit`` counts it, as ``Progress.begin`` does, which may be called later instead.
    """
    if not enabled:
        yield Progress()
        return
    with (_on_terminal if _is_terminal() else _in_lines)(what) as shown:
        if unit:
            shown.begin(what, total, unit)
        yield shown


@contextmanager
def progress_of(wish: Wish, what: str, total: int, unit: str) -> Iterator[Update]:
    """Show the progress that the argument ``progress`` of a Python function asks for.

    wish: None, a bar in Jupyter and nothing elsewhere; True or False, as the command has it, or nothing; or a function
    that is called with ``done`` and ``total``.
    """
    if callable(wish):
        yield lambda done: wish(done, total)
        return
    with progress(what, total, unit, enabled=wanted(wish)) as update:
        yield update


@contextmanager
def steps(what: str, enabled: bool = True) -> Iterator[Callable[[str], None]]:
    """Yield ``update(doing)``, which says the step that begins: in one line that changes on a terminal and in Jupyter,
    in lines elsewhere, nothing when not enabled.
    """
    if not enabled:
        yield lambda doing: None
    elif _is_terminal():
        with _on_terminal(what) as shown:
            yield lambda doing: shown.name(f"{what} {doing}")
    else:
        with _in_lines(what) as lines:
            yield lines.step


def wanted(wish: bool | None) -> bool:
    """Return whether the argument ``progress`` of a Python function asks for any: None does in Jupyter."""
    return in_jupyter() if wish is None else bool(wish)


def in_jupyter() -> bool:
    """Return whether this is a Jupyter notebook that can show a bar, for which rich needs ipywidgets."""
    if "IPython" not in sys.modules:
        return False
    from importlib.util import find_spec

    from rich.console import Console

    return Console(stderr=True).is_jupyter and find_spec("ipywidgets") is not None


def _is_terminal() -> bool:
    return sys.stderr.isatty() or in_jupyter()


def _print(text: str) -> None:
    print(f"csaw: {text}", file=sys.stderr)


class _Bar(Progress):
    """A task of rich's: the name of the work or of what it waits for and, once something is counted, a bar, the rate
    and the time that is left.
    """

    def __init__(self, bar: "RichProgress", what: str) -> None:
        self.bar, self.task, self.what, self.unit = bar, bar.add_task(what, total=None, rate=""), what, ""
        self.hear(current())

    def name(self, what: str) -> None:
        self.what = what
        self.hear(current())

    def hear(self, stage: str) -> None:
        text = f"{self.what}: {stage}" if stage and not self.unit else stage or self.what
        self.bar.update(self.task, description=text)

    def begin(self, what: str, total: int, unit: str) -> None:
        self.what, self.unit = what, unit
        self.bar.reset(self.task, total=total or None)
        self.hear(current())

    def __call__(self, done: int) -> None:
        seconds = self.bar.tasks[0].elapsed or 1e-9
        self.bar.update(self.task, completed=done, rate=f"{done / seconds:,.0f} {self.unit}/s")


@contextmanager
def _on_terminal(what: str) -> Iterator[_Bar]:
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Columns

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(30),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Columns(*columns, console=Console(stderr=True), transient=True) as bar:
        shown = _Bar(bar, what)
        with hearing(shown.hear):
            yield shown


class _Lines(Progress):
    """Prints a line for what is counted, at most one in QUIET_SECONDS.

    It prints one as soon as kernels are compiled, and one for anything else that lasts as long.
    """

    def __init__(self, what: str) -> None:
        self.what, self.total, self.unit, self.said = what, 0, "", set[str]()
        self.stepped: dict[str, float] = {}
        self.timer: threading.Timer | None = None
        self.hear(current())

    def hear(self, stage: str) -> None:
        self.close()
        if stage == COMPILING:
            self.say(stage)
        elif stage and stage not in self.said:
            self.timer = threading.Timer(QUIET_SECONDS, self.say, (stage,))
            self.timer.daemon = True
            self.timer.start()

    def say(self, stage: str) -> None:
        if stage not in self.said:
            self.said.add(stage)
            _print(stage)

    def step(self, doing: str) -> None:
        """Print the step that begins. Steps of one kind differ by numbers behind a comma, such as those of instances
        and windows, of which there may be thousands: at most one in QUIET_SECONDS is printed. How far the step before
        was is said no more.
        """
        self.hear(current())
        head, _, numbered = doing.rpartition(", ")
        kind, now = head + DIGITS.sub("", numbered) if head else doing, time.monotonic()
        if now - self.stepped.get(kind, -QUIET_SECONDS) >= QUIET_SECONDS:
            self.stepped[kind] = now
            _print(f"{self.what} {doing}")

    def close(self) -> None:
        if self.timer is not None:
            self.timer.cancel()

    def begin(self, what: str, total: int, unit: str) -> None:
        self.what, self.total, self.unit = what, total, unit
        self.began = self.last = time.monotonic()

    def __call__(self, done: int) -> None:
        now = time.monotonic()
        if now - self.last >= QUIET_SECONDS:
            self.last = now
            share = f" of {self.total:,} ({100 * done / self.total:.0f} %)" if self.total else ""
            _print(f"{self.what}: {done:,}{share} {self.unit}, {done / (now - self.began):,.0f}/s")


@contextmanager
def _in_lines(what: str) -> Iterator[_Lines]:
    shown = _Lines(what)
    with hearing(shown.hear):
        try:
            yield shown
        finally:
            shown.close()
