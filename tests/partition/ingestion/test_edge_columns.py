"""Edge columns of files reach the store as numbers of their type, sorted with their edges, however they are read."""

import gzip

import numpy as np
import pytest
from click.testing import CliRunner
from helpers.machine import need_package

import csaw
from csaw.cli.commands.partition import partition as partition_command
from csaw.partition import IngestOptions, ingest
from csaw.partition.arrays import spool
from csaw.partition.errors import CsawError, FormatError, OptionError
from csaw.partition.ingestion import buckets, distributed_ingest, passes, pipeline
from csaw.partition.ingestion.distributed_ingest import ingest_spread
from csaw.partition.ingestion.text import blocks

TIMES = ("time:int64", "score:float64=value", "kind:uint8")


@pytest.fixture
def small_pieces(monkeypatch):
    """Blocks, units, buckets, pieces and memory so small that a short text has many of each, some in files."""
    kept = spool.Budget.__init__
    monkeypatch.setattr(spool.Budget, "__init__", lambda self, memory, folder: kept(self, 1000, folder))
    for module, name, value in (
        (blocks, "BLOCK", 512),
        (blocks, "PIECE", 100),
        (buckets, "BUCKET_ENTRIES", 60),
        (pipeline, "PIECE_ROWS", 150),
        (passes, "UNIT_BYTES", 1500),
        (distributed_ingest, "COUNTED_ENTRIES", 300),
        (distributed_ingest, "DEALT_ROWS", 90),
    ):
        monkeypatch.setattr(module, name, value)


def rows_of(count=700):
    """(source, target, weight, time, value, kind) of edges, of which many are repeated."""
    rng = np.random.default_rng(8)
    ends = rng.integers(0, 25, (count, 2)).tolist()
    times = rng.integers(-(2**62), 2**62, count).tolist()
    values = (rng.random(count) * 10.0 ** rng.integers(-8, 9, count)).tolist()
    return [
        (u, v, (u * v) % 7 + 1, t, x, k)
        for (u, v), t, x, k in zip(ends, times, values, rng.integers(0, 256, count).tolist(), strict=True)
    ]


def expected(rows, directed, duplicates, drop_loops=False):
    """(source, target, weight, time, value, kind) of each entry, written from lists."""
    entries = [(u, v, *rest) for u, v, *rest in rows if not (drop_loops and u == v)]
    if not directed:
        entries = [each for u, v, *rest in entries for each in [(u, v, *rest), *[(v, u, *rest)] * (u != v)]]
    entries.sort(key=lambda entry: entry[:2])
    if duplicates == "keep":
        return entries
    groups = {}
    for entry in entries:
        groups.setdefault(entry[:2], []).append(entry)
    return [
        (*ends, sum(each[2] for each in same) if duplicates == "sum" else same[0][2], *same[0][3:])
        for ends, same in groups.items()
    ]


def stored(store):
    """The same of a store, by original ids."""
    graph = store.load(store.further_columns)
    sources = np.repeat(np.arange(store.vertices), np.diff(graph.indptr))
    ends = [store.original_ids(sources).tolist(), store.original_ids(graph.indices).tolist()]
    weights = [] if graph.weights is None else [graph.weights.tolist()]
    columns = [graph.columns[column.name].tolist() for column in store.further_columns]
    return sorted(zip(*ends, *weights, *columns, strict=True), key=lambda entry: entry[:2])


def csv(rows, quote=""):
    lines = [",".join(f"{quote}{cell}{quote}" for cell in row) for row in rows]
    return "\n".join(["source,target,weight,time,value,kind", *lines]) + "\n"


def work(function, arguments):
    for given in arguments:
        yield function(*given)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("duplicates", ["keep", "first", "sum"])
