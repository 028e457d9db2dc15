"""The ends of links: pairs that a user gives, one after the other in a list of sources, or numbers of edges."""

from types import ModuleType

import numpy as np

from csaw.engine.api.algorithm import Algorithm
from csaw.engine.api.rules import NonNeighbors
from csaw.partition import GraphStore
from csaw.partition.base.quoting import meant, quoted
from csaw.partition.errors import OptionError


def are_links(algorithm: Algorithm) -> bool:
    """Whether the sources of an instance are both ends of a link."""
    return isinstance(algorithm.rule, NonNeighbors)


def relation_of(store: GraphStore, algorithm: Algorithm) -> int | None:
    """The number of the relation of an algorithm's links; None for edges of any.

    OptionError where the graph has none of this name, or several.
    """
    name = getattr(algorithm, "relation", None)
    if name is None:
        return None
    if store.types is None:
        raise OptionError(
            f"--relation: {store.path} has one type of vertices and no relations; leave it out, or make a graph of "
            "several types with csaw partition SOURCE-NAME-TARGET=FILE ..."
        )
    known = [(str(one), one.name) for one in store.types.relations]
    found = [number for number, names in enumerate(known) if name in names]
    if len(found) == 1:
        return found[0]
    full = [one for one, _ in known]
    if found:
        said = ", ".join(full[number] for number in found)
        raise OptionError(f"--relation: {quoted(name)} is the name of {said}; give one of these in full")
    near = meant(name, [*full, *dict.fromkeys(short for _, short in known)])
    raise OptionError(f"--relation: no relation is called {quoted(name)}{near or '.'} There are {', '.join(full)}")


def edges_of(store: GraphStore, algorithm: Algorithm) -> int:
    """The number of edges that may be links.

    OptionError where there is none, or where one time is given for links, though edges have times of their own.
    """
    if getattr(algorithm, "start_time", None) is not None:
        raise OptionError(
            "--start-time: expected links in a file of --sources with it, found edges of the graph, which have times "
            "of their own; leave it out"
        )
    number = relation_of(store, algorithm)
    edges = store.edges if number is None or store.types is None else store.types.edges[number]
    if not edges:
        of = "" if number is None else f" of the relation {getattr(algorithm, 'relation', '')}"
        raise OptionError(f"{store.path} has no edge{of}; give links with --sources")
    return int(edges)


def require_pairs(listed: np.ndarray, given: object) -> None:
    """OptionError for a list of sources that has no pairs."""
    if isinstance(given, str) and given.startswith(("random:", "type:")):
        raise OptionError(
            f"--sources {given}: expected a file of links, all for every edge, or nothing for random edges"
        )
    if listed.size % 2:
        raise OptionError(f"--sources: expected two vertices for each link, found {listed.size:,} vertices in all")


def require_relation(store: GraphStore, algorithm: Algorithm, listed: np.ndarray) -> None:
    """OptionError for given links whose ends are not of the types of their relation."""
    number = relation_of(store, algorithm)
    if number is None or store.types is None:
        return
    relation = store.types.relations[number]
    for ends, name in ((listed[::2], relation.source), (listed[1::2], relation.target)):
        first, last = store.types.span(name)
        wrong = np.flatnonzero((ends < first) | (ends >= last))
        if wrong.size:
            [found] = store.original_ids(ends[wrong[:1]].astype(store.id_dtype))
            raise OptionError(
                f"--sources: expected a vertex of the type {name} in link {int(wrong[0]):,} of {relation}, found "
                f"{quoted(found)}"
            )


def edge_numbers(first: int, last: int, edges: int, in_turn: bool, xp: ModuleType) -> np.ndarray:
    """What stands for the sources of instances first .. last - 1: int64 [n, 1], the numbers of edges that they take in
    turn; or [n, 0] for edges that kernels draw.
    """
    if not in_turn:
        return np.empty((last - first, 0), np.int64)
    return xp.remainder(xp.arange(first, last, dtype=np.int64), edges)[:, None]
