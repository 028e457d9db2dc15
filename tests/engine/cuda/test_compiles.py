"""Every kernel compiles without a GPU, with its hooks inlined and without spilling registers.

Those of every algorithm, and of every other choice of options, for the oldest architecture, which knows the fewest
instructions, with ids of 32 bits; kernels of every file for the newest with ids of 64 bits, too. Slow checks compile
every kernel for every architecture with both ids: they say again of more kernels what those of every file say.

CUDA 13 goes back to sm_75. With CUDA 12 installed (``scripts/test-cuda12``) the oldest one is sm_70, that of a V100.
"""

import os
import re
from itertools import product

import numpy as np
import pytest
from cuda.bindings import nvrtc
from helpers import frontier_pools, nextdoor, updates
from helpers.edge_columns import LATER, READERS, with_columns
from helpers.graphs import TIMELESS, WideStore, random_store
from helpers.own_measures import KINDS, of_the_page
from helpers.relations import SEEDS, TIMED_HOPS, WAYS, WAYS_OF_HOPS, graph_in_time, random_graph
from helpers.temporal import RECENT, TIED, events_store

from csaw.engine import prepare
from csaw.engine.analytics.cuda import typed_rounds
from csaw.engine.analytics.evaluation.options import kind_of
from csaw.engine.analytics.rounds import numbers
from csaw.engine.api import hooks, registry
from csaw.engine.bench import KERNELS
from csaw.engine.cpu.typed_hooks import refused_for_gpus
from csaw.engine.cuda import compile, hook_code
from csaw.engine.cuda.compile import FOLDER, Unit, builder_of, compile_all, kernels_of, transfer_of
from csaw.engine.cuda.device import Device
from csaw.engine.cuda.hook_code import HookRefused
from csaw.engine.plan.choices import DETECTORS, Method
from csaw.engine.schedule.specialization import Specialization
from csaw.partition.errors import OptionError
from csaw.partition.graph.edge_columns import DTYPES

