"""How walks and traversals end: whether an algorithm ends them by itself, which only its hook ``update`` can, and how
many steps they are expected to have.
"""

import ast
import math
import sys
from typing import SupportsIndex, overload

from csaw.engine.api import hooks
from csaw.engine.api.algorithm import MOST_STEPS, Algorithm, Traversal, Walk
from csaw.engine.api.hook_language import is_own
from csaw.partition.errors import BudgetError, OptionError

VERTICES = {"src", "dst", "source", "int64"}  # what a hook may return that is a vertex for sure; int64: a random one
BLIND = frozenset({"weight", "depth", "instance", "random"})  # what a hook may read that is no vertex
MOST_PLANNED = 1 << 20  # steps of a walk without a limit that memory is taken for at first
ASSUMED_STEPS = 80  # of a walk without a limit, where the algorithm does not say how many it expects


def may_end(algorithm: Algorithm) -> bool:
    """Whether the algorithm itself may end a walk: whether its ``update`` returns anything that is not a vertex for
    sure.
    """
    if not isinstance(algorithm, Walk):
        return False
    update = hooks.others(algorithm, weighted=True)["update"]
    if update is None:
        return False
    return not all(_is_vertex(value) for value in _returned(update))


def follows_edges(algorithm: Walk) -> bool:
    """Whether every step of a walk is along an edge for sure: no hook returns anything but the end of the selected
    edge, or ends the walk.
    """
    found = hooks.others(algorithm, weighted=True)
    if found["dead_end"] is not None:
        return False
    update = found["update"]
    return update is None or all(_is_end(value) for value in _returned(update))


def is_blind(algorithm: Algorithm) -> bool:
    """Whether hooks look at no vertex and no edge, but perhaps at the weight of an edge: on a graph with other numbers
    of vertices, they would say the same.
    """
    bias = hooks.edge_bias(algorithm, weighted=True)
    others = filter(None, hooks.others(algorithm, weighted=True).values())
    return bias.reads <= BLIND and not bias.columns and all(map(_ends_blindly, others))


def _ends_blindly(hook: hooks.Hook) -> bool:
    """Whether a hook that returns an end of an edge reads it for nothing else."""
    with hooks.TREES:
        tree = ast.parse(hook.source).body[-1]
    read = sum(isinstance(one, ast.Name) and one.id == "dst" for one in ast.walk(tree))
    returned = sum(_ends_in(value) for value in _returned(hook))
    return hook.reads - {"dst"} <= BLIND and not hook.columns and read == returned


def _ends_in(value: ast.expr | None) -> int:
    """The number of branches of a returned value that are the end of the edge."""
    if isinstance(value, ast.IfExp):
        return _ends_in(value.body) + _ends_in(value.orelse)
    return int(isinstance(value, ast.Name) and value.id == "dst")


def stays_near(algorithm: Algorithm) -> bool:
    """Whether an instance meets nothing but its sources and what edges of met vertices lead to, for sure: no hook
    returns anything but an end of the selected edge or the source, or ends the walk.
    """
    found = hooks.others(algorithm, weighted=True)
    moves = [hook for name, hook in found.items() if hook and name != "vertex_bias"]
    return all(_is_end(value, ("dst", "-1", "src", "source")) for hook in moves for value in _returned(hook))


def has_hooks(algorithm: Algorithm) -> bool:
    """Whether hooks of the algorithm decide where its walks go on, or end them."""
    return any(hook is not None for hook in hooks.others(algorithm, weighted=True).values())


def _returned(hook: hooks.Hook) -> list[ast.expr | None]:
    with hooks.TREES:
        tree = ast.parse(hook.source).body[-1]
    return [node.value for node in ast.walk(tree) if isinstance(node, ast.Return)]


def _is_end(value: ast.expr | None, ends: tuple[str, ...] = ("dst", "-1")) -> bool:
    """Whether a hook that returns this goes along the edge, or stops; or what else ``ends`` say."""
    if isinstance(value, ast.IfExp):
        return _is_end(value.body, ends) and _is_end(value.orelse, ends)
    return value is not None and ast.unparse(value) in ends


