"""The vertex that a search starts from, and vertices drawn for many searches."""

from operator import index

import numpy as np

from csaw.engine.analytics.measure import Column, Findings, Measure
from csaw.engine.analytics.network import Network, on_host
from csaw.engine.api.option import option
from csaw.engine.draws.addresses import SOURCE_SLOT
from csaw.engine.plan.footprint import Footprint
from csaw.partition import GraphStore
from csaw.partition.base.quoting import quoted, whole_of
from csaw.partition.errors import OptionError
from csaw.partition.graph.attributes import STRING

TREE_BYTES = 20  # of memory for each vertex, while a tree is found
FIRST_RUN = np.uint64(0)
LARGEST = "the vertex of largest degree"
"""The words for the vertex that a search starts from where none is given."""


def start_vertex(network: Network, given: int | str | None, flag: str) -> int:
    """Return the vertex with the original id ``given``; for None, the first of those with the largest degree.

    OptionError, with the name of the option, for an id that is none.
    """
    if not network.vertices:
        raise OptionError(f"{flag}: {network.store.path} has no vertex to start from")
    return int(network.degrees.argmax()) if given is None else vertex_of(network.store, given, flag)


def begun(network: Network, vertex: int) -> str:
    """The words for the method of findings of a search: the original id of the vertex that it starts from."""
    [original] = network.store.original_ids(np.array([vertex])).tolist()
    return f"from vertex {original}"


class Search(Measure):
    """A measure that searches from one vertex, and can find a tree of shortest paths beside the distances."""

    predecessors: bool = option(
        False,
        kind=bool,
        help="also find the predecessor of each vertex on a shortest path, by the CPU; --save writes it",
    )

    def computes(self, directed: bool) -> tuple[str, ...]:
        return (self.name(), *["predecessors"] * self.predecessors)

    def keeps(self, device: str, directed: bool) -> Footprint:
        return super().keeps(device, directed) + Footprint(TREE_BYTES * (self.predecessors and device == "cpu"))

    def tree(self, network: Network, source: int, distance: np.ndarray, method: str) -> Findings:
        """Return the column ``NAME predecessor``, if it is wanted: dense ids [V], -1 for a vertex without a path."""
        if not self.predecessors:
            return {}
        found = on_host(network.compute("predecessors", source=source, distance=distance))
        return {f"{self.name()} predecessor": Column(found, method, "label", none=-1)}


def vertex_of(store: GraphStore, given: int | str, flag: str) -> int:
    """Return the vertex with the original id ``given``; OptionError, with the name of the option, for no id of one."""
    try:
        if isinstance(given, bool):
            raise TypeError(given)
        original = (
            str(given) if store.id_kind == STRING else whole_of(given) if isinstance(given, str) else index(given)
        )
    except (TypeError, ValueError) as error:
        raise OptionError(f"{flag}: expected an integer, the id of a vertex, found {quoted(given)}") from error
    return int(vertices_of(store, [original], flag)[0])


def vertices_of(store: GraphStore, originals: list[int | str], flag: str) -> np.ndarray:
    """Return the vertices with these original ids; OptionError, with the name of the option, for one that is none."""
    try:
        return store.dense_ids(originals)
    except OptionError as error:
        raise OptionError(f"{flag}: {error}") from error


def random_vertices(network: Network, count: int, seed: int) -> np.ndarray:
    """Draw different vertices, every set of them equally likely: int64 [count], ascending. ``seed`` decides which."""
    from csaw.engine.draws.random import distinct_below

    return np.sort(distinct_below(np.uint64(seed), FIRST_RUN, SOURCE_SLOT, network.vertices, count))


# The uncertainty of random draws that all say the same: their variance is 0, which is no certainty.

CHANCE = 0.05  # that more is left open than these bounds say
ERRORS = 1.96  # standard errors of such a bound


def unseen_share(draws: int) -> float:
    """The largest share of things that all draws may have missed: with this one, they do so with a chance of 5 %.

    It is the upper bound of Clopper and Pearson, Biometrika 26(4), 1934, for none that was met, about 3 / draws ("rule
    of three": Hanley and Lippman-Hand, JAMA 249(13), 1983).
    """
    return float(1 - CHANCE ** (1 / draws))


def share_error(met: int, draws: int) -> float:
    """Standard error of a share of which ``draws`` have ``met`` some, never 0.

    It counts two draws of each kind more than there were (Agresti and Coull, The American Statistician 52(2), 1998).
    """
    part = (met + 2) / (draws + 4)
    return float((part * (1 - part) / (draws + 4)) ** 0.5)
