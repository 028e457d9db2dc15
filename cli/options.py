"""The options of ``csaw sample``, made from those that the engine declares, with help in groups.

The engine declares options for a run and for algorithms.
"""

import inspect
from collections.abc import Iterator
from dataclasses import replace
from textwrap import wrap
from typing import TYPE_CHECKING

import click

from csaw.cli import values
from csaw.cli.complete import OF_OPTIONS
from csaw.cli.grouped import GroupedCommand
from csaw.cli.sample_examples import examples
from csaw.engine.api import registry
from csaw.engine.api.option import NONE, OF_NAMES, Bytes, Fanout, Option, PerType, flag_of
from csaw.engine.plan.options import BASELINES, OUTPUT, RUN, SAMPLE, options
from csaw.partition.base.plain_data import OptionValue, Values
from csaw.partition.errors import CsawError

if TYPE_CHECKING:
    from csaw.engine.api.algorithm import Algorithm

ALGORITHM = "Options of {}"
EACH = "Algorithms, and the options of each, which --algo NAME --help explains"
EXAMPLE = "\b\nExample:\n"
Options = Values
TYPES: dict[type, click.ParamType] = {int: click.INT, float: click.FLOAT, tuple: values.Integers()}
SWITCHES = {"weighted": "--weighted/--unweighted"}  # options whose opposite has a name of its own
BESIDE = 34  # columns that click takes for the left side of a list
MANY = 4  # algorithms that share an option: from so many on, its help does not list them
OF = "Of "  # begins the words of some of the algorithms that share an option
SPREAD = ("cluster", "shard")
IN_TIME = ("time_strategy", "start_time", "time_order", "time_window")  # that all neighbors in time share
LAST = ("virtual", "resume", "overwrite", "dry_run", "as_json", "verbose", "quiet", "profile", "short_help", "help_all")


class Grouped(click.Option):
    """An option with the heading under which the help shows it."""

    def __init__(self, *names: str, group: str, **how: OptionValue) -> None:
        super().__init__(list(names), **how)
        self.group = group


