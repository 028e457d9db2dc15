"""The store: round trips, what the fingerprint sees, overwriting, and memory that stays inside its budget."""

import itertools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from csaw.partition import IngestOptions, ingest, open_graph, write_graph
from csaw.partition.base.quoting import format_size, parse_size
from csaw.partition.errors import CsawError, OptionError, StoreError
from csaw.partition.graph.check import check_store
from csaw.partition.graph.reciprocity import reciprocity

BUDGET = 16  # MiB, the least there is
BESIDE_MEMORY = 300  # MiB of interpreter, Numba, parser and arrays of a million vertices that --memory does not count
edge_lists = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12), st.floats(0, 100, width=32)), max_size=60)


def csr(edges, vertices=13):
    """Arrays in the order given, rows unsorted."""
    rows = [[(v, w) for u, v, w in edges if u == x] for x in range(vertices)]
    flat = [entry for row in rows for entry in row]
    indptr = np.cumsum([0] + [len(row) for row in rows])
    return indptr, np.array([v for v, _ in flat], np.uint32), np.array([w for _, w in flat], np.float32)


@settings(max_examples=25)
@given(edges=edge_lists, partitions=st.integers(1, 15), weighted=st.booleans())
def test_rows_in_any_order_come_back_sorted(tmp_path_factory, edges, partitions, weighted):
    indptr, indices, weights = csr(edges)
    path = tmp_path_factory.mktemp("s") / "g.zarr"
    store = write_graph(path, indptr, indices, weights if weighted else None, directed=True, partitions=partitions)
    graph, ends = store.load(), list(itertools.pairwise(indptr))
    assert [sorted(indices[a:b].tolist()) for a, b in ends] == [graph.indices[a:b].tolist() for a, b in ends]
    assert np.array_equal(graph.indptr, indptr)
    if weighted:
        given_pairs = [sorted(zip(indices[a:b].tolist(), weights[a:b].tolist(), strict=True)) for a, b in ends]
        found = [sorted(zip(graph.indices[a:b].tolist(), graph.weights[a:b].tolist(), strict=True)) for a, b in ends]
        assert found == given_pairs
    assert store.multigraph == any(len(set(indices[a:b].tolist())) < b - a for a, b in ends)
    assert all(finding.ok for finding in check_store(store))


@pytest.mark.parametrize(
    ("indptr", "indices", "weights"),
    [
        ([0, 2], [0], None),
        ([0, 1], [5], None),
        ([1, 1], [], None),
        ([0, 2, 1, 3], [0, 1, 2], None),
        ([0, 1], [0], [1, 2]),
    ],
)
def test_arrays_that_are_no_csr_are_refused(tmp_path, indptr, indices, weights):
    with pytest.raises(StoreError, match="expected"):
        write_graph(tmp_path / "g", np.array(indptr), np.array(indices, np.uint32), weights, directed=True)
    assert list(tmp_path.iterdir()) == []


def test_overwriting_keeps_the_old_store_until_the_new_one_is_whole(tmp_path, monkeypatch):
    from csaw.partition.graph import write

    indptr, indices, _ = csr([(0, 1, 1.0)])
    old = write_graph(tmp_path / "g.zarr", indptr, indices, directed=True)
    with monkeypatch.context() as patch:
        patch.setattr(write, "sync_tree", lambda folder: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        with pytest.raises(StoreError, match="No space left"):
            write_graph(tmp_path / "g.zarr", *csr([(5, 6, 1.0)]), directed=True, overwrite=True)
    assert open_graph(tmp_path / "g.zarr").fingerprint == old.fingerprint
    new = write_graph(tmp_path / "g.zarr", *csr([(5, 6, 1.0)]), directed=True, overwrite=True)
    assert new.fingerprint != old.fingerprint
    assert [p.name for p in tmp_path.iterdir()] == ["g.zarr"]


def test_a_full_disk_names_the_store_and_the_bytes(tmp_path):
    text = tmp_path / "e.txt"
    text.write_text("".join(f"{i} {i * 17 % 100_003}\n" for i in range(100_003)))
    code = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "from csaw.partition import ingest, IngestOptions\nfrom csaw.partition.errors import StoreError\n"
        "import zarr, csaw.partition.graph.write, csaw.partition.graph.csr, csaw.partition.ingestion.text.rows\n"
        f"ingest({str(text)!r}, {str(tmp_path / 'warm.zarr')!r}, IngestOptions())\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        f"try: ingest({str(text)!r}, {str(tmp_path / 'g.zarr')!r}, IngestOptions())\n"
        "except StoreError as error: print(error)\n"
    )
    done = run_python(code)
    assert "more bytes needed" in done
    assert "g.zarr" in done
    assert sorted(p.name for p in tmp_path.iterdir()) == ["e.txt", "warm.zarr"]


