"""Commands whose help shows options under headings."""

from collections.abc import Mapping

import click


class GroupedCommand(click.Command):
    """A command whose help shows options under headings.

    ``place``: the position of a heading; ``rest``: the heading of options without one.
    """

    rest = ""

    def place(self, group: str) -> int:
        raise NotImplementedError

    def group_of(self, param: click.Parameter, ctx: click.Context) -> str:
        return getattr(param, "group", self.rest)

    def groups(self, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
        """Return the help of each option, under its heading, in the order of the headings."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            if not isinstance(param, click.Argument) and (record := param.get_help_record(ctx)) is not None:
                groups.setdefault(self.group_of(param, ctx), []).append(record)
        return {group: groups[group] for group in sorted(groups, key=self.place)}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for group, records in self.groups(ctx).items():
            with formatter.section(group):
                formatter.write_dl(records)


def in_groups(groups: Mapping[str, tuple[str, ...]], last: str) -> type[GroupedCommand]:
    """Return a kind of command that shows the parameters of these names under these headings, in this order.

    All others come under ``last``.
    """

    class InGroups(GroupedCommand):
        rest = last

        def group_of(self, param: click.Parameter, ctx: click.Context) -> str:
            return next((group for group, names in groups.items() if param.name in names), self.rest)

        def place(self, group: str) -> int:
            return [*groups, self.rest].index(group)

    return InGroups
