"""Samples as Python and notebooks show them. Nothing is drawn for it, and no array is read."""

from contextlib import suppress
from typing import Any

from csaw.partition.base.notebook import counted, html_facts, line
from csaw.partition.errors import CsawError

INSTANCES = {
    "walks": ("walk", "walks"),
    "ragged-walks": ("walk", "walks"),
    "hops": ("instance", "instances"),
    "subgraphs": ("subgraph", "subgraphs"),
    "batches": ("mini-batch", "mini-batches"),
}


class ShownSamples:
    """Gives samples their ``repr`` and their table in notebooks."""

    def __repr__(self: Any) -> str:
        request = self.manifest.get("request", {})
        steps, edges = _steps(self), _edges(self)
        return line("csaw samples", self.path, [
            counted(self.instances, *INSTANCES[self.layout]) + (f" of {steps}" if steps else ""), f"{request.get('algorithm', '')}",
            f"seed {request['seed']}" if "seed" in request else "", "" if edges is None else counted(edges, "edge"), "drawn when they are read" if self.is_virtual else "",
        ])  # fmt: skip

    def _repr_html_(self: Any) -> str:
        request, graph, edges = self.manifest.get("request", {}), self.manifest.get("graph", {}), _edges(self)
        facts = [
            (INSTANCES[self.layout][1], f"{self.instances:,}"),
            ("algorithm", request.get("algorithm", "")),
            *request.get("parameters", {}).items(),
            ("seed", request.get("seed", "")),
            *([] if edges is None else [("edges", f"{edges:,}")]),
            ("vertex ids", self.ids),
            ("graph", graph.get("path", "in memory")),
            *([("drawn", "when they are read")] if self.is_virtual else []),
        ]
        return html_facts(f"csaw samples {self.path}", facts)


def _steps(samples: Any) -> str:
    """The steps of walks with a limit, as they were asked for."""
    steps = samples.manifest.get("request", {}).get("parameters", {}).get("walk_length")
    return counted(steps, "step") if samples.layout == "walks" and steps is not None else ""


def _edges(samples: Any) -> int | None:
    """The number of sampled edges, where it is known without reading the samples."""
    with suppress(CsawError):  # of a damaged store, whose error comes when it is read
        return None if samples.sizes is None else samples.sizes["edges"]
    return None