V100 = 70 in nvrtc.nvrtcGetSupportedArchs()[1]
ARCHITECTURES = OLDEST, _, NEWEST = ("sm_70" if V100 else "sm_75", "sm_80", "sm_90")
FOR_OWN = OLDEST if V100 else NEWEST  # what the users' own hooks are compiled for
SPILL = 64  # bytes that a kernel may spill,
POOLS = "STREAMED", "SUCCESSIVE"
SPILL_OF_POOLS = 112  # and if it selects from pools of a streamed graph one after the other, by blocks of 1,024 threads
# algorithms, and names of their options, whose kernels are compiled for the newest architecture, with ids of 64 bits
EVERYWHERE = {
    ("deepwalk", ()),
    ("node2vec", ()),
    ("neighbor", ()),
    ("multidimensional", ()),
    ("forest-fire", ("select", "collision")),
    ("layer", ("weighted",)),
    ("layer", ("weighted", "neighbor_size")),
    ("random-node", ()),
    ("ladies", ()),
    ("labor", ()),
    ("minibatch", ("weighted",)),
    ("saint-node", ()),
    ("random-edge", ()),
    ("links", ()),
}
BY_DEPTH = "e.weight if e.depth % 2 == 0 else 1 + e.dst_degree"
MORE = [
    ("deepwalk", {"induced": True}),
    ("neighbor", {"induced": True, "weighted": False}),
    ("node2vec", {"weighted": False}),
    ("node2vec", {"layout": "table"}),
    ("node2vec", {"p": 1e-30, "q": 1e30}),
    ("node2vec", {"p": 1e30, "weighted": False}),
    ("deepwalk", {"layout": "csr", "weighted": False}),
    ("deepwalk", {"select": "its"}),
    ("ppr", {"walk_length": 8}),
    ("ppr", {"select": "its"}),
    ("neighbor", {"weighted": False}),
    ("neighbor", {"replace": True}),
    ("neighbor", {"select": "its", "collision": "updated"}),
    *(("neighbor", {"select": "its", "detect": detect}) for detect in DETECTORS),
    ("minibatch", {"weighted": False}),
    ("minibatch", {"weighted": False, "replace": True}),
    ("forest-fire", {"select": "its", "collision": "repeated"}),
    ("forest-fire", {"weighted": False}),
    ("snowball", {"weighted": False, "neighbor_size": 2}),
    ("layer", {"weighted": False}),
    ("neighbor", {"unique": True}),
    ("layer", {"unique": True}),
    ("layer", {"weighted": False, "depth": None}),
    ("snowball", {"weighted": False, "unique": True, "neighbor_size": 3}),
    ("layer", {"weighted": False, "neighbor_size": 10**6}),
    ("multidimensional", {"edge_bias": "e.weight"}),
    ("multidimensional", {"edge_bias": "e.weight", "layout": "csr"}),
    ("biased", {"edge_bias": "e.weight * e.dst_degree ** -0.5"}),
    ("biased", {"edge_bias": "1 + int(e.weight * 1e300) + math.floor(e.weight * math.nan) + round(e.weight)"}),
    ("biased", {"edge_bias": "e.weight * e.column('y', e.dst)", "columns": {"x": np.ones(300), "y": np.ones(300)}}),
    ("biased", {"edge_bias": "e.weight * (4.0 if e.dst == e.path(2) else 1.0)"}),
    ("biased", {"edge_bias": "1 if e.prev < 0 else e.column('x', e.prev)", "columns": {"x": np.ones(300)}}),
    ("biased", {"edge_bias": "e.weight / (1 + e.dst_degree) if e.is_neighbor(e.dst, e.src) else 0.5"}),
    ("deepwalk", {"edge_bias": BY_DEPTH}),
    ("deepwalk", {"edge_bias": BY_DEPTH, "layout": "table"}),
]
OWN = """
import math
from csaw.engine.algorithm import Walk, option

def softened(x):
    y = x ** 1.5
    return y / (1 + y) + math.exp(-x)

class Mine(Walk):
    strength: float = option(0.75, help="how much hubs count", low=0)

    def edge_bias(self, e):
        return softened(e.weight) * e.dst_degree**self.strength + math.log10(2 + e.src_degree)
"""
SECOND = """
from csaw.engine.algorithm import Walk

class Mine(Walk):
    def edge_bias(self, e):
        return e.weight * 0.5 if e.is_neighbor(e.prev, e.dst) else e.weight / (1 + e.dst % 3)

    def bias_range(self):
        return (0.0, 1.0, 1.0)

    def update(self, e):
        return e.dst
"""
PATHS = """
from csaw.engine.algorithm import Walk
from csaw.engine.algorithms.node2vec import Node2vec

class Back(Walk):
    def update(self, e):
        return -1 if e.random() < 0.1 else e.path(e.random() * (e.depth + 1))

class Second(Node2vec):
    def update(self, e):
        return e.path(2) if e.random() < 0.1 else e.dst

class Dead(Walk):
    def dead_end(self, v):
        return v.path(1)
"""
CASES = [(name, {}) for name in TIMELESS] + MORE
CHECKED = set()  # cubins that were found good when they were compiled
SHARED_CACHE = "cubins"


WING = FOLDER.parents[1] / "analytics" / "cuda"
NETWORKS = sorted(  # files whose kernels measures of networks launch, by the calls
    {
        str(WING / "kernels" / f"{name}.cu")
        for path in WING.glob("*.py")
        for name in re.findall(r'\bkernels\("(\w+)"', path.read_text())
    }
    | {str(WING / "kernels" / name) for files in typed_rounds.FILES.values() for name in files}
)
BENCHMARKS = tuple(str(KERNELS / name) for name in ("rmat.cu", "ceiling.cu"))
STREAMED = [
    ("fastgcn", {}),
    ("labor", {}),
    ("deepwalk", {"induced": True}),
    ("deepwalk", {}),
    ("deepwalk", {"edge_bias": BY_DEPTH}),
    ("ppr", {}),
    ("node2vec", {}),
    ("node2vec", {"q": 1e30}),
    ("multidimensional", {}),
    ("forest-fire", {}),
    ("layer", {}),
    ("links", {"negative_bias": "degree"}),
]


LIKE_OTHERS = pytest.mark.slow(
    reason="quick cases compile a kernel of every file like that, and this one for the oldest architecture"
)
QUICK = [(OLDEST, 32)]
QUICK_EVERYWHERE = [*QUICK, (NEWEST, 64)]


