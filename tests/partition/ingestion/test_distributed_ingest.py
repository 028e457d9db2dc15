"""An ingest whose passes are tasks gives the bytes of one process: every format and option, in many tasks, each of
which may be done twice.
"""

import gzip
import itertools

import numpy as np
import pytest
from helpers.machine import need_package

from csaw.partition import IngestOptions, ingest
from csaw.partition.errors import CsawError, OptionError
from csaw.partition.ingestion import buckets, distributed_ingest, passes
from csaw.partition.ingestion.distributed_ingest import ingest_spread
from csaw.partition.ingestion.passes import tasks_of, units_of
from csaw.partition.ingestion.text import blocks


def work(function, arguments):
    """Do each task; every third one twice, as where a worker that was given up comes to itself."""
    for number, given in enumerate(arguments):
        if number % 3 == 0:
            function(*given)
        yield function(*given)


@pytest.fixture(autouse=True)
def many_tasks(monkeypatch):
    """Blocks, units, buckets and pieces so small that a short text has many of each."""
    for module, name, value in (
        (blocks, "BLOCK", 512),
        (blocks, "PIECE", 100),
        (buckets, "BUCKET_ENTRIES", 60),
        (passes, "UNIT_BYTES", 1500),
        (distributed_ingest, "COUNTED_ENTRIES", 300),
        (distributed_ingest, "DEALT_ROWS", 90),
    ):
        monkeypatch.setattr(module, name, value)


def files(folder):
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def assert_same(given, folder, **options):
    """The same bytes by tasks and alone."""
    chosen = IngestOptions(memory=16 << 20, threads=1, **options)
    alone = ingest(given, folder / "alone.zarr", chosen)
    spread = ingest_spread(given, folder / "spread.zarr", chosen, work)
    assert files(spread.path) == files(alone.path)
    assert not [path.name for path in folder.iterdir() if path.name.startswith(".")]
    return spread


def edges(factor=1, rows=800):
    rng = np.random.default_rng(4)
    ends = (rng.random((rows, 2)) ** 2 * 150).astype(np.int64) * factor
    return [(u, v, (u * v) % 97) for u, v in ends.tolist()]


def text(found, form="{} {} {}\n"):
    lines = [form.format(*row) for row in found]
    lines[300] = "# a comment\n\n"
    return "".join(lines).encode()


