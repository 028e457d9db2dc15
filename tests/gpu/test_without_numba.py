"""A run on a GPU whose graph and sample are large does without Numba: the GPU checks what is read, with the errors of
the CPU, and converts ids, to its bytes.
"""

import numpy as np
import pytest
from helpers.gpu import device_or_skip, python
from helpers.graphs import random_store
from helpers.small_samples import files_of

device_or_skip()

import cupy  # these need a GPU

from csaw.engine import sample
from csaw.engine.analytics.cuda import network
from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.cuda import compile, transfer
from csaw.engine.cuda.compile import TRANSFER, Unit
from csaw.engine.cuda.device import open_device
from csaw.engine.cuda.graphs.edge_arrays import made
from csaw.engine.cuda.graphs.resident import Staging
from csaw.engine.cuda.launch import Kernels
from csaw.engine.cuda.transfer import Checks, Originals
from csaw.partition import open_graph, write_graph
from csaw.partition.arrays import arrays
from csaw.partition.arrays.checksums import BLOCK
from csaw.partition.errors import StoreError
from csaw.partition.graph.edge_columns import WEIGHT
from csaw.partition.graph.store import INDICES
from csaw.partition.graph.views import Coalesced

LARGE = [
    ("deepwalk", ["--walk-length", "20", "--num-walks", "2"]),
    ("neighbor", ["--fanout", "10,5", "--instances", "1000000"]),
    ("ppr", ["--num-walks", "8"]),
]


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A folder with a graph of more than 128 MiB of edges, whose ids are not those of its rows."""
    folder = tmp_path_factory.mktemp("large")
    python(folder, "datasets", "generate", "rmat:scale=21,edge_factor=16,seed=1", "g.zarr")
    store = open_graph(folder / "g.zarr")
    assert 4 * store.edges > 128 << 20
    assert store.id_bytes
    return folder


@pytest.mark.parametrize(("algo", "options"), LARGE, ids=[algo for algo, _ in LARGE])
def test_a_large_run_imports_no_numba(large, algo, options):
    line = ["sample", "g.zarr", "s.zarr", "--algo", algo, "--device", "cuda", "--seed", "1", "--overwrite", *options]
    python(large, *line)  # compiles
    assert python(large, *line).endswith("imported:\n")
    assert sum(file.stat().st_size for file in (large / "s.zarr").rglob("*") if file.is_file()) > 128 << 20
    if algo != "ppr":
        found = files_of(large / "s.zarr")
        python(large, *["cpu" if word == "cuda" else word for word in line])
        assert_same_files(files_of(large / "s.zarr"), found)


@pytest.mark.parametrize("measure", ["components", "triangles"])
def test_measuring_a_large_graph_imports_no_numba(large, measure):
    line = ["evaluate", "g.zarr", "--device", "cuda", "--refresh", "--measures", measure]
    python(large, *line)  # compiles
    assert python(large, *line).endswith("imported:\n")


@pytest.mark.parametrize("limit", [-1, 1 << 40])
def test_a_damaged_graph_is_not_measured(store, monkeypatch, limit):
    monkeypatch.setattr(network, "LITTLE", limit)
    intact = DeviceNetwork(store, open_device(0)).whole(True)
    assert np.array_equal(intact.indices.get(), store.load().indices)
    assert np.array_equal(intact.weights.get(), store.load().weights)
    damage(store.path / "partitions" / "00001" / INDICES / "c" / "0", BLOCK + 3)
    with pytest.raises(StoreError, match="have changed since they were written"):
        DeviceNetwork(open_graph(store.path), open_device(0)).whole(True)


def assert_same_files(expected, found):
    assert expected.keys() == found.keys()
    assert [name for name, data in expected.items() if found[name] != data] == []


# Blocks and values.


@pytest.fixture(scope="module")
def kernels():
    return Kernels(Unit(("transfer.cu",), {}, [], (), launched=TRANSFER), open_device(0))


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A graph of several partitions, each of several files of two blocks."""
    monkeypatch.setattr(arrays, "CHUNK_BYTES", 2 * BLOCK)
    graph = random_store(tmp_path / "made.zarr", vertices=3000, edges=20_000).load()
    given = graph.indptr, graph.indices, graph.weights
    return write_graph(tmp_path / "g.zarr", *given, directed=False, partitions=3)


def uploaded(store, kernels, number=None, columns=(WEIGHT,)):
    """The edges of a graph, or of one partition, that went to the GPU and were checked there."""
    there = made(cupy.zeros, store.edges, store, columns)
    staging = Staging(store, columns, Checks(store, kernels))
    for part in store.partitions if number is None else [store.partitions[number]]:
        span = slice(part.first_edge, part.first_edge + part.edges)
        staging.upload(part, {name: array[span] for name, array in there.items()})
    return {name: array.get() for name, array in there.items()}


