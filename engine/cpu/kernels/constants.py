"""Default constants and empty hooks. engine/cpu/specialize.py puts those of a plan in their place."""

from csaw.partition.base.compile import inner

STREAMED = False  # partitions are loaded and evicted: check before reading a row
UNDIRECTED = False  # every edge has its reverse
SYMMETRIC_WEIGHTS = False  # and the same weight
SIMPLE = False  # no edge is repeated
TABLE = False  # alias entries instead of indices
TABLES = 1  # entries of each edge, side by side: of as many alias tables, one for each case of the depth
SUMS = False  # running sums of biases beside indices
WEIGHTED = False
EXTREME = False  # rejection may hardly ever accept: see rejection.py
MEMBERSHIP = False  # edge_bias asks is_neighbor(prev, dst)
HASHED = False  # rows have hash tables
MEMBER_WEIGHTS = False  # these have weights, too
ASKS_BACK = False  # edge_bias asks it where dst is prev, too
ASKS_LATER = False  # of a streamed graph: see questions.py
QUESTIONS = 1  # most that a walker leaves for later
READS_PATH = False  # a hook reads the walk: graph.path
LOGGED = False  # out is a log of steps: see put in walk.py
UNLIMITED = False  # walks end by themselves: a kernel takes those of a round to its last step
HAS_UPDATE = False
HAS_DEAD_END = False
DRAWS_AHEAD = False  # update reads its first random word from the graph, in walk_by_edge
CHECKED = False  # update and dead_end are a user's own, and may return no vertex
UNIFORM = True  # every edge has the same bias
NEIGHBOR_WEIGHTS = False  # some hook reads e.weight
EDGE_COLUMNS = 0  # number of edge columns that hooks read beside it
TIMED = 0  # walks know the times of their edges
EVENT_WORDS = 4  # of 32 bits, of an edge in the order by time of its row: see access.py
EVENTS = False  # edges are there in the order by time of their row, and of each which may follow it in a walk
ALONG = False  # of EVENTS: walks go where their edges lead, because no hook says otherwise
BY_TIME = 0  # steps are drawn from the order by time: see temporal.py, and schedule/specialization.py for the rest
TIME_COLUMN = 0  # numbers of the edge columns time and time_order
TIME_ORDER = 0
HAS_START = 0
HAS_WINDOW = 0
HAS_LAST = 0
BACKWARD = 0
STRICT = 0
TIME_BIAS = 0
FAR = 0
PER_TIME = 0
FROM_EDGES = 0
FROM_TIMES = 0
LATEST = 0  # of neighbors in time: the last ones before a time are selected
SELECT = "uniform"
COLLISION = "bipartite"
DETECT = "contiguous"
REPLACE = False
SUCCESSIVE = False  # picks without replacement, from running sums
PLACED = False  # the edge of each pick is noted beside its neighbor
POOLED = False  # candidates are a part of the row
INDUCED = False
COLLECTIVE = False
PACKED = False  # nodes of a mini-batch are known by their vertices alone, of 32 bits
TYPED = False  # nodes of a mini-batch select from each relation by itself
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
