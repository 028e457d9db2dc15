"""Text and tables to a store: what users' files look like, against counts made by hand or by a
slow reading in Python.
"""

import bz2
import gzip
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from helpers.machine import need_data, need_package

from csaw.partition import IngestOptions, ingest, open_graph, write_graph
from csaw.partition.errors import CsawError

PUBLISHED = [  # file, vertices, stored entries, options: SNAP's own counts
    ("snap/wiki-Vote.txt.gz", 7115, 103689, {}),
    ("snap/p2p-Gnutella31.txt.gz", 62586, 147892, {}),
    ("snap/email-Enron.txt.gz", 36692, 367662, {"directed": False}),
    ("snap/ca-GrQc.txt.gz", 5242, 28980, {"directed": False}),
    ("snap/facebook_combined.txt.gz", 4039, 2 * 88234, {"directed": False}),
    ("snap/ca-AstroPh.txt.gz", 18772, 2 * 198050 + 60, {"directed": False}),
    ("snap/email-Eu-core.txt", 1005, 25571, {}),
    ("converted/cit-HepPh.txt.gz", 34546, 421578, {}),
    ("converted/web-Stanford_relabelled.txt.gz", 281903, 2312496, {}),
    ("weighted/west0067.mtx", 67, 294, {"weight_column": "none"}),
    ("other/karate.mtx", 34, 156, {}),
    ("irregular/email-Eu-core_crcrlf.txt.gz", 1005, 25571, {}),
    ("irregular/p2p-Gnutella31_crlf_nofinalnl.txt.gz", 62586, 147892, {}),
    ("irregular/negative-vertex-id.csv", 3, 3, {}),
    ("weighted/miserables.tsv", 77, 508, {"directed": False}),
]


def read(tmp_path, text, **options):
    file = tmp_path / "edges.txt"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return ingest(str(file), tmp_path / "g.zarr", IngestOptions(overwrite=True, **options))


def entries(store):
    graph = store.load()
    src = np.repeat(np.arange(store.vertices), np.diff(graph.indptr))
    ends = zip(store.original_ids(src).tolist(), store.original_ids(graph.indices).tolist(), strict=True)
    return (
        list(ends)
        if graph.weights is None
        else [(u, v, w) for (u, v), w in zip(ends, graph.weights.tolist(), strict=True)]
    )


@pytest.mark.parametrize(("file", "vertices", "edges", "options"), PUBLISHED, ids=[p[0] for p in PUBLISHED])
def test_published_counts(tmp_path, file, vertices, edges, options):
    store = ingest(str(need_data(file)), tmp_path / "g.zarr", IngestOptions(**options))
    assert (store.vertices, store.edges) == (vertices, edges)


def test_every_irregular_file_ends_well_or_in_a_clear_error(tmp_path):
    for file in sorted(need_data("irregular").iterdir()):
        refused = ""
        try:
            store = ingest(str(file), tmp_path / "g.zarr", IngestOptions(overwrite=True))
        except CsawError as error:
            refused = str(error)
        assert file.name in refused if refused else store.edges > 0


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1 2\n2 3\n", [(1, 2), (2, 3)]),
        ("# c\n% c\n\n1\t2\r\n2,3\r\n", [(1, 2), (2, 3)]),
        ("1 2\r2 3\r", [(1, 2), (2, 3)]),
        ("1  \t 2", [(1, 2)]),
        ("  1 2 \n", [(1, 2)]),
        ("FromNodeId ToNodeId\n1 2\n2 3\n", [(1, 2), (2, 3)]),
        ("9223372036854775808 18446744073709551615\n0 1\n", [(0, 1), (2**63, 2**64 - 1)]),
        ("-9223372036854775808 -1\n5 -1\n", [(-(2**63), -1), (5, -1)]),
        ("b a\na \u00e9\n", [("a", "\u00e9"), ("b", "a")]),
        ("1 2 0.5\n2 1 0\n", [(1, 2, 0.5), (2, 1, 0.0)]),
        ("1 2 1e-3\n2 1 2.5E2\n3 1 .25\n", [(1, 2, np.float32(1e-3)), (2, 1, 250.0), (3, 1, 0.25)]),
        ("1 1\n1 1\n1 2\n", [(1, 1), (1, 2)]),
    ],
)
def test_rows(tmp_path, text, found):
    assert entries(read(tmp_path, text)) == found


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", {}, "no edges found"),
        ("# only\n% comments\n", {}, "no edges found"),
        ("1 2\n3\n", {}, "edges.txt:2: expected 2 columns as in line 1, found 1"),
        ("1 2\n1 2 3 4\n", {"weight_column": "none", "id_type": "int"}, None),
        ("1 2\n3 x\n", {}, "edges.txt:2: expected integers as ids"),
        ("1 2\n1 18446744073709551616\n", {}, "edges.txt:2: expected an id of at most 64 bits"),
        ("-1 2\n1 18446744073709551615\n", {}, "--id-type string"),
        ("1 2 nan\n1 3 -1\n1 4 inf\n", {}, "edges.txt:1: 3 weights are negative, NaN, infinite"),
        ("1 2 1e39\n", {}, "outside float32"),
        ("1 2 1e-46\n", {}, "positive numbers: 1e-45"),
        ("1 2 1e-400\n1 3 7.1e-46\n", {}, "1 weights are negative"),
        ("a b 1e-400\n", {}, "edges.txt:1: 1 weights are negative"),
        ("a b 7e-46\n", {}, "edges.txt:1: 1 weights are negative"),
        ("1 2\n1 2\n", {"duplicates": "error"}, "repeated"),
        ("version https://git-lfs.github.com/spec/v1\n", {}, "Git LFS pointer"),
        ("%%MatrixMarket matrix array real general\n2 2\n", {}, "MatrixMarket matrix coordinate"),
        ("1 2 3 4\n1 2 3 4\n", {}, "found 4"),
    ],
)
def test_bad_input_is_refused_by_file_and_line(tmp_path, text, options, message):
    if message is None:
        assert read(tmp_path, text, **options).edges == 1
        return
    with pytest.raises(CsawError, match=message):
        read(tmp_path, text, **options)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["edges.txt"]


