"""Works, the units of measurement: instances of an algorithm, under a name that does not change."""

from dataclasses import dataclass, field, replace

from csaw.partition.base.plain_data import Values

Options = Values


@dataclass(frozen=True)
class Work:
    """One line of a table.

    ``goal``: sampled edges/s on the device and the graph that graphs.py names for goals. ``unit``: what its rate
    counts, edges/s or samples/s, instances. ``sized``: the part of the name that says how many instances or steps there
    are, such as ``{instances} x {walk_length}``, so that a smaller work has another name.
    """

    name: str
    algo: str
    instances: int
    options: Options = field(default_factory=dict)
    goal: float | None = None
    unit: str = "edges/s"
    sized: str = ""

    def shrunk(self, instances: int, steps: int | None = None) -> "Work":
        """The work with at most ``instances`` instances of at most ``steps`` steps, which its name says if it did."""
        options = dict(self.options)
        if steps is not None and "walk_length" in options:
            options["walk_length"] = min(options["walk_length"], steps)
        small = replace(self, instances=min(self.instances, instances), options=options)
        return replace(small, name=self.name.replace(self._size(), small._size())) if self.sized else small

    def _size(self) -> str:
        return self.sized.format(instances=self.instances, **self.options)

    def having(self, name: str, **options: object) -> "Work":
        """The work under another name, with these options added."""
        return replace(self, name=name, options=self.options | options)
