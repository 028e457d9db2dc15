"""Fanouts by relation: how many edges of each relation a vertex of a graph of several types selects."""

from typing import TYPE_CHECKING

import numpy as np

from csaw.engine.api.algorithm import Algorithm
from csaw.engine.api.option import ByRelation
from csaw.engine.api.termination import is_blind
from csaw.partition.base.quoting import meant, quoted
from csaw.partition.errors import OptionError

if TYPE_CHECKING:
    from csaw.engine.plan.contracts import Store
    from csaw.engine.plan.options import RunOptions
    from csaw.partition.graph.types import Types


OTHERS = "*"  # the name of all relations that are not given


def fanouts_of(algorithm: Algorithm) -> ByRelation | None:
    """The fanouts of an algorithm by relation; None where it selects from all edges of a vertex together."""
    fanout = getattr(algorithm, "fanout", None)
    return fanout if isinstance(fanout, ByRelation) else None


def sizes_of_relations(algorithm: Algorithm) -> np.ndarray:
    """How many edges a vertex selects at each hop from each relation, int64 [hops, relations]."""
    fanouts = fanouts_of(algorithm)
    assert fanouts is not None
    return fanouts_by_hop(fanouts)


def fanouts_by_hop(fanouts: ByRelation) -> np.ndarray:
    """These fanouts as int64 [hops, relations]."""
    return np.ascontiguousarray(np.array(list(fanouts.values()), np.int64).reshape(len(fanouts), -1).T)


def in_full(fanout: ByRelation, store: "Store") -> ByRelation:
    """The fanouts of all relations of a graph, in the order of their numbers and under their full names; of those that
    are not given, those of OTHERS, or 0. OptionError for a name that means none of them, or several.
    """
    types = store.stored.types
    if types is None:
        raise OptionError(
            f"--fanout: {store.path} has one type of vertices and no relations; give numbers such as 25,10, or make "
            "a graph of several types with csaw partition SOURCE-NAME-TARGET=FILE ..."
        )
    others = fanout.get(OTHERS, (0,) * len(next(iter(fanout.values()))))
    found = ByRelation((str(relation), others) for relation in types.relations)
    given = dict[str, str]()
    for name, sizes in fanout.items():
        if name == OTHERS:
            continue
        full = _full_name(name, types)
        if full in given:
            raise OptionError(f"--fanout: {full} is there twice, as {quoted(given[full])} and {quoted(name)}")
        given[full], found[full] = name, sizes
    return found


def _full_name(name: str, types: "Types") -> str:
    """The full name of the relation that a name means."""
    full = [str(relation) for relation in types.relations]
    named = [known for known, one in zip(full, types.relations, strict=True) if name == one.name]
    found = [name] if name in full else named  # a name may have hyphens, as if it were one in full
    if len(found) == 1:
        return found[0]
    if found:
        raise OptionError(f"--fanout: {quoted(name)} is the name of {', '.join(found)}; give one of these in full")
    known = [*full, *{one.name: None for one in types.relations}]
    raise OptionError(
        f"--fanout: no relation is called {quoted(name)}{meant(name, known) or '.'} There are {', '.join(full)}"
    )


def refuse(algorithm: Algorithm, options: "RunOptions") -> None:
    """OptionError for a run that cannot select by relation."""
    if options.metapath is not None:
        raise OptionError("--metapath and fanouts by relation exclude each other; leave one out")
    if options.induced or options.target is not None:
        flag = "--induced" if options.induced else "--target"
        raise OptionError(f"{flag} and fanouts by relation exclude each other; leave one out")
    if not is_blind(algorithm):
        raise OptionError(
            f"--fanout: {algorithm.name()} with fanouts by relation selects uniformly or by weight, but its bias reads "
            "more than the weights of edges; leave out the bias, or give numbers such as --fanout 25,10"
        )
