"""Claims of ``--where``: a graph has the rows that a filter by hand keeps, of any type and in any form; what cannot
match is not read; a condition that does not fit is an error that names its column.
"""

import itertools
import math
import operator
import re
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from helpers.ingested import rows
from helpers.machine import need_package

import csaw
from csaw.partition import IngestOptions
from csaw.partition.errors import CsawError, NoEdgesError, OptionError
from csaw.partition.ingestion.distributed_ingest import ingest_spread

pa = need_package("pyarrow")
from pyarrow import dataset, feather, parquet

OPERATORS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "in": lambda value, several: value in several,
}
GROUP = 50  # rows of a row group
COUNT = 6 * GROUP
RNG = np.random.default_rng(11)
NULLS = RNG.random(COUNT) < 0.1
SOME = RNG.integers(-6, 7, COUNT)
HALVES = pa.array(np.where(RNG.random(COUNT) < 0.1, np.nan, SOME / 2), pa.float64(), mask=NULLS)
KINDS = RNG.choice(["follow", "like", "it's", "Ä"], COUNT)
TABLE = pa.table(
    {
        "src": np.arange(COUNT),
        "dst": np.arange(COUNT) + 1,
        "int8": pa.array(SOME, pa.int8(), mask=NULLS),
        "uint64": pa.array(np.abs(SOME).astype(np.uint64) + 2**63, mask=NULLS),
        "sorted": np.arange(COUNT) // GROUP,
        "float64": HALVES,
        "float32": HALVES.cast(pa.float32()),
        "float16": HALVES.cast(pa.float16()),
        "decimal": pa.array([Decimal(int(one)) / 4 for one in SOME], pa.decimal128(9, 2), mask=NULLS),
        "kind": pa.array(KINDS, mask=NULLS),
        "category": pa.array(KINDS, mask=NULLS).dictionary_encode(),
        "a view": pa.array(KINDS, mask=NULLS).cast(pa.string_view()),
        "truth": pa.array(SOME > 0, mask=NULLS),
        "day": pa.array(SOME, pa.int32(), mask=NULLS).cast(pa.date32()),
        "ms": pa.array(SOME * 43_200_000, mask=NULLS).cast(pa.timestamp("ms", "Asia/Tokyo")),
        "ns": pa.array(SOME * 43_200_000_000_000 + 1, mask=NULLS).cast(pa.timestamp("ns")),
        "nothing": pa.nulls(COUNT),
    }
)
NUMBERS = [
    "-7",
    "-2",
    "-1.5",
    "0",
    "1",
    "2.25",
    "1e0",
    "300",
    "1e999",
    "4e38",
    "-1e30",
    "9223372036854775810",
    "9223372036854775808.5",
]
NOON, NIGHT = "1970-01-01T12:00", "1969-12-31T15:00:00.000000001-09:00"  # 1 ns into 1970
DATES = ["1969-12-31", "1970-01-02", NOON, NIGHT, "0001-01-01", "9999-12-31T23:59:59"]
VALUES = {
    **dict.fromkeys(("int8", "uint64", "sorted", "float64", "float32", "float16", "decimal"), NUMBERS),
    **dict.fromkeys(("kind", "category", "a view"), ("follow", "it's", "zz", "")),
    "truth": ["true", "false"],
    **dict.fromkeys(("day", "ms", "ns"), DATES),
}


def number_of(column, value):
    """A value of the table, or of a condition, as an exact number or as it is."""
    if column in ("day", "ms", "ns"):
        if isinstance(value, str):
            whole = datetime.fromisoformat(value).replace(tzinfo=None) if value != NIGHT else datetime(1970, 1, 1)
            since = whole - datetime(1970, 1, 1)
            return Fraction(since.days * 86400 + since.seconds) + Fraction(value == NIGHT, 10**9)
        return Fraction(value, {"day": 1, "ms": 1000, "ns": 10**9}[column]) * (86400 if column == "day" else 1)
    if column == "truth":
        return value == "true" if isinstance(value, str) else value
    return Fraction(value) if column not in ("kind", "category", "a view") else value


def plain_values(column):
    held = TABLE[column]
    if column in ("day", "ms", "ns"):
        held = held.cast(pa.int32() if column == "day" else pa.int64())
    return held.to_pylist()


def is_nan(value):
    return isinstance(value, float) and math.isnan(value)