OPTIONS = {
    "directed": {},
    "undirected": {"directed": False, "self_loops": "drop", "partitions": 3},
    "reversed, with numbers of edges": {
        "reverse": True,
        "edge_ids": True,
        "duplicates": "keep",
        "partitions": 4,
        "balance": "vertices",
    },
    "without weights": {"weight_column": "none", "self_loops": "drop"},
    "sums, packed": {"duplicates": "sum", "compression": "lz4"},
    "numbers of repeats": {"duplicates": "sum", "weight_column": "none", "edge_ids": True},
    "words": {"id_type": "string", "partitions": 2},
    "a partitioner and clusters": {"partitioner": "random", "partitions": 3, "num_clusters": 3, "clustering": "lp"},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_the_store_has_the_bytes_of_one_process(tmp_path, options):
    (tmp_path / "e").write_bytes(text(edges()))
    assert len(units_of([str(tmp_path / "e")], IngestOptions())) > 4
    assert_same(tmp_path / "e", tmp_path, **options)


@pytest.mark.parametrize("factor", [-7, 10**12 + 1, 2**63 // 75], ids=["some below 0", "far apart", "64 bits"])
def test_ids_of_any_64_bits_are_numbered_alike(tmp_path, factor):
    (tmp_path / "e").write_bytes(text(edges(factor), "{} {}\n"))
    assert_same(tmp_path / "e", tmp_path)


def test_packed_files_and_spans_of_plain_ones_are_one_graph(tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    found = edges()
    (folder / "a.gz").write_bytes(gzip.compress(text(found[:400])))
    (folder / "b").write_bytes(text(found, "{}\t{}\t{}\n"))
    for k in range(6):
        (folder / f"c{k}").write_text("7 8 9\n2 1 3\n" if k else "# nothing\n")
    tasks = tasks_of(units_of([str(file) for file in sorted(folder.iterdir())], IngestOptions()))
    assert len(tasks) < len(list(itertools.chain(*tasks)))
    assert assert_same(folder, tmp_path).report["files"] == 8


def test_matrix_market_files_may_be_cut(tmp_path):
    found = [(u + 1, v + 1, 1) for u, v, _ in edges()]
    head = b"%%MatrixMarket matrix coordinate pattern general\n200 200 799\n"
    (tmp_path / "m.mtx").write_bytes(head + text(found, "{} {}\n"))
    assert_same(tmp_path / "m.mtx", tmp_path)
    (tmp_path / "n.mtx").write_bytes(head.replace(b"799", b"811") + text(found, "{} {}\n"))
    with pytest.raises(CsawError, match="n.mtx: expected 811 entries by its size line, found 799"):
        ingest_spread(tmp_path / "n.mtx", tmp_path / "x.zarr", IngestOptions(), work)


def test_tables_are_read_by_row_groups(tmp_path):
    arrow = need_package("pyarrow")
    parquet = need_package("pyarrow.parquet")
    names = [tmp_path / f"{k}.parquet" for k in range(3)]
    for k, name in enumerate(names):
        u, v, w = zip(*edges(k + 1), strict=True)
        w = (*w[:-30], -1, *w[1 - 30 :]) if k == 2 else w
        parquet.write_table(arrow.table({"source": u, "target": v, "weight": w}), name, row_group_size=150)
    assert max(len(units_of([str(name)], IngestOptions())) for name in names) > 2
    assert_same(names[:2], tmp_path)
    assert_same(names[1], tmp_path, overwrite=True)
    assert assert_same(names, tmp_path, overwrite=True, on_error="skip").report["skipped"] == 1
    said = []
    for run in (ingest, lambda *given: ingest_spread(*given, work)):
        with pytest.raises(
            CsawError, match="2.parquet: row 771, column weight: expected a weight .* 800 rows"
        ) as error:
            run(names[2], tmp_path / "g.zarr", IngestOptions())
        said.append(str(error.value))
    assert said[0] == said[1]


def test_what_is_wrong_is_named_by_file_and_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"{k} {k + 1} 1\n" for k in range(1500)]
    wrong = {
        "columns": (1201, "7 8\n"),
        "a weight": (1100, "3 4 -1\n"),
        "a word": (900, "x 4 1\n"),
        "first": (3, "1\n"),
    }
    for number, row in wrong.values():
        (tmp_path / "e").write_text("".join([*lines[: number - 1], row, *lines[number:], "5 6 nan\n"]))
        said = []
        for run in (ingest, lambda *given: ingest_spread(*given, work)):
            with pytest.raises(CsawError) as error:
                run("e", tmp_path / "g.zarr", IngestOptions())
            said.append(str(error.value))
        assert said[0] == said[1]
        assert said[0].startswith(f"e:{number}: ")
    assert [path.name for path in tmp_path.iterdir()] == ["e"]


def test_repeats_and_empty_inputs_are_refused_as_by_one_process(tmp_path):
    (tmp_path / "e").write_bytes(text(edges()))
    with pytest.raises(CsawError, match="some edges are repeated"):
        ingest_spread(tmp_path / "e", tmp_path / "g.zarr", IngestOptions(duplicates="error"), work)
    (tmp_path / "e").write_text("# nothing\n" * 900)
    with pytest.raises(CsawError, match="e: no edges found"):
        ingest_spread(tmp_path / "e", tmp_path / "g.zarr", IngestOptions(), work)


def test_inputs_that_other_processes_cannot_read_are_refused():
    for given, what in (("-", "standard input"), ("/dev/null", "a device")):
        with pytest.raises(
            OptionError, match=f"{given} is .*{what}, which the workers of a cluster cannot read; write"
        ):
            ingest_spread(given, "g.zarr", IngestOptions(), work)


def test_a_run_that_was_stopped_leaves_nothing(tmp_path):
    (tmp_path / "e").write_bytes(text(edges()))

    def stopped(function, arguments):
        if function.__name__ == "build_partition":
            raise KeyboardInterrupt
        return work(function, arguments)

    with pytest.raises(KeyboardInterrupt):
        ingest_spread(tmp_path / "e", tmp_path / "g.zarr", IngestOptions(), stopped)
    assert [path.name for path in tmp_path.iterdir()] == ["e"]
