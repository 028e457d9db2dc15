"""``csaw export``."""

from pathlib import Path

import click


@click.command()
@click.argument("samples", type=click.Path())
@click.argument("out", type=click.Path())
@click.option("--format", "format", help="text, npy, parquet, pyg or torch [default: by the name of OUT].")
@click.option("--graph", type=click.Path(), help="The graph store, for e_id [default: where it was sampled].")
@click.option("--threads", type=int, help="Threads; no byte depends on them [default: all processors].")
@click.option("--overwrite", is_flag=True, help="Replace OUT.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def export(samples: str, out: str, format: str | None, graph: str | None, threads: int | None, overwrite: bool,
           as_json: bool) -> None:  # fmt: skip
    """Write samples for other programs.

    The name of OUT says how: text (.txt, .txt.gz), NumPy (.npy), Parquet (.parquet), PyG's arrays (.npz), the same as PyTorch tensors (.pt). Text holds a walk a line, which gensim's corpus_file reads; other samples give lines "instance src dst depth".

    The arrays and tensors are one batch as PyG's NeighborLoader(disjoint=True) gives it. Counts of nodes: edge_index (from the neighbor to the vertex it was drawn for), seed, walk. Your ids: n_id (where those are strings, numbers of the store; the strings
    are original_id). Besides: batch, batch_size (seeds come first), input_id, num_sampled_nodes, num_sampled_edges, num_nodes and, with the graph, e_id: where an edge is in the rows of its store.

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
        summary = write(samples, out, format, graph=graph, threads=threads, overwrite=overwrite, update=update)
    if as_json:
        print_json(summary)
    else:
        click.echo(f"{out}: {summary['instances']:,} instances as {summary['format']}, {summary['bytes']:,} bytes")
        for name, reason in summary["left_out"].items():
            click.echo(f"without {name}: {reason}")
