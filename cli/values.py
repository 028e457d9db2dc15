"""Options that several commands share, and types of options."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., object])
LONGEST_PATH = 4095  # bytes, of Linux


def algo_file(command: Command) -> Command:
    """Give a command that reads samples ``--algo FILE.py:CLASS``."""
    said = (
        "File and class of the algorithm that drew the sample, if it does not come with csaw, which never "
        "runs a file because a store names it."
    )
    return click.option("--algo", metavar="FILE.py:CLASS", help=said)(command)


def directed(command: Command) -> Command:
    """Give a command that takes a file of edges ``--directed/--undirected``."""
    said = (
        "Whether a row of a file or dataset is an edge in one direction or in both [default: from the header "
        "or the dataset, otherwise directed]."
    )
    return click.option("--directed/--undirected", default=None, help=said)(command)


def version(command: Command) -> Command:
    """Give a command that takes a graph store ``--version N``."""
    said = "Version of the graph store to use, by its number in csaw info [default: the newest]."
    return click.option("--version", type=int, metavar="N", help=said)(command)


def size(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """``4GiB`` as bytes; OptionError names the option."""
    from csaw.partition.base.quoting import parse_size
    from csaw.partition.errors import OptionError

    try:
        return None if value is None else parse_size(value)
    except OptionError as error:
        raise OptionError(f"{param.opts[0]}: {error}") from error


class Integers(click.ParamType):
    """``25,10`` as a tuple."""

    name = "integers"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        from csaw.partition.base.quoting import shown

        if isinstance(value, tuple):
            return value
        try:
            return tuple(int(one) for one in str(value).split(","))
        except ValueError:
            by_relation = "=" in str(value) and param is not None and param.name == "fanout"
            only = " (only labor, minibatch and neighbor have fanouts by relation)" * by_relation
            self.fail(f"expected integers such as 25,10{only}, found {shown(str(value)) or 'nothing'}", param, ctx)


class Fanout(Integers):
    """``25,10``, or for a relation or a type ``NAME=25,10``, as it is."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if "=" not in str(value):
            super().convert(value, param, ctx)
        return value


class OrNone(click.ParamType):
    """A value of another type, or the word ``none``."""

    def __init__(self, kind: click.ParamType) -> None:
        self.kind, self.name = kind, f"{kind.name}|none"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> object:
        return value if value == "none" else self.kind.convert(value, param, ctx)


class Range(click.ParamType):
    """``0:1000`` as the numbers from the first to before the second."""

    name = "first:last"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        from csaw.partition.base.quoting import shown

        text = str(value)
        first, _, last = text.partition(":")
        if not (first.isascii() and first.isdigit() and last.isascii() and last.isdigit() and len(text) < 40):
            self.fail(f"expected two numbers such as 0:1000, found {shown(text)}", param, ctx)
        return int(first), int(last)


class Place(click.Path):
    """A path. One that no file can have is refused: an empty one, one with a NUL byte, one that is too long."""

    def convert(
        self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
        from csaw.partition.base.quoting import shown

        text = os.fspath(value)
        if not text or "\0" in text or len(text) > LONGEST_PATH:
            self.fail(f"expected a path, found {shown(text) or 'nothing'}", param, ctx)
        return super().convert(value, param, ctx)


class Folder(click.Path):
    """The path of a folder to write files to; - is none, which elsewhere means standard output."""

    def __init__(self) -> None:
        super().__init__(file_okay=False, path_type=Path)

    def convert(
        self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
        if os.fspath(value) == "-":
            self.fail("expected a folder, found -, which is standard output; name a folder, such as plots", param, ctx)
        return super().convert(value, param, ctx)


class Size(click.ParamType):
    """A width and a height, such as 3.3x2.4."""

    name = "size"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, float]:
        if isinstance(value, tuple):
            return value
        try:
            width, height = map(float, str(value).split("x"))
        except ValueError:
            self.fail(f"expected a width and a height, such as 3.3x2.4, found {value!r}", param, ctx)
        return width, height
