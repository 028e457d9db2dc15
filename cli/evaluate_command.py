"""The command ``csaw evaluate`` as click has it: with the options of an evaluation and of all measures."""

from collections.abc import Iterable
from itertools import pairwise

import click

from csaw.cli.grouped import GroupedCommand
from csaw.cli.options import made_option
from csaw.engine.analytics import measure
from csaw.engine.analytics.evaluation.options import WHAT, WHERE, options
from csaw.partition.errors import CsawError

MEASURES, OUTPUT = "Options of measures", "Output"


class EvaluateCommand(GroupedCommand):
    """A command with the options of an evaluation and of all measures."""

    rest = OUTPUT

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta["csaw.measures"], failed = _own_measures(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption:
            if failed:  # the option may be of the class that could not be loaded
                raise failed from None
            raise

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        declared = [made_option(name, one, one.group) for name, one in options().items()]
        given = [*super().get_params(ctx), *declared]
        return [*given, *_of_measures(ctx.meta.get("csaw.measures", ()), {param.name for param in given})]

    def group_of(self, param: click.Parameter, ctx: click.Context) -> str:
        return WHERE if param.name == "cluster" else super().group_of(param, ctx)

    def place(self, group: str) -> int:
        return (WHAT, MEASURES, WHERE, OUTPUT).index(group)


def _own_measures(args: list[str]) -> tuple[list[type[measure.Measure]], CsawError | None]:
    """The custom classes among the measures, read before click parses the options, which depend on them.

    Classes that cannot be loaded are left out, because the error comes when they are measured. The first such error is
    returned too: options may be missing because of it.
    """
    given = [word.partition("=")[2] or following for word, following in pairwise([*args, ""]) if _names_measures(word)]
    found, failed = [], None
    for name in (name.strip() for text in given for name in text.split(",") if ".py" in name):
        from csaw.engine.analytics.evaluation.options import kind_of

        try:
            one = kind_of(name)
        except CsawError as error:
            failed = failed or error
            continue
        if isinstance(one, type):
            found.append(one)
    return found, failed


def _names_measures(word: str) -> bool:
    return word.partition("=")[0] in ("--measures", "--save")


def _of_measures(own: Iterable[type[measure.Measure]], taken: set[str | None]) -> list[click.Parameter]:
    owners: dict[str, list[str]] = {}
    found = {}
    for kind in (*map(measure.find, measure.names()), *own):
        for key, one in kind.options().items():
            if key not in taken:
                found[key] = one
                owners.setdefault(key, []).append(kind.name())
    return [made_option(key, one, MEASURES, owners[key]) for key, one in found.items()]
