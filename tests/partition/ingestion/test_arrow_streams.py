"""Claims of tables that come as streams of Arrow: each is the graph of the file with its rows, in memory and on disk,
whatever library has it, and is never in memory as a whole when a store is written.
"""

import subprocess
from functools import partial

import numpy as np
import pytest
from helpers.machine import need_package
from helpers.small_samples import python

import csaw
from csaw.partition.errors import BudgetError, CsawError, FormatError, OptionError

pa = need_package("pyarrow")
ROWS = 70_000  # more than a batch
RNG = np.random.default_rng(5)
TABLE = pa.table(
    {
        "kind": pa.array(RNG.integers(0, 9, ROWS), pa.int8()),
        "from": pa.array(RNG.integers(-300, 300, ROWS)),
        "to": pa.array(RNG.integers(0, 300, ROWS), pa.uint32()),
        "cost": pa.array(RNG.integers(1, 99, ROWS) / 4),
        "when": pa.array(RNG.integers(0, 10**12, ROWS), pa.timestamp("ms", "Asia/Tokyo")),
    }
)
HOW = {"edge_columns": ["kind:int8"], "weights": "cost", "time": "when"}
OF_FILE = {
    "edge_columns": ["kind:int8"],
    "weight_column": "cost",
    "time_column": "when",
    "time_format": "iso",
    "time_decimals": 3,
}


DECIMALS = pa.table({"u": pa.array([1, 2], pa.decimal128(9, 2)), "v": [1, 2]})


