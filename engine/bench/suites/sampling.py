"""Sampling at full rate: walks, neighbors and subgraphs, in time, layers, and the overview that is run by default."""

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from csaw.engine.bench.bench_row import (
    Published,
    Row,
    Verdict,
    beside,
    by_row,
    figure,
    gap,
    kind_of,
    measured,
    named,
    rate_of,
    ratio,
    ratio_in,
)
from csaw.engine.bench.context import Context, Suite
from csaw.engine.bench.graphs import GOAL_DEVICE, MOST_EDGES, SPAN, Graph, in_clusters, with_times
from csaw.engine.bench.machine import CHAINED, CHAINS, plain_write
from csaw.engine.bench.measure import NEGATIVES, Work
from csaw.engine.runs.execute import execute
from csaw.engine.runs.job import prepare

MANY = 4_000_000
HALF = 0.5  # of the gather ceiling
LONG, PAPER = {"walk_length": 80, "weighted": False}, {"walk_length": 100, "weighted": False}
LENGTH = "length {walk_length}"
UNIFORM = Work("uniform walk", "deepwalk", MANY, LONG, 32e9)
WEIGHTED = Work("weighted walk", "deepwalk", MANY, LONG | {"weighted": True}, 30e9)
NODE2VEC = Work("node2vec p=2 q=.5", "node2vec", MANY, LONG | {"p": 2.0, "q": 0.5}, 17e9)
MULTIDIMENSIONAL = Work(
    "multidimensional, frontier 2000",
    "multidimensional",
    2000,
    {"frontier_size": 2000, "walk_length": 20000, "weighted": False, "layout": "entries"},
    5e9,
)
FEW = ("uniform walk, 4000 x 2000", "biased by degree, 4000 x 2000")
FEW_STEPS, SIZED = {"walk_length": 2000, "weighted": False}, "{instances} x {walk_length}"
WALKS = (
    UNIFORM,
    WEIGHTED,
    Work(FEW[0], "deepwalk", CHAINS, FEW_STEPS | {"layout": "entries"}, 5.8e9, sized=SIZED),
    Work(FEW[1], "biased", CHAINS, FEW_STEPS, sized=SIZED),
    NODE2VEC,
    Work("node2vec p=.5 q=2", "node2vec", MANY, LONG | {"p": 0.5, "q": 2.0}, 9e9),
    Work("node2vec p=.25 q=4", "node2vec", MANY, LONG | {"p": 0.25, "q": 4.0}, 5e9),
    Work("node2vec p=.25 q=4, weighted", "node2vec", MANY, LONG | {"p": 0.25, "q": 4.0, "weighted": True}),
    Work("DeepWalk, length 100", "deepwalk", MANY, PAPER, sized=LENGTH),
    Work("personalized PageRank, ends .01, no limit", "ppr", MANY, {"termination_prob": 0.01, "weighted": False}),
    Work(
        "personalized PageRank, ends .01, cut at 100",
        "ppr",
        MANY,
        PAPER | {"termination_prob": 0.01},
        sized="cut at {walk_length}",
    ),
    Work("node2vec p=2 q=.5, length 100", "node2vec", MANY, PAPER | {"p": 2.0, "q": 0.5}, sized=LENGTH),
    Work("personalized PageRank, ends .15", "ppr", MANY, PAPER),
    Work("walk with jumps", "jump", MANY, LONG),
    Work("Metropolis-Hastings", "metropolis-hastings", MANY, LONG),
    MULTIDIMENSIONAL,
)


def walks_rows(context: Context) -> Iterator[Row]:
    """Random walks at full rate: those of C-SAW's figure 9, those of NextDoor's figure 7, and 4 million walks of 80.

    C-SAW's are 4000 x 2000, and multidimensional with a frontier of 2000; NextDoor's DeepWalk and node2vec of length
    100, and PPR of mean length 99, whose walks end by themselves. The 4 million keep a GPU's memory busy.
    """
    for row in context.measure_all(WALKS):
        yield row | _beside_chains(row, context.limit(CHAINED))


def _beside_chains(row: Row, chained: float | None) -> Row:
    """Columns for walks too few to hide the latency of a gather: multiples of the rate of dependent gathers."""
    if row["work"] not in FEW or row.get("instances") != CHAINS:
        return {}
    return beside(row, chained, "gathers one after the other")


