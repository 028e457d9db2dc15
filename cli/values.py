"""Values of options that several commands take."""

from typing import Any

import click

LONGEST_PATH = 4095  # bytes, of Linux


def size(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """``4GiB`` as bytes."""
    from csaw.partition.sizes import parse_size

    return None if value is None else parse_size(value)


class Place(click.Path):
    """A path. Refuses one that no file can have: nothing, a NUL byte in it, too long."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from csaw.partition.shown import shown

        if not value or "\0" in value or len(value) > LONGEST_PATH:
            self.fail(f"expected a path, found {shown(value) or 'nothing'}", param, ctx)
        return super().convert(value, param, ctx)
