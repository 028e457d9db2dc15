"""Parquet and Arrow tables: the checks that text has, and errors that name the file, the column and the row."""

import json
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from helpers.ingested import rows
from helpers.machine import need_package

import csaw
from csaw.partition import IngestOptions, ingest
from csaw.partition.errors import CsawError

pyarrow = need_package("pyarrow")
from pyarrow import feather, parquet


def read(folder: Path, suffix: str = "parquet", table=None, /, options=None, **columns):
    """The store of a table with these columns."""
    table = pyarrow.table(columns) if table is None else table
    file = folder / f"e.{suffix}"
    if suffix == "parquet":
        parquet.write_table(table, file)
    else:
        feather.write_feather(table, str(file))
    return ingest(str(file), folder / "g.zarr", IngestOptions(overwrite=True, **(options or {})))


ENDS = {"source": [5, 7], "target": [9, 3]}


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_the_names_of_a_table_say_which_columns_are_read(tmp_path, suffix):
    assert rows(read(tmp_path, suffix, w=[0.5, 2.0], TO=[9, 3], From=[5, 7])) == [(5, 9, 0.5), (7, 3, 2.0)]
    numbers = {"source_column": "3", "target_column": "2", "weight_column": "none"}
    assert rows(read(tmp_path, suffix, a=[1, 2], b=[9, 3], c=[5, 7], options=numbers)) == [(5, 9), (7, 3)]
    with pytest.raises(CsawError, match=r"e\..*: 'a,b,c' does not show which columns are the ends"):
        read(tmp_path, suffix, a=[1], b=[2], c=[3])


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_a_table_with_two_pairs_of_ends_is_an_error_that_names_both(tmp_path, suffix):
    columns = {"src": [1, 2], "dst": [3, 4], **ENDS}
    said = r"'source' -> 'target' \(columns 3 and 4\), or 'src' -> 'dst' \(columns 1 and 2\)\? Choose with --source-col"
    with pytest.raises(CsawError, match=rf"e\.{suffix}: 'src,dst,source,target' does not show which .*: {said}"):
        read(tmp_path, suffix, **columns)
    assert rows(read(tmp_path, suffix, **columns, options={"source_column": "src"})) == [(1, 3), (2, 4)]


def test_categories_of_pandas_are_read_as_what_they_stand_for(tmp_path):
    words = pyarrow.array(["b", "a", "b"]).dictionary_encode()
    numbers = pyarrow.array([9, 3, 3]).dictionary_encode()
    assert rows(read(tmp_path, source=words, target=["a", "c", "c"], weight=numbers)) == [
        ("a", "c", 3.0),
        ("b", "a", 9.0),
        ("b", "c", 3.0),
    ]
    assert rows(read(tmp_path, source=numbers, target=[1, 2, 3])) == [(3, 2), (3, 3), (9, 1)]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({**ENDS, "weight": ["1.5", "x"]}, "column weight holds string, expected numbers as weights"),
        ({"source": [1.5, 2.0], "target": [1, 2]}, "column source holds double, expected integers or strings"),
        ({**ENDS, "weight": [1.0, -1.0]}, "row 2, column weight: expected a weight from 0"),
        ({**ENDS, "weight": [1.0, None]}, "row 2, column weight: expected a weight from 0 .*, found 'None'"),
        ({"source": [5, None], "target": [9, 3]}, "row 2, column source: expected a value"),
    ],
)
def test_a_bad_column_or_cell_is_named(tmp_path, columns, message):
    with pytest.raises(CsawError, match="e.parquet: " + message):
        read(tmp_path, **columns)


def test_columns_of_one_name_are_refused_where_they_are_asked_for(tmp_path):
    table = pyarrow.table([[5, 7], [9, 3], [1, 1]], names=["source", "target", "target"])
    with pytest.raises(CsawError, match="does not show which"):
        read(tmp_path, "parquet", table)
    with pytest.raises(CsawError, match="2 columns are called 'target'"):
        read(tmp_path, "parquet", table, options={"target_column": "target"})
    assert rows(read(tmp_path, "parquet", table, options={"source_column": "1", "target_column": "2"})) == [
        (5, 9),
        (7, 3),
    ]


