"""The description of every command, for the manual page and for the site, from the declarations of the options."""

import inspect
import re
from collections.abc import Iterator

import click

from csaw.cli.grouped import GroupedCommand
from csaw.partition.base.version import VERSION

STATUSES = {
    "0": "Done.",
    "1": "An error, printed as one line on standard error.",
    "2": "A command line that cannot be understood.",
    "3": "csaw verify: a check failed, or nothing of the law was tested.",
    "4": "csaw bench: something is slower than --baseline.",
    "130": "Interrupted by Ctrl-C.",
}
ENVIRONMENT = {
    "CSAW_CACHE_DIR": (
        "Folder for what csaw can make again: machine code, graphs of text files and datasets, profiles. The "
        "default is ~/.cache/csaw."
    ),
    "_CSAW_COMPLETE": (
        "bash_source, zsh_source or fish_source: csaw prints the script that has the shell complete its commands."
    ),
}


def commands(context: click.Context) -> Iterator[click.Context]:
    """Yield a context for every command below the group of a context."""
    group = context.command
    assert isinstance(group, click.Group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        below = click.Context(command, parent=context, info_name=name, **command.context_settings)
        yield from commands(below) if isinstance(command, click.Group) else (below,)


def usage(context: click.Context) -> str:
    """``csaw info [OPTIONS] STORE``."""
    return " ".join([context.command_path, *context.command.collect_usage_pieces(context)])


def text_of(command: click.Command) -> tuple[str, list[str]]:
    """The help of a command without click's marks, every paragraph in one line; and the lines of its example."""
    text = inspect.cleandoc(command.help or "").partition("\f")[0]
    paragraphs = [part for part in text.split("\n\n") if part.strip()]
    plain = "\n\n".join(part[2:] if part.startswith("\b\n") else " ".join(part.split("\n")) for part in paragraphs)
    said, _, example = plain.partition("Example:")
    return said.strip(), [line.strip() for line in example.strip().splitlines()]


def groups_of(command: click.Command, context: click.Context) -> dict[str, list[tuple[str, str]]]:
    """The options of a command and what they mean, by the heading under which its help shows them."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for param in command.get_params(context):
        record = None if isinstance(param, click.Argument) else param.get_help_record(context)
        if record is not None:
            names, meaning = record
            group = command.group_of(param, context) if isinstance(command, GroupedCommand) else ""
            groups.setdefault(group, []).append((" ".join(names.split()), " ".join(meaning.split())))
    return {k: groups[k] for k in sorted(groups, key=command.place)} if isinstance(command, GroupedCommand) else groups


def page(root: click.Context) -> str:
    """The manual page, for ``man``."""
    said, example = text_of(root.command)
    lines = [
        f'.TH CSAW 1 "" "csaw {VERSION}" "csaw"',
        ".SH NAME",
        f"csaw \\- {_roff(said.removesuffix('.'))}",
        ".SH SYNOPSIS",
        ".B csaw",
        "COMMAND [OPTIONS] [ARGUMENTS]",
        *_example(example),
        ".SH COMMANDS",
    ]
    for context in commands(root):
        lines += _section(context)
    for heading, items in (("EXIT STATUS", STATUSES), ("ENVIRONMENT", ENVIRONMENT)):
        lines += [f".SH {heading}", *(line for item in items.items() for line in _item(*item))]
    return "\n".join(lines) + "\n"


def _section(context: click.Context) -> list[str]:
    said, example = text_of(context.command)
    lines = [f".SS {_roff(context.command_path)}", ".B", _roff(usage(context))]
    for paragraph in said.split("\n\n"):
        lines += [".PP", _roff(paragraph)]
    lines += _example(example)
    for group, records in groups_of(context.command, context).items():
        lines += [".PP", f".I {_roff(group)}"] if group else []
        lines += [line for record in records for line in _item(*record)]
    return lines


def _item(name: str, meaning: str) -> list[str]:
    return [".TP", f".B {_roff(name)}", _roff(meaning)]


def _example(lines: list[str]) -> list[str]:
    return [".PP", ".nf", ".RS", *map(_roff, lines), ".RE", ".fi"] if lines else []


def _roff(text: str) -> str:
    """Text that roff shows as it is: hyphens that can be copied, and no line that begins like a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text)