def each(cases, everywhere):
    """A parameter for each case, architecture and width of ids."""
    for number, (algo, options) in enumerate(cases):
        of_its_kind = number < len(TIMELESS) or number % 2 == 0
        quick = QUICK_EVERYWHERE if (algo, tuple(options)) in everywhere else QUICK if of_its_kind else []
        for architecture, bits in product(ARCHITECTURES, (32, 64)):
            if bits == 32 or "layout" not in options:  # which graphs with ids of 64 bits have no choice of
                marks = [] if (architecture, bits) in quick else [LIKE_OTHERS]
                yield pytest.param(
                    algo, options, architecture, bits, id=f"{algo}-{number}-{architecture}-{bits}", marks=marks
                )


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return random_store(tmp_path_factory.mktemp("cuda") / "g.zarr")


def with_ids(store, bits):
    return WideStore(store) if bits == 64 else store


@pytest.fixture(scope="module")
def cubins(tmp_path_factory):
    """A cache that cases share, of all test processes: what one of them compiled and checked, the others find."""
    run = tmp_path_factory.getbasetemp()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CSAW_CACHE_DIR", str((run.parent if "PYTEST_XDIST_WORKER" in os.environ else run) / SHARED_CACHE))
        yield


def check(unit, architecture, caplog):
    if unit.launched == ():  # nothing is compiled
        return
    caplog.clear()
    with caplog.at_level("DEBUG", "csaw.engine.cuda.compile"):
        path = unit.compile(architecture)
    made = bool(caplog.text)
    if path in CHECKED or (not made and SHARED_CACHE in path.parts):  # the process that compiled it checks it
        return
    entries = set(re.findall(r"Compiling entry function '(\w+)'", caplog.text))
    assert entries if unit.launched is None else entries == set(unit.launched)
    assert "csaw_" not in caplog.text  # a hook or what it calls is left as a function: it was not inlined
    spilled = dict(re.findall(r"entry function '(\w+)'.*?(\d+) bytes spill stores", caplog.text, re.DOTALL))
    most = {"select_neighbors": SPILL_OF_POOLS} if all(map(unit.constants.get, POOLS)) else {}
    assert {name: int(bytes_) for name, bytes_ in spilled.items() if int(bytes_) > most.get(name, SPILL)} == {}
    CHECKED.add(path)


@pytest.mark.parametrize(("algo", "options", "architecture", "bits"), list(each(CASES, EVERYWHERE)))
def test_kernels_compile(algo, options, architecture, bits, store, caplog, cubins):
    graph = with_ids(store, bits)
    job = prepare(graph, algo, device=Device(0, "none", architecture, 132, 1 << 40), **options)
    backend = Specialization(job.plan, graph, job.algorithm)
    for unit in (kernels_of(backend), builder_of(backend)):
        check(unit, architecture, caplog)


def test_every_file_is_compiled_for_every_architecture(store, tmp_path):
    device, files = Device(0, "none", ARCHITECTURES[0], 132, 1 << 40), {"build.cu", "sums.cu", "transfer.cu"}
    timed = events_store(tmp_path / "g.zarr", TIED, 5)
    neighbors = [(algo, options | {"start_time": 4}) for algo, options in NEIGHBORS_EVERYWHERE]
    for algo, options in (("temporal", EVERYWHERE_IN_TIME), *neighbors):
        job = prepare(timed, algo, device=device, **options)
        backend = Specialization(job.plan, timed, job.algorithm)
        files |= set(kernels_of(backend).files) | set(builder_of(backend).files)
    for algo, options in CASES:
        if (algo, tuple(options)) in EVERYWHERE:
            job = prepare(store, algo, device=device, **options)
            files |= set(kernels_of(Specialization(job.plan, store, job.algorithm)).files)
    assert files == {file.name for file in FOLDER.glob("*.cu")}
    assert set(NETWORKS) == {str(file) for file in (WING / "kernels").glob("*.cu")}


