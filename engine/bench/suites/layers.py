"""Mini-batches of samplers of layers and of subgraphs: FastGCN, LADIES and GraphSAINT.

The sizes are those of gSampler (SOSP 2023), NextDoor (EuroSys 2021) and of GraphSAINT's authors: NextDoor's LADIES and
FastGCN have 64 seeds and layers of 64, its MVS 64 seeds, and its ClusterGCN 20 clusters. A graph without as many
clusters gets random ones here.

A rate is that of samples, each a mini-batch, because a mini-batch is what these programs publish the time of. Published
is one of them: gSampler's LADIES takes 1.25 s for an epoch of ogbn-products (figure 8 of its artifact, one V100), which
are 196,615 seeds in mini-batches of 512. It draws by squared entries that are all 1, without replacement, 25
mini-batches together, and so does the work here. One thing differs: its next layer is drawn for the seeds too, csaw's
for the layer alone, as in LADIES' paper. gSampler publishes no time of FastGCN and GraphSAINT. Of NextDoor no rates
were found, only how many times faster than the samplers of these papers it is; its FastGCN and LADIES draw each vertex
of the graph with the same chance.

A rate is set beside the published one on any graph of that size. A layer looks at all edges of the one before, so that
hubs decide: R-MAT's usual stand-in has vertices of 300,000 edges, which products that are bought together have not;
``rmat:scale=21,edge_factor=30,a=0.44,b=0.22,c=0.22,d=0.12`` is as large, and its largest vertices have 20,000.
"""

from collections.abc import Iterator

from csaw.engine.bench.bench_row import Published, Row, Verdict, beside, measured
from csaw.engine.bench.context import Context
from csaw.engine.bench.graphs import Graph, in_clusters
from csaw.engine.bench.work import Work

GRAPH, VERTICES, EDGES = "ogbn-products", 2_449_029, 123_718_280  # stored edges
ALIKE = 0.8  # of its vertices and edges, at least, and no more than their number divided by it
EPOCH_SECONDS, EPOCH_BATCHES = 1.25, -(-196_615 // 512)
RATE = EPOCH_BATCHES / EPOCH_SECONDS
TIMES = 3
V100 = "one NVIDIA V100"
CLAIM = (
    f"LADIES draws mini-batches at {TIMES} times the rate that gSampler has published, {RATE:.0f} a second "
    f"({GRAPH}, {V100})"
)
PUBLISHED = (Published("gSampler, figure 8 of its artifact", V100),)
UNIT = "samples/s"


def _work(name: str, algo: str, instances: int, **options: object) -> Work:
    return Work(name, algo, instances, {"weighted": False, **options}, unit=UNIT)


GSAMPLER = _work(
    "LADIES, 512 seeds, 3 x 4000 (gSampler)",
    "ladies",
    50,
    frontier_size=512,
    layer_sizes=(4000,) * 3,
    normalize="none",
    replace=False,
    in_flight=25,
)
WORKS = (
    GSAMPLER,
    _work("LADIES, 512 seeds, 3 x 4000", "ladies", 100, frontier_size=512, layer_sizes=(4000,) * 3, in_flight=25),
    _work("LADIES, 512 seeds, 5 x 512", "ladies", 100, frontier_size=512, layer_sizes=(512,) * 5, in_flight=25),
    _work("LADIES, 64 seeds, 5 x 64", "ladies", 1000, frontier_size=64, layer_sizes=(64,) * 5, in_flight=250),
    _work("FastGCN, 64 seeds, 5 x 64", "fastgcn", 1000, frontier_size=64, layer_sizes=(64,) * 5),
    _work("FastGCN, 512 seeds, 2 x 2000", "fastgcn", 100, frontier_size=512, layer_sizes=(2000,) * 2),
    _work("GraphSAINT, 6000 nodes", "saint-node", 100, subgraph_nodes=6000),
    _work("GraphSAINT, 4000 edges", "saint-edge", 100, frontier_size=4000),
    _work("GraphSAINT, 3000 walks of 2", "saint-walk", 100, frontier_size=3000, walk_length=2),
    _work("GraphSAINT, 2000 walks of 4", "saint-walk", 100, frontier_size=2000, walk_length=4),
    _work("MVS, 64 seeds, all their neighbors (NextDoor)", "mvs", 1000, seeds_per_batch=64),
)
CLUSTERS = 20
CLUSTER_GCN = _work(f"ClusterGCN, {CLUSTERS} clusters (NextDoor)", "cluster-gcn", 1000, clusters_per_batch=CLUSTERS)


def rows(context: Context) -> Iterator[Row]:
    for graph in context.graphs():
        for row in context.measure(graph, WORKS):
            yield row | (_beside_published(row, context.devices[0].name) if context.on_gpu else {})
        if context.wanted([CLUSTER_GCN]):
            yield from context.measure(Graph(graph.label, in_clusters(graph.store, CLUSTERS)), [CLUSTER_GCN])


def _beside_published(row: Row, device: str) -> Row:
    """The columns that set a GPU's rate beside the published one, which is of one work on graphs of one size."""
    if "rate" not in row or row["work"] != GSAMPLER.name or not is_alike(row["vertices"], row["stored_edges"]):
        return {}
    goal = TIMES * RATE
    return beside(row, RATE, f"gSampler on {V100}, csaw on {device}") | {
        "goal": goal,
        "goal_of": f"{TIMES} times gSampler's rate on {V100}",
        "met": row["rate"] >= goal,
    }


def is_alike(vertices: int, edges: int) -> bool:
    """Whether a graph has about the size of that of the published rate."""
    return all(ALIKE <= here / there <= 1 / ALIKE for here, there in ((vertices, VERTICES), (edges, EDGES)))


def verdict(rows: list[Row]) -> Verdict:
    found = [row for row in measured(rows, work=GSAMPLER.name) if row.get("goal")]
    if not found:
        return Verdict(None, f"only a GPU's rate on a graph of the size of {GRAPH} can be compared: --graphs gsampler")
    said = "; ".join(
        f"{row['rate']:,.0f} a second on {row['graph']}{'' if row['met'] else ', too few'}" for row in found
    )
    return Verdict(all(row["met"] for row in found), said)
