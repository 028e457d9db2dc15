"""``csaw export``."""

from pathlib import Path

import click


@click.command()
@click.argument("samples", type=click.Path())
@click.argument("out", type=click.Path())
@click.option("--format", "format", help="text, npy, parquet, pyg or torch [default: by the name of OUT].")
@click.option("--overwrite", is_flag=True, help="Replace OUT.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def export(samples: str, out: str, format: str | None, overwrite: bool, as_json: bool) -> None:
    """Write samples for other programs.

    The name of OUT says how: text (.txt, .txt.gz), NumPy (.npy), Parquet (.parquet), PyG-style arrays (.npz), PyTorch tensors (.pt). Text holds a walk a line, which gensim's corpus_file reads; other samples give lines "instance src dst depth". The arrays and
    tensors are edge_index, n_id (the sampled vertices' ids), instance, depth and, of walks, walk.

    \b
    Example:
        csaw export walks.zarr corpus.txt
    """
    from csaw.cli.console import print_json, progress
    from csaw.engine.export import export as write
    from csaw.engine.samples import open_samples
    from csaw.partition.replace import FILE, check

    check(Path(out), FILE, overwrite)
    total = open_samples(samples).instances
    with progress("exporting", total=total, unit="instances", enabled=not as_json) as update:
        summary = write(samples, out, format, overwrite=overwrite, update=update)
    if as_json:
        print_json(summary)
    else:
        click.echo(f"{out}: {summary['instances']:,} instances as {summary['format']}, {summary['bytes']:,} bytes")