@pytest.mark.parametrize("algo", ["deepwalk", "neighbor", "layer", "minibatch", "labor", "random-node"])
def test_algorithms_without_hooks_of_their_own_need_no_numba_cuda(algo, store, tmp_path, monkeypatch):
    """Their one hook, the edge's weight, is written in C++: numba-cuda takes longer to load than that to compile."""
    monkeypatch.setenv("CSAW_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compile, "compiled", None)  # calling it is an error
    monkeypatch.setattr(compile, "_link", lambda parts, *_: b"".join(parts))
    job = prepare(store, algo, device=Device(0, "none", OLDEST, 132, 1 << 40))
    backend = Specialization(job.plan, store, job.algorithm)
    for unit in (kernels_of(backend), builder_of(backend)):
        assert unit.compile(OLDEST).stat().st_size


def test_units_that_threads_compile_are_those_that_one_compiles(store, tmp_path, monkeypatch):
    job = prepare(store, "node2vec", device=Device(0, "none", OLDEST, 132, 1 << 40))
    backend, made = Specialization(job.plan, store, job.algorithm), []
    monkeypatch.setattr(compile, "_link", lambda parts, *_: b"".join(parts))
    units = kernels_of(backend), builder_of(backend)
    for each in (lambda: compile_all((*units, *units), OLDEST), lambda: [unit.compile(OLDEST) for unit in units]):
        monkeypatch.setenv("CSAW_CACHE_DIR", str(tmp_path / str(len(made))))
        each()
        made.append({path.name: path.stat().st_size for path in (tmp_path / str(len(made)) / "cuda").iterdir()})
    assert made[0] == made[1]
    assert len(made[0]) == len(units)


def test_an_algorithm_of_the_users_own_compiles(store, caplog, tmp_path, monkeypatch):
    monkeypatch.setenv("CSAW_CACHE_DIR", str(tmp_path))
    (tmp_path / "mine.py").write_text(OWN)
    job = prepare(store, f"{tmp_path / 'mine.py'}:Mine", device=Device(0, "none", FOR_OWN, 132, 1 << 40))
    check(builder_of(Specialization(job.plan, store, job.algorithm)), FOR_OWN, caplog)


def test_a_walk_in_nextdoors_shape_compiles(store, caplog, tmp_path, cubins):
    own = f"{nextdoor.written(tmp_path)}:PersonalizedPagerank"
    job = prepare(store, own, device=Device(0, "none", OLDEST, 132, 1 << 40))
    check(kernels_of(Specialization(job.plan, store, job.algorithm)), OLDEST, caplog)


@pytest.mark.parametrize("residency", ["resident", "streamed"])
def test_an_update_of_a_traversal_compiles(residency, store, caplog, tmp_path, monkeypatch):
    monkeypatch.setenv("CSAW_CACHE_DIR", str(tmp_path))
    (tmp_path / "mine.py").write_text(updates.CLASSES)
    algo, device = f"{tmp_path / 'mine.py'}:Jumps", Device(0, "none", FOR_OWN, 132, 1 << 40)
    job = prepare(store, algo, device=device, residency=residency)
    check(kernels_of(Specialization(job.plan, store, job.algorithm)), FOR_OWN, caplog)


@pytest.mark.parametrize(
    ("name", "residency"), [("Chosen", "resident"), ("Chosen", "streamed"), ("Evenly", "resident")]
)
def test_the_selection_of_a_frontier_compiles(name, residency, store, caplog, tmp_path, monkeypatch):
    monkeypatch.setenv("CSAW_CACHE_DIR", str(tmp_path))
    (tmp_path / "mine.py").write_text(frontier_pools.CLASSES)
    algo, device = f"{tmp_path / 'mine.py'}:{name}", Device(0, "none", FOR_OWN, 132, 1 << 40)
    job = prepare(store, algo, device=device, residency=residency)
    unit = kernels_of(Specialization(job.plan, store, job.algorithm))
    assert unit.constants["SELECTS_FRONTIER"]
    check(unit, FOR_OWN, caplog)


@pytest.mark.parametrize("how", WAYS)
def test_mini_batches_by_relation_compile(how, caplog, cubins, tmp_path):
    graph = random_graph(tmp_path)
    job = prepare(graph, "minibatch", device=Device(0, "none", OLDEST, 132, 1 << 40), **WAYS[how])
    unit = kernels_of(Specialization(job.plan, job.rows, job.algorithm))
    assert unit.constants["TYPED"]
    assert ("minibatches.cu" in unit.files) == (how in ("uniform", "replace-uniform", "disjoint"))
    check(unit, OLDEST, caplog)


@pytest.mark.parametrize("how", WAYS_OF_HOPS)
def test_neighbors_by_relation_compile(how, caplog, cubins, tmp_path):
    graph = random_graph(tmp_path)
    job = prepare(graph, "neighbor", device=Device(0, "none", OLDEST, 132, 1 << 40), **WAYS_OF_HOPS[how])
    unit = kernels_of(Specialization(job.plan, job.rows, job.algorithm))
    assert unit.files[0] == ("hops.cu" if how in ("uniform", "replace-uniform") else "select.cu")
    check(unit, OLDEST, caplog)


def test_labor_by_relation_compiles(caplog, cubins, tmp_path):
    graph = random_graph(tmp_path)
    job = prepare(graph, "labor", device=Device(0, "none", OLDEST, 132, 1 << 40), fanout={"*": (3, 2)})
    unit = kernels_of(Specialization(job.plan, job.rows, job.algorithm))
    assert "shared.cu" in unit.files
    check(unit, OLDEST, caplog)


def test_neighbors_by_relation_in_time_compile(caplog, cubins, tmp_path):
    graph = graph_in_time(tmp_path)
    given = {"device": Device(0, "none", OLDEST, 132, 1 << 40), "sources": SEEDS}
    job = prepare(graph, "neighbor", **given, **TIMED_HOPS["previous"])
    unit = kernels_of(Specialization(job.plan, job.rows, job.algorithm))
    assert "neighbors_in_time.cu" in unit.files
    check(unit, OLDEST, caplog)


@pytest.mark.parametrize("residency", ["resident", "streamed"])
def test_budgets_in_time_compile(residency, caplog, cubins, tmp_path):
    """Rows until a time are listed by the kernel of neighbors in time, with the number of each edge."""
    given = {"device": Device(0, "none", OLDEST, 132, 1 << 40), "residency": residency, "sources": SEEDS}
    job = prepare(graph_in_time(tmp_path), "hgt", time_strategy="uniform", seeds_per_batch=1, **given)
    unit = kernels_of(Specialization(job.plan, job.rows, job.algorithm))
    assert unit.files == ("rows.cu", "neighbors_in_time.cu")
    assert {name: unit.constants[name] for name in ("PLACED", "REPLACE", "LATEST")} == {
        "PLACED": 1,
        "REPLACE": 0,
        "LATEST": 0,
    }
    check(unit, OLDEST, caplog)


@pytest.mark.parametrize("residency", ["resident", "streamed"])
@pytest.mark.parametrize(
    ("algo", "options"),
    [("neighbor", {"replace": True}), ("minibatch", {}), ("forest-fire", {}), ("snowball", {"neighbor_size": 3})],
)
def test_trials_of_a_traversal_compile(algo, options, residency, store, caplog, cubins):
    given = {"edge_bias": "e.weight * (2 if e.is_neighbor(e.prev, e.dst) else 1)", "residency": residency}
    job = prepare(store, algo, device=Device(0, "none", OLDEST, 132, 1 << 40), **given, **options)
    assert job.plan.select is Method.REJECTION
    check(kernels_of(Specialization(job.plan, store, job.algorithm)), OLDEST, caplog)


@pytest.mark.parametrize("residency", ["resident", "streamed"])
def test_checks_of_the_users_own_hooks_compile(residency, store, caplog, tmp_path, monkeypatch):
    monkeypatch.setenv("CSAW_CACHE_DIR", str(tmp_path))
    (tmp_path / "mine.py").write_text(SECOND)
    job = prepare(
        store, f"{tmp_path / 'mine.py'}:Mine", device=Device(0, "none", FOR_OWN, 132, 1 << 40), residency=residency
    )
    check(kernels_of(Specialization(job.plan, store, job.algorithm)), FOR_OWN, caplog)


@pytest.mark.parametrize("residency", ["resident", pytest.param("streamed", marks=LIKE_OTHERS)])
@pytest.mark.parametrize(("algo", "limit"), [("Back", None), ("Second", 9), ("Dead", 9)])
def test_hooks_that_read_the_path_compile(algo, limit, residency, store, caplog, tmp_path, cubins):
    (tmp_path / "mine.py").write_text(PATHS)
    job = prepare(
        store,
        f"{tmp_path / 'mine.py'}:{algo}",
        device=Device(0, "none", OLDEST, 132, 1 << 40),
        walk_length=limit,
        residency=residency,
    )
    check(kernels_of(Specialization(job.plan, store, job.algorithm)), OLDEST, caplog)


@pytest.fixture(scope="module")
def column_store(tmp_path_factory):
    return with_columns(tmp_path_factory.mktemp("columns") / "g.zarr", partitions=3)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("residency", ["resident", "streamed"])
@pytest.mark.parametrize(("algo", "options"), READERS, ids=[f"{a}-{i}" for i, (a, _) in enumerate(READERS)])
def test_kernels_that_read_edge_columns_compile(algo, options, residency, column_store, caplog, cubins):
    device = Device(0, "none", OLDEST, 132, 1 << 40)
    job = prepare(column_store, algo, device=device, residency=residency, **options)
    backend = Specialization(job.plan, column_store, job.algorithm)
    for unit in (kernels_of(backend), builder_of(backend)):
        check(unit, OLDEST, caplog)


def test_kernels_read_columns_of_every_type(column_store, caplog, cubins):
    """One constant for each of them: a type of its own, whatever others a hook reads."""
    bias = " + ".join(f"abs(e.of_{dtype})" for dtype in DTYPES)
    job = prepare(column_store, "deepwalk", device=Device(0, "none", OLDEST, 132, 1 << 40), edge_bias=bias)
    backend = Specialization(job.plan, column_store, job.algorithm)
    assert kernels_of(backend).constants["EDGE_TYPES"] == sum(k << 4 * k for k in range(len(DTYPES)))
    for unit in (kernels_of(backend), builder_of(backend)):
        check(unit, OLDEST, caplog)


@pytest.mark.parametrize("residency", ["resident", "streamed"])
def test_an_update_that_reads_edge_columns_compiles(residency, column_store, caplog, tmp_path, cubins):
    (tmp_path / "mine.py").write_text(LATER)
    device = Device(0, "none", OLDEST, 132, 1 << 40)
    job = prepare(column_store, f"{tmp_path / 'mine.py'}:Later", device=device, residency=residency)
    check(kernels_of(Specialization(job.plan, column_store, job.algorithm)), OLDEST, caplog)


EVERYWHERE_IN_TIME = {"time_bias": "exponential", "direction": "backward", "time_order": "monotone"}
IN_TIME = [
    {},
    {"time_bias": "linear", "time_window": 9, "last_time": 40},
    EVERYWHERE_IN_TIME,
    {"per": "time", "time_bias": "linear", "start": "edge"},
    {"per": "time", "time_bias": "exponential-rank", "start": "edge", "start_bias": "linear"},
    {"time_bias": "exponential-rank", "direction": "backward", "prefer": "far"},
]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("residency", "layout"), [("resident", "events"), ("resident", "csr"), ("streamed", "csr")])
@pytest.mark.parametrize("options", IN_TIME, ids=lambda options: "-".join(map(str, options.values())))
def test_walks_in_time_compile(residency, layout, options, caplog, tmp_path, cubins):
    graph = events_store(tmp_path / "g.zarr", TIED, 5)
    graphs = (graph, WideStore(graph)) if options.get("per") and layout == "csr" else (graph,)
    for one, architecture in product(graphs, ARCHITECTURES if options is EVERYWHERE_IN_TIME else (OLDEST,)):
        device = Device(0, "none", architecture, 132, 1 << 40)
        job = prepare(one, "temporal", device=device, residency=residency, layout=layout, **options)
        backend = Specialization(job.plan, one, job.algorithm)
        for unit in (kernels_of(backend), builder_of(backend)):
            check(unit, architecture, caplog)


