"""A function for each algorithm: ``csaw.node2vec(graph, p=0.5)`` is ``csaw.sample(graph, algo="node2vec", p=0.5)``."""

import inspect
from collections.abc import Callable
from functools import cache

from csaw.commands import Place, sample
from csaw.engine.api import registry
from csaw.engine.plan.options import described
from csaw.engine.samples import Samples
from csaw.partition.base.plain_data import OptionValue
from csaw.partition.errors import OptionError

DOC = """{first}

    csaw.{name}("karate"{example})

{paper}It is ``csaw.sample`` with ``algo="{algorithm}"``, and returns the same :class:`Samples`.

Args:
    graph: a path, a name or an object, as :func:`csaw.graph` takes it.
    out: path of the sample store to write; None keeps the samples in memory.
{options}
    **options: all other options of :func:`csaw.sample`, such as ``sources``, ``seed``, ``device`` and ``memory``.
"""


@cache
def function_of(name: str) -> Callable[..., Samples]:
    """Make the function of an algorithm, which has the name of its module: ``forest_fire``."""
    algorithm = name.replace("_", "-")
    kind = registry.find(algorithm)

    def draw(graph: object, out: Place | None = None, **options: OptionValue) -> Samples:
        if "algo" in options:
            raise OptionError(f"algo: csaw.{name} draws {algorithm}; csaw.sample draws any algorithm")
        return sample(graph, out, algorithm, **options)

    own = kind.options()
    given = inspect.signature(draw).parameters
    named = [inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=one.default) for key, one in own.items()]
    shown = [given["graph"], given["out"], *named, given["options"]]
    draw.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    draw.__name__ = draw.__qualname__ = name
    draw.__doc__ = DOC.format(
        first=inspect.cleandoc(kind.__doc__ or "").partition("\n\n")[0],
        name=name,
        algorithm=algorithm,
        example="".join(f", {key}={one.default!r}" for key, one in list(own.items())[-2:] if one.default is not None),
        paper=f"By {kind.paper}. " if kind.paper else "",
        options=described(own),
    )
    return draw