def test_bad_rows_can_be_skipped_and_are_counted(tmp_path):
    store = read(tmp_path, "1 2 1\nx y z\n3 4 nan\n5 6 2\n7 8 2\n", on_error="skip", id_type="int", weight_column="3")
    assert (store.edges, store.report["skipped"]) == (3, 2)


def test_undirected_edges_are_in_both_rows_and_repeats_follow_the_policy(tmp_path):
    text = "# Undirected graph\n1 2 3\n2 1 4\n1 1 5\n"
    assert entries(read(tmp_path, text)) == [(1, 1, 5.0), (1, 2, 3.0), (2, 1, 3.0)]
    assert entries(read(tmp_path, text, duplicates="sum")) == [(1, 1, 5.0), (1, 2, 7.0), (2, 1, 7.0)]
    kept = read(tmp_path, text, duplicates="keep", self_loops="drop")
    assert entries(kept) == [(1, 2, 3.0), (1, 2, 4.0), (2, 1, 3.0), (2, 1, 4.0)]
    assert kept.multigraph
    assert (kept.report["self_loops"], read(tmp_path, text).report["duplicates"]) == (1, 1)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress], ids=["gzip", "bz2"])
def test_compressed_by_magic_number_and_a_torn_end_is_an_error(tmp_path, pack):
    text = "".join(f"{i} {i + 1}\n" for i in range(200_000)).encode()
    assert read(tmp_path, pack(text)).edges == 200_000
    with pytest.raises(CsawError, match="after [0-9]+ lines"):
        read(tmp_path, pack(text)[:-2000])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_a_small_budget_and_any_partitions_give_the_same_graph(tmp_path, monkeypatch, weighted, directed):
    from csaw.partition.ingestion import job

    rng = np.random.default_rng(3)
    ends = (rng.random((250_000, 2)) ** 2 * 50_000).astype(int) * 7
    rows = [f"{u} {v} {(u * v) % 97}\n" if weighted else f"{u} {v}\n" for u, v in ends.tolist()]
    text = "".join(rows)
    plain = read(tmp_path, text, directed=directed, duplicates="sum")
    monkeypatch.setattr(job, "KEPT_SHARE", 0.1)
    small = read(tmp_path, text, directed=directed, duplicates="sum", memory=16 << 20, partitions=5)
    assert small.report["spilled_bytes"] > 0
    assert len(small.partitions) == 5
    assert plain.fingerprint == small.fingerprint
    expected = {}
    for u, v in ends.tolist():
        for a, b in {(u, v), (u, v) if directed else (v, u)}:
            expected[a, b] = expected.get((a, b), 0) + ((u * v) % 97 if weighted else 1)
    assert entries(small) == [(*ends, float(expected[ends])) for ends in sorted(expected)]


@pytest.mark.parametrize("text", ["5 9\n5 9\n7 3\n5 9\n", "5 9 2\n5 9 3\n7 3 4\n5 9 5\n", "a b\na b\nc d\na b\n"])
def test_edges_without_weights_count_1_each_where_repeats_are_added(tmp_path, text):
    store = read(tmp_path, text, duplicates="sum", weight_column="none")
    assert [row[2] for row in entries(store)] == [3.0, 1.0]
    assert (store.report["weights"], store.report["duplicates"]) == ("repeats", 2)
    both = read(tmp_path, text, duplicates="sum", weight_column="none", directed=False)
    assert sorted(row[2] for row in entries(both)) == [1.0, 1.0, 3.0, 3.0]
    assert not read(tmp_path, text, weight_column="none").weighted


def test_numbers_of_repeats_that_are_all_equal_are_warned_of_with_what_leaves_them_out(tmp_path):
    (said,) = read(tmp_path, "5 9\n7 3\n7 4\n", duplicates="sum").report["warnings"]
    assert said.startswith(
        "all weights are 1; sample with --unweighted, or leave the weights out with --duplicates first"
    )


