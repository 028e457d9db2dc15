"""``csaw``: the command group. A command is a file of the folder ``commands`` and loads when it is called."""

import errno
import logging
import os
import pkgutil
import sys
import threading
from importlib import import_module
from pathlib import Path

import click

from csaw.cli import colors
from csaw.cli.short_help import with_short_help
from csaw.partition.base.kernel_time import refuse_settings
from csaw.partition.base.parallel import NAME
from csaw.partition.base.python_names import in_words
from csaw.partition.base.quoting import meant, printable, shown
from csaw.partition.base.version import VERSION
from csaw.partition.errors import CsawError

COMMANDS = Path(__file__).with_name("commands")
GONE = "the current folder has been removed; change to another folder and run the command again"
OUT_OF_MEMORY = (
    "out of memory; set --memory below the free memory, or raise the limit of ulimit -v to 2 GiB more than that"
)
LACKS_MEMORY = ("can't start new thread", "failed to map segment", "annot allocate memory")
"""What Python and the system say of threads and libraries for which there is no memory."""
PURPOSES = {
    "Draw": ("sample", "refresh", "seal", "algorithms"),
    "Inspect": ("info", "verify", "evaluate"),
    "Data": ("partition", "append", "compact", "export", "datasets"),
    "Machine": ("bench", "completion"),
}
WHOLE = 500  # characters: more than any first sentence has
PATIENCE = 0.7  # seconds for threads that end by themselves, once interrupted


class Lazy(click.Group):
    """Finds commands by file name, so that ``csaw --help`` imports only click."""

    def invoke(self, ctx: click.Context) -> object:
        from csaw.partition.base.python_names import COMMAND_LINE

        token = COMMAND_LINE.set(True)
        try:
            return super().invoke(ctx)
        finally:
            COMMAND_LINE.reset(token)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(module.name for module in pkgutil.iter_modules([str(COMMANDS)]))

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self.list_commands(ctx):
            return None
        return with_short_help(getattr(import_module(f"csaw.cli.commands.{name}"), name))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; an error about an unknown name suggests a similar one."""
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            raise click.UsageError(f"No such command {name!r}{meant(name, self.list_commands(ctx))}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by purpose, each with the first sentence of its help."""
        for purpose, names in PURPOSES.items():
            with formatter.section(purpose):
                found = ((name, self.get_command(ctx, name)) for name in names)
                formatter.write_dl([(name, command.get_short_help_str(WHOLE)) for name, command in found if command])


@click.group(cls=Lazy, context_settings={"help_option_names": ["--help"], "show_default": True})
@click.version_option(VERSION, "-V", "--version", prog_name="csaw")
@click.option(
    "--man",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda ctx, _, wanted: _manual(ctx) if wanted else None,
    help="Print the manual page for man -l - and exit.",
)
def cli() -> None:
    """Exact, reproducible, durable samples of huge graphs.

    \b
    Example:
        csaw partition web-Google.txt.gz web.zarr
        csaw sample web.zarr walks.zarr --algo node2vec --p 0.5 --q 2
    """
    from csaw.cli.console import CurrentStderr

    logging.basicConfig(level=logging.INFO, format="csaw: %(message)s", handlers=[CurrentStderr()])
    logging.getLogger().setLevel(logging.INFO)  # --quiet raises it for one command


with_short_help(cli)


def _manual(ctx: click.Context) -> None:
    from csaw.cli.manual import page

    click.echo(page(cli.make_context("csaw", [], resilient_parsing=True)), nl=False)
    ctx.exit()


def main() -> None:
    """Run, and turn each error that a user can cause into one line: exit status 1, 2 for wrong use, or 130 after
    Ctrl-C.

    Some errors about wrong use come from click, which also prints the usage.
    """
    try:
        refuse_settings()
        code = cli.main(standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Abort as abort:  # click raises it for Ctrl-C; its cause may say how to go on
        said = str(abort.__cause__ or abort.__context__ or "")
        _leave(f"interrupted{': ' + said if said else ''}")
    except click.ClickException as error:
        colors.show(_no_such_option(error) if isinstance(error, click.NoSuchOption) else error)
        sys.exit(error.exit_code)
    except CsawError as error:
        from csaw.datasets.resolve import remedy

        _fail(f"{in_words(error)}{remedy(error)}", error.exit_status)
    except BrokenPipeError:
        _drop_output()
        sys.exit(1)
    except RecursionError:
        _fail("the input is nested more deeply than anything that csaw writes; do not use that store or file", 1)
    except MemoryError:
        _fail(OUT_OF_MEMORY, 1)
    except (RuntimeError, ImportError, SystemError) as error:
        if not any(said in str(error) for said in LACKS_MEMORY):
            raise
        _fail(OUT_OF_MEMORY, 1)
    except OSError as error:
        _drop_output()
        what = f"{error.strerror or error}{_where_room_is_needed(error)}"
        _fail(GONE if _is_folder_gone() else f"{shown(str(error.filename or 'input or output'))}: {what}", 1)
    sys.exit(code if isinstance(code, int) else 0)


def _no_such_option(error: click.NoSuchOption) -> click.UsageError:
    """The error with the csaw option that is probably meant, instead of click's suggestions by spelling."""
    params = error.ctx.command.get_params(error.ctx) if error.ctx is not None else []
    question = meant(error.option_name, [flag for param in params for flag in param.opts])
    return click.UsageError(f"No such option {error.option_name!r}{question or '.'}", error.ctx)


def _is_folder_gone() -> bool:
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False


def _drop_output() -> None:
    """Discard what could not be printed.

    Otherwise Python tries to print it again at exit, and exits with its own status.
    """
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _where_room_is_needed(error: OSError) -> str:
    from csaw.partition.base.cache import cache_dir

    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"; make room for the output and for the cache {cache_dir()} (CSAW_CACHE_DIR moves it)"
    is_kept = Path(os.path.abspath(error.filename or "/")).is_relative_to(os.path.abspath(cache_dir()))
    return "; it is in csaw's cache, which CSAW_CACHE_DIR moves" if is_kept else ""


def _leave(message: str) -> None:
    """End with status 130.

    Does not wait for threads that are still working: a custom hook may never end.
    """
    others = [t for t in threading.enumerate() if t is not threading.main_thread()]
    at_work = [t for t in others if not t.daemon or t.name == NAME]
    for thread in at_work:
        thread.join(PATIENCE / len(at_work))
    if not any(thread.is_alive() for thread in at_work):
        _fail(message, 130)
    click.echo(colors.error(f"Error: {printable(message)}"), err=True)
    sys.stdout.flush()
    os._exit(130)


def _fail(message: str, code: int) -> None:
    click.echo(colors.error(f"Error: {printable(message)}"), err=True)
    sys.exit(code)