class SampleCommand(GroupedCommand):
    """A command with the options of a run and of algorithms. If ``--algo`` names an algorithm, shipped or custom, only
    its options are shown.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta["csaw.algo"] = _algo(args)
        ctx.meta["csaw.words"] = list(args)  # click takes them from the list
        return super().parse_args(ctx, args)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Arguments, ``--algo`` and its options, then those of the run.

        Options of other algorithms are hidden, so that an error can name them.
        """
        given = super().get_params(ctx)
        taken = {param.name for param in given} | options().keys()
        chosen, name = class_of(ctx.meta.get("csaw.algo")), ctx.meta.get("csaw.algo")
        own = chosen.options() if chosen else {}
        made = [made_option(key, one, ALGORITHM.format(name)) for key, one in own.items() if key not in taken]
        for key, (one, owners) in _of_all().items():
            if key not in own and key not in taken:
                made.append(made_option(key, one, ALGORITHM.format("algorithms"), owners, hidden=chosen is not None))
        made += [made_option(key, one, one.group) for key, one in options().items()]
        made += [made_option(one.alias, one, one.group, hidden=True) for one in options().values() if one.alias]
        return [*given[:3], *made, *given[3:]]

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the first sentence, the options of the algorithm, and then the rest of the text.

        If no algorithm is named, list the options of each.
        """
        name = ctx.meta.get("csaw.algo")
        chosen = class_of(name)
        first, _, rest = inspect.cleandoc(self.help or "").partition("\n\n")
        _write(formatter, first if chosen is None else f"{first.removesuffix('.')} by {name}{_paper(chosen)}.")
        if chosen is None:
            with formatter.section(EACH):
                formatter.write_dl(_taken(formatter.width))
        else:
            _write(formatter, inspect.cleandoc(chosen.__doc__ or "").partition("\n\n")[0])
            with formatter.section(ALGORITHM.format(name)):
                formatter.write_dl(self.groups(ctx).get(ALGORITHM.format(name), [("none", "It has no options.")]))
        rest, mark, _ = rest.partition(EXAMPLE)
        _write(formatter, rest + mark + "\n".join(f"    {line}" for line in self.examples(ctx)))

    def examples(self, ctx: click.Context) -> list[str]:
        """The examples of the help, for the algorithm that ``--algo`` names."""
        lines = inspect.cleandoc(self.help or "").partition(EXAMPLE)[2].splitlines()
        name = str(ctx.meta.get("csaw.algo"))
        chosen = class_of(name)
        return [line.strip() for line in lines] if chosen is None else examples(lines, chosen, name)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        shown = {group for group in self.groups(ctx) if self.place(group)}  # those of algorithms stand above
        if not ctx.meta.get("csaw.help_all"):
            shown -= {BASELINES}
        for group, records in self.groups(ctx).items():
            if group in shown:
                with formatter.section(group):
                    formatter.write_dl(records)

    rest = SAMPLE

    def group_of(self, param: click.Parameter, ctx: click.Context) -> str:
        if param.name in SPREAD:
            return RUN
        last = param.name in LAST or param is self.get_help_option(ctx)
        return OUTPUT if last else super().group_of(param, ctx)

    def place(self, group: str) -> int:
        order = (RUN, OUTPUT, BASELINES)
        return order.index(group) + 2 if group in order else int(group == SAMPLE)


def help_all(command: values.Command) -> values.Command:
    """Give a command ``--help-all``, which also shows the options that ``--help`` leaves out."""
    said = "Show this message with the baselines of papers, which are options for comparisons, and exit."
    add = click.option("--help-all", is_flag=True, is_eager=True, expose_value=False, callback=_show_all, help=said)
    return add(command)


def _show_all(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        ctx.meta["csaw.help_all"] = True
        click.echo(ctx.get_help())
        ctx.exit()


def command_line() -> list[str]:
    """The words after ``csaw sample``, as the user has given them."""
    return list(click.get_current_context().meta["csaw.words"])


def _write(formatter: click.HelpFormatter, text: str) -> None:
    formatter.write_paragraph()
    with formatter.indentation():
        formatter.write_text(text)


def _taken(width: int) -> list[tuple[str, str]]:
    """Names of algorithms with their options, walks first. Algorithms with the same options share a row; the options of
    neighbors in time are the last row.

    No option is cut at its hyphens.
    """
    from csaw.engine.api.bases import InTime

    kinds = sorted(map(registry.find, registry.names()), key=lambda kind: (kind.layout != "walks", kind.layout))
    together: dict[tuple[str, ...], list[str]] = {}
    for kind in kinds:
        apart = IN_TIME if issubclass(kind, InTime) else ()
        together.setdefault(tuple(flag_of(key) for key in kind.options() if key not in apart), []).append(kind.name())
    rows = [(", ".join(those), flags) for flags, those in together.items()]
    rows.append((", ".join(kind.name() for kind in kinds if issubclass(kind, InTime)), tuple(map(flag_of, IN_TIME))))
    return [
        (names, "\n".join(("\b", *wrap(" ".join(flags), max(width - BESIDE, 20), break_on_hyphens=False))))
        for names, flags in rows
    ]


def _algo(args: list[str]) -> str | None:
    """The value of ``--algo``, read before click parses it, because help and options depend on it."""
    found = None
    for number, word in enumerate(args):
        if word == "--algo" and number + 1 < len(args):
            found = args[number + 1]
        elif word.startswith("--algo="):
            found = word.removeprefix("--algo=")
    return found


def _paper(chosen: type["Algorithm"]) -> str:
    """The paper of an algorithm in brackets; empty if it names none, as custom ones do."""
    return f" ({chosen.paper})" if chosen.paper else ""


def class_of(name: str | None) -> "type[Algorithm] | None":
    """The algorithm's class; None if there is none, because the error comes when the job is prepared."""
    if name is None:
        return None
    try:
        return registry.find(name)
    except CsawError:
        return None


