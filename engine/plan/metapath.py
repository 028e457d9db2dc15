"""Metapaths: the relation that each step of a walk, or each hop, follows.

The source: metapath2vec (Dong et al., KDD 2017, equations 3 and 4).

``author,writes,paper,rev_writes,author``: types and relations in turn. What follows from the rest may be left out: a
relation that is the only one between two types, and types at the ends of a relation. So ``writes,rev_writes`` and
``author,paper,author`` mean the same. A metapath that ends at its first type begins again there.
"""

import ast
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from csaw.engine.api import hooks
from csaw.engine.api.algorithm import Algorithm, Traversal, Walk
from csaw.engine.api.bases import ChosenBias
from csaw.engine.api.expression import LONGEST, parsed
from csaw.engine.api.rules import EdgePool, HopTable, MiniBatch, PerVertex, Steps
from csaw.engine.api.termination import follows_edges, is_blind
from csaw.engine.sources.sources import OF_TYPE
from csaw.partition.base.quoting import meant, quoted
from csaw.partition.errors import OptionError
from csaw.partition.graph.types import RELATION

if TYPE_CHECKING:
    from csaw.engine.plan.contracts import Store
    from csaw.engine.plan.options import RunOptions
    from csaw.engine.sources.sources import Sources
    from csaw.partition.graph.types import Types

FOLLOWING = (HopTable, PerVertex, EdgePool, MiniBatch)
"""The rules of traversals whose hops follow each other from the sources."""


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
        words = [word.strip() for word in text.split(",")]
        known = [*types.names, *sorted(names)]
        for word in words:
            if word not in known:
                raise OptionError(
                    f"--metapath: no type or relation is called {quoted(word)}{meant(word, known) or '.'} "
                    f"There are {', '.join(known)}"
                )
        found, at, relation = list[int](), "", ""  # the type at hand, and a relation that waits for its end
        for word in [*words, ""]:
            end = word if word in types.names else ""
            if relation or (at and end):
                found.append(_only(at, relation, end, types))
                at = types.relations[found[-1]].target
            at, relation = end or at, "" if end else word
        if not found:
            raise OptionError(f"--metapath: expected at least one relation, or two types, found {quoted(text)}")
        first = types.relations[found[0]].source
        return cls(tuple(found), first, first == types.relations[found[-1]].target)

    def bias(self, of_edge: str, types: "Types") -> str:
        """The expression of a bias that is ``of_edge`` for edges of the relation of a step, and 0 for all others.

        OptionError if it would be too long.
        """
        depth = f"e.depth % {len(self.relations)}" if self.cyclic else "e.depth"
        ends = types.ends()
        steps = [(step, _condition(number, ends, types.bounds)) for step, number in enumerate(self.relations)]
        always = self.cyclic and len(set(self.relations)) == 1
        follows = steps[0][1] if always else " or ".join(f"{depth} == {step} and {one}" for step, one in steps)
        text = f"({of_edge}) if {follows} else 0.0"
        if len(text) > LONGEST:
            raise OptionError(
                f"--metapath: {len(self.relations)} relations are too many for this graph, because the bias that they "
                f"stand for has {len(text):,} characters; expected at most {LONGEST:,}"
            )
        return text

    def text(self, types: "Types") -> str:
        """The metapath in full."""
        relations = [types.relations[number] for number in self.relations]
        return ",".join([self.first, *(name for one in relations for name in (one.name, one.target))])

    def require_first(self, sources: "Sources", store: "Store") -> None:
        """OptionError for sources that are not of the first type."""
        assert store.stored.types is not None
        first, last = store.stored.types.span(self.first)
        listed = sources.listed
        if listed is None or ((listed < first) | (listed >= last)).any():
            raise OptionError(
                f"--sources: expected vertices of the type {self.first}, at which the metapath begins, found others; "
                "leave out --sources to start at all of them"
            )


def _condition(number: int, ends: np.ndarray, bounds: tuple[int, ...]) -> str:
    """Whether an edge is of relation ``number``, as an expression.

    A walk is at a vertex of the type that the step before has led to. So the type of the other end tells, unless
    another relation joins the same types, and neighbors can be proposed without a look at their edges.
    """
    if (ends == ends[number]).all(axis=1).sum() > 1:
        return f"e.{RELATION.name} == {number}"
    target = ends[number, 1]
    upto = f" and e.dst < {bounds[target + 1]}" if target + 2 < len(bounds) else ""  # the last type may grow
    return f"e.dst >= {bounds[target]}{upto}"


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