def _is_vertex(value: ast.expr | None) -> bool:
    if isinstance(value, ast.IfExp):
        return _is_vertex(value.body) and _is_vertex(value.orelse)
    named = value.func if isinstance(value, ast.Call) else value
    return isinstance(named, ast.Name) and named.id in VERTICES


def is_unlimited(algorithm: Algorithm) -> bool:
    """Whether walks go on until they end by themselves."""
    return isinstance(algorithm, Walk) and algorithm.walk_length is None


def planned_steps(algorithm: Algorithm) -> int:
    """Steps of an instance to plan for: the most that it may have, or without a limit about the mean, from 1 to
    MOST_PLANNED.
    """
    length = length_of(algorithm)
    return _expected_steps(algorithm, ASSUMED_STEPS) if length is None else length


def mean_steps(algorithm: Algorithm) -> int:
    """Steps of an instance to expect, from 1 on: what the algorithm says, and at most those that it may have."""
    length = length_of(algorithm)
    expected = _expected_steps(algorithm, ASSUMED_STEPS if length is None else length)
    return expected if length is None else min(expected, max(length, 1))


def length_of(algorithm: Algorithm) -> int | None:
    """The most steps of an instance, of walks and of walkers with clocks; None: no limit."""
    assert isinstance(algorithm, Walk | Traversal)
    return algorithm.walk_length


def limit_of(algorithm: Algorithm) -> int:
    """The most steps of an instance, where there is a limit."""
    length = length_of(algorithm)
    assert length is not None
    return length


def _expected_steps(algorithm: Algorithm, assumed: int) -> int:
    expects = isinstance(algorithm, Walk) and algorithm.expected_steps
    expected = expects() if expects else assumed
    return max(1, math.ceil(min(expected, MOST_PLANNED)))


def refuse_endless(algorithm: Walk) -> None:
    """OptionError if a walk of this algorithm without a limit might never end."""
    expected = algorithm.expected_steps() if algorithm.expected_steps else 0.0
    if may_end(algorithm) and expected <= MOST_STEPS:
        return
    why = "ends none with these options" if may_end(algorithm) else "ends none"
    if may_end(algorithm) and math.isfinite(expected):
        why = f"expects {expected:.3g} steps with these options, of which no walk can have more than {MOST_STEPS:,}"
    way_out = " or let its update return -1 now and then" if is_own(type(algorithm)) else ""
    raise OptionError(
        f"--walk-length none: walks without a limit must end by themselves, but {algorithm.name()} {why}; "
        f"give a number of steps{way_out}"
    )


def refuse_longest(steps: int, instance: int) -> None:
    """BudgetError where a walk without a limit has already taken as many steps as a walk can have."""
    if steps >= MOST_STEPS:
        raise BudgetError(
            f"instance {instance} has not ended after {steps:,} steps, the most that a walk can have; give "
            "--walk-length a number of steps, or let the update of a custom algorithm return -1 at some point"
        )


def cut_by(algorithm: Algorithm, walks: int, of: int) -> str:
    """Say in a report that ``walks`` walks of all ``of`` reached the limit of steps before they ended."""
    limit = getattr(algorithm, "walk_length", None)
    is_option = "walk_length" in algorithm.options()
    way_out = "; --walk-length none lets each walk end by itself" if walks and is_option else ""
    cut = f"--walk-length {limit}" if is_option else f"its limit of {limit} steps"
    return f"{walks:,} of {of:,} walks ({walks / max(of, 1):.1%}) had not ended when {cut} cut them{way_out}"


class Unending(tuple[int, ...]):
    """The sizes of a traversal without a limit of hops: the last one again for every hop after it.

    No graph has as many hops as its length says.
    """

    def __len__(self) -> int:
        return sys.maxsize

    @overload
    def __getitem__(self, hop: SupportsIndex) -> int: ...

    @overload
    def __getitem__(self, hop: slice) -> tuple[int, ...]: ...

    def __getitem__(self, hop: SupportsIndex | slice) -> int | tuple[int, ...]:
        if isinstance(hop, slice):
            raise TypeError("a list of sizes without an end has no slices")
        hop = hop.__index__()
        return tuple.__getitem__(self, min(hop, tuple.__len__(self) - 1))