NEIGHBORS_IN_TIME = [
    ("neighbor", {"time_strategy": "uniform", "time_window": 3}),
    ("neighbor", {"time_strategy": "last", "time_against": "previous"}),
    ("neighbor", {"time_strategy": "uniform", "replace": True, "time_order": "strict", "fanout": (2, 3)}),
    ("neighbor", {"time_strategy": "uniform", "fanout": (40, 3)}),
    ("minibatch", {"time_strategy": "uniform"}),
    ("labor", {"time_strategy": "uniform", "time_window": 3}),
    ("layer", {"time_strategy": "uniform", "time_against": "previous", "time_order": "strict"}),
]
NEIGHBORS_EVERYWHERE = (NEIGHBORS_IN_TIME[0], NEIGHBORS_IN_TIME[3], NEIGHBORS_IN_TIME[5])


@pytest.mark.parametrize("options", [options for algo, options in NEIGHBORS_IN_TIME if algo == "neighbor"])
def test_neighbors_of_edges_in_the_order_by_time_compile(options, caplog, tmp_path, cubins):
    graph = events_store(tmp_path / "g.zarr", TIED, 5)
    for architecture in ARCHITECTURES if "time_window" in options else (OLDEST,):
        device = Device(0, "none", architecture, 132, 1 << 40)
        job = prepare(graph, "neighbor", device=device, layout="events", start_time=4, **options)
        backend = Specialization(job.plan, graph, job.algorithm)
        for unit in (kernels_of(backend), builder_of(backend)):
            check(unit, architecture, caplog)


