"""Rules of a traversal that selects vertices by ``vertex_bias``: from a pool, or one of its walkers with clocks."""

from csaw.engine.api.algorithm import Algorithm, Traversal
from csaw.engine.api.hook_place import placed
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError

MOST_PICKS = 1 << 24  # of a depth from a pool, with replacement
STARTS = ("all", "random", "connected", "distinct")  # sources that a pool may begin with


def check_pool(algorithm: Algorithm) -> None:
    """OptionError, with the line of vertex_bias if the class has one, where nothing would call that, or a pool has what
    it cannot use.
    """
    if not isinstance(algorithm, Traversal):
        return
    own, pooled = type(algorithm).vertex_bias is not Traversal.vertex_bias, algorithm.pool_size is not None
    said = None
    if own and not pooled and not algorithm.clocks:
        said = (
            "vertex_bias: only a Traversal with pool_size, from which it selects frontier_size vertices at each depth, "
            "or with clocks = True calls it"
        )
    elif algorithm.clocks and getattr(algorithm, "walk_length", None) is None:
        said = "walk_length: expected an integer beside clocks = True, the steps of an instance, found None"
    elif algorithm.frontier_replace and not pooled:
        said = "frontier_replace: expected False without pool_size, found True"
    elif algorithm.frontier_replace and algorithm.frontier_size > MOST_PICKS:
        said = (
            f"frontier_size: expected at most {MOST_PICKS:,} beside frontier_replace, found {algorithm.frontier_size:,}"
        )
    elif pooled and algorithm.sources_from not in STARTS:
        words = ", ".join(map(repr, STARTS))
        said = f"sources_from: expected one of {words} beside pool_size, found {quoted(algorithm.sources_from)}"
    if said:
        error = OptionError(f"{algorithm.name()}.{said}")
        raise placed(error, type(algorithm).vertex_bias) if own else error