@pytest.mark.parametrize("directed", [True, False])
def test_each_entry_keeps_the_numbers_of_its_edge(tmp_path, directed, duplicates):
    rows = rows_of()
    (tmp_path / "e.csv").write_text(csv(rows))
    options = {"directed": directed, "duplicates": duplicates, "self_loops": "drop", "edge_columns": TIMES}
    chosen = IngestOptions(memory=16 << 20, threads=2, edge_ids=True, partitions=3, **options)
    here = ingest(tmp_path / "e.csv", tmp_path / "here.zarr", chosen)
    assert [(column.name, column.dtype.name) for column in here.further_columns] == [
        ("time", "int64"),
        ("score", "float64"),
        ("kind", "uint8"),
    ]
    assert stored(here) == expected(rows, directed, duplicates, drop_loops=True)
    tasks = ingest_spread(tmp_path / "e.csv", tmp_path / "tasks.zarr", chosen, work)
    assert files(tasks.path) == files(here.path)


def files(folder):
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.parametrize("partitioner", ["random", "degree"])
def test_partitioners_take_the_columns_along(tmp_path, partitioner):
    rows = rows_of()
    (tmp_path / "e.csv").write_text(csv(rows))
    options = IngestOptions(partitioner=partitioner, partitions=3, edge_columns=TIMES, duplicates="keep")
    assert stored(ingest(tmp_path / "e.csv", tmp_path / "g.zarr", options)) == expected(rows, True, "keep")


def in_quotes(rows):
    return csv(rows, '"')


def by_position(rows):
    return "".join("{}\t{}\t{}\t{}\t{}\t{}\n".format(*row) for row in rows)


def in_blanks(rows):
    return "# a comment\n\n" + "".join("{}  {} {} {} {!r} {}\r\n".format(*row) for row in rows)


def packed(rows):
    return gzip.compress(csv(rows).encode())


NUMBERS = {"edge_columns": ("time:int64=4", "score:float64=5", "kind:uint8=6")}
FORMS = {
    "quotes": (in_quotes, {"edge_columns": TIMES}),
    "positions": (by_position, NUMBERS),
    "blanks": (in_blanks, NUMBERS),
    "gzip": (packed, {"edge_columns": TIMES}),
}


@pytest.mark.parametrize("ids", ["auto", "string"])
@pytest.mark.parametrize(("form", "options"), FORMS.values(), ids=FORMS)
def test_any_text_gives_the_same_numbers(tmp_path, form, options, ids):
    rows = rows_of(120)
    text = form(rows)
    (tmp_path / "e").write_bytes(text if isinstance(text, bytes) else text.encode())
    store = ingest(tmp_path / "e", tmp_path / "g.zarr", IngestOptions(duplicates="keep", id_type=ids, **options))
    wanted = expected([(str(u), str(v), *rest) for u, v, *rest in rows] if ids == "string" else rows, True, "keep")
    assert sorted(stored(store)) == sorted(wanted)


def test_tables_give_the_same_numbers(tmp_path):
    arrow, parquet = need_package("pyarrow"), need_package("pyarrow.parquet")
    rows = rows_of()
    names = ("source", "target", "weight", "time", "value", "kind")
    table = arrow.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
    parquet.write_table(table, tmp_path / "e.parquet", row_group_size=100)
    options = IngestOptions(edge_columns=TIMES, duplicates="keep")
    assert stored(ingest(tmp_path / "e.parquet", tmp_path / "g.zarr", options)) == expected(rows, True, "keep")
    with pytest.raises(FormatError, match="row [0-9]+, column value: expected a number that int64 holds as value"):
        ingest(tmp_path / "e.parquet", tmp_path / "x.zarr", IngestOptions(edge_columns="value:int64"))
    parquet.write_table(arrow.table({"src": [1, 2], "dst": [2, 3], "t": [5, None]}), tmp_path / "n.parquet")
    with pytest.raises(FormatError, match="row 2, column t: expected a number that int32 holds as t, found 'None'"):
        ingest(tmp_path / "n.parquet", tmp_path / "x.zarr", IngestOptions(edge_columns="t:int32"))


def test_the_third_of_three_columns_is_no_weight_where_it_is_an_edge_column(tmp_path):
    (tmp_path / "e").write_text("1 2 30\n2 3 -7\n")
    store = ingest(tmp_path / "e", tmp_path / "g.zarr", IngestOptions(edge_columns="time:int32:seconds=3"))
    assert (store.weighted, stored(store)) == (False, [(1, 2, 30), (2, 3, -7)])
    assert store.further_columns[0].units == "seconds"