class Stream:
    """A library's table that has the interface and nothing else."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def edges(kind, *, values=(7, 3, 9), weights=None):
    ends = pa.array(values, kind)
    held = {"u": ends, "v": pa.concat_arrays([ends[1:], ends[:1]])}
    return pa.table(held if weights is None else held | {"weight": weights})


def of_pandas(table):
    return table.to_pandas().set_index("when", drop=False).rename_axis("at")  # an index is no column


FORMS = {
    "an object of any library": Stream,
    "table": lambda table: table,
    "batch": lambda table: table.combine_chunks().to_batches()[0],
    "reader": lambda table: table.to_reader(),
    "data set": lambda table: need_package("pyarrow.dataset").dataset(table),
    "scanner": lambda table: need_package("pyarrow.dataset").dataset(table).scanner(),
    "pandas": of_pandas,
    "polars": lambda table: need_package("polars").from_arrow(table),
    "polars, lazy": lambda table: need_package("polars").from_arrow(table).lazy(),
}


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stored")
    need_package("pyarrow.parquet").write_table(TABLE, folder / "e.parquet")
    return csaw.partition(folder / "e.parquet", folder / "e.zarr", **OF_FILE)


@pytest.mark.parametrize("form", FORMS)
def test_a_stream_is_the_graph_of_the_file_with_its_rows(tmp_path, form, stored):
    made = csaw.partition(FORMS[form](TABLE), tmp_path / "g.zarr", **HOW, memory="32MiB", threads=2)
    held = csaw.graph(FORMS[form](TABLE), **HOW)
    assert made.fingerprint == held.fingerprint == stored.fingerprint
    assert made.time.units == held.time.units == "milliseconds since 1970-01-01"
    assert made.report["edges"] == ROWS


def test_options_of_files_and_a_preview_and_samples_do_for_a_stream(tmp_path, stored):
    made = csaw.partition(Stream(TABLE), tmp_path / "g.zarr", partitions=3, compression="lz4", **OF_FILE)
    assert (made.fingerprint, len(made.partitions)) == (stored.fingerprint, 3)
    seen = csaw.partition.preview(Stream(TABLE), **HOW)
    assert (seen["columns"], len(seen["edges"])) == (["source", "target", "weight", "kind", "time"], 5)
    plain = TABLE.select(["from", "to"])
    walks = csaw.sample(Stream(plain), algo="deepwalk", walk_length=4, seed=3, device="cpu")
    expected = csaw.sample(csaw.partition(plain, tmp_path / "h.zarr"), walk_length=4, seed=3, device="cpu")
    assert np.array_equal(walks.walks[:], expected.walks[:])


def test_arrays_beside_a_stream_are_in_the_order_of_its_rows(tmp_path, stored):
    arrays = {"weights": TABLE["cost"].to_numpy(), "edge_columns": {"kind:int8": TABLE["kind"].to_numpy()}}
    for made in (
        csaw.graph(Stream(TABLE), time="when", **arrays),
        csaw.partition(Stream(TABLE), tmp_path / "g.zarr", time="when", **arrays),
        csaw.graph(Stream(TABLE), **HOW | {"time": TABLE["when"].to_numpy()}),
    ):
        assert made.fingerprint == stored.fingerprint


def test_a_stream_is_appended_in_the_units_of_the_store(tmp_path, stored):
    half = ROWS // 2
    base = csaw.partition(Stream(TABLE.slice(0, half)), tmp_path / "g.zarr", **HOW)
    rest = TABLE.slice(half)
    rest = rest.set_column(4, "when", rest["when"].cast(pa.timestamp("us")))  # which milliseconds hold
    grown = csaw.append(base, Stream(rest), weights="cost", time="when", edge_columns=["kind"])
    ends, both = [], (grown, stored)
    for store in both:
        loaded = store.load(list(store.edge_columns))
        rows = np.repeat(np.arange(store.vertices), np.diff(loaded.indptr))
        of = [store.original_ids(each) for each in (rows, loaded.indices.astype(np.int64))]
        ends.append(sorted(zip(*of, loaded.weights, *map(loaded.columns.get, ("kind", "time")), strict=True)))
    assert ends[0] == ends[1]
    removed = csaw.append(grown, Stream(rest.select(["from", "to"])), remove=True)
    assert removed.edges < stored.edges
    fine = rest.set_column(4, "when", pa.array(np.full(len(rest), 1), pa.timestamp("us")))
    with pytest.raises(FormatError, match="row 1, column when: expected a date"):
        csaw.append(base, Stream(fine), weights="cost", time="when", edge_columns=["kind"])


@pytest.mark.parametrize(
    "kind",
    [pa.int8(), pa.uint64(), pa.float64(), pa.string(), pa.large_string(), pa.string_view(), "dictionary", "runs"],
    ids=str,
)
def test_ids_of_any_type_of_integers_and_strings(tmp_path, kind):
    words = ("é", "", "b") if kind == "dictionary" or "string" in str(kind) else (7, 3, 9)
    values = (2**63 + 7, 3, 2**64 - 1) if kind == pa.uint64() else words
    table = edges(None if isinstance(kind, str) else kind, values=values)
    if isinstance(kind, str):
        encode = pa.Array.dictionary_encode if kind == "dictionary" else pa.compute.run_end_encode
        table = pa.table({name: encode(table[name].combine_chunks()) for name in "uv"})
    expected = csaw.graph((list(values), [*values[1:], values[0]]))
    assert csaw.graph(Stream(table)).fingerprint == expected.fingerprint
    assert csaw.partition(Stream(table), tmp_path / "g.zarr").fingerprint == expected.fingerprint


def test_ids_of_two_types_are_strings_where_that_is_asked_for(tmp_path):
    mixed = pa.table({"u": ["a", "7"], "v": [7, 8]})
    made = csaw.partition(Stream(mixed), tmp_path / "g.zarr", id_type="string")
    assert made.fingerprint == csaw.graph([("a", "7"), ("7", "8")]).fingerprint


def test_batches_of_ids_below_and_beyond_int64_are_of_one_graph(tmp_path):
    large = pa.concat_tables([edges(pa.uint64()), edges(pa.uint64(), values=(2**64 - 1, 3, 9))])
    made = csaw.partition(Stream(large), tmp_path / "g.zarr")
    assert csaw.graph(Stream(large)).fingerprint == made.fingerprint
    assert made.vertex_ids().tolist() == [3, 7, 9, 2**64 - 1]


def test_columns_without_telling_names_count_by_their_places(tmp_path):
    table = edges(pa.int64(), weights=[0.5, 1.0, 2.0]).rename_columns(["x", "y", "z"])
    expected = csaw.graph([(7, 3, 0.5), (3, 9, 1.0), (9, 7, 2.0)]).fingerprint
    assert csaw.graph(Stream(table)).fingerprint == expected
    assert csaw.partition(Stream(table), tmp_path / "g.zarr").fingerprint == expected
    with pytest.raises(FormatError, match="does not show which columns are the ends of an edge"):
        csaw.graph(Stream(table.append_column("w2", pa.array([1, 2, 3]))))
    turned = csaw.graph(Stream(table), source_column="y", target_column=1, weights="z")
    assert turned.fingerprint == csaw.graph([(3, 7, 0.5), (9, 3, 1.0), (7, 9, 2.0)]).fingerprint


def lacking(place, name):
    held = TABLE.select(["from", "to", "cost"])
    values = held[name].to_pylist()
    values[place] = None
    return held.set_column(held.schema.names.index(name), name, pa.array(values, held[name].type))


def test_a_reader_is_read_once(tmp_path):
    """Else a graph of the batches that are left would follow a preview, or an error that advises an option."""
    columns = lacking(1, "to").select(["from", "to"])

    def store(reader, **how):
        return csaw.partition(reader, tmp_path / "g.zarr", **how)

    for first in (csaw.partition.preview, csaw.graph, store):
        reader = pa.RecordBatchReader.from_batches(columns.schema, iter(columns.to_batches(max_chunksize=9)))
        with pytest.raises(OptionError, match="no column 'cost'"):
            store(reader, weights="cost")
        with pytest.raises(FormatError, match="row 2, column to: expected a value"):
            first(reader)
        for again in (csaw.graph, partial(store, on_error="skip")):
            with pytest.raises(OptionError, match="RecordBatchReader: it was read before, and gives each row once"):
                again(reader)
    table = columns.slice(2)
    assert store(table, overwrite=True).fingerprint == store(table, overwrite=True).fingerprint


class Broken:
    """A stream that ends with an error of its library, behind a first batch."""

    def __arrow_c_stream__(self, requested_schema=None):
        def batches():
            yield edges(pa.int64()).to_batches()[0]
            raise ValueError("the query failed")

        return pa.RecordBatchReader.from_batches(edges(pa.int64()).schema, batches()).__arrow_c_stream__()


class Query:
    """A relation of a database, which answers no other query while its batches are open."""

    def __init__(self, table, open_ones):
        self.table, self.open_ones = table, open_ones

    def __arrow_c_stream__(self, requested_schema=None):
        def batches():
            self.open_ones.append(self)
            try:
                yield from self.table.to_batches()
                yield from self.table.to_batches()
            finally:
                self.open_ones.remove(self)

        return pa.RecordBatchReader.from_batches(self.table.schema, batches()).__arrow_c_stream__()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "column u holds decimal"),
        ({"weights": "cost"}, "no column 'cost'"),
        ({"source_column": 5}, "expected a number from 1 to 2"),
        ({"time": "v"}, "two roles"),
        ({"time": "cost"}, "no column 'cost'"),
    ],
)
def test_a_query_is_closed_after_an_error(tmp_path, options, said):
    still_open, kept = [], []
    for make in (csaw.graph, lambda data, **how: csaw.partition(data, tmp_path / "g.zarr", **how)):
        with pytest.raises(CsawError, match=said) as caught:
            make(Query(DECIMALS, still_open), **options)
        kept.append(caught)  # with its traceback, as a notebook does
        assert still_open == []
    base = csaw.partition([(1, 2)], tmp_path / "h.zarr")
    with pytest.raises(CsawError, match="decimal"):
        csaw.append(base, Query(DECIMALS, still_open))
    assert still_open == []
    seen = csaw.partition.preview(Query(TABLE.select(["from", "to"]), still_open))
    assert (len(seen["edges"]), still_open) == (5, [])


class Wrong:
    """An object whose interface gives what is no stream."""

    def __arrow_c_stream__(self, requested_schema=None):
        return 3


@pytest.mark.parametrize(
    ("data", "options", "error", "said"),
    [
        (lacking(66_000, "to"), {}, FormatError, "Stream: row 66001, column to: expected a value"),
        (lacking(66_000, "cost"), {"weights": "cost"}, FormatError, "row 66001, column cost: expected a weight"),
        (DECIMALS, {}, FormatError, r"column u holds decimal128\(9, 2\), expected integers or strings"),
        (edges(pa.list_(pa.int64()), values=([1], [2], [3])), {}, FormatError, "column u holds list<.*> *"),
        (edges(pa.struct({"a": pa.int8()}), values=[{"a": 1}] * 3), {}, FormatError, "holds struct<a: int8>"),
        (edges(pa.bool_(), values=(True, False, True)), {}, FormatError, "column u holds bool"),
        (edges(pa.binary(), values=(b"a", b"b", b"c")), {}, FormatError, "column u holds binary"),
        (edges(pa.timestamp("s")), {}, FormatError, r"column u holds timestamp\[s\]"),
        (pa.table({"u": ["a"], "v": [1]}), {}, FormatError, "column v holds int64, expected strings as the other end"),
        (pa.table({"u": [b"a"], "v": ["a"]}), {}, FormatError, "column u holds binary, expected strings as the other"),
        (edges(pa.null(), values=[None] * 3), {}, FormatError, "row 1, column u: expected a value"),
        (edges(pa.float64(), values=(1, 2.5, 3)), {}, FormatError, "row 2, column u: expected a whole number"),
        (edges(pa.float64(), values=(1, 2, 2.0**60)), {}, FormatError, "row 3, column u: expected a whole number"),
        (edges(pa.int64(), weights=[1, -1, 1]), {}, FormatError, "row 2, column weight: expected a weight"),
        (edges(pa.int64(), weights=["a", "b", "c"]), {}, FormatError, "column weight holds string, expected numbers"),
        (edges(pa.int64()), {"time": "u"}, FormatError, "two roles"),
        (edges(pa.int64(), weights=["a"] * 3), {"time": 3, "weights": None}, FormatError, "expected numbers as times"),
        (edges(pa.int64(), values=()), {}, FormatError, "no edges found"),
        (edges(pa.int64()).select(["u"]), {}, FormatError, "expected at least 2 columns"),
        (edges(pa.int64()), {"weights": "cost"}, OptionError, "no column 'cost'; it has u, v"),
        (edges(pa.int64()), {"edge_columns": ["kind"]}, OptionError, "no column 'kind'; it has u, v"),
        (TABLE["from"], {}, OptionError, "found one that cannot be read .*non-struct type"),
        (Broken(), {}, OptionError, "the query failed"),
        (Wrong(), {}, OptionError, "found one that cannot be read"),
    ],
)
def test_what_is_no_table_of_edges_is_refused_with_a_sentence(tmp_path, data, options, error, said):
    given = Stream(data)
    with pytest.raises(error, match=said):
        csaw.graph(given, **options) if "time" not in options or isinstance(options["time"], str) else csaw.partition(
            given, tmp_path / "g.zarr", **options
        )
    with pytest.raises(error, match=said):
        csaw.partition(given, tmp_path / "g.zarr", **options)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["float64", "float32", "float16"])
def test_floats_that_stand_for_several_ids_are_none(tmp_path, kind):
    end = {"float64": 2.0**53, "float32": 2.0**24, "float16": 2.0**11}[kind]
    for ids, good in (([0, end - 1, 1], True), ([0, end, 1], False)):
        table = pa.table({"u": pa.array(np.array(ids, kind)), "v": [0, 1, 2]})
        for make in (csaw.graph, lambda data: csaw.partition(data, tmp_path / "g.zarr", overwrite=True)):
            for data in (Stream(table), (np.array(ids, kind), [0, 1, 2])):
                if good:
                    assert make(data).vertices == 4
                else:
                    with pytest.raises(CsawError, match=r"below 2\^53, or 2\^24 in float32"):
                        make(data)


def test_times_that_arrow_would_round_are_refused(tmp_path):
    pd = need_package("pandas")
    at = pd.Timestamp("2026-01-01 05:00:00.000000001", tz="UTC")
    for when in ([at.date(), at.floor("s").to_pydatetime()], [at, at.tz_convert("Asia/Tokyo")]):
        table = pd.DataFrame({"u": [1, 2], "v": [2, 3], "when": pd.Series(when, dtype=object)})
        with pytest.raises(FormatError, match="column when holds times of several kinds"):
            csaw.partition(table, tmp_path / "g.zarr", time="when")


def test_options_that_contradict_are_refused(tmp_path):
    for name, other in (("weights", "weight_column"), ("time", "time_column")):
        with pytest.raises(OptionError, match=f"^{name}: pass only one of {name} and {other}"):
            csaw.partition(Stream(TABLE), tmp_path / "g.zarr", **{name: "cost", other: "cost"})
    with pytest.raises(OptionError, match="^colour: it is not an option"):
        csaw.partition(Stream(TABLE), tmp_path / "g.zarr", colour=3)
    with pytest.raises(BudgetError, match="at least 16MiB"):
        csaw.partition(Stream(TABLE), tmp_path / "g.zarr", memory="1MiB")
    with pytest.raises(CsawError, match="has no lines"):
        csaw.partition(Stream(TABLE), tmp_path / "g.zarr", skip_lines=1)


def test_malformed_rows_are_skipped_and_counted_where_that_is_asked_for(tmp_path):
    made = csaw.partition(Stream(lacking(66_000, "to")), tmp_path / "g.zarr", on_error="skip", duplicates="keep")
    assert (made.edges, made.report["skipped"]) == (ROWS - 1, 1)


CHILD = """
import resource, sys
import numpy as np
import pyarrow as pa
import csaw

ROWS, BATCH = 12 << 20, 1 << 20
schema = pa.schema({"source": pa.int64(), "target": pa.int64(), "weight": pa.float64()})

def batches():
    rng = np.random.default_rng(1)
    for _ in range(ROWS // BATCH):
        columns = [*rng.integers(0, 50_000, (2, BATCH)), rng.random(BATCH)]
        yield pa.record_batch(columns, schema=schema)

def stored(table, name, **how):
    return csaw.partition(table, f"{sys.argv[1]}/{name}.zarr", threads=2, duplicates="keep", **how)

stored(pa.table([[1], [2], [1.0]], schema=schema), "warm")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert stored(pa.RecordBatchReader.from_batches(schema, batches()), "large", memory="32MiB").edges == ROWS
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, 24 * ROWS // 1024)
"""


def test_a_table_larger_than_the_memory_is_never_in_it(tmp_path):
    ran = subprocess.run(**python(CHILD, tmp_path), capture_output=True, text=True, check=True)
    grown, table = map(int, ran.stdout.split())
    assert grown < table * 2 // 3  # 110 MiB of 288; the table and its columns would be twice as much