def kept_by_hand(column, sign, given):
    """Which rows fulfill a condition, by Python's own numbers."""
    wanted = [number_of(column, one) for one in given]
    test = OPERATORS[sign]
    known = ((row, value) for row, value in enumerate(plain_values(column)) if value is not None and not is_nan(value))
    return [row for row, value in known if test(number_of(column, value), wanted if sign == "in" else wanted[0])]


def written(column, value):
    if column in ("kind", "category", "a view", "day", "ms", "ns"):
        return '"' + value + '"'
    return value


def condition(column, sign, given):
    shown = [written(column, one) for one in given]
    return f"'{column}' {sign} " + (f"[{', '.join(shown)}]" if sign == "in" else shown[0])


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("where") / "e.parquet"
    parquet.write_table(TABLE, path, row_group_size=GROUP)
    return path


def sources(given, out, where, **options):
    """The sources of the edges that fulfill ``where``, which are the numbers of the rows, and the report."""
    try:
        store = csaw.partition(given, out, where=where, overwrite=True, threads=1, **options)
    except NoEdgesError as error:
        left = int(re.search(r"expected rows 'source target \[weight\]'; ([0-9]+) rows do not fulfill", str(error))[1])
        return [], {"edges": 0, "left_out": left}
    return [row[0] for row in rows(store)], store.report


@pytest.mark.parametrize("column", VALUES)
def test_rows_of_a_type_are_those_of_a_filter_by_hand(tmp_path, file, column):
    values = VALUES[column]
    tried = [(sign, (one,)) for sign, one in itertools.product(OPERATORS, values) if sign != "in"]
    for sign, given in [*tried, ("in", tuple(values)), ("in", (values[0],)), ("in", tuple(values[1:3]))]:
        found, report = sources(file, tmp_path / "g.zarr", condition(column, sign, given))
        expected = kept_by_hand(column, sign, given)
        assert found == expected, (sign, given)
        assert (report["edges"], report["left_out"]) == (len(expected), COUNT - len(expected))


FORMS = {
    "Parquet": lambda folder: folder / "e.parquet",
    "Feather": lambda folder: folder / "e.feather",
    "a folder of files": lambda folder: folder,
    "a stream": lambda folder: TABLE.to_reader(max_chunksize=70),
    "a dataset": lambda folder: dataset.dataset(folder / "e.parquet"),
    "pandas": lambda folder: TABLE.drop_columns("nothing").to_pandas(),
}


@pytest.mark.parametrize("form", FORMS)
def test_conditions_are_joined_by_and_in_any_form(tmp_path, form):
    folder = tmp_path / "in"
    folder.mkdir()
    if form != "Feather":
        parquet.write_table(TABLE, folder / "e.parquet", row_group_size=GROUP)
    if form == "Feather":
        feather.write_feather(TABLE.drop_columns("float16"), str(folder / "e.feather"), chunksize=70)
    if form == "a folder of files":
        parquet.write_table(TABLE.slice(0, 3), folder / "f.parquet")  # of which no row matches
    where = ["category in ['follow', 'like']", "ms >= '1970-01-01'", "sorted >= 2", "sorted < 5"]
    given = [("category", "in", ("follow", "like")), ("ms", ">=", ("1970-01-01",)), ("sorted", ">=", ("2",))]
    expected = set(kept_by_hand("sorted", "<", ("5",))).intersection(*(kept_by_hand(*one) for one in given))
    found, report = sources(FORMS[form](folder), tmp_path / "g.zarr", where)
    assert found == sorted(expected)
    assert report["where"] == where
    assert report["left_out"] == COUNT - len(expected) + 3 * (form == "a folder of files")
    assert any(" and ".join(where) in line for line in report["read_as"])


def spoil(file, group):
    """Overwrite the pages of a row group; whoever reads it fails."""
    held = parquet.read_metadata(file).row_group(group)
    places = [held.column(k) for k in range(held.num_columns)]
    with open(file, "r+b") as out:
        for place in places:
            begin = place.dictionary_page_offset or place.data_page_offset
            out.seek(begin)
            out.write(b"\xff" * place.total_compressed_size)