def test_tables_skip_bad_rows_and_take_words_as_integers_where_they_are_asked_to(tmp_path):
    columns = {"source": ["5", None, "x", "7", "7"], "target": [9, 1, 1, 3, 4], "weight": [0.5, 1, 1, 2, float("nan")]}
    with pytest.raises(CsawError, match="row 2, column source: expected a value"):
        read(tmp_path, **columns, options={"id_type": "int"})
    store = read(tmp_path, **columns, options={"id_type": "int", "on_error": "skip"})
    assert rows(store) == [(5, 9, 0.5), (7, 3, 2.0)]
    assert (store.report["skipped"], store.report["edges"]) == (3, 2)
    with pytest.raises(CsawError, match=r"row 1, column source: expected an integer \(--id-type int\), found 'x'"):
        read(tmp_path, source=["x"], target=["1"], options={"id_type": "int"})


def test_bytes_are_words_and_floats_are_none(tmp_path):
    mixed = read(tmp_path, source=["a", "é"], target=pyarrow.array(["é".encode(), b"a"]))
    assert rows(mixed) == [("a", "é"), ("é", "a")]
    signed = read(tmp_path, source=["+5", "007"], target=["-4", "3"], options={"id_type": "int"})
    assert rows(signed) == [(5, -4), (7, 3)]
    with pytest.raises(CsawError, match="column source holds double, expected vertex ids: integers or strings"):
        read(tmp_path, source=[5.0, 7.0], target=["5", "7"], options={"id_type": "string"})


def test_what_python_cannot_show_is_an_error_with_the_row(tmp_path):
    far = pyarrow.array([2**60, 0], pyarrow.timestamp("ms"))
    times = {"time_column": "when", "time_format": "iso", "time_decimals": 9}
    with pytest.raises(CsawError, match=rf"row 1, column when: expected a date .*, found '{2**60}'"):
        read(tmp_path, **ENDS, when=far, options=times)
    with pytest.raises(CsawError, match=r"e\.parquet: row 1 or a later one cannot be read \(OverflowError"):
        read(tmp_path, source=far, target=far, options={"id_type": "string"})
    tables = {"user": {"file": "e.parquet", "key": "source", "time": "target", "references": {"source": "user"}}}
    said = {"tables": tables, "time_format": "iso", "time_decimals": 9}
    (tmp_path / "shop.json").write_text(json.dumps(said))
    parquet.write_table(pyarrow.table({"source": [5, 7], "target": far}), tmp_path / "e.parquet")
    with pytest.raises(CsawError, match=rf"row 1, column target: expected a date .*, found '{2**60}'"):
        csaw.partition(tmp_path / "shop.json", tmp_path / "g.zarr", overwrite=True)


def test_words_that_are_no_utf_8_keep_their_bytes(tmp_path):
    offsets, text = pyarrow.array([0, 1, 2], pyarrow.int32()).buffers()[1], pyarrow.py_buffer(b"\xffa")
    words = pyarrow.Array.from_buffers(pyarrow.string(), 2, [None, offsets, text])
    store = read(tmp_path, source=words, target=words)
    assert [bytes(word) for word in store.stored_ids().encoded(np.arange(2))] == [b"a", b"\xff"]


def test_decimals_and_floats_that_stand_for_several_integers_are_none(tmp_path):
    exact = [Decimal(2**53 + 1), Decimal(-(2**63))]
    held = read(tmp_path, **ENDS, cost=pyarrow.array(exact), options={"edge_columns": ("cost:int64",)})
    assert held.load(held.further_columns).columns["cost"].tolist() == exact
    for cost in (pyarrow.array([Decimal("9007199254740990.6")] * 2), pyarrow.array([2.0**24] * 2, pyarrow.float32())):
        with pytest.raises(CsawError, match="row 1, column cost: expected a number that int64 holds"):
            read(tmp_path, **ENDS, cost=cost, options={"edge_columns": ("cost:int64",)})


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_malformed_rows_behind_those_that_were_read_are_not_counted_as_good(tmp_path, suffix):
    batches = [
        pyarrow.record_batch({"source": each, "target": [1, 2, 3]})
        for each in ([1, 2, 3], [4, None, 6], [None, None, 9])
    ]
    file = tmp_path / f"e.{suffix}"
    if suffix == "parquet":
        with parquet.ParquetWriter(file, batches[0].schema) as writer:
            for batch in batches:
                writer.write_batch(batch)
    else:
        with pyarrow.ipc.new_file(str(file), batches[0].schema) as writer:
            for batch in batches:
                writer.write_batch(batch)
    said = r"row 5, column source: .*\(at least (1 of the first 6|3 of the first 9) rows are malformed\)"
    with pytest.raises(CsawError, match=said):
        ingest(str(file), tmp_path / "g.zarr", IngestOptions())