def test_numbers_that_are_left_out_with_repeated_edges_are_told_of(tmp_path):
    (tmp_path / "e").write_text("9 8 30\n8 3 7\n9 8 31\n")
    chosen = {"edge_columns": "time:int32=3", "overwrite": True}
    first = ingest(tmp_path / "e", tmp_path / "g.zarr", IngestOptions(**chosen))
    said = "1 repeated edge is left out, with its time; pass --duplicates keep to keep them all"
    assert (stored(first), first.report["warnings"]) == ([(8, 3, 7), (9, 8, 30)], [said])
    kept = ingest(tmp_path / "e", tmp_path / "g.zarr", IngestOptions(duplicates="keep", **chosen))
    assert (stored(kept), kept.report["warnings"]) == ([(8, 3, 7), (9, 8, 30), (9, 8, 31)], [])


def test_the_command_reads_columns_that_biases_see(tmp_path):
    (tmp_path / "e.csv").write_text("src,dst,time\n1,2,0\n1,3,5\n")
    runner, place = CliRunner(), str(tmp_path / "g.zarr")
    made = runner.invoke(partition_command, [str(tmp_path / "e.csv"), place, "--edge-column", "time:int64"])
    assert made.exit_code == 0, made.output
    walks = csaw.sample(place, edge_bias="e.time", walk_length=1, sources=[1], seed=3, device="cpu")
    assert walks.walks[:].tolist() == [[1, 3]]


@pytest.mark.parametrize("ids", ["int", "string"])
@pytest.mark.parametrize(
    ("dtype", "good", "wrong"),
    [
        ("int8", ["-128", "127", "5.0"], ["128", "-129", "1.5", "x", "", "1e2", "nan"]),
        ("uint64", ["0", "9223372036854775807", "+3"], ["9223372036854775808", "-1", "99999999999999999999999"]),
        ("float32", ["1e-3", "nan", "-inf", "3.4e38"], ["3.5e38", "1_0", "abc"]),
        ("float64", ["0.1", "1.7976931348623157e308", "123456789012345678", "-0.30000000000000004"], ["--1", "1e999"]),
    ],
)
def test_numbers_that_a_type_does_not_hold_are_named_by_their_line(tmp_path, dtype, good, wrong, ids):
    options = IngestOptions(edge_columns=f"time:{dtype}", duplicates="keep", id_type=ids)
    lines = ["source,target,time", *(f"{k},{k + 1},{cell}" for k, cell in enumerate(good))]
    (tmp_path / "e").write_text("\n".join(lines))
    store = ingest(tmp_path / "e", tmp_path / "g.zarr", options)
    values = (
        np.array([float(cell) for cell in good])
        if "float" in dtype
        else [int(float(c)) if "." in c else int(c) for c in good]
    )
    found = store.load(store.further_columns).columns["time"]
    assert np.array_equal(found, np.array(values, dtype), equal_nan="float" in dtype)
    for cell in wrong:
        (tmp_path / "e").write_text("\n".join([*lines, f"7,8,{cell}", "8,9,x"]))
        with pytest.raises(
            FormatError, match=f"e:{len(lines) + 1}: expected a (number that {dtype} holds as time|value)"
        ):
            ingest(tmp_path / "e", tmp_path / "x.zarr", options)
        skipped = IngestOptions(
            edge_columns=f"time:{dtype}", duplicates="keep", id_type=ids, on_error="skip", overwrite=True
        )
        kept = ingest(tmp_path / "e", tmp_path / "g.zarr", skipped)
        assert (kept.edges, kept.report["skipped"]) == (len(good), 2)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ("weight:int64", "this name is reserved for hooks"),
        ("time:int65", "expected a type of int8"),
        ("time:int64=0", "--edge-column: expected a name, or a number from 1 for the first column, found 0"),
        ("time:int64=", "--edge-column: expected a name, or a number from 1, found nothing"),
        (("time:int64", "Time:int8"), "expected each name once"),
        (7, r"expected texts NAME\[:DTYPE"),
    ],
)
def test_columns_that_cannot_be_are_refused_before_anything_is_read(columns, said):
    with pytest.raises(OptionError, match=said):
        IngestOptions(edge_columns=columns)