@pytest.mark.parametrize(
    "where", ["sorted == 3", "sorted in [3, 77]", "src < 199.5", "time >= '1970-01-01T00:02:30.0000'", "kind == 'd'"]
)
def test_row_groups_that_cannot_match_are_not_read(tmp_path, where):
    table = TABLE.select(["src", "dst", "sorted"])
    table = table.append_column("time", TABLE["src"].cast(pa.timestamp("s")))
    table = table.append_column("kind", pa.array(["abcdef"[one] for one in TABLE["sorted"].to_pylist()]))
    parquet.write_table(table, tmp_path / "e.parquet", row_group_size=GROUP)
    where = [where, "sorted >= 3", "sorted < 4"]
    whole, _ = sources(tmp_path / "e.parquet", tmp_path / "g.zarr", where)
    for group in (0, 1, 2, 4, 5):
        spoil(tmp_path / "e.parquet", group)
    found, report = sources(tmp_path / "e.parquet", tmp_path / "g.zarr", where)
    assert found == whole == list(range(150, 200))
    assert report["left_out"] == 5 * GROUP
    assert sources(dataset.dataset(tmp_path / "e.parquet"), tmp_path / "h.zarr", where)[0] == whole
    with pytest.raises(CsawError, match=r"e.parquet: the file is damaged"):
        csaw.partition(tmp_path / "e.parquet", tmp_path / "i.zarr")


def test_groups_whose_statistics_ignore_nan_lose_and_gain_no_row(tmp_path):
    table = pa.table({"u": [0, 1, 2, 3], "v": [1, 2, 3, 4], "x": [3.0, float("nan"), 3.0, 3.0]})
    parquet.write_table(table, tmp_path / "e.parquet")
    assert sources(tmp_path / "e.parquet", tmp_path / "g.zarr", "x <= 3")[0] == [0, 2, 3]
    assert sources(tmp_path / "e.parquet", tmp_path / "g.zarr", "x != 4")[0] == [0, 2, 3]


@pytest.fixture
def hive(tmp_path):
    """Files of years in folders, of which some name no number; rows of 2023 are spoiled."""
    for number, year in enumerate(["2022", "2023", "2024", "__HIVE_DEFAULT_PARTITION__"]):
        folder = tmp_path / "in" / "kind=a%20b" / f"year={year}"
        folder.mkdir(parents=True)
        parquet.write_table(pa.table({"src": [number, 8], "dst": [9, 9]}), folder / "e.parquet")
    spoil(tmp_path / "in/kind=a%20b/year=2023/e.parquet", 0)
    return tmp_path / "in"


@pytest.mark.parametrize("where", ["year in [2022, 2024]", "year != 2023", "'year' in ['2022', '2024']"])
def test_folders_that_cannot_match_are_not_read(tmp_path, hive, where):
    store = csaw.partition(hive, tmp_path / "g.zarr", where=[where, "kind == 'a b'"], edge_columns=["year:int16"])
    assert rows(store) == [(0, 9), (2, 9), (8, 9)]
    assert (store.report["edges"], store.report["left_out"]) == (4, 4)
    assert sorted(set(store.load([store.edge_columns[-1]]).columns["year"].tolist())) == [2022, 2024]
    whole = dataset.dataset(hive, partitioning="hive")
    found = csaw.partition(whole, tmp_path / "i.zarr", where=["year in [2022, 2024]", "kind == 'a b'"])
    assert (rows(found), found.report["left_out"]) == (rows(store), 4)
    with pytest.raises(CsawError, match=r"column kind holds the texts of folders; expected a text in quotes, found 3"):
        csaw.partition(hive, tmp_path / "h.zarr", where="kind == 3")


def test_a_column_stands_for_its_folder(tmp_path):
    """Some writers leave the columns of folders in the files."""
    for number, year in enumerate([2022, 2023]):
        (tmp_path / "in" / f"year={year}").mkdir(parents=True)
        table = pa.table({"src": [2 * number, 2 * number + 1], "dst": [9, 9], "year": [year, None]})
        parquet.write_table(table, tmp_path / "in" / f"year={year}" / "e.parquet")
    for where in ("year == 2023", "3 == 2023"):
        assert sources(tmp_path / "in", tmp_path / "g.zarr", where)[0] == [2]


