"""What a kernel is specialised on, and hooks that do nothing. specialize.py writes the real ones in place of this file."""

from csaw.partition.compile import inner

STREAMED = False  # partitions come and go: look before reading a row
UNDIRECTED = False  # every edge has its reverse
SIMPLE = False  # no edge is there twice
TABLE = False  # alias entries instead of indices
SUMS = False  # running sums of biases beside indices
WEIGHTED = False
EXTREME = False  # trials of a walk by rejection may be hopeless: see rejection.py
MEMBERSHIP = False  # edge_bias asks is_neighbor(prev, dst)
HAS_UPDATE = False
HAS_DEAD_END = False
CHECKED = False  # update and dead_end are a user's own, and may return what is no vertex
UNIFORM = True  # every edge has the same bias
NEIGHBOR_WEIGHTS = False  # some hook reads e.weight
SELECT = "uniform"
COLLISION = "bipartite"
DETECT = "contiguous"
REPLACE = False
POOLED = False  # the pool is a part of the row
INDUCED = False
COLLECTIVE = False
KEYED = False  # pools merge by keys
EACH_EDGE_ONCE = False


@inner
def edge_bias(params, graph, seed, instance, depth, source, prev, src, dst, weight):
    return 1.0


@inner
def update(params, graph, seed, instance, depth, source, prev, src, dst, weight):
    return dst


@inner
def dead_end(params, graph, seed, instance, depth, source, prev, src, dst, weight):
    return -1


@inner
def vertex_bias(params, graph, seed, instance, depth, source, prev, src, dst, weight):
    return 1.0
