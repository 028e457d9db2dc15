"""Values of options that several commands take."""

import click


def size(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """``4GiB`` as bytes."""
    from csaw.partition.sizes import parse_size

    return None if value is None else parse_size(value)
