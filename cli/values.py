"""Types of options that several commands share."""

from typing import Any

import click

LONGEST_PATH = 4095  # bytes, of Linux


def size(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """``4GiB`` as bytes; OptionError names the option."""
    from csaw.partition.base.sizes import parse_size
    from csaw.partition.errors import OptionError

    try:
        return None if value is None else parse_size(value)
    except OptionError as error:
        raise OptionError(f"{param.opts[0]}: {error}") from error


class Integers(click.ParamType):
    """``25,10`` as a tuple."""

    name = "integers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        from csaw.partition.base.quoting import shown

        try:
            return value if isinstance(value, tuple) else tuple(int(one) for one in value.split(","))
        except ValueError:
            self.fail(f"expected integers such as 25,10, found {shown(value) or 'nothing'}", param, ctx)


class OrNone(click.ParamType):
    """A value of another type, or the word ``none``."""

    def __init__(self, kind: click.ParamType) -> None:
        self.kind, self.name = kind, f"{kind.name}|none"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value if value == "none" else self.kind.convert(value, param, ctx)


class Range(click.ParamType):
    """``0:1000`` as the numbers from the first to before the second."""

    name = "first:last"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        from csaw.partition.base.quoting import shown

        first, _, last = ("", "", "") if not isinstance(value, str) else value.partition(":")
        if not (first.isascii() and first.isdigit() and last.isascii() and last.isdigit() and len(value) < 40):
            self.fail(f"expected two numbers such as 0:1000, found {shown(value)}", param, ctx)
        return int(first), int(last)


class Place(click.Path):
    """A path. One that no file can have is refused: an empty one, one with a NUL byte, one that is too long."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from csaw.partition.base.quoting import shown

        if not value or "\0" in value or len(value) > LONGEST_PATH:
            self.fail(f"expected a path, found {shown(value) or 'nothing'}", param, ctx)
        return super().convert(value, param, ctx)
