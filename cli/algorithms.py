"""``csaw algorithms``."""

import click


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def algorithms(as_json: bool) -> None:
    """List the algorithms with their options and papers.

    \b
    Example:
        csaw algorithms
    """
    from csaw.cli.console import print_json
    from csaw.engine import registry

    found = [registry.find(name) for name in registry.names()]
    if as_json:
        print_json(
            {a.name(): {"paper": a.paper, "options": {k: o.default for k, o in a.options().items()}} for a in found}
        )
        return
    for a in found:
        click.echo(f"{a.name()}: {(a.__doc__ or '').strip()} ({a.paper})")
        for name, o in a.options().items():
            default = ",".join(map(str, o.default)) if isinstance(o.default, tuple) else o.default
            click.echo(f"    --{name.replace('_', '-'):<18} {o.help} [{default}]")
