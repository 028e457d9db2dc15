"""A stage in a line: of a terminal as wide as that is, or of a file."""

from csaw.partition.base.sizes import format_size, short
from csaw.partition.base.stages import Stage

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
