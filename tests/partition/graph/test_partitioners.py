"""A partitioner numbers vertices anew, and nothing else: the same edges by original ids, exact in samples, in ranges
that are its partitions.
"""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from csaw.cli.main import cli
from csaw.engine import open_samples, sample
from csaw.engine.analytics.evaluation.saved import save_columns
from csaw.engine.sources.given_columns import read_columns
from csaw.partition import IngestOptions, ingest, read_edge_ids
from csaw.partition.errors import OptionError
from csaw.partition.graph.check import check_store
from csaw.partition.ingestion.partitioners import partition_of

PARTITIONERS = ["random", "biased-random", "metis", "lp", "degree"]


@pytest.fixture(params=PARTITIONERS)
def partitioner(request):
    return request.param


def lines(seed=0, vertices=90, groups=3):
    """Weighted edges among ids that are far apart and negative too, nearly all within groups;
    repeats and self loops.
    """
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, vertices, (900, 2))
    ends[:, 1] = np.where(rng.random(900) < 0.95, ends[:, 1] // groups * groups + ends[:, 0] % groups, ends[:, 1])
    ends[:, 1] = np.minimum(ends[:, 1], vertices - 1)
    return [
        (int(u) * 1000 - 20_000, int(v) * 1000 - 20_000, int(w))
        for (u, v), w in zip(ends, rng.integers(1, 9, 900), strict=True)
    ]


def made(folder, name, rows, **options):
    (folder / "e.csv").write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    return ingest(folder / "e.csv", folder / name, IngestOptions(**{"duplicates": "keep", "threads": 2} | options))


def edges(store):
    """Each entry as (original id, original id of the neighbor, weight), in order."""
    graph = store.load()
    source = store.original_ids(np.repeat(np.arange(store.vertices), np.diff(graph.indptr))).tolist()
    weights = [] if graph.weights is None else [graph.weights.tolist()]
    return sorted(zip(source, store.original_ids(graph.indices).tolist(), *weights, strict=True))


@pytest.mark.parametrize("words", [False, True])
def test_the_edges_are_the_same_by_original_ids(partitioner, words, tmp_path):
    rows = [(f"w{u}", f"w{v}", w) for u, v, w in lines()] if words else lines()
    plain = made(tmp_path, "plain.zarr", rows)
    store = made(tmp_path, "parted.zarr", rows, partitioner=partitioner, partitions=3)
    assert edges(store) == edges(plain)
    assert store.report == plain.report
    assert (store.partitioner, plain.partitioner) == (partitioner, "range")
    assert store.fingerprint != plain.fingerprint
    assert all(finding.ok for finding in check_store(store))
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("partitioner", ["range", "random"])
def test_what_a_killed_run_left_of_the_store_by_range_is_removed(tmp_path, partitioner):
    for left in (".g.zarr.csaw-by-range", "..g.zarr.csaw-by-range.csaw-draft"):
        (tmp_path / left).mkdir()
        (tmp_path / left / "zarr.json").write_text("{}")
    (tmp_path / "..g.zarr.csaw-by-range.csaw-lock").touch()
    made(tmp_path, "g.zarr", lines(), partitioner=partitioner)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["e.csv", "g.zarr"]


@pytest.mark.parametrize("partitioner", [name for name in PARTITIONERS if name != "degree"])
def test_ranges_are_the_partitions(partitioner, tmp_path):
    plain = made(tmp_path, "plain.zarr", lines())
    store = made(tmp_path, "parted.zarr", lines(), partitioner=partitioner, partitioner_seed=5, partitions=3)
    parts = partition_of(plain, 3, partitioner, 5)
    wanted = [plain.original_ids(np.flatnonzero(parts == part)).tolist() for part in range(3)]
    found = [store.original_ids(np.arange(p.first_vertex, p.last_vertex)).tolist() for p in store.partitions]
    assert found == wanted
    assert max(map(len, found)) <= 33


def test_ids_are_found_and_others_refused(partitioner, tmp_path):
    store = made(tmp_path, "g.zarr", lines(), partitioner=partitioner, partitions=3)
    dense = np.random.default_rng(1).permutation(store.vertices)
    assert np.array_equal(store.dense_ids(store.original_ids(dense)), dense)
    for missing in (1, -(2**62), 2**62, 2**70):
        with pytest.raises(OptionError, match=f"vertex {missing} is not in"):
            store.dense_ids([missing])


def test_edges_keep_their_rows_of_the_input(partitioner, tmp_path):
    rows = lines()
    store = made(tmp_path, "g.zarr", rows, partitioner=partitioner, partitions=3, edge_ids=True)
    graph, numbers = store.load(), read_edge_ids(store)
    source = store.original_ids(np.repeat(np.arange(store.vertices), np.diff(graph.indptr)))
    found = zip(source.tolist(), store.original_ids(graph.indices).tolist(), graph.weights.tolist(), strict=True)
    assert [rows[number] for number in numbers] == list(found)
    assert sorted(numbers.tolist()) == list(range(len(rows)))


def test_ids_from_zero_on_are_kept(partitioner, tmp_path):
    rows = [(u, (u * 7 + 1) % 60, 1) for u in range(60)]
    store = made(tmp_path, "g.zarr", rows, partitioner=partitioner, partitions=4)
    assert edges(store) == edges(made(tmp_path, "plain.zarr", rows))
    assert sorted(store.vertex_ids().tolist()) == list(range(60))


def test_samples_and_columns_have_original_ids(partitioner, tmp_path):
    store = made(tmp_path, "g.zarr", lines(), partitioner=partitioner, partitions=3)
    pairs = {(u, v) for u, v, _ in edges(store)}
    sample(
        store, tmp_path / "w.zarr", "deepwalk", walk_length=5, sources=store.original_ids(np.arange(40)), device="cpu"
    )
    samples = open_samples(tmp_path / "w.zarr")
    walks = samples.walks[:]
    assert walks[:, 0].tolist() == store.original_ids(np.arange(40)).tolist()
    ended = walks == walks.dtype.type(samples.fill)
    steps = ~(ended[:, 1:] | ended[:, :-1])
    assert {*zip(walks[:, :-1][steps].tolist(), walks[:, 1:][steps].tolist(), strict=True)} <= pairs
    done = CliRunner().invoke(cli, ["verify", str(tmp_path / "w.zarr"), "--graph", str(store.path), "--json"])
    assert done.exit_code == 0, done.output
    save_columns({"x": np.arange(store.vertices) * 0.5}, store, tmp_path / "c.npz")
    assert np.array_equal(read_columns(tmp_path / "c.npz", store).table[0], np.arange(store.vertices) * 0.5)


def test_partitions_near_neighbors_cut_fewer_edges(tmp_path):
    plain = made(tmp_path, "plain.zarr", lines())
    graph = plain.load()
    rows = np.repeat(np.arange(plain.vertices), np.diff(graph.indptr))

    def cut(partitioner):
        parts = partition_of(plain, 3, partitioner, 1)
        return (parts[rows] != parts[graph.indices]).mean()

    assert cut("lp") < cut("biased-random") < cut("random")


def test_clusters_are_of_the_vertices_as_they_are_numbered(tmp_path):
    store = made(tmp_path, "g.zarr", lines(), partitioner="random", partitions=3, num_clusters=5, clustering="random")
    assert np.bincount(store.read_clusters()).tolist() == [18] * 5
    assert all(finding.ok for finding in check_store(store))


def test_the_command_says_the_partitioner_and_earlier_readers_are_kept_out(tmp_path):
    (tmp_path / "e.txt").write_text("1 2\n2 3\n3 1\n")
    line = ["partition", str(tmp_path / "e.txt"), str(tmp_path / "g.zarr"), "--partitions", "2", "--json"]
    for partitioner, version in (("range", 2), ("random", 3)):
        done = CliRunner().invoke(cli, [*line, "--partitioner", partitioner, "--overwrite"])
        assert done.exit_code == 0, done.output
        attributes = json.loads((tmp_path / "g.zarr" / "zarr.json").read_bytes())["attributes"]
        assert attributes["format_version"] == version
        assert ("partitioner" in attributes) == (partitioner != "range")
        info = CliRunner().invoke(cli, ["info", str(tmp_path / "g.zarr")])
        assert f"partitioner {partitioner}" in " ".join(info.output.split())


def test_by_degree_rows_become_shorter(tmp_path):
    store = made(tmp_path, "g.zarr", lines(), partitioner="degree", partitions=4)
    degrees = np.diff(store.read_indptr())
    assert (degrees[1:] <= degrees[:-1]).all()
    assert len(store.partitions) == 4
    assert max(part.edges for part in store.partitions) < 2 * min(part.edges for part in store.partitions)
    ids = store.vertex_ids()
    ties = degrees[1:] == degrees[:-1]
    assert (ids[1:][ties] > ids[:-1][ties]).all()
