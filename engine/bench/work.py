"""Works, the units of measurement: instances of an algorithm, under a name that does not change."""

from dataclasses import dataclass, field, replace

from csaw.partition.base.plain_data import Values

Options = Values


@dataclass(frozen=True)
class Work:
    """One line of a table; ``goal`` in sampled edges/s on an H200 with the graph of docs/contributing/benchmarks.md.

    ``unit``: what its rate counts, edges/s or samples/s, instances.
    """

    name: str
    algo: str
    instances: int
    options: Options = field(default_factory=dict)
    goal: float | None = None
    unit: str = "edges/s"

    def shrunk(self, instances: int, steps: int | None = None) -> "Work":
        """The work with at most ``instances`` instances of at most ``steps`` steps."""
        options = dict(self.options)
        if steps is not None and "walk_length" in options:
            options["walk_length"] = min(options["walk_length"], steps)
        return replace(self, instances=min(self.instances, instances), options=options)

    def having(self, name: str, **options: object) -> "Work":
        """The work under another name, with these options added."""
        return replace(self, name=name, options=self.options | options)