def of_ceiling(rows: list[Row], work: str) -> Verdict:
    """Whether a work reaches half of the gather ceiling on every graph."""
    shares = {title: ratio_in(row, "of_ceiling") for title, row in named(measured(rows, work=work)).items()}
    if not shares:
        return Verdict(None, f"{work} was not measured")
    return by_row(shares, lambda share: share >= HALF, "times the gather ceiling")


MOST_LAYERS = 20  # the number of vertices ends an instance, unless its source reaches fewer
FANOUT = {"fanout": (25, 10), "weighted": False}
REPLACED = Work("25 x 10, with replacement", "neighbor", 1_000_000, FANOUT | {"replace": True}, 80e9)
DISTINCT = Work("25 x 10, without replacement", "neighbor", 1_000_000, FANOUT, 40e9)
BIASED = Work("2 x 2 by degree (C-SAW)", "neighbor", 2000, {"fanout": (2, 2), "bias": "degree", "weighted": False})
FOREST_FIRE = Work("forest fire .7 (C-SAW)", "forest-fire", 2000, {"burn_prob": 0.7, "depth": 2, "weighted": False})
SNOWBALL = Work("snowball, 2 of each", "snowball", 2000, {"depth": 2, "neighbor_size": 2, "weighted": False})
NEIGHBORS = (
    REPLACED,
    DISTINCT,
    Work("25 x 10, weighted, with replacement", "neighbor", 1_000_000, FANOUT | {"replace": True, "weighted": True}),
    Work("25 x 10, weighted, without replacement", "neighbor", 1_000_000, FANOUT | {"weighted": True}),
    BIASED,
    FOREST_FIRE,
    Work("layer, 10 of the frontier's", "layer", 2000, {"depth": 2, "neighbor_size": 10, "weighted": False}),
    Work(
        "layers of 1000 until 2000 vertices (NextDoor)",
        "layer",
        100,
        {"depth": MOST_LAYERS, "neighbor_size": 1000, "total": 2000, "weighted": False},
    ),
    SNOWBALL,
    Work("random edges, 100 of the graph's", "random-edge", 2000, {"neighbor_size": 100, "weighted": False}),
)
"""Neighbor samples and subgraphs: GraphSAGE's 25 x 10, layer sampling (NextDoor figure 7), and C-SAW's settings.

Those of C-SAW's figures 9 to 12 are 2000 instances with neighbor size 2 and depth 2, forest fire with Pf .7.
"""


