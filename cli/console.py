"""How commands print: as JSON, in a few lines, in all detail, or not at all; and checks of files that they write."""

import json
import logging
import math
import os
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, TypeVar

import click

from csaw.cli import colors
from csaw.partition.base.plain_data import json_value
from csaw.partition.base.quoting import printable
from csaw.partition.base.timeline import Timeline, process_start

if TYPE_CHECKING:
    from csaw.partition.base.progress import Progress

Command = TypeVar("Command", bound=Callable[..., object])
VERBOSE, QUIET = "verbose", "quiet"
BEGAN = process_start()


class CurrentStderr(logging.StreamHandler[TextIO]):
    """Writes to what is standard error at the moment: above a progress bar, while there is one."""

    @property
    def stream(self) -> TextIO:
        return sys.stderr

    @stream.setter
    def stream(self, _: TextIO) -> None: ...

    def format(self, record: logging.LogRecord) -> str:
        text = printable(super().format(record))
        return colors.warning(text) if record.levelno >= logging.WARNING else text


def quiet(command: Command) -> Command:
    """Give a command the option ``--quiet``, for :func:`is_quiet`, and ``--profile``."""
    said = "Print only errors, and requested output such as --json."
    add = click.option("-q", "--quiet", is_flag=True, expose_value=False, callback=_set, help=said)
    return add(_profile(command))


def _profile(command: Command) -> Command:
    said = "Write a timeline of the command to FILE, a Chrome trace, which ui.perfetto.dev shows."
    add = click.option(
        "--profile",
        type=click.Path(dir_okay=False),
        metavar="FILE",
        is_eager=True,
        expose_value=False,
        callback=_begin_profile,
        help=said,
    )
    return add(command)


def _begin_profile(ctx: click.Context, _: click.Parameter, path: str | None) -> None:
    if path is None or ctx.resilient_parsing:
        return
    if path in ("", "-"):
        raise click.UsageError(f"--profile: expected the name of a file, found {path!r}")
    try:
        file = open(path, "x")  # noqa: SIM115 - closed with the command
    except FileExistsError:
        raise click.UsageError(f"--profile: {printable(path)} is there already; choose another name") from None
    timeline = Timeline()

    def end() -> None:
        timeline.end()
        with file:
            timeline.write(file)
            if not os.path.exists(path) or not os.path.samestat(os.stat(path), os.fstat(file.fileno())):
                logging.getLogger("csaw").warning(
                    "--profile: %s was replaced while the command ran; choose another name", path
                )

    ctx.find_root().call_on_close(end)
    timeline.begin()


def tones(what: str) -> Callable[[Command], Command]:
    """Give a command ``--quiet``, and ``--verbose`` for :func:`is_verbose`, which prints ``what``."""
    said = f"Print {what}."
    verbose = click.option("-v", "--verbose", is_flag=True, expose_value=False, callback=_set, help=said)
    return lambda command: verbose(quiet(command))


def _set(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
    if not wanted:
        return
    if ctx.meta.setdefault("csaw.tone", param.name) != param.name:
        raise click.UsageError("--verbose and --quiet exclude each other; give only one of them")
    if param.name == QUIET:
        logging.getLogger().setLevel(logging.ERROR)


def _tone() -> str | None:
    ctx = click.get_current_context(silent=True)
    return None if ctx is None else ctx.meta.get("csaw.tone")


def is_verbose() -> bool:
    return _tone() == VERBOSE


def is_quiet() -> bool:
    return _tone() == QUIET


def say(*lines: str, err: bool = False) -> None:
    """Print lines, except empty ones, unless ``--quiet`` was given."""
    if not is_quiet():
        for line in filter(None, lines):
            click.echo(printable(line), err=err)


def warn(*lines: str) -> None:
    """Print warnings on standard error, unless ``--quiet`` was given."""
    if not is_quiet():
        for line in lines:
            click.echo(colors.warning(printable(f"csaw: {line}")), err=True)


def progress(what: str, enabled: bool = True) -> AbstractContextManager["Progress"]:
    """Show the progress of ``what``, unless ``--quiet`` was given."""
    from csaw.partition.base.progress import progress

    return progress(what, enabled=enabled and not is_quiet())


def elapsed() -> float:
    """Seconds since Python was started for csaw."""
    return time.perf_counter() - BEGAN


def print_json(value: object, err: bool = False) -> None:
    click.echo(json.dumps(_finite(value), indent=2, default=json_value, allow_nan=False), err=err)


def _finite(value: object) -> object:
    """The value with None for each float that JSON has no number for."""
    if isinstance(value, Mapping):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def check_folder(file: str, option: str) -> None:
    """Refuse a ``file`` that could not be written at the end: BadParameter if its folder is missing, OptionError if it
    is inside a store.
    """
    from csaw.partition.arrays.replace import check_name

    if file != "-" and not Path(file).absolute().parent.is_dir():
        raise click.BadParameter(f"{Path(file).parent} is not a directory; make it first", param_hint=option)
    if file != "-":
        check_name(Path(file))
        if not os.access(Path(file).absolute().parent, os.W_OK):
            raise click.BadParameter(f"{Path(file).parent} is a directory that you cannot write to", param_hint=option)