@pytest.mark.parametrize("partitions", [1, 5])
def test_reciprocity_is_the_share_of_entries_with_a_reverse(tmp_path, partitions):
    rng = np.random.default_rng(2)
    pairs = sorted({(int(u), int(v)) for u, v in rng.integers(0, 60, (900, 2))})
    store = write_graph(tmp_path / "g", *csr([(u, v, 1.0) for u, v in pairs], 60), directed=True, partitions=partitions)
    plain = [(u, v) for u, v in pairs if u != v]
    assert reciprocity(store) == sum((v, u) in set(pairs) for u, v in plain) / len(plain)


def test_the_report_counts_isolated_vertices_and_dead_ends(tmp_path):
    (tmp_path / "e.txt").write_text("1 1\n2 3\n")
    store = ingest(str(tmp_path / "e.txt"), tmp_path / "g", IngestOptions(self_loops="drop"))
    assert (store.vertices, store.report["isolated"], store.report["dead_ends"]) == (3, 1, 2)
    assert store.report["reciprocity"] == 0.0


@pytest.mark.parametrize(
    "ids", [[2**63, 2**64 - 1, 5], [-(2**63), -1, 7], ["b", "a", "\u00e9"]], ids=["uint", "int", "str"]
)
def test_ids_go_both_ways(tmp_path, ids):
    file = tmp_path / "e.txt"
    file.write_text("".join(f"{u} {v}\n" for u in ids for v in ids), encoding="utf-8")
    store = ingest(str(file), tmp_path / "g", IngestOptions())
    dense = store.dense_ids(ids)
    assert store.original_ids(dense).tolist() == ids
    assert np.argsort(dense).tolist() == sorted(range(3), key=lambda i: ids[i])
    with pytest.raises(OptionError, match="12345"):
        store.dense_ids([ids[0], 12345])


@pytest.mark.parametrize(
    ("text", "size"), [("256MiB", 2**28), ("4G", 4 * 10**9), ("1.5KiB", 1536), ("1000000", 10**6), ("2 tib", 2**41)]
)
def test_sizes(text, size):
    assert parse_size(text) == size
    with pytest.raises(CsawError, match="expected a size"):
        parse_size(f"-{text}")


def test_sizes_are_written_as_people_read_them():
    assert [format_size(n) for n in (0, 1023, 1536, 2**28, 2**40)] == ["0 B", "1023 B", "1.5 KiB", "256 MiB", "1 TiB"]


@pytest.mark.slow(reason="writes and reads a graph of a few hundred megabytes")
@pytest.mark.parametrize("directed", [True, False])
def test_a_graph_four_times_the_budget_stays_inside_it(tmp_path, directed):
    (tmp_path / "small").write_bytes(random_rows(np.random.default_rng(0), 100))
    with (tmp_path / "large").open("wb") as out:
        for seed in range(16):
            out.write(random_rows(np.random.default_rng(seed), 1 << 20))
    code = (
        "import sys; from csaw.partition import ingest, IngestOptions\n"
        f"options = IngestOptions(directed={directed}, memory={BUDGET} << 20)\n"
        "store = ingest(sys.argv[1], sys.argv[2], options)\n"
        # ru_maxrss would count pytest's
        "peak = next(line for line in open('/proc/self/status') if line.startswith('VmHWM'))\n"
        "print(int(peak.split()[1]) >> 10, store.fingerprint)"
    )
    run_python(code, tmp_path / "small", tmp_path / "warm")  # compiles: that peak is not the ingest's
    peak, mark = run_python(code, tmp_path / "large", tmp_path / "g").split()
    assert sum(part.nbytes for part in open_graph(tmp_path / "g").partitions) >= 4 * BUDGET << 20
    assert int(peak) <= BUDGET + BESIDE_MEMORY
    assert mark == ingest(str(tmp_path / "large"), tmp_path / "whole", IngestOptions(directed=directed)).fingerprint


def random_rows(rng, rows):
    """Text of ``rows`` edges among a million vertices, some with far more than others."""
    ends = (rng.random((rows, 2)) ** 3 * 1_000_000).astype(np.int64)
    text = np.full((rows, 2, 7), ord(" "), np.uint8)
    text[:, :, :6] = ends[:, :, None] // 10 ** np.arange(5, -1, -1) % 10 + ord("0")
    text[:, 1, 6] = ord("\n")
    return text.tobytes()


def run_python(code, *arguments):
    env = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2] / "_src")}
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