@pytest.mark.parametrize("residency", ["resident", "streamed"])
@pytest.mark.parametrize(("algo", "options"), NEIGHBORS_IN_TIME)
def test_neighbors_in_time_compile(algo, options, residency, caplog, tmp_path, cubins):
    graph = events_store(tmp_path / "g.zarr", TIED, 5)
    everywhere = (algo, options) in NEIGHBORS_EVERYWHERE
    for one, architecture in product(
        (graph, WideStore(graph)) if everywhere else (graph,), ARCHITECTURES if everywhere else (OLDEST,)
    ):
        device = Device(0, "none", architecture, 132, 1 << 40)
        job = prepare(one, algo, device=device, residency=residency, start_time=4, **options)
        check(kernels_of(Specialization(job.plan, one, job.algorithm)), architecture, caplog)


@pytest.mark.parametrize("residency", ["resident", "streamed"])
def test_walks_in_time_of_ones_own_compile(residency, caplog, tmp_path, cubins):
    (tmp_path / "mine.py").write_text(RECENT)
    graph, device = events_store(tmp_path / "g.zarr", TIED, 5), Device(0, "none", OLDEST, 132, 1 << 40)
    job = prepare(graph, f"{tmp_path / 'mine.py'}:Recent", device=device, residency=residency)
    check(kernels_of(Specialization(job.plan, graph, job.algorithm)), OLDEST, caplog)