def _given(text: str, metapath: Metapath, types: "Types") -> str:
    """The bias of the edges that a metapath follows, of an expression that a user gives, or that a manifest has, which
    follows the metapath already.
    """
    tree = parsed(text)
    return _followed(tree, metapath, types) or ast.unparse(tree)


def _followed(tree: ast.expr, metapath: Metapath, types: "Types") -> str | None:
    """The bias of the edges that a metapath follows, of an expression that follows it; None for any other."""
    if isinstance(tree, ast.IfExp):
        bias = ast.unparse(tree.body)
        if ast.unparse(parsed(metapath.bias(bias, types))) == ast.unparse(tree):
            return bias
    return None


def is_followed(text: str, edge_bias: str | None, types: "Types | None") -> bool:
    """Whether a bias that a manifest has is one along its metapath, which it has in full."""
    if types is None or edge_bias is None:
        return False
    try:
        metapath = Metapath.parsed(text, types)
        return metapath.text(types) == text and _followed(parsed(edge_bias), metapath, types) is not None
    except OptionError:
        return False


def along(
    metapath: str, options: "RunOptions", store: "Store", algorithm: Algorithm
) -> "tuple[RunOptions, Metapath, str]":
    """The options of a run along a metapath, with a bias for it and the vertices of its first type as sources; the
    metapath; and the bias of the edges that it follows.

    ``algorithm``: without a bias of the options. OptionError for a graph without types, and for an algorithm that does
    not follow edges step by step or has a bias of its own.
    """
    types = store.stored.types
    if types is None:
        raise OptionError(
            f"--metapath: {store.path} has one type of vertices; make a graph of several with csaw partition "
            "SOURCE-NAME-TARGET=FILE ..."
        )
    _refuse(algorithm)
    found = Metapath.parsed(metapath, types)
    bias = _own_bias(algorithm) if options.edge_bias is None else _given(options.edge_bias, found, types)
    if bias is None:
        raise OptionError(
            f"--metapath: the bias of {algorithm.name()} ignores relations; use another algorithm, such as deepwalk, "
            'or replace the bias: --edge-bias "e.weight"'
        )
    hops = len(algorithm.sizes()) if isinstance(algorithm, Traversal) else 0
    if isinstance(algorithm.rule, HopTable | MiniBatch) and not found.cyclic and hops > len(found.relations):
        raise OptionError(
            f"--metapath: {algorithm.name()} draws {hops} hops, but the metapath ends after {len(found.relations)}; "
            "give a fanout for each of its relations, or a metapath that ends at its first type and begins again"
        )
    sources = f"{OF_TYPE}{found.first}" if options.sources is None else options.sources
    options = replace(options, edge_bias=found.bias(bias, types), sources=sources, metapath=found.text(types))
    return options, found, bias


def can_be_staged(algorithm: Algorithm) -> bool:
    """Whether ``algorithm``, without its metapath, draws the same on the graph of the stages: whether it looks at no
    vertex, remembers none that it has visited, and ends with no subgraph of those.
    """
    return isinstance(algorithm.rule, Steps | HopTable) and is_blind(algorithm) and not algorithm.ends_induced


def _refuse(algorithm: Algorithm) -> None:
    """OptionError for an algorithm whose steps or hops are not edges that follow each other from its sources."""
    if isinstance(algorithm, Walk):
        fits = not algorithm.timed and follows_edges(algorithm)
    else:
        rule = algorithm.rule
        in_time = getattr(algorithm, "time_strategy", None) is not None
        begins = algorithm.sources_from in ("all", "random")  # so that sources of a type may be given
        fits = isinstance(rule, FOLLOWING) and rule.waiting is None and begins and not in_time
    if not fits:
        raise OptionError(
            f"--metapath: {algorithm.name()} cannot follow one with these options, because it does more than follow "
            "edges from its sources step by step; use another algorithm, such as deepwalk, ppr, neighbor or forest-fire"
        )