def test_a_data_set_keeps_its_own_filter(tmp_path):
    parquet.write_table(TABLE.select(["src", "dst", "sorted"]), tmp_path / "e.parquet", row_group_size=GROUP)
    own = dataset.dataset(tmp_path / "e.parquet").filter(dataset.field("src") < 120)
    assert sources(own, tmp_path / "g.zarr", "sorted > 0")[0] == list(range(GROUP, 120))
    _, report = sources(own, tmp_path / "g.zarr", ["sorted > 0", "src > 60"])
    assert (report["edges"], report["left_out"]) == (59, 61)


def test_workers_of_a_cluster_read_and_count_the_same(tmp_path, file, monkeypatch):
    monkeypatch.setattr("csaw.partition.ingestion.passes.UNIT_BYTES", 1000)
    parquet.write_table(TABLE.slice(0, 3), tmp_path / "f.parquet")
    files, where = [str(file), str(tmp_path / "f.parquet")], ("sorted in [1, 4]", "src != 200")
    made = csaw.partition(files, tmp_path / "g.zarr", where=where)
    work = lambda function, arguments: (function(*one) for one in arguments)
    for given in (files, files[:1]):
        spread = ingest_spread(given, tmp_path / "h.zarr", IngestOptions(where=where, overwrite=True), work)
        assert spread.fingerprint == made.fingerprint
        assert (spread.report["edges"], spread.report["left_out"]) == (99, COUNT - 99 + 3 * (len(given) - 1))


def test_an_append_reads_what_fulfills_the_conditions(tmp_path, file):
    store = csaw.partition(file, tmp_path / "g.zarr", where="sorted == 0")
    grown = csaw.append(store, file, where=("sorted <= 1", "sorted > 0"))
    assert [row[0] for row in rows(grown)] == list(range(2 * GROUP))
    assert grown.report["append"]["left_out"] == 4 * GROUP + GROUP
    assert grown.report["append"]["where"] == ["sorted <= 1", "sorted > 0"]
    again = csaw.append(grown, TABLE.to_reader(), where="src >= 290", remove=False)
    assert len(rows(again)) == 2 * GROUP + 10


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("other >= 3", r"where: no column 'other'; it has src, dst, int8"),
        ("kind > 3", r"where 'kind > 3': column kind holds string; expected a text in quotes, found 3"),
        ("category == true", "column category holds string; expected a text in quotes, found true"),
        ("int8 == 'x'", r"column int8 holds int8; expected a number without quotes, found 'x'"),
        ("float64 in [1, 'x']", "column float64 holds double; expected a number without quotes, found 'x'"),
        ("int8 == true", "column int8 holds int8; expected a number without quotes, found true"),
        ("decimal < '1'", r"column decimal holds decimal128\(9, 2\); expected a number without quotes, found '1'"),
        ("day == 3", r"column day holds date32\[day\]; expected a date of ISO 8601 in quotes, such as"),
        ("ms == '2024'", r"column ms holds timestamp\[ms, tz=Asia/Tokyo\]; expected a date of ISO 8601 in quotes"),
        ("truth == 1", "column truth holds bool; expected true or false, found 1"),
    ],
)
def test_a_condition_that_does_not_fit_names_its_column(tmp_path, file, where, message):
    for given in (file, TABLE.to_reader(), dataset.dataset(file)):
        with pytest.raises(OptionError, match=message):
            csaw.partition(given, tmp_path / "g.zarr", where=where)


@pytest.mark.parametrize(
    "where",
    [
        "",
        "year",
        "year = 3",
        "year >= x",
        "year >= 3 and kind == 'a'",
        "year in []",
        "margin [1]",
        "year in (3)",
        "== 3",
        "year == 'x",
    ]
    + ["year in [1,]", "year == 1e9999", "3 >", "kind == '\udcff'", 3, ["a == 1", 3], {"a": 1}],
)
def test_what_is_no_condition_says_what_one_is(where):
    with pytest.raises(OptionError, match=r"--where: expected .*COLUMN OPERATOR VALUE .*found"):
        IngestOptions(where=where)
    assert IngestOptions(where=None).where == ()


@pytest.mark.parametrize("column", ["0", "-1", "'0'", "1" * 5000])
def test_numbers_of_columns_begin_at_1(column):
    with pytest.raises(OptionError, match="--where: expected a name, or a number from 1 for the first column, found"):
        IngestOptions(where=f"{column} == 0")