@pytest.mark.parametrize(("algo", "options", "architecture", "bits"), list(each(STREAMED, {("node2vec", ())})))
def test_kernels_for_streamed_graphs_compile(algo, options, architecture, bits, store, caplog, cubins):
    graph, device = with_ids(store, bits), Device(0, "none", architecture, 132, 1 << 40)
    for weighted in (True, False):
        job = prepare(graph, algo, device=device, residency="streamed", weighted=weighted, **options)
        backend = Specialization(job.plan, graph, job.algorithm)
        for unit in (kernels_of(backend), builder_of(backend)):
            check(unit, architecture, caplog)


@pytest.mark.parametrize(("architecture", "bits"), QUICK_EVERYWHERE)
def test_running_sums_of_partitions_compile(architecture, bits, store, caplog, cubins):
    graph, device = with_ids(store, bits), Device(0, "none", architecture, 132, 1 << 40)
    job = prepare(graph, "neighbor", device=device, residency="streamed", layout="ctps")
    backend = Specialization(job.plan, graph, job.algorithm)
    assert "sums.cu" in kernels_of(backend).files
    for unit in (kernels_of(backend), builder_of(backend)):
        check(unit, architecture, caplog)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_checks_and_conversions_of_much_compile_once_for_all(architecture, store, caplog, cubins, monkeypatch):
    device, found = Device(0, "none", architecture, 132, 1 << 40), set()
    jobs = [prepare(store, algo, device=device) for algo in ("deepwalk", "neighbor")]
    backends = [Specialization(job.plan, store, job.algorithm) for job in jobs]
    assert all(transfer_of(backend).launched == () for backend in backends)
    monkeypatch.setattr(compile, "LITTLE", 0)
    for unit in map(transfer_of, backends):
        check(unit, architecture, caplog)
        found.add(unit.compile(architecture))
    assert len(found) == 1


ENDS = [pytest.param(one, marks=[] if one in (OLDEST, NEWEST) else [LIKE_OTHERS]) for one in ARCHITECTURES]
FIRST = [pytest.param(one, marks=[] if one == OLDEST else [LIKE_OTHERS]) for one in ARCHITECTURES]


