"""The frontiers of a traversal with an ``update`` of its own: its text in plain Python, at the address of each edge."""

from collections.abc import Callable
from typing import Any

import numpy as np

from csaw.engine.api import hooks
from csaw.engine.api.plain_hooks import ENGINE, plain_text
from csaw.engine.api.user_code import users_code
from csaw.engine.draws.addresses import UPDATE_DRAWS
from csaw.engine.draws.random import below_wide, draw64, fraction, hook_word
from csaw.engine.verify.checks import Subject

Update = Callable[[int, int, int, int, int, int, int], int]


def update_of(subject: Subject) -> Update:
    """The vertex that enters the frontier after an edge, -1 for none, by the edge's (instance, slot, depth, source,
    vertex before src, src, dst).
    """
    if not subject.updates:
        return lambda *edge: edge[-1]
    update, params = _plain_update(subject), hooks.params(subject.algorithm)
    seed = np.uint64(subject.samples.manifest["request"]["seed"])

    def after(instance: int, slot: int, depth: int, source: int, prev: int, src: int, dst: int) -> int:
        own = np.uint64(draw64(seed, np.uint64(instance), np.uint64(slot), UPDATE_DRAWS))
        try:
            to = update(params, None, own, instance, depth, source, prev, src, dst, 1.0)
        except Exception:  # of what compiled code computes otherwise, such as a shift by less than 0
            with users_code(f"{subject.algorithm.name()}.update failed:"):
                raise
        return int(to) if to >= 0 else -1

    return after


def vertices_after(subject: Subject, group: Any) -> np.ndarray:
    """int64 [edges]: the vertex that enters the frontier after each sampled edge of a group; -1: none.

    The edges of an instance are in the order in which they were drawn, so that their places say their slots.
    """
    update, first = update_of(subject), np.cumsum([0, *group.source_counts])
    then, edge = np.empty(group.src.size, np.int64), 0
    for i, count in enumerate(group.counts.tolist()):
        width, source = int(group.source_counts[i]), int(group.sources[first[i]]) if group.source_counts[i] else -1
        before: dict[int, int] = {}
        for slot in range(width, width + count):
            src, dst, depth = int(group.src[edge]), int(group.dst[edge]), int(group.depth[edge])
            then[edge] = update(subject.number(group.start + i), slot, depth, source, before.get(src, -1), src, dst)
            before.setdefault(int(then[edge]), src)
            edge += 1
    return then


def _plain_update(subject: Subject) -> Callable[..., Any]:
    """The update as compiled code has it: the same text, with the graph's numbers as they are."""
    view, columns = subject.view, subject.algorithm.vertex_columns
    hook = hooks.others(subject.algorithm, subject.weighted)["update"]
    assert hook is not None
    scope: dict[str, Any] = ENGINE | {
        "inner": lambda **_: lambda function: function,
        "int64": int,
        "uint64": np.uint64,
        "degree": lambda _, v: view.degree(v),
        "vertex_count": lambda _: view.vertices,
        "is_neighbor": lambda _, a, b: view.is_neighbor(a, b),
        "column_value": lambda _, k, v: columns.value(columns.names[k], v),
        "hook_word": lambda *address: np.uint64(hook_word(*address)),
        "fraction": fraction,
        "below_wide": below_wide,
    }
    text = plain_text(f"import math\nimport numpy as np\n{hook.source}")
    exec(compile(text, "<update>", "exec"), scope)  # noqa: S102 - the user's own code, as with --algo FILE
    return scope["update"]