@pytest.mark.parametrize(
    ("text", "columns", "said"),
    [
        (
            "1 2 3\n",
            "time:int64",
            "no column 'time'; there is no header; give its number from 1 after =, such as time:",
        ),
        ("source,target\n1,2\n", "time:int64", "no column 'time'; it has source, target"),
        ("source,target,time\n1,2,3\n", ("time:int64", "other:int64=3"), "column 3 cannot have two roles"),
        (
            "source,target,time\n1,2,3\n",
            "a:int64=1",
            "column 1 cannot have two roles; choose different columns with --source-column",
        ),
        ("1 2 3 4 5\n", "time:int64=3", "expected 2 or 3 columns, found 5; choose the column of weights"),
    ],
)
def test_columns_that_an_input_lacks_are_refused(tmp_path, text, columns, said):
    (tmp_path / "e").write_text(text)
    with pytest.raises(CsawError, match=said):
        ingest(tmp_path / "e", tmp_path / "g.zarr", IngestOptions(edge_columns=columns))


def test_files_of_one_graph_have_their_columns_at_the_same_places(tmp_path):
    (tmp_path / "a.csv").write_text("source,target,time,other\n1,2,3,4\n")
    (tmp_path / "b.csv").write_text("source,target,other,time\n2,3,4,5\n")
    with pytest.raises(FormatError, match="expected edge columns: 3, as in .*a.csv, found 4"):
        ingest([tmp_path / "a.csv", tmp_path / "b.csv"], tmp_path / "g.zarr", IngestOptions(edge_columns="time:int64"))


def pandas_table(rows):
    frame = need_package("pandas").DataFrame(rows, columns=["source", "target", "weight", "time", "value", "kind"])
    return frame, TIMES


def networkx_graph(rows):
    graph = need_package("networkx").MultiDiGraph()
    for u, v, weight, time, value, kind in rows:
        graph.add_edge(u, v, weight=weight, time=time, value=value, kind=kind)
    return graph, TIMES


def igraph_graph(rows):
    graph = need_package("igraph").Graph(25, [row[:2] for row in rows], directed=True)
    for place, name in enumerate(("weight", "time", "value", "kind"), 2):
        graph.es[name] = [row[place] for row in rows]
    return graph, TIMES


def pyg_data(rows):
    torch, data = need_package("torch"), need_package("torch_geometric.data")
    columns = list(zip(*rows, strict=True))
    held = {
        "time": torch.tensor(columns[3]),
        "value": torch.tensor(columns[4], dtype=torch.float64),
        "kind": torch.tensor(columns[5]),
    }
    weight = torch.tensor(columns[2], dtype=torch.float32)
    return data.Data(edge_index=torch.tensor(columns[:2]), edge_weight=weight, num_nodes=25, **held), TIMES


@pytest.mark.parametrize("form", [pandas_table, networkx_graph, igraph_graph, pyg_data])
def test_objects_give_columns_by_their_names(tmp_path, form):
    rows = rows_of(300)
    data, columns = form(rows)
    held = csaw.graph(data, edge_columns=list(columns), duplicates="keep")
    made = csaw.partition(data, tmp_path / "g.zarr", edge_columns=list(columns), duplicates="keep")
    for store in (held, made):
        assert sorted(stored(store)) == sorted(expected(rows, True, "keep"))
    with pytest.raises(CsawError, match="lost"):
        csaw.graph(data, edge_columns=["lost:int64"])


def test_objects_without_names_say_how_to_give_columns():
    with pytest.raises(OptionError, match="list: its columns have no names; give arrays by name"):
        csaw.graph([(1, 2), (2, 3)], edge_columns=["time:int64"])
    with pytest.raises(OptionError, match="CSR arrays: its columns have no names; give arrays by name"):
        csaw.graph(indptr=[0, 1], indices=[0], edge_columns=["time:int64"])
