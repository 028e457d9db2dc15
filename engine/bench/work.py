"""What is measured: instances of an algorithm, by a name that stays."""

from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class Work:
    """One line of a table; ``goal`` in sampled edges/s on an H200 with the graph of docs/benchmarks.md."""

    name: str
    algo: str
    instances: int
    options: dict[str, Any] = field(default_factory=dict)
    goal: float | None = None

    def shrunk(self, instances: int, steps: int | None = None) -> "Work":
        """The work with at most so many instances and steps."""
        options = dict(self.options)
        if steps is not None and "walk_length" in options:
            options["walk_length"] = min(options["walk_length"], steps)
        return replace(self, instances=min(self.instances, instances), options=options)

    def having(self, name: str, **options: Any) -> "Work":
        """The work under another name with these options besides."""
        return replace(self, name=name, options=self.options | options)
