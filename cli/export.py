"""``csaw export``."""

from pathlib import Path

import click

from csaw.cli import console, values


@click.command()
@click.argument("samples", type=click.Path())
@click.argument("out", type=click.Path())
@click.option("--format", "format", help="Format: text, npy, parquet, pyg or torch [default: as the name of OUT says].")
@click.option(
    "--graph",
    type=click.Path(),
    help="Graph store that was sampled, for e_id [default: where it was when it was sampled].",
)
@click.option(
    "--instances",
    type=values.Range(),
    help="Write the instances from the first number to before the second alone, such as 0:1000 [default: all].",
)
@click.option("--threads", type=int, help="Number of threads; no byte depends on it [default: one for each processor].")
@click.option("--overwrite", is_flag=True, help="Replace the file OUT.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@console.quiet
def export(samples: str, out: str, format: str | None, graph: str | None, instances: tuple[int, int] | None, threads: int | None, overwrite: bool, as_json: bool) -> None:  # fmt: skip
    """Write SAMPLES, a sample store, as the file OUT.

    The name of OUT chooses the format: text (.txt, .txt.gz), NumPy (.npy), Parquet (.parquet), arrays for PyTorch Geometric (.npz), or the same as PyTorch tensors (.pt). Text has one walk on each line, for gensim's corpus_file; from other samples it has one edge on each line, "instance src dst depth".

    A .npz or .pt file is one batch, as PyG's NeighborLoader(disjoint=True) gives it. The arrays edge_index (from each neighbor to the vertex that it was drawn for), seed and walk number the nodes of the batch. The array n_id has the ids of your file; where those are strings, it has numbers,
    and original_id has the strings. The file also has batch, batch_size (seeds come first), input_id, num_sampled_nodes, num_sampled_edges, num_nodes and, if the graph is there, e_id: the place of each edge in the rows of the graph store.

    \b
    Example:
        csaw export walks.zarr corpus.txt
    """
    from csaw.cli.told import of_export
    from csaw.engine.export import export as write
    from csaw.engine.samples.check import attributes_of
    from csaw.partition.replace import FILE, check

    check(Path(out), FILE, overwrite)
    total = attributes_of(Path(samples))["instances"] if instances is None else instances[1] - instances[0]
    with console.progress("exporting", enabled=not as_json) as update:
        update.begin("exporting", total, "instances")
        summary = write(
            samples, out, format, graph=graph, instances=instances, threads=threads, overwrite=overwrite, update=update
        )
    console.print_json(summary) if as_json else console.say(*of_export(summary, out))
