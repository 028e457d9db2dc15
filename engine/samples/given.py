"""Readers of the arguments of functions that open samples, and read a part of them."""

from csaw.partition.base import arguments
from csaw.partition.base.arguments import maybe


def graph_store(name: str, value: object) -> object:
    from csaw.partition.graph.store import GraphStore

    return arguments.instance(GraphStore, "an open graph store")(name, value)


PART = {"start": arguments.integer, "stop": maybe(arguments.integer)}
READERS = {
    "path": arguments.path("a sample store"),
    "graph": maybe(arguments.path("the graph store")),
    "algo": arguments.simple,
}
"""Readers of the arguments of what opens samples."""
