"""The parts of the documentation site that follow from declarations: mkdocs calls the functions ``on_...`` (see
mkdocs.yml); the others need no mkdocs.

A line ``<!-- options of the algorithm NAME -->`` or ``<!-- options of the measure NAME -->`` becomes a table of
options, and a block of ```` ```math ```` becomes MathML, which browsers show without a script and without a network.
Figures between ``<!-- figure ... -->`` and ``<!-- /figure -->`` are taken from the JSON of their runs.
The pages of the command line, of changes and of the notebook are made whole.
"""

import json
import re
from pathlib import Path
from typing import Any

import click

from csaw.cli.manual import commands, groups_of, page, text_of, usage
from csaw.engine.bench import figures

ROOT = Path(__file__).parents[1]
FIGURES = ROOT / "docs" / "contributing" / "benchmarks.md"
MARKED = re.compile(r"<!-- options of the (algorithm|measure) ([a-z0-9-]+) -->")
MATH = re.compile(r"^```math\n(.*?)^```$", re.DOTALL | re.MULTILINE)
ROLE = re.compile(r":(?:class|func|meth|mod):<code>")
INLINE = re.compile(r"(?<!<pre>)(?<!</span>)<code>([^<]+)</code>")
HYPHENED = re.compile(r"\S*-\S+")
BLOCK = re.compile(r'<div class="language-(sh|bash|text) highlight"><pre><span></span><code>(.*?)</pre>', re.DOTALL)
TEXT = re.compile(r">([^<]+)<")
LONGEST = 32  # characters that the screen of a phone shows in one line
SEARCH: dict[str, dict[str, Any]] = {  # settings of the search, by the beginning of a page's path; the first one counts
    "contributing/": {"exclude": True},
    "changes.md": {"exclude": True},
    **{page: {"boost": 4} for page in ("questions.md", "quickstart.md", "cite.md", "guides/gpus.md")},
    **{f"reference/{page}.md": {"boost": 4} for page in ("environment", "exit-codes", "limits")},
    "guides/": {"boost": 2},
    "tutorials/": {"boost": 2},
    "reference/python/": {"boost": 0.5},
}


def command_line() -> str:
    """The page of the command line: each command with what its help says."""
    lines = [
        "# Command line",
        "",
        (
            "`csaw COMMAND --help` says the same in a terminal, and `csaw sample --algo NAME --help` begins "
            "with the options of one algorithm. [The terminal](../guides/terminal.md) has what commands print, "
            "completion by the shell and the manual page, which is also [here](csaw.1)."
        ),
        "",
    ]
    for context in commands(_root()):
        lines += _command(context)
    return "\n".join(lines)


def _root() -> click.Context:
    from csaw.cli.main import cli

    return cli.make_context("csaw", [], resilient_parsing=True)


def _command(context: click.Context) -> list[str]:
    text, example = text_of(context.command)
    lines = [f"## {context.command_path}", "", "```text", usage(context), "```", "", _escaped(text), ""]
    if example:
        lines += ["```sh", *example, "```", ""]
    for group, records in groups_of(context.command, context).items():
        if group:
            lines += [f"**{group}**", ""]
        lines += ["| option | meaning |", "|---|---|"]
        lines += [f"| `{names}` | {_escaped(_cell(meaning))} |" for names, meaning in records]
        lines.append("")
    return lines


def options_table(kind: str, name: str) -> str:
    """The options of an algorithm or a measure as a table; a sentence where there are none."""
    from csaw.cli.options import help_of
    from csaw.engine.analytics import measure
    from csaw.engine.api import registry

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


def notebook(path: Path) -> str:
    """The page of a notebook: its texts, its code, and what it prints."""
    parts = []
    for cell in json.loads(path.read_text())["cells"]:
        text = "".join(cell["source"])
        parts.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
        said = "".join(line for one in cell.get("outputs", []) for line in one["text"])
        if said:
            parts.append(f"```text\n{said.rstrip()}\n```")
    first, *others = parts
    return "\n\n".join([first, f"[Download it as a notebook]({path.name}).", *others, ""])


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are made whole."""
    from mkdocs.structure.files import File

    changes = (ROOT / "CHANGELOG.md").read_text().replace("# Changelog", "# Changes", 1).replace("](docs/", "](")
    made = {"reference/command-line.md": command_line(), "changes.md": changes, "reference/csaw.1": page(_root())}
    made["tutorials/notebook.md"] = notebook(ROOT / "docs" / "tutorials" / "notebook.ipynb")
    for uri, content in made.items():
        files.append(File.generated(config, uri, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Fill in tables of options, formulas, and the figures of runs; say what the search makes of the page."""
    page.meta = {"search": search_of(page.file.src_uri)} | (getattr(page, "meta", None) or {})
    measured = figures.unmarked(figures.filled(markdown, ROOT / "docs" / page.file.src_uri, FIGURES))
    filled = MARKED.sub(lambda found: options_table(*found.groups()), measured)
    return MATH.sub(lambda found: mathml(found[1]), filled)


def search_of(path: str) -> dict[str, Any]:
    """The settings of the search for a page: users find users' pages, and guides before lists of names."""
    return next((how for begins, how in SEARCH.items() if path.startswith(begins)), {})


def on_page_content(html: str, **_: Any) -> str:
    """Docstrings name functions as Sphinx does; the site shows the names alone. An option is not broken at a hyphen."""
    inline = INLINE.sub(lambda found: f"<code>{HYPHENED.sub(_whole, found[1])}</code>", ROLE.sub("<code>", html))
    return BLOCK.sub(_commands, inline)


def _commands(block: re.Match) -> str:
    """A block of commands, which wraps between words where the screen is narrow; other text is left as it is."""
    if block[1] == "text" and not block[2].startswith("csaw "):
        return block[0]
    whole = TEXT.sub(lambda found: f">{HYPHENED.sub(_whole, found[1])}<", f">{block[2]}")[1:]
    return f'<div class="language-sh highlight"><pre><span></span><code>{whole}</pre>'


def _whole(word: re.Match) -> str:
    return f'<span class="word">{word[0]}</span>' if len(word[0]) <= LONGEST else word[0]


def on_config(config: Any) -> Any:
    """The header names the version."""
    from csaw.partition.base.version import VERSION

    config.site_name = f"csaw {VERSION}"
    return config