def damage(file, at):
    data = bytearray(file.read_bytes())
    data[at] ^= 1
    file.write_bytes(data)


@pytest.fixture
def compared(monkeypatch):
    """Counts the blocks that the GPU compares."""
    blocks, over = [], Kernels.over

    def counted(kernels, name, threads, *given, **more):
        if name == "compare_blocks":
            blocks.append(given[0])
        over(kernels, name, threads, *given, **more)

    monkeypatch.setattr(Kernels, "over", counted)
    return blocks


@pytest.mark.parametrize("merged", [False, True])
def test_what_is_right_is_taken(store, kernels, compared, merged):
    expected = store.load()
    found = uploaded(Coalesced(store, 1) if merged else store, kernels)
    assert np.array_equal(found[INDICES], expected.indices)
    assert np.array_equal(found["weights"], expected.weights)
    assert sum(compared) > 8 * store.edges // BLOCK - 10


@pytest.mark.parametrize("merged", [False, True])
def test_columns_of_bytes_begin_anywhere(store, tmp_path, kernels, merged):
    graph = store.load()
    kind = (np.arange(graph.indices.size) % 5).astype(np.uint8)
    given = graph.indptr, graph.indices, graph.weights
    columned = write_graph(tmp_path / "c.zarr", *given, directed=True, partitions=3, edge_columns={"kind": kind})
    (column,) = columned.further_columns
    found = uploaded(Coalesced(columned, 1) if merged else columned, kernels, columns=[WEIGHT, column])
    assert np.array_equal(found[column.array], kind)
    assert np.array_equal(found[INDICES], graph.indices)


@pytest.mark.parametrize("name", [INDICES, "weights"])
def test_a_changed_byte_of_any_file_is_named_as_by_the_cpu(store, kernels, name):
    part = store.partitions[1]
    files = sorted((store.path / "partitions" / "00001" / name / "c").iterdir(), key=lambda file: int(file.name))
    assert len(files) > 2
    for file in (files[0], files[1], files[-1]):
        for at in (0, 1000, BLOCK - 1, BLOCK + 3, 2 * BLOCK - 1):  # of the last file, those at the end fill it
            damage(file, at)
            held = {one: np.empty(part.edges, kind) for one, kind in ((INDICES, np.uint32), ("weights", np.float32))}
            with pytest.raises(StoreError) as expected:
                store.read_edges(1, held)
            for view, number in ((store, 1), (Coalesced(store, 1), 0)):
                with pytest.raises(StoreError) as found:
                    uploaded(view, kernels, number)
                assert str(found.value) == str(expected.value)
            damage(file, at)


@pytest.mark.parametrize(("name", "limit"), [(INDICES, 2990), ("weights", np.float32(0.875))])
def test_a_value_beyond_its_limit_is_named_as_by_the_cpu(store, kernels, name, limit):
    store._limits[name] = limit
    held = {
        one: np.empty(store.partitions[0].edges, kind) for one, kind in ((INDICES, np.uint32), ("weights", np.float32))
    }
    with pytest.raises(StoreError, match="expected values from 0 to") as expected:
        store.read_edges(0, held)
    with pytest.raises(StoreError) as found:
        uploaded(store, kernels, 0)
    assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("dtype", [np.uint32, np.uint64, np.float32])
def test_the_least_value_that_is_beyond_is_found(kernels, dtype):
    values = np.zeros(5000, dtype)
    values[:3] = (0, 7, -0.0) if dtype == np.float32 else (0, 7, 1)
    limit = np.uint64(np.array(dtype(7)).view(f"u{np.dtype(dtype).itemsize}"))
    cases = [8, np.iinfo(dtype).max] if dtype != np.float32 else [8, -1, np.nan, np.inf, -np.inf]
    for bad in (None, *cases):
        held = values.copy()
        if bad is not None:
            held[[1234, 4000]] = bad
        wrong = cupy.asarray([2**64 - 1], np.uint64)
        given = held.size, cupy.asarray(held), held.itemsize, dtype == np.float32, limit, wrong
        kernels.over("find_unlimited", held.size, *given)
        assert int(wrong[0]) == (2**64 - 1 if bad is None else 1234)


def test_a_copy_that_differs_from_the_disk_is_an_error(store, kernels, monkeypatch):
    read = store.read_uncompared
    wrong = lambda *given: [one._replace(sums=one.sums ^ np.uint32(1)) for one in read(*given)]
    monkeypatch.setattr(store, "read_uncompared", wrong)
    with pytest.raises(StoreError, match="indices of partition 0 is right on disk, but its copy in the memory"):
        uploaded(store, kernels, 0)


