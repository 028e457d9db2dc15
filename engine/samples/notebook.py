"""Samples as Python and notebooks show them. Nothing is drawn for it, and no array is read."""

from contextlib import suppress

from csaw.engine.samples.opened import OpenedSamples
from csaw.partition.base.notebook import counted, html_facts, line
from csaw.partition.base.quoting import near
from csaw.partition.errors import CsawError


class ShownSamples(OpenedSamples):
    """Gives samples their ``repr`` and their table in notebooks."""

    def __repr__(self) -> str:
        request = self.manifest.get("request", {})
        steps, edges = _steps(self), _edges(self)
        return line(
            "csaw samples",
            near(self.path),
            [
                counted(self.instances, *self.layout.words) + (f" of {steps}" if steps else ""),
                f"{request.get('algorithm', '')}",
                f"seed {request['seed']}" if "seed" in request else "",
                "" if edges is None else counted(edges, "edge"),
                "drawn when they are read" if self.is_virtual else "",
            ],
        )

    def _repr_html_(self) -> str:
        request, graph, edges = self.manifest.get("request", {}), self.manifest.get("graph", {}), _edges(self)
        facts = [
            (self.layout.words[1], f"{self.instances:,}"),
            ("algorithm", request.get("algorithm", "")),
            *request.get("parameters", {}).items(),
            ("seed", request.get("seed", "")),
            *([] if edges is None else [("edges", f"{edges:,}")]),
            ("vertex ids", self.ids),
            ("graph", graph.get("path", "in memory")),
            *([("drawn", "when they are read")] if self.is_virtual else []),
        ]
        return html_facts(f"csaw samples {near(self.path)}", facts)


def _steps(samples: OpenedSamples) -> str:
    """The steps of walks with a limit, as they were asked for."""
    steps = samples.manifest.get("request", {}).get("parameters", {}).get("walk_length")
    return counted(steps, "step") if samples.layout.has_limit and steps is not None else ""


def _edges(samples: OpenedSamples) -> int | None:
    """The number of sampled edges, where it is known without reading the samples."""
    with suppress(CsawError):  # of a damaged store, whose error comes when it is read
        return None if samples.sizes is None else samples.sizes["edges"]
    return None
