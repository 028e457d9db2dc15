"""Metapaths: the relation that each step of a walk, or each hop, follows.

The source: metapath2vec (Dong et al., KDD 2017, equations 3 and 4).

``author,writes,paper,rev_writes,author``: types and relations in turn. What follows from the rest may be left out: a
relation that is the only one between two types, and types at the ends of a relation. So ``writes,rev_writes`` and
``author,paper,author`` mean the same. A metapath that ends at its first type begins again there.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from csaw.engine.api import hooks
from csaw.engine.api.algorithm import Algorithm
from csaw.engine.api.bases import ChosenBias
from csaw.engine.api.rules import SharedNumbers, SourceEdges
from csaw.engine.api.starts import SourceKind
from csaw.engine.sources.given_sources import OF_TYPE
from csaw.partition.base.quoting import meant, quoted
from csaw.partition.errors import OptionError
from csaw.partition.graph.types import RELATION

if TYPE_CHECKING:
    from csaw.engine.plan.contracts import Store
    from csaw.engine.plan.options import RunOptions
    from csaw.engine.sources.sources import Sources
    from csaw.partition.graph.types import Types


@dataclass(frozen=True)
class Metapath:
    """The numbers of the relations that steps follow in turn; ``first``: the type of the sources; ``cyclic``: whether
    the last relation leads back to it.
    """

    relations: tuple[int, ...]
    first: str
    cyclic: bool

    @classmethod
    def parsed(cls, text: str, types: "Types") -> Self:
        """The metapath that a text means on a graph. OptionError where it means none, or several."""
        names = {one.name for one in types.relations}
        found, at, relation = list[int](), "", ""  # where it has come to, and a relation that waits for its end
        for word in (*(part.strip() for part in text.split(",")), ""):
            if word not in types.names and word not in names and word:
                known = [*types.names, *sorted(names)]
                raise OptionError(
                    f"--metapath: no type or relation is called {quoted(word)}{meant(word, known) or '.'} "
                    f"There are {', '.join(known)}"
                )
            ends = word if word in types.names else ""
            if relation or (at and ends):
                found.append(_only(at, relation, ends, types))
                at = types.relations[found[-1]].target
            at, relation = ends or at, "" if ends else word
        if not found:
            raise OptionError(f"--metapath: expected at least one relation, or two types, found {quoted(text)}")
        first = types.relations[found[0]].source
        return cls(tuple(found), first, first == types.relations[found[-1]].target)

    def bias(self, of_edge: str, types: "Types") -> str:
        """The expression of a bias that is ``of_edge`` for edges of the relation of a step, and 0 for all others."""
        depth = f"e.depth % {len(self.relations)}" if self.cyclic else "e.depth"
        steps = [(step, _condition(number, types)) for step, number in enumerate(self.relations)]
        always = self.cyclic and len(set(self.relations)) == 1
        follows = steps[0][1] if always else " or ".join(f"{depth} == {step} and {one}" for step, one in steps)
        return f"({of_edge}) * (1.0 if {follows} else 0.0)"


def _is_alone(number: int, types: "Types") -> bool:
    """Whether no other relation joins the same types."""
    ends = types.ends()
    return bool((ends == ends[number]).all(axis=1).sum() == 1)


def _condition(number: int, types: "Types") -> str:
    """Whether an edge is of relation ``number``, as an expression: by the dense ids of its ends if these tell."""
    if not _is_alone(number, types):
        return f"e.{RELATION.name} == {number}"
    ends = zip(("e.src", "e.dst"), types.ends()[number].tolist(), strict=True)
    return " and ".join(f"{end} >= {types.bounds[of]} and {end} < {types.bounds[of + 1]}" for end, of in ends)


def _only(source: str, name: str, target: str, types: "Types") -> int:
    """The number of the only relation of this name between these types; what is empty may be any."""
    wanted = {"source": source, "name": name, "target": target}
    found = [
        number
        for number, one in enumerate(types.relations)
        if all(not value or getattr(one, field) == value for field, value in wanted.items())
    ]
    if len(found) == 1:
        return found[0]
    said = "-".join(value or "*" for value in wanted.values())
    listed = ", ".join(str(types.relations[number]) for number in found) or "none"
    raise OptionError(
        f"--metapath: expected one relation {said}, found {listed}; the graph has "
        f"{', '.join(map(str, types.relations))}"
    )


def _own_bias(algorithm: Algorithm) -> str | None:
    """The bias of an algorithm as an expression: constant, by weight or by degree; None for any other."""
    bias = hooks.edge_bias(algorithm, weighted=True)
    if bias.constant is not None:
        return str(bias.constant)
    if isinstance(algorithm, ChosenBias):
        return {"degree": "e.dst_degree", "weight": "e.weight"}[algorithm.bias]
    return "e.weight" if type(algorithm).edge_bias is Algorithm.edge_bias else None


def _has_no_steps(algorithm: Algorithm) -> bool:
    """Whether an algorithm draws from the whole graph, or selects all edges with the same probability."""
    if algorithm.sources_from in (SourceKind.EVERY, SourceKind.CLUSTERS):
        return True
    return isinstance(algorithm.rule, SharedNumbers | SourceEdges)


def along(metapath: str, options: "RunOptions", store: "Store", algorithm: Algorithm) -> "RunOptions":
    """The options of a run along a metapath: a bias for it, and the vertices of its first type as sources.

    ``algorithm``: without a bias of the options. OptionError for a graph without types, or an algorithm whose own bias
    is neither the weight of an edge nor the same for all.
    """
    if store.stored.types is None:
        raise OptionError(
            f"--metapath: {store.path} has one type of vertices; make a graph of several with csaw partition "
            "SOURCE-NAME-TARGET=FILE ..."
        )
    if _has_no_steps(algorithm):
        raise OptionError(f"--metapath: {algorithm.name()} cannot follow one; use another algorithm")
    bias = options.edge_bias or _own_bias(algorithm)
    if bias is None:
        raise OptionError(
            f"--metapath: the bias of {algorithm.name()} ignores relations; use another algorithm, such as deepwalk, "
            'or replace the bias: --edge-bias "e.weight"'
        )
    types = store.stored.types
    found = Metapath.parsed(metapath, types)
    sources = f"{OF_TYPE}{found.first}" if options.sources is None else options.sources
    return replace(options, edge_bias=found.bias(bias, types), sources=sources)


def require_first(sources: "Sources", metapath: str | None, store: "Store") -> None:
    """OptionError for sources that are not of the first type of a metapath, if there is one."""
    types = store.stored.types
    if metapath is None or types is None:
        return
    name = Metapath.parsed(metapath, types).first
    first, last = types.span(name)
    listed = sources.listed
    if listed is None or ((listed < first) | (listed >= last)).any():
        raise OptionError(
            f"--sources: expected vertices of the type {name}, at which the metapath begins, found others; leave out "
            "--sources to start at all of them"
        )
