"""``--target``: how many distinct vertices an instance is to have, and the numbers of the base instances that are
joined until it has them.

A base instance is what the algorithm draws without a target. They come in rounds: round r has 2^r of each instance, so
that those of neighboring instances are neighbors too, and a batch draws them together. Base instance j, from 0 on, of
instance k is in round r = floor(log2(j + 1)), and its number is

    (2^r - 1) 2^31 + k 2^r + j + 1 - 2^r

Numbers of all instances below 2^31 and of all rounds differ, and are below 2^63.
"""

from decimal import Decimal, InvalidOperation

from csaw.engine.api.algorithm import Algorithm, Traversal, Walk
from csaw.engine.api.rules import MiniBatch, NonNeighbors, SharedNumbers, VertexLayer
from csaw.engine.sources.sources import Sources
from csaw.partition.base.plain_data import Values
from csaw.partition.base.quoting import quoted, whole_of
from csaw.partition.errors import OptionError

MOST_INSTANCES = 1 << 31
ROUNDS = 32
TRIES_EACH, LEAST_TRIES = 16, 1024
"""Base instances in a row without a new vertex, after which an instance ends with fewer vertices: so many for each
vertex that one may start from, or as many edges of sets
of edges, and at least."""
CELL_BYTES = (
    8 * 4 + 8
    # of a vertex while instances are joined: cells of a table that is at least half empty, and its place in the order
    # of
    # meeting
)


def number_of(instance: int, round_: int) -> int:
    """The number of the first base instance of a round of an instance; those of the next instance follow."""
    return ((1 << round_) - 1) * MOST_INSTANCES + (instance << round_)


def fruitless(algorithm: Algorithm, sources: Sources) -> int:
    """Base instances in a row without a new vertex, after which an instance ends."""
    edges = 1
    if isinstance(algorithm, Traversal) and sources.kind == "every":
        edges = max(1, algorithm.sizes()[0])
    return max(LEAST_TRIES, TRIES_EACH * sources.places // edges)


def vertices_wanted(given: object, vertices: int) -> int:
    """The number of vertices that a ``--target`` asks for, in a graph of so many ``vertices``.

    A share is rounded to the nearest number, and to at least 1.
    """
    text = str(given).strip()
    try:
        share = Decimal(text.removesuffix("%").strip()) / 100 if text.endswith("%") else None
        wanted = whole_of(text) if share is None else max(1, round(share * vertices))
        inside = 0 < share <= 1 if share is not None else 0 < wanted <= vertices
    except (ValueError, InvalidOperation, OverflowError):
        inside = False
    if not inside:
        raise OptionError(
            f"--target: expected a number of vertices from 1 to the graph's {vertices:,}, or a share such as 10%, "
            f"found {quoted(given)}"
        )
    return wanted


def parameters_for(kind: type[Algorithm], target: int, parameters: Values) -> Values:
    """The ``parameters`` of an algorithm with the one that a target sets, if any.

    OptionError where one was given that a target decides.
    """
    sized = {kind.sized_by: target} if kind.sized_by else {}
    for name, value in {"num_walks": 1, **sized}.items():
        if str(parameters.get(name, value)) != str(value):
            raise OptionError(
                f"--{name.replace('_', '-')}: expected {value} with --target, found {quoted(parameters[name])}; "
                "choose the number of samples with --instances"
            )
    return parameters | sized


def refuse_unfit(algorithm: Algorithm, instances: int) -> None:
    """OptionError where instances of an algorithm cannot be joined, and where there are too many."""
    name = algorithm.name()
    reason = ""
    if isinstance(algorithm.rule, MiniBatch):
        reason = "a mini-batch has the seeds that it is given"
    elif algorithm.sources_from in ("clusters", "distinct"):
        reason = "its instances are sets of a given size"
    elif isinstance(algorithm.rule, NonNeighbors):
        reason = "a link has two ends"
    elif isinstance(algorithm.rule, VertexLayer | SharedNumbers):
        reason = "its layers have a given number of vertices"
    elif isinstance(algorithm, Traversal) and algorithm.time_strategy is not None:
        reason = "its sources have different times"
    if reason:
        raise OptionError(
            f"--target: {name} cannot be repeated until a number of vertices is reached, because {reason}"
        )
    if instances > MOST_INSTANCES:
        raise OptionError(f"--instances: expected at most {MOST_INSTANCES:,} with --target, found {instances:,}")


def base_vertices(algorithm: Algorithm, row: int, item: int) -> int:
    """About how many vertices a base instance meets. ``row``: its bytes in a sample; ``item``: bytes of an id."""
    return max(1, row // item if isinstance(algorithm, Walk) else row // (3 * item + 24))


def target_row(target: int, item: int) -> int:
    """Bytes of an instance of a target in the sample: its vertices, with about as many edges and sources."""
    return 48 + target * (4 * item + 4)
