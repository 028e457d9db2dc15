"""Colors on a terminal: red errors, yellow warnings, bold headings. Other places, and users with NO_COLOR, get plain
text.
"""

import io
import os
import re
import sys

import click

CHECKS = {"ok": "green", "FAIL": "red", "not tested": "yellow"}
"""Colors of what ``csaw verify`` finds."""
ERROR = re.compile("^Error:", re.MULTILINE)


def is_colored(*, err: bool = False) -> bool:
    """Whether a standard stream is a terminal that shows colors (https://no-color.org)."""
    stream = sys.stderr if err else sys.stdout
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return not plain and stream is not None and stream.isatty()


def bold(text: str) -> str:
    return click.style(text, bold=True) if text and is_colored() else text


def warning(text: str) -> str:
    return click.style(text, fg="yellow") if is_colored(err=True) else text


def error(text: str) -> str:
    """A message whose first ``Error:`` at the start of a line is red."""
    return ERROR.sub(click.style("Error:", fg="red", bold=True), text, count=1) if is_colored(err=True) else text


def show(failure: click.ClickException) -> None:
    """Print an error of click, which may begin with the usage."""
    if isinstance(failure, click.exceptions.NoArgsIsHelpError):
        failure.show()
        return
    told = io.StringIO()
    failure.show(told)
    click.echo(error(told.getvalue()), err=True, nl=False)


class Formatter(click.HelpFormatter):
    """Writes help with bold headings."""

    def write_heading(self, heading: str) -> None:
        self.write(f"{'':>{self.current_indent}}{bold(heading)}:\n")


class Context(click.Context):
    """The context of commands whose help has bold headings."""

    formatter_class = Formatter
