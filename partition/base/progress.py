"""Progress on standard error: on a terminal and in Jupyter a line that changes, with a bar for what can be counted;
plain lines elsewhere.
"""

import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from csaw.partition.base import stages
from csaw.partition.base.stages import COMPILING, Stage, hearing

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import ProgressColumn
from csaw.partition.base.quoting import format_size, short

QUIET_SECONDS = 2.0  # between plain progress lines
SPINNER = 2  # columns
DIGITS = re.compile("[0-9]+")
Update = Callable[[int], None]
Wish = bool | Callable[[int, int], None] | None
Progress = Stage
"""A work that is shown: call it with the number that is done so far; ``begin`` goes over to another part of it."""


@contextmanager
def progress(what: str, total: int = 0, unit: str = "", enabled: bool = True) -> Iterator[Progress]:
    """Show that ``what`` is being done, how far it is, and what it waits for; nothing when not enabled.

    A ``unit`` counts it, as ``Progress.begin`` does, which may be called later instead.
    """
    if not enabled:
        yield Stage(what, total, unit)
        return
    with Stage(what) as shown, _display(shown):
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
        return
    with Stage(what) as shown, _display(shown) as display:

        def update(doing: str) -> None:
            shown.begin(f"{what} {doing}")
            display.step(doing)

        yield update


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
    return (sys.stderr is not None and sys.stderr.isatty()) or in_jupyter()


def _print(text: str) -> None:
    if sys.stderr is not None:  # of a daemon, which has none
        print(f"csaw: {text}", file=sys.stderr)


class _Display:
    """Shows the current stage of a command, which is the stage ``command`` itself where it has no other."""

    def __init__(self, command: Stage) -> None:
        self.command = command

    def step(self, doing: str) -> None:
        """Say that the command begins to do this."""


def _display(command: Stage) -> AbstractContextManager[_Display]:
    return _on_terminal(command) if _is_terminal() else _in_lines(command)


@contextmanager
def _on_terminal(command: Stage) -> Iterator[_Display]:
    from rich.console import Console
    from rich.progress import Progress as Columns
    from rich.progress import SpinnerColumn

    console = Console(stderr=True)
    with Columns(SpinnerColumn(), _column(console), console=console, transient=True) as bar:
        bar.add_task("")
        yield _Display(command)


def _column(console: "Console") -> "ProgressColumn":
    """A column of rich's, which shows the stage that is current when it is drawn."""
    from rich.progress import ProgressColumn
    from rich.text import Text

    class Column(ProgressColumn):
        def render(self, task: object) -> Text:
            now = stages.current()
            return Text(line(now, console.width - SPINNER) if now else "", no_wrap=True, end="")

    return Column()


class _Lines(_Display):
    """Prints a line for what is counted, at most one in QUIET_SECONDS.

    It prints one as soon as kernels are compiled, and one for anything else that lasts as long.
    """

    def __init__(self, command: Stage) -> None:
        super().__init__(command)
        self.now: Stage | None = None
        self.name, self.last, self.said = "", 0.0, set[str]()
        self.stepped: dict[str, float] = {}
        self.timer: threading.Timer | None = None

    def hear(self, now: Stage) -> None:
        if now is not self.now or now.name != self.name:
            self._begin(now)
        elif now.done:
            self._count(now)

    def _begin(self, now: Stage) -> None:
        self.close()
        self.now, self.name, self.last = now, now.name, time.monotonic()
        if now is self.command:
            return  # whoever has typed it knows
        if now.name == COMPILING:
            self.say(now.heading)
        elif now.heading not in self.said:
            self.timer = threading.Timer(QUIET_SECONDS, self.say, (now.heading,))
            self.timer.daemon = True
            self.timer.start()

    def _count(self, now: Stage) -> None:
        moment = time.monotonic()
        if moment - self.last >= QUIET_SECONDS:
            self.last = moment
            self.close()
            self.said.add(now.heading)
            _print(plain(now))

    def say(self, heading: str) -> None:
        if heading not in self.said:
            self.said.add(heading)
            _print(heading)

    def step(self, doing: str) -> None:
        """Print the step that begins. Steps of one kind differ by numbers behind a comma, such as those of instances
        and windows, of which there may be thousands: at most one in QUIET_SECONDS is printed.
        """
        head, _, numbers = doing.rpartition(", ")
        kind, now = head + DIGITS.sub("", numbers) if head else doing, time.monotonic()
        if now - self.stepped.get(kind, -QUIET_SECONDS) >= QUIET_SECONDS:
            self.stepped[kind] = now
            _print(self.command.heading)

    def close(self) -> None:
        if self.timer is not None:
            self.timer.cancel()


