"""``csaw info``."""

from typing import Any

import click


@click.command()
@click.argument("store", type=click.Path())
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def info(store: str, as_json: bool) -> None:
    """Show what is inside a graph store or a sample store.

    \b
    Example:
        csaw info web.zarr
    """
    from csaw.cli.console import print_json, print_table

    shown = _describe(store)
    if as_json:
        print_json(shown)
        return
    print_table([(k, v) for k, v in shown.items() if k not in ("degrees", "partitions")])
    most = max((count for _, count in shown.get("degrees", [])), default=1)
    for label, count in shown.get("degrees", []):
        click.echo(f"  degree {label:>17}  {count:>12,}  {'#' * round(40 * count / most)}")
    for part in shown.get("partitions", [])[:8]:
        click.echo("  partition {number}: vertices {first_vertex:,} to {last_vertex:,}, {edges:,} edges".format(**part))


def _describe(path: str) -> dict[str, Any]:
    from csaw.engine.samples import describe
    from csaw.partition import open_graph
    from csaw.partition.errors import StoreError

    try:
        return describe(path)
    except StoreError as sample_error:
        try:
            store = open_graph(path)
        except StoreError as graph_error:
            unfinished = "not finished" in str(sample_error) or "format version" in str(sample_error)
            raise (sample_error if unfinished else graph_error) from None
    return _graph(store)


def _graph(store: Any) -> dict[str, Any]:
    from dataclasses import asdict

    import numpy as np

    degrees = np.diff(store.read_indptr())
    bins = np.where(degrees > 0, np.floor(np.log2(np.maximum(degrees, 1))).astype(int) + 1, 0)
    labels = [
        ("0" if b == 0 else f"{2 ** (b - 1)} to {2**b - 1}", int(n)) for b, n in enumerate(np.bincount(bins)) if n
    ]
    names = (
        "vertices",
        "edges",
        "directed",
        "weighted",
        "multigraph",
        "max_degree",
        "id_kind",
        "fingerprint",
        "report",
    )
    shown = {"path": str(store.path)} | {name: getattr(store, name) for name in names}
    return shown | {
        "partition_count": len(store.partitions),
        "degrees": labels,
        "partitions": [asdict(p) for p in store.partitions],
    }
