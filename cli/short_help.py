"""``-h``: the purpose of a command, an example, and the most used options, on one screen; ``--help`` has all."""

import inspect

import click

USED_MOST = {
    "sample": ("algo", "sources", "seed", "directed", "weighted", "edge_bias", "device", "memory", "dry_run"),
    "partition": ("directed", "time_column", "duplicates", "partitions", "memory", "overwrite", "dry_run"),
    "evaluate": ("measures", "as_", "estimate", "directed", "memory", "device", "plot", "as_json"),
    "export": ("format", "overwrite"),
    "bench": ("suite", "only", "quick", "baseline", "json_file", "plot"),
}
ALGORITHMS = "Algorithms"


def with_short_help(command: click.Command) -> click.Command:
    """The command with ``-h``, and those below it."""
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
    ctx.command.format_usage(ctx, formatter)
    formatter.write(f"\n  {' '.join(text.split(chr(10) * 2)[0].split())}\n\n")
    formatter.write("".join(f"  {line.strip()}\n" for line in example.splitlines()[:2]))
    if ctx.info_name == "sample":
        from csaw.engine.api import registry

        with formatter.section(ALGORITHMS):
            formatter.write_text(", ".join(registry.names()))
    with formatter.section("Most used options"):
        formatter.write_dl([record for name in most if (record := _record(ctx, name))])
    own = "; csaw sample --algo NAME --help: those of an algorithm" if ctx.info_name == "sample" else ""
    formatter.write(f"\n{ctx.command_path} --help: all options{own}\n")
    return formatter.getvalue().rstrip("\n")


def _record(ctx: click.Context, name: str) -> tuple[str, str] | None:
    """An option with the first sentence of its meaning."""
    param = next((param for param in ctx.command.get_params(ctx) if param.name == name), None)
    record = param.get_help_record(ctx) if param is not None else None
    return (record[0], record[1].partition(" [")[0].partition(". ")[0].strip(" .")) if record else None
