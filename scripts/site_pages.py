"""The parts of the documentation site that follow from declarations: mkdocs calls the functions ``on_...`` (see mkdocs.yml); the others need no mkdocs.

A line ``<!-- options of the algorithm NAME -->`` or ``<!-- options of the measure NAME -->`` becomes a table of options, and a block of ```` ```math ````
becomes MathML, which browsers show without a script and without a network. The pages of the command line and of changes are made whole.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

ROOT = Path(__file__).parents[1]
MARKED = re.compile(r"<!-- options of the (algorithm|measure) ([a-z0-9-]+) -->")
MATH = re.compile(r"^```math\n(.*?)^```$", re.DOTALL | re.MULTILINE)
ROLE = re.compile(r":(?:class|func|meth|mod):<code>")


def command_line() -> str:
    """The page of the command line: each command with what its help says."""
    from csaw.cli.main import cli

    lines = [
        "# Command line",
        "",
        "`csaw COMMAND --help` says the same in a terminal, and `csaw sample --algo NAME --help` shows the options of one algorithm.",
        "",
    ]
    for context in commands(cli.make_context("csaw", [], resilient_parsing=True)):
        lines += _command(context)
    return "\n".join(lines)


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


def _command(context: click.Context) -> list[str]:
    command, name = context.command, context.command_path
    text, _, example = _help(command).partition("Example:")
    usage = " ".join([name, *command.collect_usage_pieces(context)])
    lines = [f"## {name}", "", "```text", usage, "```", "", _escaped(text.strip()), ""]
    if example:
        lines += ["```sh", *(line.strip() for line in example.strip().splitlines()), "```", ""]
    for group, records in _groups(command, context).items():
        if group:
            lines += [f"**{group}**", ""]
        lines += ["| option | meaning |", "|---|---|"]
        lines += [f"| `{' '.join(names.split())}` | {_escaped(_cell(meaning))} |" for names, meaning in records]
        lines.append("")
    return lines


def _help(command: click.Command) -> str:
    """The help of a command without click's marks; every paragraph is one line."""
    import inspect

    text = inspect.cleandoc(command.help or "").partition("\f")[0]
    paragraphs = [part for part in text.split("\n\n") if part.strip()]
    return "\n\n".join(part[2:] if part.startswith("\b\n") else " ".join(part.split("\n")) for part in paragraphs)


def _groups(command: click.Command, context: click.Context) -> dict[str, list[tuple[str, str]]]:
    """The options of a command, by the heading under which its help shows them."""
    grouped = hasattr(command, "group_of")
    groups: dict[str, list[tuple[str, str]]] = {}
    for param in command.get_params(context):
        record = None if isinstance(param, click.Argument) else param.get_help_record(context)
        if record is not None:
            groups.setdefault(command.group_of(param, context) if grouped else "", []).append(record)
    return {name: groups[name] for name in sorted(groups, key=command.place)} if grouped else groups


def options_table(kind: str, name: str) -> str:
    """The options of an algorithm or a measure as a table; a sentence where there are none."""
    from csaw.cli.options import help_of
    from csaw.engine import measure, registry

    found = (registry if kind == "algorithm" else measure).find(name)
    rows = [f"| `--{key.replace('_', '-')}` | {_escaped(help_of(one))}. |" for key, one in found.options().items()]
    if not rows:
        return "It has no options of its own."
    return "\n".join(["| option | meaning |", "|---|---|", *rows])


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def _escaped(text: str) -> str:
    """Text of a help as Markdown that shows it as it is."""
    return re.sub(r"([*_<>\[\]`])", r"\\\1", text)


def mathml(latex: str) -> str:
    """A formula as MathML of one line; each line of the source is a line of it."""
    from latex2mathml.converter import convert

    lines = [convert(line, display="block") for line in latex.strip().splitlines()]
    return '<div class="math">' + "".join(lines).replace("\n", "") + "</div>"


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are made whole."""
    from mkdocs.structure.files import File

    changes = (ROOT / "CHANGELOG.md").read_text().replace("# Changelog", "# Changes", 1)
    for uri, content in (("reference/command-line.md", command_line()), ("changes.md", changes)):
        files.append(File.generated(config, uri, content=content))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Fill in tables of options and formulas."""
    filled = MARKED.sub(lambda found: options_table(*found.groups()), markdown)
    return MATH.sub(lambda found: mathml(found[1]), filled)


def on_page_content(html: str, **_: Any) -> str:
    """Docstrings name functions as Sphinx does; the site shows the names alone."""
    return ROLE.sub("<code>", html)