def _of_all() -> dict[str, tuple[Option, list[str]]]:
    """Every option of the shipped algorithms, with the names of the algorithms that have it."""
    found: dict[str, dict[str, Option]] = {}
    for name in registry.names():
        for key, one in registry.find(name).options().items():
            found.setdefault(key, {})[name] = one
    return {key: (_shared(each), list(each)) for key, each in found.items()}


def _shared(each: dict[str, Option]) -> Option:
    """One option that stands for an option of several algorithms: without default and range if these differ, and with
    the help of all.
    """
    first, *others = each.values()
    if any((one.default, one.interval) != (first.default, first.interval) for one in others):
        first = replace(first, default=None, low=None, high=None)
    meanings: dict[str, list[str]] = {}
    for name, one in each.items():
        meanings.setdefault(one.help, []).append(name)
    if len(meanings) == 1:
        return first
    most = sorted(meanings.items(), key=lambda said: -len(said[1]))
    if any(one.kind is Fanout for one in others):
        first = replace(first, kind=Fanout)
    return replace(
        first, help=". ".join(text if len(of) >= MANY else f"{OF}{', '.join(of)}: {text}" for text, of in most)
    )


def made_option(name: str, one: Option, group: str, owners: list[str] | None = None, hidden: bool = False) -> Grouped:
    """The option for click.

    Only the engine checks its value, so Python and the command line give the same errors.
    """
    flag = flag_of(name)
    how: Options = {"group": group, "hidden": hidden, "default": None, "shell_complete": OF_OPTIONS.get(name)}
    if one.kind is bool:
        flag = SWITCHES.get(name, f"{flag}/--no-{flag[2:]}")
    elif one.choices:
        how["type"] = click.Choice([str(choice) for choice in one.choices])
    elif one.kind in (Fanout, PerType):
        how |= {"multiple": True, "callback": _joined, "type": values.Fanout()}
    else:
        kind = click.STRING if one.reads else TYPES.get(one.kind, click.STRING)
        how["type"] = values.OrNone(kind) if one.none else kind
        read = f"{one.reads.upper()}{'|NONE' * bool(one.none)}" if one.reads else None
        how["metavar"] = "SIZE" if one.kind is Bytes else read
    return Grouped(flag, name, help=f"{help_of(one, owners)}.", **how)


def _joined(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> str | None:
    """The numbers of all relations, or of all types, as one value. UsageError for several that are not all of some."""
    if len(given) > 1 and not all("=" in one for one in given):
        kind = "relation" if param.name == "fanout" else "type"
        raise click.UsageError(
            f"{param.opts[0]}: expected numbers once, or {kind.upper()}=NUMBERS for each {kind}, found "
            f"{' and '.join(given)}"
        )
    return OF_NAMES.join(given) or None


def help_of(one: Option, owners: list[str] | None = None) -> str:
    """The help of an option, with its default, its range and, if only few algorithms have it, their names."""
    text, _, said = one.help.partition(" [default: ")
    notes = [f"default: {said.removesuffix(']')}"] if said else []
    if one.default is not None and not said:
        shown = ",".join(map(str, one.default)) if isinstance(one.default, tuple) else one.default
        notes.append(f"default: {('off', 'on')[shown] if isinstance(shown, bool) else shown}")
    elif one.none and not said and not owners:
        notes.append(f"default: {NONE}")
    if one.interval:
        notes.append(one.interval)
    owned = f" ({', '.join(owners)})" if owners and len(owners) < MANY and OF not in one.help else ""
    return f"{text[:1].upper()}{text[1:]}" + (f" [{'; '.join(notes)}]" if notes else "") + owned


def given(options: Options) -> Iterator[tuple[str, object]]:
    """The options that were given; the engine chooses the values of the others."""
    return ((name, value) for name, value in options.items() if value is not None)
