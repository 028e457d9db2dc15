"""The vertex that a search starts from, and vertices drawn for many searches."""

import numpy as np

from csaw.engine.analytics.network import Network
from csaw.engine.draws.addresses import SOURCE_SLOT
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError
from csaw.partition.graph.attributes import STRING

FIRST_RUN = np.uint64(0)


def start_vertex(network: Network, given: int | str | None, flag: str) -> int:
    """Return the vertex with the original id ``given``; for None, the first of those with the largest degree.

    OptionError, with the name of the option, for an id that is none.
    """
    if not network.vertices:
        raise OptionError(f"{flag}: {network.store.path} has no vertex to start from")
    if given is None:
        return int(network.degrees.argmax())
    if network.store.id_kind == STRING:
        return int(network.store.dense_ids([str(given)])[0])
    try:
        return int(network.store.dense_ids([int(given)])[0])
    except ValueError as error:
        if isinstance(error, OptionError):
            raise
        raise OptionError(f"{flag}: expected an integer, the id of a vertex, found {quoted(given)}") from error


def random_vertices(network: Network, count: int, seed: int) -> np.ndarray:
    """Draw different vertices, every set of them equally likely: int64 [count], ascending. ``seed`` decides which."""
    from csaw.engine.draws.random import distinct_below

    return np.sort(distinct_below(np.uint64(seed), FIRST_RUN, SOURCE_SLOT, network.vertices, count))