def test_lines_of_a_table_cannot_be_skipped(tmp_path):
    with pytest.raises(CsawError, match=r"--skip-lines: .*e.parquet is a table"):
        read(tmp_path, **ENDS, options={"skip_lines": 1})


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_a_damaged_table_is_refused_by_its_name(tmp_path, suffix):
    read(tmp_path, suffix, source=list(range(5000)), target=list(range(5000)))
    file = tmp_path / f"e.{suffix}"
    whole = file.read_bytes()
    for damaged in (whole[:40] + b"\xff" * 400 + whole[440:], whole[:-9], whole[: len(whole) // 2], b"1 2\n"):
        file.write_bytes(damaged)
        with pytest.raises(CsawError, match=rf"e.{suffix}: the file is damaged"):
            ingest(str(file), tmp_path / "h.zarr", IngestOptions())
    assert not (tmp_path / "h.zarr").exists()


def test_offsets_of_a_damaged_arrow_file_are_not_followed(tmp_path):
    file, words = tmp_path / "e.arrow", [f"word{k:04}" for k in range(300)]
    feather.write_feather(pyarrow.table({"source": words, "target": words}), str(file), compression="uncompressed")
    whole = file.read_bytes()
    offsets = np.arange(301, dtype=np.int32) * 8
    place = whole.index(offsets.tobytes())
    offsets[150] = 2**30
    file.write_bytes(whole[:place] + offsets.tobytes() + whole[place + offsets.nbytes :])
    user = {"file": "e.arrow", "key": "source", "references": {"target": "user"}}
    (tmp_path / "shop.json").write_text(json.dumps({"tables": {"user": user}}))
    for given in (file, tmp_path / "shop.json"):
        with pytest.raises(CsawError, match=r"e\.arrow: the file is damaged"):
            csaw.partition(given, tmp_path / "g.zarr")


def test_a_bad_cell_late_in_a_csv_table_is_named_by_its_line(tmp_path):
    file = tmp_path / "e.csv"
    file.write_text("name,a,b\n" + "".join(f"n {i},{i},{i + 1}\n" for i in range(200_000)) + "x,1,?\n")
    with pytest.raises(
        CsawError, match=r"e.csv:200002: expected integers as ids, and a number in each other column .*'x,1,\?'"
    ):
        ingest(str(file), tmp_path / "g.zarr", IngestOptions(source_column="a", target_column="b"))


def test_a_flipped_bit_in_a_page_with_a_checksum_is_found(tmp_path):
    file = tmp_path / "e.parquet"
    table = pyarrow.table({"source": list(range(400)), "target": list(range(400, 800))})
    parquet.write_table(
        table, file, use_dictionary=False, compression="none", column_encoding="PLAIN", write_page_checksum=True
    )
    data = bytearray(file.read_bytes())
    column = parquet.read_metadata(file).row_group(0).column(0)
    data[column.data_page_offset + column.total_compressed_size - 8] ^= 8  # an id: 399 becomes 391
    file.write_bytes(data)
    with pytest.raises(CsawError, match=r"e.parquet: the file is damaged, .*CRC.*; write or fetch it again"):
        ingest(str(file), tmp_path / "g.zarr", IngestOptions())


def hive(folder, values=("2023", "2024"), write=parquet.write_table):
    """Two edges in each of the folders ``year=VALUE/kind=5``."""
    for number, value in enumerate(values):
        place = folder / f"year={value}" / "kind=5"
        place.mkdir(parents=True)
        write(pyarrow.table({"source": [number, number + 1], "target": [number + 1, 9]}), place / "part-0.parquet")
        (folder / "_SUCCESS").touch()
    return folder


def columns_of(store):
    loaded = store.load(list(store.edge_columns))
    return {name: values.tolist() for name, values in loaded.columns.items()}


def test_folders_that_say_a_value_are_columns_of_their_files(tmp_path):
    options = IngestOptions(edge_columns=("year:int16", "kind:uint8"), overwrite=True)
    store = ingest(hive(tmp_path / "edges"), tmp_path / "g.zarr", options)
    assert rows(store) == [(0, 1), (1, 2), (1, 9), (2, 9)]
    assert columns_of(store) == {"year": [2023, 2024, 2023, 2024], "kind": [5] * 4}
    plain = ingest(tmp_path / "edges", tmp_path / "h.zarr", IngestOptions())
    assert (rows(plain), plain.edge_columns) == (rows(store), ())
    single = ingest(tmp_path / "edges" / "year=2024" / "kind=5" / "part-0.parquet", tmp_path / "g.zarr", options)
    assert columns_of(single)["year"] == [2024, 2024]


def test_a_date_of_a_folder_is_the_time_of_its_edges(tmp_path):
    folder = hive(tmp_path / "edges", ["2024-01-01", "2024-01-02T03%3A00"])
    how = IngestOptions(time_column="year", time_format="iso")
    assert columns_of(ingest(folder, tmp_path / "g.zarr", how))["time"] == [1704067200, 1704164400] * 2


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("__HIVE_DEFAULT_PARTITION__", "row 1, column year: expected a number that int16 holds as year, found 'None'"),
        ("99999", "row 1, column year: expected a number that int16 holds as year, found '99999'"),
        ("last", "column year holds string, expected numbers as year"),
        (None, "no column 'year'; it has source, target"),
    ],
)
def test_values_of_folders_that_do_not_fit_are_errors(tmp_path, value, said):
    folder = hive(tmp_path / "edges", [value])
    if value is None:
        folder = (folder / "year=None").rename(tmp_path / "moved")
    with pytest.raises(CsawError, match=said):
        ingest(folder, tmp_path / "g.zarr", IngestOptions(edge_columns=("year:int16",)))