IN_TIME_SHARE = 0.5
MANY, SHORT = 4_000_000, {"walk_length": 20}
TWO_HOPS = {"fanout": (25, 10)}
STATIC_WALK = Work("uniform walk, without time", "deepwalk", MANY, SHORT)
UNIFORM_IN_TIME = Work("uniform walk in time", "temporal", MANY, SHORT | {"layout": "events"})
STATIC_NEIGHBORS = Work("25 x 10, without time", "neighbor", 1_000_000, TWO_HOPS)
LATEST = TWO_HOPS | {"start_time": SPAN, "layout": "events"}
SEARCHED = UNIFORM_IN_TIME.having("uniform walk in time, by search", layout="csr")
WALKS_IN_TIME = (
    UNIFORM_IN_TIME,
    UNIFORM_IN_TIME.having("uniform walk in time, backward", direction="backward"),
    UNIFORM_IN_TIME.having("uniform walk in time, window of a quarter", time_window=SPAN // 4),
    UNIFORM_IN_TIME.having("linear walk in time", time_bias="linear"),
    UNIFORM_IN_TIME.having("exponential walk in time", time_bias="exponential", time_scale=SPAN / 16),
)
OF_TODAY = (
    Work("25 x 10 in time, uniform", "neighbor", 1_000_000, LATEST | {"time_strategy": "uniform"}),
    Work("25 x 10 in time, last", "neighbor", 1_000_000, LATEST | {"time_strategy": "last"}),
)
NEIGHBORS_IN_TIME = (
    *OF_TODAY,
    *(work.having(f"{work.name}, seeds half way", start_time=SPAN // 2) for work in OF_TODAY),
)


def in_time_rows(context: Context) -> Iterator[Row]:
    """Walks and neighbors in time beside those without, on a graph whose edges get times at random.

    A step in time has fewer edges to draw from than one without, and most walks end after some steps, because each step
    leaves half of what is later: rates count the steps that were taken. Walks of 20 steps write less of what comes
    after the end of a walk than walks of 80. Seeds of neighbors are later than all edges, as those of today are, or
    half way, so that half of the edges are before them. Bringing edges into the order by time pays where a run has
    about a step for each edge, and a run on a CPU with fewer searches in each row: ``--instances`` of a fifth of the
    edges show its rate.
    """
    for graph in context.graphs():
        if graph.store.edges > MOST_EDGES:
            yield context.on(graph) | gap(UNIFORM_IN_TIME.name, f"it gives times to at most {MOST_EDGES:,} edges")
            continue
        timed = Graph(f"{graph.label}, times at random", with_times(graph.store))
        of_walks = (*WALKS_IN_TIME, SEARCHED) if context.on_gpu else WALKS_IN_TIME  # on a CPU no option says so
        for static, works in ((STATIC_WALK, of_walks), (STATIC_NEIGHBORS, NEIGHBORS_IN_TIME)):
            found = list(context.measure(timed, (static, *works)))
            base = rate_of(found, static.name)
            yield from (row if row["work"] == static.name else row | beside(row, base, static.name) for row in found)


def in_time_verdict(rows: list[Row]) -> Verdict:
    found, base = (
        measured(rows, work=UNIFORM_IN_TIME.name),
        {row["graph"]: row for row in measured(rows, work=STATIC_WALK.name)},
    )
    shares = {title: ratio(row, base[row["graph"]]) for title, row in named(found).items() if row["graph"] in base}
    if not shares:
        return Verdict(None, f"{UNIFORM_IN_TIME.name} and {STATIC_WALK.name} were not measured")
    return by_row(shares, lambda share: share >= IN_TIME_SHARE, f"times the rate of a {STATIC_WALK.name}")


GRAPH, VERTICES, EDGES = "ogbn-products", 2_449_029, 123_718_280  # stored edges
ALIKE = 0.8  # of its vertices and edges, at least, and no more than their number divided by it
EPOCH_SECONDS, EPOCH_BATCHES = 1.25, -(-196_615 // 512)
GSAMPLER_RATE = EPOCH_BATCHES / EPOCH_SECONDS
GSAMPLER_TIMES = 3
V100 = "one NVIDIA V100"
UNIT = "samples/s"


def _of_layers(name: str, algo: str, instances: int, **options: object) -> Work:
    return Work(name, algo, instances, {"weighted": False, **options}, unit=UNIT)


GSAMPLER = _of_layers(
    "LADIES, 512 seeds, 3 x 4000 (gSampler)",
    "ladies",
    50,
    frontier_size=512,
    layer_sizes=(4000,) * 3,
    normalize="none",
    replace=False,
    in_flight=25,
)
LAYERS = (
    GSAMPLER,
    _of_layers("LADIES, 512 seeds, 3 x 4000", "ladies", 100, frontier_size=512, layer_sizes=(4000,) * 3, in_flight=25),
    _of_layers("LADIES, 512 seeds, 5 x 512", "ladies", 100, frontier_size=512, layer_sizes=(512,) * 5, in_flight=25),
    _of_layers("LADIES, 64 seeds, 5 x 64", "ladies", 1000, frontier_size=64, layer_sizes=(64,) * 5, in_flight=250),
    _of_layers("FastGCN, 64 seeds, 5 x 64", "fastgcn", 1000, frontier_size=64, layer_sizes=(64,) * 5),
    _of_layers("FastGCN, 512 seeds, 2 x 2000", "fastgcn", 100, frontier_size=512, layer_sizes=(2000,) * 2),
    _of_layers("GraphSAINT, 6000 nodes", "saint-node", 100, subgraph_nodes=6000),
    _of_layers("GraphSAINT, 4000 edges", "saint-edge", 100, frontier_size=4000),
    _of_layers("GraphSAINT, 3000 walks of 2", "saint-walk", 100, frontier_size=3000, walk_length=2),
    _of_layers("GraphSAINT, 2000 walks of 4", "saint-walk", 100, frontier_size=2000, walk_length=4),
    _of_layers("MVS, 64 seeds, all their neighbors (NextDoor)", "mvs", 1000, seeds_per_batch=64),
)
CLUSTERS = 20
CLUSTER_GCN = _of_layers(
    f"ClusterGCN, {CLUSTERS} clusters (NextDoor)", "cluster-gcn", 1000, clusters_per_batch=CLUSTERS
)


def layers_rows(context: Context) -> Iterator[Row]:
    """Mini-batches of samplers of layers and of subgraphs: FastGCN, LADIES and GraphSAINT.

    The sizes are those of gSampler (SOSP 2023), NextDoor (EuroSys 2021) and of GraphSAINT's authors: NextDoor's LADIES
    and FastGCN have 64 seeds and layers of 64, its MVS 64 seeds, and its ClusterGCN 20 clusters. A graph without as
    many clusters gets random ones here.

    A rate is that of samples, each a mini-batch, because a mini-batch is what these programs publish the time of.
    Published is one of them: gSampler's LADIES takes 1.25 s for an epoch of ogbn-products (figure 8 of its artifact,
    one V100), which are 196,615 seeds in mini-batches of 512. It draws by squared entries that are all 1, without
    replacement, 25 mini-batches together, and so does the work here. One thing differs: its next layer is drawn for the
    seeds too, csaw's for the layer alone, as in LADIES' paper. gSampler publishes no time of FastGCN and GraphSAINT. Of
    NextDoor no rates were found, only how many times faster than the samplers of these papers it is; its FastGCN and
    LADIES draw each vertex of the graph with the same chance.

    A rate is set beside the published one on any graph of that size. A layer looks at all edges of the one before, so
    that hubs decide: R-MAT's usual stand-in has vertices of 300,000 edges, which products that are bought together have
    not; ``rmat:scale=21,edge_factor=30,a=0.44,b=0.22,c=0.22,d=0.12`` is as large, and its largest vertices have 20,000.
    """
    for graph in context.graphs():
        for row in context.measure(graph, LAYERS):
            yield row | (_beside_published(row, context.devices[0].name) if context.on_gpu else {})
        if context.wanted([CLUSTER_GCN]):
            yield from context.measure(Graph(graph.label, in_clusters(graph.store, CLUSTERS)), [CLUSTER_GCN])


def _beside_published(row: Row, device: str) -> Row:
    """The columns that set a GPU's rate beside the published one, which is of one work on graphs of one size."""
    if "rate" not in row or row["work"] != GSAMPLER.name or not is_alike(row["vertices"], row["stored_edges"]):
        return {}
    goal = GSAMPLER_TIMES * GSAMPLER_RATE
    return beside(row, GSAMPLER_RATE, f"gSampler on {V100}, csaw on {device}") | {
        "goal": goal,
        "goal_of": f"{GSAMPLER_TIMES} times gSampler's rate on {V100}",
        "met": row["rate"] >= goal,
    }


def is_alike(vertices: int, edges: int) -> bool:
    """Whether a graph has about the size of that of the published rate."""
    return all(ALIKE <= here / there <= 1 / ALIKE for here, there in ((vertices, VERTICES), (edges, EDGES)))


def layers_verdict(rows: list[Row]) -> Verdict:
    found = [row for row in measured(rows, work=GSAMPLER.name) if row.get("goal")]
    if not found:
        return Verdict(None, f"only a GPU's rate on a graph of the size of {GRAPH} can be compared: --graphs gsampler")
    said = "; ".join(
        f"{row['rate']:,.0f} a second on {row['graph']}{'' if row['met'] else ', too few'}" for row in found
    )
    return Verdict(all(row["met"] for row in found), said)


NEGATIVES_GOAL = 1e9  # a second, uniform, of random edges of R-MAT graphs of scale 24
FIVE = Work("5 negatives of a link", "links", 16_000_000, {"num_negatives": 5}, unit=NEGATIVES)
LINKS = (
    FIVE,
    FIVE.having("1 negative of a link", num_negatives=1),
    FIVE.having("5 negatives of a link, by degree", negative_bias="degree"),
    FIVE.having("5 negatives of each edge in turn", sources="all"),
)


def links_rows(context: Context) -> Iterator[Row]:
    """Random edges as links, each with negatives that are proven to be no edges: uniform or by degree.

    A rate is that of negatives. Drawing the links, which takes a search among all rows, is part of it.
    """
    for row in context.measure_all(LINKS):
        on_goal = context.on_gpu and context.devices[0].name == GOAL_DEVICE and row["work"] == FIVE.name
        said = {"goal": NEGATIVES_GOAL, "met": row["rate"] >= NEGATIVES_GOAL} if on_goal and "rate" in row else {}
        yield row | said


def links_verdict(rows: list[Row]) -> Verdict:
    found = [row for row in measured(rows, work=FIVE.name) if row.get("goal")]
    if not found:
        return Verdict(None, f"the claim is about {GOAL_DEVICE}, on which {FIVE.name} was not measured")
    said = "; ".join(f"{row['rate'] / 1e9:,.2f} billion a second on {row['graph']}" for row in found)
    return Verdict(all(row["met"] for row in found), said)


MAIN = (UNIFORM, WEIGHTED, NODE2VEC, MULTIDIMENSIONAL, REPLACED, DISTINCT, BIASED, FOREST_FIRE)
WHOLE, PLAIN = "whole run: uniform walks of 80, written", "plain synced write of as many bytes"
WRITTEN, WRITTEN_ON_GPU = 1_000_000, 16_000_000  # walks
NEAR_SHARE = 0.9  # share of the rate of the slower of the two alone


def overview_rows(context: Context) -> Iterator[Row]:
    """The default suite of ``csaw bench``: this machine's limits, the main algorithms, and a whole run.

    The whole run writes its samples. Where several GPUs are given, all of them together make it too.
    """
    for graph in context.graphs():
        yield from context.measure(graph, MAIN)
        for kind, count in context.kinds.items():
            beyond = f", {count} GPUs" if count > 1 else ""
            if context.only in f"{WHOLE}{beyond}":
                yield from _whole_run(context, graph, kind, count, beyond)


def _whole_run(context: Context, graph: Graph, kind: str, count: int, beyond: str) -> Iterator[Row]:
    """``csaw sample`` from the start to a finished store, in turns with a plain write to the same disk.

    ``kind``: the devices, ``count`` of them; ``beyond``: what the names of the rows say of them.
    """
    instances = min(
        context.max_instances or (count * WRITTEN_ON_GPU if context.on_gpu else WRITTEN),
        2000 if context.quick else 2**62,
    )
    edges, written, plain, sampling = [], [], [], []
    for turn in range(context.repeats + 1):
        with tempfile.TemporaryDirectory(dir=context.out) as folder:
            job = prepare(
                graph.store,
                "deepwalk",
                walk_length=80,
                weighted=False,
                device=kind,
                threads=context.threads,
                instances=instances,
                seed=turn,
            )
            results = execute(job, Path(folder, "walks.zarr"))
            size = results["bytes_written"]
        seconds = plain_write(context.out, size)
        if turn:  # the first turn compiles
            edges.append(results["seps_run"])
            written.append(size / results["run_seconds"])
            sampling.append(size / results["sampling_seconds"])
            plain.append(size / seconds)
    one = figure(written, "bytes/s")
    slower = min(figure(plain)["rate"], figure(sampling)["rate"])
    yield context.on(graph) | {"work": f"{PLAIN}{beyond}", **figure(plain, "bytes/s"), "bytes": size}
    yield context.on(graph) | {
        "work": f"{WHOLE}{beyond}",
        **figure(edges),
        "instances": instances,
        "bytes": size,
        "bytes_per_second": one["rate"],
        "ran_on": kind_of(job.plan.device),
        "of_plain_write": one["rate"] / figure(plain)["rate"],
        "of_slower": one["rate"] / slower,
    }


def overview_verdict(rows: list[Row]) -> Verdict:
    found = [row for row in measured(rows) if row["work"].startswith(WHOLE)]
    if not found:
        return Verdict(None, f"{WHOLE} was not measured")
    shares = {name: ratio_in(row, "of_slower") for name, row in named(found).items()}
    return by_row(shares, lambda share: share >= NEAR_SHARE, "of the rate of the slower of a plain write and sampling")


SUITES = {
    "in-time": Suite(
        "uniform walks in time take steps at half the rate of walks without time, at least",
        in_time_rows,
        in_time_verdict,
    ),
    "layers": Suite(
        f"LADIES draws mini-batches at {GSAMPLER_TIMES} times the rate that gSampler has published, "
        f"{GSAMPLER_RATE:.0f} a second ({GRAPH}, {V100})",
        layers_rows,
        layers_verdict,
        published=(Published("gSampler, figure 8 of its artifact", V100),),
    ),
    "links": Suite(
        f"{GOAL_DEVICE} draws a billion negatives a second that are proven to be no edges (csaw bench rmat:scale=24)",
        links_rows,
        links_verdict,
    ),
    "neighbors": Suite(
        "neighbors are bound by random memory accesses: a pick with replacement takes at most twice what one "
        "gather takes",
        lambda context: context.measure_all(NEIGHBORS),
        partial(of_ceiling, work=REPLACED.name),
    ),
    "overview": Suite(
        "a whole run takes little longer than a plain synced write of the same bytes, or than sampling where that is "
        "slower",
        overview_rows,
        overview_verdict,
    ),
    "walks": Suite(
        "walks are bound by random memory accesses: a uniform step takes at most twice what one gather takes",
        walks_rows,
        partial(of_ceiling, work=UNIFORM.name),
    ),
}