def test_parquet_and_csv_tables(tmp_path):
    need_package("pyarrow")
    import pyarrow
    import pyarrow.csv
    import pyarrow.parquet

    table = pyarrow.table({"source": ["a", "b"], "target": ["b", "c"], "weight": [1.5, 2.0]})
    pyarrow.parquet.write_table(table, tmp_path / "e.parquet")
    store = ingest(str(tmp_path / "e.parquet"), tmp_path / "p.zarr", IngestOptions())
    assert entries(store) == [("a", "b", 1.5), ("b", "c", 2.0)]
    pyarrow.csv.write_csv(pyarrow.table({"x": [5, 9], "y": [9, 5]}), tmp_path / "e.csv")
    store = ingest(str(tmp_path / "e.csv"), tmp_path / "c.zarr", IngestOptions(source_column="x", target_column="y"))
    assert entries(store) == [(5, 9), (9, 5)]


def test_a_killed_ingest_leaves_nothing_under_the_name(tmp_path):
    file = tmp_path / "edges.txt"
    file.write_text("".join(f"{i * 7 % 300_007} {i * 11 % 300_007}\n" for i in range(600_000)))
    code = f"from csaw.partition import *; ingest({str(file)!r}, {str(tmp_path / 'g.zarr')!r}, IngestOptions())"
    env = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2] / "_src")}
    for delay in (0.8, 1.2, 1.6, 2.0):
        child = subprocess.Popen([sys.executable, "-c", code], env=env)
        time.sleep(delay)
        child.send_signal(signal.SIGKILL)
        child.wait()
        if (tmp_path / "g.zarr").exists():
            assert open_graph(tmp_path / "g.zarr").edges == 300_007  # it was faster: then it is whole
            return
    assert ingest(str(file), tmp_path / "g.zarr", IngestOptions()).vertices > 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["edges.txt", "g.zarr"]


def test_torn_missing_and_later_stores_are_refused(tmp_path):
    indptr, indices = np.array([0, 2, 3]), np.array([0, 1, 0], np.uint32)
    store = write_graph(tmp_path / "g.zarr", indptr, indices, directed=True)
    chunk = store.path / "partitions" / "00000" / "indices" / "c" / "0"
    chunk.write_bytes(chunk.read_bytes()[:-1])
    with pytest.raises(CsawError, match="expected 12 bytes, found 11"):
        store.load()
    chunk.unlink()
    with pytest.raises(CsawError, match="cannot be opened"):
        store.load()
    meta = store.path / "zarr.json"
    meta.write_text(meta.read_text().replace('"format_version": 2', '"format_version": 9'))
    with pytest.raises(CsawError, match="upgrade csaw"):
        open_graph(store.path)
    for path in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(CsawError, match="csaw partition"):
            open_graph(path)
    with pytest.raises(CsawError, match="is a directory"):
        ingest(str(tmp_path), tmp_path / "h.zarr", IngestOptions())


@pytest.mark.parametrize("compression", [None, "lz4"])
def test_partitions_and_codec_do_not_change_the_content(tmp_path, compression):
    import zarr

    rng = np.random.default_rng(0)
    degrees = rng.integers(0, 9, 200)
    indptr = np.concatenate([[0], np.cumsum(degrees)])
    indices = np.concatenate([np.sort(rng.integers(0, 200, d)) for d in degrees]).astype(np.uint32)
    weights = rng.random(indices.size).astype(np.float32)
    marks = set()
    for partitions, balance in ((1, "edges"), (4, "edges"), (7, "vertices"), (400, "edges")):
        store = write_graph(
            tmp_path / "g.zarr",
            indptr,
            indices,
            weights,
            directed=True,
            partitions=partitions,
            balance=balance,
            compression=compression,
            overwrite=True,
        )
        graph = store.load()
        assert np.array_equal(graph.indptr, indptr)
        assert np.array_equal(graph.indices, indices)
        assert np.array_equal(graph.weights, weights)
        part = store.partitions[-1]
        oracle = zarr.open_array(str(store.path / "partitions" / f"{part.number:05d}" / "indices"), mode="r")[:]
        assert np.array_equal(oracle, indices[part.first_edge :])
        marks.add(store.fingerprint)
    assert len(marks) == 1


@pytest.mark.parametrize("text", ["1 2\n1 3\n3 1\n3 3\n9 1\n", "1 2 .5\n1 3 .25\n9 1 2\n", "a b\nc b\nb a\n"])
def test_a_graph_stored_in_reverse_has_each_edge_at_its_other_end(tmp_path, text):
    ids = {"id_type": "string"} if text.startswith("a") else {}
    found = entries(read(tmp_path, text, reverse=True, **ids))
    assert found == sorted((v, u, *w) for u, v, *w in entries(read(tmp_path, text, **ids)))
    assert read(tmp_path, text, reverse=True, **ids).report["reversed"]
    assert "reversed" not in read(tmp_path, text, **ids).report
