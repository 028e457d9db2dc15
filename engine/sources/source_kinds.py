"""The kind of a run's sources, and the clusters that they may be."""

from csaw.engine.api.starts import SourceKind
from csaw.partition import GraphStore
from csaw.partition.errors import OptionError
from csaw.partition.graph.clusters import Clusters


def kind_of_sources(by_itself: SourceKind, given: object, at_random: bool) -> SourceKind:
    """The kind of sources of an algorithm that has this one ``by_itself``, for what was given."""
    kind = by_itself
    if isinstance(given, str) and given == "all":
        kind = by_itself if by_itself is SourceKind.EVERY else SourceKind.ALL
    elif given is not None:
        kind = SourceKind.LIST
    return SourceKind.RANDOM if at_random and kind is SourceKind.ALL else kind


def clusters_of(store: GraphStore, wanted: int) -> Clusters:
    """The clusters of a graph store. OptionError where it has none, or fewer than are ``wanted`` for an instance."""
    if store.clusters is None:
        raise OptionError(f"{store.path} has no clusters; make it with csaw partition FILE OUT --clusters N")
    if wanted > store.clusters.count:
        raise OptionError(
            f"--clusters-per-batch: expected at most the graph's {store.clusters.count} clusters, found {wanted}"
        )
    return store.clusters
