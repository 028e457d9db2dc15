"""``csaw bench``."""

from typing import Any

import click

QUICK, QUICK_STEPS, REPEATS = 200, 100, 3


@click.command()
@click.argument("graph", default="rmat:scale=20,edge_factor=16,weights=1")
@click.option("--suite", type=click.Choice(["all", "walks", "neighbors"]), default="all", help="What to measure.")
@click.option("--only", help="Works whose name has this in it.")
@click.option("--device", default="auto", help="auto, cpu, cuda or cuda:1.")
@click.option("--threads", type=int, help="Threads on the CPU [default: all processors].")
@click.option("--repeats", type=click.IntRange(1), default=REPEATS, help="Runs of each work after one that warms up.")
@click.option("--instances", type=click.IntRange(1), help="At most so many instances of a work.")
@click.option(
    "--quick",
    is_flag=True,
    help=f"At most {QUICK} instances of {QUICK_STEPS} steps, one run: whether all works, not how fast.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def bench(graph: str, suite: str, only: str | None, device: str, threads: int | None, repeats: int, instances: int | None,
          quick: bool, as_json: bool) -> None:  # fmt: skip
    """Measure sampling on GRAPH beside the rate at which this machine gathers random words.

    Sampling alone is timed: graph loaded, kernels compiled, samples left in memory. On a GPU an rmat: graph is made on the GPU.

    \b
    Example:
        csaw bench rmat:scale=20,edge_factor=16,weights=1 --suite walks
    """
    from csaw.cli import console
    from csaw.engine.bench.run import run_suites

    rows = []
    limit = min(instances or 2**62, QUICK if quick else 2**62)
    for row in run_suites(
        graph, suite, only, device=device, threads=threads, repeats=1 if quick else repeats, limit=limit
    ):
        rows.append(row)
        if not as_json:
            click.echo(_line(row))
    if as_json:
        console.print_json(rows)


def _line(row: dict[str, Any]) -> str:
    """One measured work, or a line about the machine, the graph or a ceiling."""
    if "work" not in row:
        return "  ".join(f"{name.replace('_', ' ')}: {value:,.4g}" if isinstance(value, float) else f"{name.replace('_', ' ')}: {value}"
                         for name, value in row.items())  # fmt: skip
    goal = f"  goal {row['goal']:g}" if row["goal"] else ""
    share = f"  {100 * row['of_ceiling']:.0f} % of the ceiling"
    spread = f"({row['slowest']:.4g} to {row['fastest']:.4g})"
    return (
        f"{row['work']:<38}{row['giga_edges_per_second']:>9.4g} G edges/s {spread:<20}{1e3 * row['seconds']:>9.3f} ms"
        f"{share}  {row['select']}, {row['layout']}{goal}"
    )