@contextmanager
def _in_lines(command: Stage) -> Iterator[_Display]:
    shown = _Lines(command)
    with hearing(shown.hear):
        try:
            yield shown
        finally:
            shown.close()


# A stage in a line: of a terminal as wide as that is, or of a file.

BYTES = "bytes"
BAR, LEAST_BAR = 30, 8  # columns
NARROW = 60  # columns: with fewer, one blank parts what is said


def line(stage: Stage, width: int) -> str:
    """The stage in at most ``width`` columns: its name and its share first, then as much else as has room."""
    share = f"{100 * stage.done // stage.total} %" if stage.total else ""
    gap = " " if width < NARROW else "  "
    parts = {"bar": "", "share": share, "amount": _amount(stage), "rate": _rate(stage), "time": _time(stage)}
    needed = ["share"] if share else ["time"] if not stage.unit else []
    heading = _cut(stage.heading, width - sum(len(parts[name]) + len(gap) for name in needed))
    free = width - len(heading) - sum(len(parts[name]) + len(gap) for name in needed)
    shown = set(needed)
    for name in ("time", "rate", "amount"):
        if name not in shown and parts[name] and len(parts[name]) + len(gap) <= free:
            shown.add(name)
            free -= len(parts[name]) + len(gap)
    if share and free >= LEAST_BAR + len(gap):
        parts["bar"] = _bar(stage.done / stage.total, min(free - len(gap), BAR))
        shown.add("bar")
    return gap.join([heading, *(text for name, text in parts.items() if name in shown)])


def plain(stage: Stage) -> str:
    """The stage and its count for a file."""
    share = f" ({100 * stage.done / stage.total:.0f} %)" if stage.total else ""
    if stage.unit == BYTES:
        return f"{stage.heading}: {_amount(stage)}{share}, {_rate(stage)}"
    of = f" of {stage.total:,}" if stage.total else ""
    return f"{stage.heading}: {stage.done:,}{of}{share} {stage.unit}, {_speed(stage):,.0f}/s"


def _speed(stage: Stage) -> float:
    return stage.done / max(stage.seconds, 1e-9)


def _amount(stage: Stage) -> str:
    if not stage.unit:
        return ""
    if stage.unit == BYTES:
        return f"{format_size(stage.done)}{f' of {format_size(stage.total)}' if stage.total else ''}"
    return f"{stage.done:,}{f' of {stage.total:,}' if stage.total else ''} {stage.unit}"


def _rate(stage: Stage) -> str:
    """Units a second; empty before the first."""
    if not stage.unit or not stage.done:
        return ""
    rate = _speed(stage)
    return (
        f"{format_size(round(rate))}/s" if stage.unit == BYTES else f"{short(rate, stage.unit.partition(' of ')[0])}/s"
    )


def _time(stage: Stage) -> str:
    """The time that is left where a rate says it, and otherwise that since the stage began."""
    if stage.total and stage.done:
        return f"{_clock((stage.total - stage.done) * stage.seconds / stage.done)} left"
    return _clock(stage.seconds)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(max(0, round(seconds)), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def _cut(name: str, width: int) -> str:
    return name if len(name) <= width else name[: max(0, width - 1)] + "\u2026"


def _bar(share: float, width: int) -> str:
    filled = min(width, int(share * width))
    return "\u2501" * filled + "\u2500" * (width - filled)
