"""Claims of samples and graphs as streams of Arrow: they are the tables of their Parquet files, made while they are
read; and of Arrow files, which have the same.
"""

import tracemalloc

import numpy as np
import pytest
from helpers import slow
from helpers.machine import need_package
from helpers.small_samples import SAID

import csaw
from csaw.partition.errors import OptionError

pa = need_package("pyarrow")
pq = need_package("pyarrow.parquet")

WORDS = [("é", "b", 0.5), ("b", "", 1.0), ("", "é", 2.0), ("é", "lonely", 1.5)]
ENDS = np.random.default_rng(2).integers(0, 90, (400, 2)) * 7 - 100
GRAPHS = {
    "words": lambda: csaw.graph(WORDS, directed=False),
    "uint64": lambda: csaw.graph([(2**63 + 5, 7), (7, 2**64 - 1), (2**64 - 1, 7)]),
    "signed": lambda: csaw.graph(ENDS),
    "times": lambda: csaw.graph(ENDS, time=np.arange(400).astype("M8[ms]"), edge_columns={"kind:int8": ENDS[:, 0] % 5}),
}
ALGORITHMS = {
    "walks": {"algo": "deepwalk", "walk_length": 7},
    "ragged": {"algo": "ppr", "termination_prob": 0.3},
    "hops": {"algo": "neighbor", "fanout": (3, 2)},
    "mini-batches": {"algo": "minibatch", "fanout": (3, 2), "batch_size": 4},
    "subgraphs": {"algo": "forest-fire", "burn_prob": 0.4},
    "layers": {"algo": "ladies"},
}


@pytest.mark.parametrize("kind", GRAPHS)
def test_a_graph_is_the_table_of_its_parquet_file(tmp_path, kind):
    graph = GRAPHS[kind]()
    csaw.export(graph, tmp_path / "g.parquet")
    written, found = pq.read_table(tmp_path / "g.parquet"), pa.table(graph)
    assert found.equals(written, check_metadata=True)
    assert need_package("polars").DataFrame(graph).equals(need_package("polars").read_parquet(tmp_path / "g.parquet"))
    for suffix in ("arrow", "feather"):
        csaw.export(graph, tmp_path / f"g.{suffix}")
        assert need_package("pyarrow.feather").read_table(tmp_path / f"g.{suffix}").equals(written, check_metadata=True)


@pytest.mark.parametrize("directed", [False, True])
def test_a_graph_comes_back_through_the_interface(tmp_path, directed):
    graph = csaw.partition(WORDS, tmp_path / "g.zarr", directed=directed)
    again = csaw.graph(pa.table(graph), directed=directed)
    assert again.fingerprint == graph.fingerprint
    reader = pa.RecordBatchReader.from_stream(graph)
    assert csaw.partition(reader, tmp_path / "h.zarr", directed=directed).fingerprint == graph.fingerprint


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("kind", ["words", "uint64", "signed"])
def test_samples_are_the_table_of_their_parquet_file(tmp_path, algorithm, kind):
    for out in (None, tmp_path / "s.zarr"):
        samples = csaw.sample(GRAPHS[kind](), out, seed=5, device="cpu", **ALGORITHMS[algorithm])
        csaw.export(samples, tmp_path / "s.parquet", overwrite=True)
        csaw.export(samples, tmp_path / "s.arrow", overwrite=True)
        written = pq.read_table(tmp_path / "s.parquet")
        for found in (pa.table(samples), pa.ipc.open_file(tmp_path / "s.arrow").read_all()):
            assert found.equals(written)  # whose lists have elements of another name
            assert found.schema.metadata == written.schema.metadata
    assert pa.table(samples[1:2]).column("instance").unique().to_pylist() in ([], [1])


def test_samples_in_time_and_virtual_ones_are_tables_as_well(tmp_path):
    graph = csaw.partition((ENDS[:, 0], ENDS[:, 1]), tmp_path / "g.zarr", time=np.arange(400))
    stored = csaw.sample(graph, tmp_path / "s.zarr", algo="temporal", walk_length=5, seed=1)
    virtual = csaw.sample(graph, tmp_path / "v.zarr", algo="temporal", walk_length=5, seed=1, virtual=True)
    assert pa.table(stored).schema.names == ["instance", "walk", "times"]
    assert pa.table(virtual).equals(pa.table(stored))


def test_edges_of_samples_are_a_graph(tmp_path):
    hops = csaw.sample("karate", algo="neighbor", fanout=(3, 2), seed=5, device="cpu")
    csaw.export(hops, tmp_path / "s.parquet")
    expected = csaw.partition(tmp_path / "s.parquet", tmp_path / "g.zarr")
    assert csaw.graph(hops).fingerprint == csaw.partition(hops, tmp_path / "h.zarr").fingerprint
    assert csaw.graph(hops).fingerprint == expected.fingerprint
    with pytest.raises(csaw.CsawError, match="column instance, walk|does not show which|holds list"):
        csaw.graph(csaw.sample("karate", algo="deepwalk", walk_length=3, device="cpu"), source_column=2)


def test_the_stream_makes_batches_while_it_is_read_and_may_be_left(tmp_path):
    arrays = {"walks": np.zeros((50_000, 51), np.uint32), "lengths": np.full(50_000, 50)}
    walks = csaw.open_samples(slow.write(tmp_path / "s", SAID, "walks", arrays, group_size=500))
    reader = pa.RecordBatchReader.from_stream(walks)
    tracemalloc.start()
    first = reader.read_next_batch()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert first.num_rows == walks.group_size == 500
    assert peak < arrays["walks"].nbytes // 2  # 10 MiB, as int64 twice that
    reader.close()
    assert pa.RecordBatchReader.from_stream(walks).schema.names == ["instance", "walk"]


def test_damage_is_an_error_of_the_reader(tmp_path):
    walks = csaw.sample("karate", tmp_path / "s.zarr", walk_length=5, device="cpu")
    (tmp_path / "s.zarr" / "walks" / "c.0.0").write_bytes(b"")
    with pytest.raises(Exception, match=r"s\.zarr"):
        pa.table(walks)


def test_words_that_are_not_utf8_are_refused(tmp_path):
    (tmp_path / "e.csv").write_bytes(b"a,b\xff\n")
    graph = csaw.partition(tmp_path / "e.csv", tmp_path / "g.zarr", id_type="string")
    with pytest.raises(OptionError, match="cannot be written to Parquet or Arrow: their strings are UTF-8"):
        csaw.export(graph, tmp_path / "g.arrow")
    with pytest.raises(Exception, match="cannot be written to Parquet or Arrow"):
        pa.table(graph)
