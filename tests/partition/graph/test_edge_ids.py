"""``--edge-ids``: each stored edge knows the row of the input that it comes from."""

import gzip

import numpy as np
import pytest
from click.testing import CliRunner
from helpers.graphs import random_store

from csaw.cli.main import cli
from csaw.engine import sample
from csaw.partition import IngestOptions, ingest, open_graph, read_edge_ids
from csaw.partition.errors import StoreError
from csaw.partition.graph.check import check_store
from csaw.partition.graph.views import Coalesced, Split

ROWS = np.random.default_rng(4).integers(0, 40, (700, 2)).tolist()  # some of them several times, in both directions


def text_of(rows, name=str, weights=False):
    """Rows with comments, empty lines and windows' line ends between them."""
    lines = ["# a comment"]
    for number, (u, v) in enumerate(rows):
        lines.append(f"{name(u)} {name(v)}" + (f" {number % 7 + 1}" if weights else ""))
        lines += ["# between", ""] if number % 50 == 3 else []
    return "\n".join(lines) + "\n"


def expected(rows, *, undirected=False, keep=False, drop_loops=False, reverse=False):
    """The numbers of the edges of each (u, v), in order."""
    found = {}
    for number, (a, b) in enumerate(rows):
        u, v = (b, a) if reverse else (a, b)
        for pair in dict.fromkeys(((u, v), (v, u)) if undirected else ((u, v),)):
            if not (drop_loops and u == v):
                found.setdefault(pair, []).append(number)
    return {pair: numbers if keep else numbers[:1] for pair, numbers in found.items()}


def edges_of(store):
    """The same, of a store: the ids of the input as they are there."""
    graph, numbers = store.load(), read_edge_ids(store)
    src = store.original_ids(np.repeat(np.arange(store.vertices), np.diff(graph.indptr)))
    found = {}
    for pair, number in zip(
        zip(src.tolist(), store.original_ids(graph.indices).tolist(), strict=True), numbers.tolist(), strict=True
    ):
        found.setdefault(pair, []).append(number)
    return found


def files_of(path):
    return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, {}),
        ({"directed": False}, {"undirected": True}),
        ({"directed": False, "duplicates": "keep"}, {"undirected": True, "keep": True}),
        ({"duplicates": "sum", "partitions": 5}, {}),
        ({"self_loops": "drop", "compression": "lz4"}, {"drop_loops": True}),
        ({"reverse": True, "threads": 1}, {"reverse": True}),
    ],
)
@pytest.mark.parametrize("weights", [False, True])
def test_each_edge_has_the_number_of_its_row(tmp_path, options, said, weights):
    (tmp_path / "e.txt").write_text(text_of(ROWS, weights=weights))
    store = ingest(tmp_path / "e.txt", tmp_path / "g.zarr", IngestOptions(edge_ids=True, **options))
    assert edges_of(store) == expected(ROWS, **said)
    assert all(finding.ok for finding in check_store(store))
    plain = ingest(tmp_path / "e.txt", tmp_path / "p.zarr", IngestOptions(**options))
    assert plain.fingerprint == store.fingerprint
    assert plain.partitions == store.partitions
    ours, others = files_of(store.path), files_of(plain.path)
    assert {name for name in ours.keys() - others.keys() if "/edge_ids/" not in name} == set()
    assert {name for name in others if ours[name] != others[name]} == {"zarr.json"}
    assert "edge_ids" not in others["zarr.json"].decode()


def test_words_and_skipped_rows_and_several_files(tmp_path):
    halves = ROWS[:300], ROWS[300:]
    for number, rows in enumerate(halves):
        with gzip.open(tmp_path / f"{number}.txt.gz", "wt") as file:
            file.write(text_of(rows, name=lambda v: f"v{v}"))
    store = ingest([tmp_path / "0.txt.gz", tmp_path / "1.txt.gz"], tmp_path / "g.zarr", IngestOptions(edge_ids=True))
    named = {(f"v{u}", f"v{v}"): numbers for (u, v), numbers in expected(ROWS).items()}
    assert edges_of(store) == named
    (tmp_path / "bad.txt").write_text("1 2\n3\n2 3\nx y\n3 1\n")
    store = ingest(tmp_path / "bad.txt", tmp_path / "b.zarr", IngestOptions(edge_ids=True, on_error="skip"))
    assert edges_of(store) == {(1, 2): [0], (2, 3): [1], (3, 1): [2]}


def test_what_does_not_fit_the_memory_comes_from_files(tmp_path):
    rows = np.random.default_rng(6).integers(0, 3000, (1_500_000, 2))
    np.savetxt(tmp_path / "e.txt", rows, "%d")
    options = {"edge_ids": True, "directed": False}
    small = ingest(tmp_path / "e.txt", tmp_path / "s.zarr", IngestOptions(memory=16 << 20, partitions=7, **options))
    large = ingest(tmp_path / "e.txt", tmp_path / "l.zarr", IngestOptions(memory=1 << 30, partitions=7, **options))
    assert small.report["spilled_bytes"] > 0 == large.report["spilled_bytes"]
    numbers = read_edge_ids(small)
    assert np.array_equal(numbers, read_edge_ids(large))
    graph = small.load()
    src = small.original_ids(np.repeat(np.arange(small.vertices), np.diff(graph.indptr)))
    dst = small.original_ids(graph.indices)
    assert np.array_equal(np.sort(rows[numbers], axis=1), np.sort(np.stack([src, dst], axis=1), axis=1))


def test_edges_of_mini_batches_lead_to_rows(tmp_path):
    (tmp_path / "e.txt").write_text(text_of(ROWS))
    store = ingest(tmp_path / "e.txt", tmp_path / "g.zarr", IngestOptions(edge_ids=True, partitions=4))
    batch = sample(store, tmp_path / "s.zarr", "minibatch", fanout=(4, 3), seeds_per_batch=9, device="cpu").minibatch(1)
    rows = read_edge_ids(store, batch["e_id"])
    for view in (Split(store, 30), Coalesced(store, 2)):
        assert np.array_equal(read_edge_ids(view, batch["e_id"]), rows)
    ends = np.stack([batch["n_id"][batch["col"]], batch["n_id"][batch["row"]]], axis=1)
    assert np.array_equal(np.array(ROWS)[rows], ends)
    with pytest.raises(StoreError, match="expected positions of edges from 0 to"):
        read_edge_ids(store, [store.edges])
    assert read_edge_ids(store, np.empty((0, 2), np.int64)).shape == (0, 2)


def test_a_flipped_bit_is_found_and_a_store_without_them_says_what_to_do(tmp_path):
    (tmp_path / "e.txt").write_text(text_of(ROWS))
    done = CliRunner().invoke(cli, ["partition", str(tmp_path / "e.txt"), str(tmp_path / "g.zarr"), "--edge-ids"])
    assert done.exit_code == 0, done.output
    file = next((tmp_path / "g.zarr" / "partitions" / "00000" / "edge_ids").glob("c*/*"))
    data = bytearray(file.read_bytes())
    data[8] ^= 1
    file.write_bytes(data)
    with pytest.raises(StoreError, match="edge_ids"):
        read_edge_ids(open_graph(tmp_path / "g.zarr"))
    assert not check_store(open_graph(tmp_path / "g.zarr"))[0].ok
    with pytest.raises(StoreError, match="does not store which rows .* csaw partition --edge-ids"):
        read_edge_ids(random_store(tmp_path / "r.zarr"))
