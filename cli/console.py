"""What commands print as JSON, and files that they write."""

import json
from pathlib import Path
from typing import Any

import click


def print_json(value: Any) -> None:
    click.echo(json.dumps(value, indent=2, default=str))


def check_folder(file: str, option: str) -> None:
    """Refuse a ``file`` that could not be written at the end: BadParameter where its folder is missing, OptionError inside a store."""
    from csaw.partition.replace import check_name

    if file != "-" and not Path(file).absolute().parent.is_dir():
        raise click.BadParameter(f"{Path(file).parent} is not a directory; make it first", param_hint=option)
    if file != "-":
        check_name(Path(file))
