"""How GPUs that share the vertices of a graph tell each other what changed."""

from enum import StrEnum


class Exchange(StrEnum):
    """The GPUs that hear of a vertex whose numbers changed: those that need it, or all."""

    SELECTIVE = "selective"
    BROADCAST = "broadcast"