def test_ids_of_folders_keep_their_zeros(tmp_path):
    for value, target in (("007", "a"), ("7", "b")):
        (tmp_path / "edges" / f"code={value}").mkdir(parents=True)
        parquet.write_table(pyarrow.table({"v": [target]}), tmp_path / "edges" / f"code={value}" / "1.parquet")
    options = IngestOptions(source_column="code", target_column="v")
    assert rows(ingest(tmp_path / "edges", tmp_path / "g.zarr", options)) == [("007", "a"), ("7", "b")]


def test_a_column_of_the_file_counts_more_than_its_folder(tmp_path):
    place = tmp_path / "year=7"
    place.mkdir()
    parquet.write_table(pyarrow.table({**ENDS, "year": [1, 2]}), place / "e.parquet")
    store = ingest(place / "e.parquet", tmp_path / "g.zarr", IngestOptions(edge_columns=("year:int8",)))
    assert columns_of(store) == {"year": [1, 2]}


def test_patterns_are_the_files_that_match_them_in_order(tmp_path):
    hive(tmp_path / "edges")
    expected = rows(ingest(tmp_path / "edges", tmp_path / "g.zarr", IngestOptions()))
    for pattern in ("edges/year=*/kind=5/*.parquet", "edges/**/part-?.parquet", "edg[e]s"):
        found = ingest(f"{tmp_path}/{pattern}", tmp_path / "h.zarr", IngestOptions(overwrite=True))
        assert rows(found) == expected
    with pytest.raises(CsawError, match="expected files with such names, found none"):
        ingest(f"{tmp_path}/edges/*.csv", tmp_path / "h.zarr", IngestOptions(overwrite=True))
    (tmp_path / "odd[1].txt").write_text("1 2\n")  # a name like a pattern is a name
    assert rows(ingest(tmp_path / "odd[1].txt", tmp_path / "h.zarr", IngestOptions(overwrite=True))) == [(1, 2)]
