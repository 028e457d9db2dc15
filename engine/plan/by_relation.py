"""Numbers by relation and by type: how many edges of each relation a vertex of a graph of several types selects, and
how many vertices of each type a layer draws.
"""

from typing import TYPE_CHECKING

import numpy as np

from csaw.engine.api.algorithm import Algorithm
from csaw.engine.api.option import ByRelation, ByType
from csaw.engine.api.rules import BudgetLayers
from csaw.engine.api.termination import is_blind
from csaw.partition.base.quoting import meant, quoted
from csaw.partition.errors import OptionError

if TYPE_CHECKING:
    from csaw.engine.plan.contracts import Store
    from csaw.engine.plan.options import RunOptions
    from csaw.partition.graph.types import Types


OTHERS = "*"  # the name of all relations, or types, that are not given


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


def needs_relations(algorithm: Algorithm, store: "Store") -> bool:
    """Whether a run draws from a graph that has a row for each relation of a vertex: see partition/graph/staged.py."""
    if fanouts_of(algorithm) is not None:
        return True
    return isinstance(algorithm.rule, BudgetLayers) and store.stored.types is not None


def numbers_in_full(numbers: tuple[int, ...] | ByType, store: "Store") -> tuple[int, ...] | ByType:
    """The numbers of all types of a graph, in their order; of types that are not given, those of OTHERS, or 0. Of a
    graph without types, the numbers as they are. OptionError for the name of no type.
    """
    types = store.stored.types
    if types is None and isinstance(numbers, ByType):
        raise OptionError(
            f"--num-samples: {store.path} has one type of vertices; give numbers such as 512,512, or make a graph of "
            "several types with csaw partition SOURCE-NAME-TARGET=FILE ..."
        )
    if types is None:
        return numbers
    if not isinstance(numbers, ByType):
        return ByType(dict.fromkeys(types.names, numbers))
    for name in numbers:
        if name not in (OTHERS, *types.names):
            raise OptionError(
                f"--num-samples: no type is called {quoted(name)}{meant(name, types.names) or '.'} There are "
                f"{', '.join(types.names)}"
            )
    others = numbers.get(OTHERS, (0,) * len(next(iter(numbers.values()))))
    return ByType((name, numbers.get(name, others)) for name in types.names)


def numbers_of(algorithm: Algorithm) -> tuple[int, ...] | ByType:
    """How many vertices the layers of an algorithm by budgets draw, of each type or of all."""
    numbers: tuple[int, ...] | ByType = getattr(algorithm, "num_samples", ())
    return numbers


def sizes_of_types(algorithm: Algorithm) -> np.ndarray:
    """How many vertices each layer draws of each type, int64 [layers, types]; of a graph without types, of one."""
    numbers = numbers_of(algorithm)
    each = list(numbers.values()) if isinstance(numbers, ByType) else [numbers]
    return np.ascontiguousarray(np.array(each, np.int64).reshape(len(each), -1).T)


def refuse_beside_budgets(algorithm: Algorithm, options: "RunOptions") -> None:
    """OptionError for a run by budgets with options that would be another law, or change nothing."""
    name = algorithm.name()
    reasons = {
        "metapath": "it follows all relations",
        "target": "a mini-batch has the seeds that it is given",
        "edge_bias": "a vertex divides its budget equally among the edges of a relation",
    }
    for option, reason in reasons.items():
        if getattr(options, option) is not None:
            raise OptionError(f"--{option.replace('_', '-')}: {name} cannot use it, because {reason}")
    if options.induced:
        raise OptionError(f"--induced: {name} keeps all edges among the vertices of a mini-batch anyway; leave it out")


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