# Offsets of rows.


@pytest.fixture
def long_store(tmp_path, monkeypatch):
    """A graph of several partitions, whose offsets and ids each have several files of two blocks."""
    monkeypatch.setattr(arrays, "CHUNK_BYTES", 2 * BLOCK)
    graph = random_store(tmp_path / "made.zarr", vertices=9000, edges=20_000).load()
    given = graph.indptr, graph.indices, graph.weights
    return write_graph(
        tmp_path / "g.zarr", *given, directed=False, partitions=3, vertex_ids=np.arange(graph.indptr.size - 1) * 3 + 5
    )


def offsets_of(store, kernels):
    return Staging(store, [WEIGHT], Checks(store, kernels)).offsets().get()


@pytest.mark.parametrize("merged", [False, True])
def test_offsets_that_are_right_are_placed(long_store, kernels, compared, monkeypatch, merged):
    expected = long_store.read_indptr()
    monkeypatch.setattr(type(long_store), "read_offsets", None)  # calling it is an error
    assert np.array_equal(offsets_of(Coalesced(long_store, 1) if merged else long_store, kernels), expected)
    assert sum(compared) > 8 * long_store.vertices // BLOCK - 4


def test_a_changed_byte_of_offsets_is_named_as_by_the_cpu(long_store, kernels):
    files = sorted((long_store.path / "partitions" / "00001" / "indptr" / "c").iterdir(), key=lambda one: int(one.name))
    assert len(files) > 2
    for file in (files[0], files[1], files[-1]):
        for at in (0, 1000, BLOCK - 1, BLOCK + 3, 2 * BLOCK - 1):
            damage(file, at)
            with pytest.raises(StoreError) as expected:
                long_store.read_offsets(1)
            with pytest.raises(StoreError) as found:
                offsets_of(long_store, kernels)
            assert str(found.value) == str(expected.value)
            damage(file, at)


@pytest.mark.parametrize("most", [0, 2])
def test_offsets_that_do_not_rise_are_named_as_by_the_cpu(long_store, kernels, most):
    long_store.max_degree = most
    with pytest.raises(StoreError, match="expected offsets that increase") as expected:
        long_store.read_indptr()
    with pytest.raises(StoreError) as found:
        offsets_of(long_store, kernels)
    assert str(found.value) == str(expected.value)


BIG = 2**63 - 1


@pytest.mark.parametrize(
    ("local", "wrong"),
    [
        ([0, 2, 2, 5], None),
        ([0, 0, 0, 5], 3),
        ([1, 2, 2, 5], 0),
        ([0, 2, 1, 5], 2),
        ([0, 2, 2, 4], 3),
        ([0, 2, -1, 5], 2),
        ([0, BIG, 2, 5], 1),
        ([0, 2, BIG, -BIG], 2),
        ([-BIG, BIG, 4, 5], 0),
    ],
)
def test_the_least_offset_that_is_wrong_is_found(kernels, local, wrong):
    out, found = cupy.zeros(4, np.int64), cupy.asarray([2**64 - 1], np.uint64)
    kernels.over("place_offsets", 4, 4, cupy.asarray(local, np.int64), 7, 5, 4, out, found)
    assert int(found[0]) == (2**64 - 1 if wrong is None else wrong)
    if wrong is None:
        assert out.get().tolist() == [7, 9, 9, 12]


# Ids.


def test_ids_that_are_left_are_compared_on_the_gpu(long_store, kernels, compared, monkeypatch):
    long_store.leave_ids()
    left = long_store.ids_left.size
    monkeypatch.setattr(type(long_store), "compare_ids", None)
    Checks(Coalesced(long_store, 1), kernels).require_ids()
    assert compared == [left]
    assert long_store.ids_left is None
    Checks(long_store, kernels).require_ids()
    assert compared == [left]


@pytest.mark.parametrize("large", [True, False])
def test_a_run_names_ids_that_have_changed_as_the_cpu_does_and_keeps_the_old_sample(
    long_store, tmp_path, monkeypatch, large
):
    options = {"walk_length": 5, "seed": 3}
    sample(long_store, tmp_path / "s.zarr", device="cuda", **options)
    before = files_of(tmp_path / "s.zarr")
    monkeypatch.setattr(compile, "LITTLE", -1 if large else 1 << 40)
    sample(long_store, tmp_path / "s.zarr", device="cuda", overwrite=True, **options)
    assert_same_files(before, files_of(tmp_path / "s.zarr"))
    damage(long_store.path / "vertex_ids" / "c" / "1", BLOCK + 3)
    errors = []
    for place in ("cpu", "cuda", "cuda"):
        with pytest.raises(StoreError, match="have changed since they were written") as raised:
            sample(open_graph(long_store.path), tmp_path / "s.zarr", device=place, overwrite=True, **options)
        errors.append(str(raised.value))
    assert len(set(errors)) == 1
    assert_same_files(before, files_of(tmp_path / "s.zarr"))


