"""What commands print: progress on stderr, JSON on stdout."""

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

QUIET_SECONDS = 2.0  # between plain progress lines


@contextmanager
def progress(what: str, total: int, unit: str, enabled: bool = True) -> Iterator[Callable[[int], None]]:
    """``update(done_so_far)``: a bar on a terminal, plain lines elsewhere, nothing when not enabled."""
    if not enabled:
        yield lambda done: None
    elif sys.stderr.isatty():
        yield from _bar(what, total, unit)
    else:
        yield _lines(what, total, unit)


def _bar(what: str, total: int, unit: str) -> Iterator[Callable[[int], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[rate]}"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task, began = bar.add_task(what, total=total, rate=""), time.monotonic()

        def update(done: int) -> None:
            bar.update(task, completed=done, rate=f"{done / max(time.monotonic() - began, 1e-9):,.0f} {unit}/s")

        yield update


def _lines(what: str, total: int, unit: str) -> Callable[[int], None]:
    began = last = time.monotonic()

    def update(done: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= QUIET_SECONDS:
            last = now
            share = f" of {total:,} ({100 * done / total:.0f} %)" if total else ""
            click.echo(f"csaw: {what}: {done:,}{share} {unit}, {done / (now - began):,.0f}/s", err=True)

    return update


def print_json(value: Any) -> None:
    click.echo(json.dumps(value, indent=2, default=str))


def check_folder(file: str, option: str) -> None:
    """Refuse a ``file`` that could not be written at the end: BadParameter where its folder is missing, OptionError inside a store."""
    from csaw.partition.replace import check_name

    if file != "-" and not Path(file).absolute().parent.is_dir():
        raise click.BadParameter(f"{Path(file).parent} is not a directory; make it first", param_hint=option)
    if file != "-":
        check_name(Path(file))
