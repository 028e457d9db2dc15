"""``-h``: the purpose of a command, an example, and the most used options, on one screen; ``--help`` has all."""

import inspect
from textwrap import fill, indent

import click

from csaw.cli import colors

USED_MOST = {
    "sample": (
        "algo",
        "sources",
        "instances",
        "seed",
        "directed",
        "weighted",
        "device",
        "memory",
        "resume",
        "overwrite",
        "dry_run",
    ),
    "partition": ("directed", "time_column", "duplicates", "partitions", "memory", "overwrite", "dry_run"),
    "evaluate": ("measures", "as_", "estimate", "directed", "memory", "device", "plot", "as_json"),
    "export": ("format", "overwrite"),
    "bench": ("suite", "only", "quick", "baseline", "json_file", "plot"),
}
ALGORITHMS = "Algorithms"
MOST = 6  # options of one algorithm


def with_short_help(command: click.Command) -> click.Command:
    """Add ``-h`` and bold headings to a command and its subcommands; return it."""
    command.context_class = colors.Context
    if not any("-h" in param.opts for param in command.params):
        command.params.append(
            click.Option(
                ["-h", "short_help"],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=_show,
                help="Show a short help and exit.",
            )
        )
    for below in getattr(command, "commands", {}).values():
        with_short_help(below)
    return command


def _show(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        most = USED_MOST.get(ctx.info_name or "")
        click.echo(_short(ctx, most) if most else ctx.get_help())
        ctx.exit()


def _short(ctx: click.Context, most: tuple[str, ...]) -> str:
    """The first sentence of a help, its first examples, and the most used options."""
    formatter = ctx.make_formatter()
    text, _, example = inspect.cleandoc(ctx.command.help or "").partition("\b\nExample:\n")
    own_examples = getattr(ctx.command, "examples", None)
    lines = own_examples(ctx) if own_examples else example.splitlines()
    ctx.command.format_usage(ctx, formatter)
    formatter.write(f"\n  {' '.join(text.split(chr(10) * 2)[0].split())}\n\n")
    formatter.write("".join(f"  {line.strip()}\n" for line in lines[: 1 if ctx.meta.get("csaw.algo") else 2]))
    own = _write_algorithms(ctx, formatter) if ctx.info_name == "sample" else ""
    with formatter.section("Most used options"):
        shown = [name for name in most if name != "algo" or ctx.meta.get("csaw.algo") is None]
        formatter.write_dl([record for name in shown if (record := _record(ctx, name))])
    formatter.write(f"\n{own or f'{ctx.command_path} --help: all options'}\n")
    return formatter.getvalue().rstrip("\n")


def _write_algorithms(ctx: click.Context, formatter: click.HelpFormatter) -> str:
    """Write the options of the algorithm that ``--algo`` names, or the names of all algorithms; return where to read
    more.
    """
    from csaw.cli.options import ALGORITHM, IN_TIME, class_of
    from csaw.engine.api import registry

    name = ctx.meta.get("csaw.algo")
    chosen = class_of(name)
    if chosen is None:
        with formatter.section(ALGORITHMS):
            names = fill(", ".join(registry.names()), formatter.width - 2, break_on_hyphens=False)
            formatter.write(indent(names, "  ") + "\n")
        return "csaw sample --help: all options; csaw sample --algo NAME --help: those of an algorithm"
    own = [key for key in chosen.options() if key not in IN_TIME][:MOST]
    with formatter.section(ALGORITHM.format(name)):
        formatter.write_dl([record for key in own if (record := _record(ctx, key))])
    return f"csaw sample --algo {name} --help: all options"


def _record(ctx: click.Context, name: str) -> tuple[str, str] | None:
    """An option with the first part of its meaning."""
    param = next((param for param in ctx.command.get_params(ctx) if param.name == name), None)
    record = param.get_help_record(ctx) if param is not None else None
    return (
        (record[0], record[1].partition(" [")[0].partition(". ")[0].partition("; ")[0].strip(" .")) if record else None
    )