def test_a_copy_of_ids_that_differs_from_the_disk_is_an_error(long_store, kernels):
    long_store.leave_ids()
    long_store.ids_left = long_store.ids_left ^ np.uint32(1)
    with pytest.raises(StoreError, match="vertex_ids is right on disk, but its copy in the memory"):
        Checks(long_store, kernels).require_ids()


@pytest.mark.parametrize("algo", ["deepwalk", "ppr", "neighbor"])
def test_passages_are_used_again_and_pieces_are_those_of_the_cpu(long_store, tmp_path, monkeypatch, algo):
    options = {"seed": 3, "overwrite": True, **({"fanout": (4, 3)} if algo == "neighbor" else {"num_walks": 3})}
    sample(long_store, tmp_path / "s.zarr", algo, device="cpu", **options)
    expected, made = files_of(tmp_path / "s.zarr"), []
    begin = transfer.Passage.__init__
    monkeypatch.setattr(transfer.Passage, "__init__", lambda passage: (made.append(passage), begin(passage))[1])
    monkeypatch.setattr(compile, "LITTLE", -1)
    monkeypatch.setattr(transfer, "PIECE", 1 << 14)
    sample(long_store, tmp_path / "s.zarr", algo, device="cuda", **options)
    assert_same_files(expected, files_of(tmp_path / "s.zarr"))
    assert 1 <= len(made) <= 32


IDS = {
    "sparse": lambda n: np.arange(n) * 3 + 5,
    "64 bits": lambda n: np.arange(n) * 2**40 - 7,
    "unsigned": lambda n: np.arange(n).astype(np.uint64) + np.uint64(2**63),
    "dense": lambda n: None,
    "strings": lambda n: np.array([f"v{k:04}" for k in range(n)], object),
}
CASES = [
    ("deepwalk", {"num_walks": 3, "walk_length": 9}),
    ("deepwalk", {"num_walks": 3, "walk_length": 9, "in_flight": 17}),
    ("ppr", {"num_walks": 3}),
    ("neighbor", {"fanout": (4, 3), "weighted": False}),
    ("neighbor", {"fanout": (4, 3), "in_flight": 17}),
    ("layer", {"depth": 2, "neighbor_size": 3}),
]


@pytest.mark.parametrize("room", [None, 64])
@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize(("algo", "options"), CASES, ids=[f"{algo}-{n}" for n, (algo, _) in enumerate(CASES)])
def test_ids_are_written_as_by_the_cpu(tmp_path, monkeypatch, algo, options, ids, room):
    graph = random_store(tmp_path / "made.zarr", directed=True).load()
    given = graph.indptr, graph.indices, graph.weights
    named = IDS[ids](graph.indptr.size - 1)
    store = write_graph(tmp_path / "g.zarr", *given, directed=True, partitions=3, vertex_ids=named)
    options = options | {"seed": 3, "overwrite": True}
    sample(store, tmp_path / "s.zarr", algo, device="cpu", **options)
    expected, converted, convert = files_of(tmp_path / "s.zarr"), [], Originals.to_host

    def noted(originals, drawn, now):
        converted.append(drawn.keys())
        return convert(originals, drawn, now)

    monkeypatch.setattr(Originals, "to_host", noted)
    monkeypatch.setattr(compile, "LITTLE", -1)
    if room:
        monkeypatch.setattr(transfer, "PIECE", room)
    sample(store, tmp_path / "s.zarr", algo, device="cuda", **options)
    assert_same_files(expected, files_of(tmp_path / "s.zarr"))
    assert bool(converted) == (algo != "layer")


def no_memory(*_):
    raise MemoryError


def test_a_table_that_does_not_fit_stays_on_the_host(tmp_path, monkeypatch):
    store = random_store(tmp_path / "made.zarr").load()
    graph = write_graph(
        tmp_path / "g.zarr", store.indptr, store.indices, store.weights, directed=False, vertex_ids=np.arange(300) * 3
    )
    options = {"seed": 3, "overwrite": True, "walk_length": 9}
    sample(graph, tmp_path / "s.zarr", device="cpu", **options)
    expected = files_of(tmp_path / "s.zarr")
    monkeypatch.setattr(compile, "LITTLE", -1)
    monkeypatch.setattr(Originals, "__init__", no_memory)
    sample(graph, tmp_path / "s.zarr", device="cuda", **options)
    assert_same_files(expected, files_of(tmp_path / "s.zarr"))