def test_a_list_has_a_limit_that_arrow_can_take(tmp_path, file):
    values = ", ".join(map(str, range(1000)))
    assert len(sources(file, tmp_path / "g.zarr", f"src in [{values}]")[0]) == COUNT
    with pytest.raises(OptionError, match="at most 1000 values in a list, found 1,001"):
        IngestOptions(where=f"src in [{values}, 7]")


def test_files_of_relations_all_fulfill_the_conditions(tmp_path, file):
    given = {("a", "to", "b"): file, ("b", "to", "a"): file}
    store = csaw.partition(given, tmp_path / "g.zarr", where="sorted == 5")
    assert (store.report["edges"], store.report["left_out"]) == (2 * GROUP, 2 * (COUNT - GROUP))
    seen = csaw.partition.preview(file, where="sorted == 5")
    assert seen["edges"][0] == [5 * GROUP, 5 * GROUP + 1]
    assert "where sorted == 5" in seen["read_as"][0]


def test_text_and_graphs_in_memory_have_no_conditions(tmp_path):
    (tmp_path / "e.csv").write_text("source,target,year\n1,2,2023\n")
    with pytest.raises(OptionError, match=r"e.csv: where: expected a Parquet or Arrow file, .* found text"):
        csaw.partition(tmp_path / "e.csv", tmp_path / "g.zarr", where="year > 3")
    with pytest.raises(OptionError, match="where: expected an option of graphs in memory"):
        csaw.partition([(1, 2)], tmp_path / "g.zarr", where="year > 3")


def test_the_row_of_an_error_is_one_of_those_that_fulfill_the_conditions(tmp_path):
    parquet.write_table(pa.table({"u": [None, 2, None], "v": [1, 2, 3]}), tmp_path / "e.parquet")
    assert sources(tmp_path / "e.parquet", tmp_path / "g.zarr", "v == 2")[0] == [2]
    with pytest.raises(CsawError, match="row 2 of those that fulfill where, column u: expected a value"):
        csaw.partition(tmp_path / "e.parquet", tmp_path / "h.zarr", where="v > 1")


def test_dates_of_python_agree(tmp_path):
    days = [date(2024, 2, 28), date(2024, 2, 29), date(2024, 3, 1)]
    stamps = [datetime(one.year, one.month, one.day, 23, tzinfo=UTC) for one in days]
    table = pa.table({"u": [1, 2, 3], "v": [4, 5, 6], "day": days, "at": pa.array(stamps, pa.timestamp("us", "UTC"))})
    parquet.write_table(table, tmp_path / "e.parquet")
    where = ["day >= '2024-02-29'", "at < '2024-03-01T23:00:00Z'"]
    assert sources(tmp_path / "e.parquet", tmp_path / "g.zarr", where)[0] == [2]


RUNS = pa.RunEndEncodedArray.from_arrays(pa.array([COUNT // 2, COUNT], pa.int32()), pa.array(["a", "b"]))
UNFILTERED = {  # pyarrow has no kernels that filter these
    "runs": RUNS,
    "binary": pa.array([b"x"] * COUNT, pa.binary_view()),
    "tags": pa.array([["x", "y"]] * COUNT, pa.list_(pa.string_view())),
    "inner": pa.array([{"x": "y"}] * COUNT, pa.struct({"x": pa.string_view()})),
}


@pytest.mark.parametrize(
    ("form", "name"),
    [
        ("a stream", "runs"),
        *itertools.product(("Parquet", "a dataset", "a stream"), ("binary", "tags")),
        *itertools.product(("Feather", "a stream"), ["inner"]),
    ],
)
def test_rows_have_values_of_any_type_beside_the_tested_ones(tmp_path, form, name):
    table = TABLE.select(["src", "dst", "sorted"]).append_column(name, UNFILTERED[name])
    given = tmp_path / ("e.feather" if form == "Feather" else "e.parquet")
    if form == "Feather":
        feather.write_feather(table, str(given))
    elif form != "a stream":
        parquet.write_table(table, given, row_group_size=GROUP)
    given = {"a dataset": lambda: dataset.dataset(given), "a stream": table.to_reader}.get(form, lambda: given)()
    where = ["sorted > 1", "sorted < 5"] + ["runs == 'b'"] * (name == "runs")
    first = 2 * GROUP if name != "runs" else COUNT // 2
    assert sources(given, tmp_path / "g.zarr", where)[0] == list(range(first, 5 * GROUP))
