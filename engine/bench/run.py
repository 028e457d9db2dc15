"""A benchmark from end to end: the graph, the ceilings, the works of some suites."""

import platform
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from csaw.datasets.resolve import resolve
from csaw.datasets.spec import parse_spec
from csaw.engine.bench.measure import ceilings, measure
from csaw.engine.bench.suites import SUITES, shrunk
from csaw.engine.devices import place
from csaw.partition import open_graph
from csaw.partition.errors import OptionError


def run_suites(
    graph: str,
    suite: str,
    only: str | None,
    *,
    device: str,
    threads: int | None,
    repeats: int,
    limit: int,
    steps: int | None = None,
) -> Iterator[dict[str, Any]]:
    """Rows as they are measured: the machine, the graph, the ceilings, then a row a work."""
    gpu = next(iter(place(device)), None)
    kind = "cpu" if gpu is None else f"cuda:{gpu.number}"
    yield {"device": platform.processor() or platform.machine() if gpu is None else gpu.name}
    store = _graph(graph, gpu)
    yield {"graph": graph, "vertices": store.vertices, "edges": store.edges}
    top = ceilings(kind)
    yield {f"{name}, G/s": value for name, value in top.items()}
    works = [
        work
        for name, works in SUITES.items()
        if suite in ("all", name)
        for work in works
        if only is None or only in work.name
    ]
    if not works:
        raise OptionError(
            f"--only {only}: no work of that name; there are {', '.join(w.name for works in SUITES.values() for w in works)}"
        )
    for work in works:
        if work.options.get("weighted") and not store.weighted:
            continue
        row = measure(store, shrunk(work, limit, steps), device=kind, threads=threads, repeats=repeats)
        yield row | {"of_ceiling": row["giga_edges_per_second"] / max(top.values())}


def _graph(graph: str, gpu: Any) -> Any:
    if gpu is not None and graph.startswith("rmat:") and not Path(graph).exists():
        from csaw.engine.cuda.rmat import DeviceRmat

        return DeviceRmat(graph, parse_spec(graph), gpu)
    return open_graph(resolve(graph))