@pytest.mark.parametrize("architecture", ENDS)
@pytest.mark.parametrize("file", [*NETWORKS, *BENCHMARKS])
def test_kernels_of_networks_and_benchmarks_compile(file, architecture, caplog, tmp_path, monkeypatch):
    monkeypatch.setenv("CSAW_CACHE_DIR", str(tmp_path))
    check(Unit((file,), {}, [], ()), architecture, caplog)


@pytest.mark.parametrize("architecture", ENDS)
@pytest.mark.parametrize("file", NETWORKS)
def test_kernels_of_networks_compile_for_ids_of_64_bits(file, architecture, caplog, tmp_path, monkeypatch):
    monkeypatch.setenv("CSAW_CACHE_DIR", str(tmp_path))
    check(Unit((file,), {"WIDE": 1}, [], ()), architecture, caplog)


@pytest.mark.parametrize("architecture", FIRST)
def test_kernels_that_count_for_each_vertex_compile(architecture, caplog, tmp_path, monkeypatch):
    monkeypatch.setenv("CSAW_CACHE_DIR", str(tmp_path))
    files = ("triangles.cu", "dense.cu", "masked_product.cu", "patterns.cu")
    for file, wide in product(files, (0, 1)):
        check(Unit((str(WING / "kernels" / file),), {"EACH": 1, "WIDE": wide}, [], ()), architecture, caplog)


PAGES = ("Distance", "WeightFrom", "Label", "Rank", "RankInUnits", "KCore")


@pytest.mark.parametrize("architecture", FIRST)
@pytest.mark.parametrize(
    ("kind", "ids"),
    [*((kind, np.uint32) for kind in (*PAGES, *KINDS)), *((kind, np.uint64) for kind in ("WeightFrom", "Rank"))],
    ids=lambda one: getattr(one, "__name__", one),
)
def test_measures_of_ones_own_compile(kind, ids, architecture, caplog, tmp_path, cubins):
    one = (of_the_page(tmp_path, kind) if isinstance(kind, str) else kind)()
    params = tuple(getattr(one, name) or 0 for name in numbers(one))  # of a vertex option, the number of its vertex
    check(typed_rounds.typed(one, params, np.dtype(ids)).unit, architecture, caplog)


OF_NO_GPU = {
    "[e.{0}, e.src][e.dst % 2]": "",
    "(e.{0}, e.src)[e.dst % 2]": "it may raise an error, as an index into a tuple or an assert may, and a GPU cannot",
}


@pytest.mark.parametrize(("edge", "said"), OF_NO_GPU.items())
def test_a_hook_that_a_gpu_cannot_run_is_refused_with_its_line(tmp_path, cubins, edge, said):
    text = "from csaw.engine.measure import Measure\n\nclass Mine(Measure):\n    def start(self, v): return v.id\n\n"
    edge = "    def edge(self, e):\n        return " + edge.format("value") + "\n"
    (tmp_path / "mine.py").write_text(text + edge)
    one = kind_of(f"{tmp_path / 'mine.py'}:Mine")()
    unit = typed_rounds.typed(one, (), np.dtype(np.uint32)).unit  # a CPU runs it
    with pytest.raises(
        OptionError, match=rf"line 6 of .*: Mine.edge cannot be compiled for a GPU: {said}.*--device cpu"
    ):
        typed_rounds.compiled(one, unit, NEWEST)


@pytest.mark.parametrize(("update", "said"), OF_NO_GPU.items())
def test_a_hook_of_a_sampler_that_a_gpu_cannot_run_is_refused_with_its_line(tmp_path, update, said):
    text = "from csaw.engine.algorithm import Walk\n\nclass Mine(Walk):\n    def update(self, e):\n        return "
    (tmp_path / "mine.py").write_text(text + update.format("dst") + "\n")
    algorithm = registry.build(f"{tmp_path / 'mine.py'}:Mine", {})
    hook = hooks.others(algorithm, weighted=False)["update"]
    with pytest.raises(HookRefused) as refused:
        hook_code.compiled(hook, hooks.params(algorithm), hook_code.OF_SAMPLERS["update"], NEWEST)
    error = str(refused_for_gpus(algorithm, refused.value.name, refused.value.reason))
    assert re.match(rf"line 4 of mine.py: mine.update cannot be compiled for a GPU: {said}.*; pass --device cpu", error)
