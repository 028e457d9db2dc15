"""``csaw info``."""

from pathlib import Path
from typing import Any

import click

from csaw.cli import values

PARTITIONS_SHOWN = 8
BAR = 40


@click.command()
@click.argument("store", type=values.Place())
@click.option("--full", is_flag=True, help="Read all of it too: degrees of a graph, edges of each sample counted anew.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def info(store: str, full: bool, as_json: bool) -> None:
    """Show what a graph store or a sample store says of itself, however large it is.

    \b
    Example:
        csaw info web.zarr --full
    """
    from csaw.cli.console import print_json, print_table

    shown = _describe(store, full)
    if as_json:
        print_json(shown)
        return
    rows = _flat({k: v for k, v in shown.items() if k not in ("degrees", "partitions")})
    print_table([(name, value) for name, value in rows if not name.startswith("results.plan.")])
    _print_degrees(shown.get("degrees", []))
    _print_partitions(shown.get("partitions", []))


def _describe(path: str, full: bool) -> dict[str, Any]:
    """Plain data about the store; what is neither kind of store goes to open_graph, whose error says what is wrong with it."""
    if _is_samples(Path(path)):
        from csaw.engine.samples.describe import describe

        return describe(path, full)
    from csaw.partition import open_graph

    return _graph(open_graph(path), full)


def _is_samples(path: Path) -> bool:
    """Whether it is a sample store, whole, damaged or unfinished."""
    from csaw.partition.replace import GRAPH, SAMPLES, standing

    found = standing(path.resolve())
    unfinished = path.name.endswith(".partial") or Path(f"{path}.partial").is_dir()
    return found == SAMPLES or (found != GRAPH and (unfinished or (path / "results").is_dir()))


def _graph(store: Any, full: bool) -> dict[str, Any]:
    from dataclasses import asdict

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
        **({"degrees": _histogram(store.read_indptr())} if full else {}),
        "partitions": [asdict(p) for p in store.partitions],
    }


def _histogram(indptr: Any) -> list[dict[str, int]]:
    """Vertices by degree: none, then bins that double."""
    import numpy as np

    degrees = np.diff(indptr)
    edges = np.append(0, 2 ** np.arange(int(degrees.max(initial=0)).bit_length() + 1))
    counts = np.histogram(degrees, edges)[0].tolist()
    bins = zip(edges[:-1].tolist(), (edges[1:] - 1).tolist(), counts, strict=True)
    return [{"from": low, "to": high, "vertices": n} for low, high, n in bins if n]


def _flat(shown: dict[str, Any], prefix: str = "") -> Any:
    for name, value in shown.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _print_degrees(bins: list[dict[str, int]]) -> None:
    most = max((b["vertices"] for b in bins), default=1)
    for b in bins:
        label = str(b["from"]) if b["from"] == b["to"] else f"{b['from']} to {b['to']}"
        click.echo(f"  degree {label:>23}  {b['vertices']:>14,}  {'#' * round(BAR * b['vertices'] / most)}".rstrip())


def _print_partitions(parts: list[dict[str, int]]) -> None:
    for p in parts[:PARTITIONS_SHOWN]:
        held = f"{p['last_vertex'] - p['first_vertex']:,} vertices from {p['first_vertex']:,}"
        click.echo(f"  partition {p['number']}: {held}, {p['edges']:,} edges, {p['nbytes']:,} bytes")
    if len(parts) > PARTITIONS_SHOWN:
        click.echo(f"  ... and {len(parts) - PARTITIONS_SHOWN} more")
