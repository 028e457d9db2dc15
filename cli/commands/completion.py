"""``csaw completion``."""

import click


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a shell script that completes commands, options, algorithms, datasets and files.

    \b
    Example:
        csaw completion bash > ~/.csaw-complete.bash && echo '. ~/.csaw-complete.bash' >> ~/.bashrc
        csaw completion zsh > ~/.csaw-complete.zsh && echo '. ~/.csaw-complete.zsh' >> ~/.zshrc
        csaw completion fish > ~/.config/fish/completions/csaw.fish
    """
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(ctx.find_root().command, {}, "csaw", "_CSAW_COMPLETE").source(), nl=False)
