"""Folders of part files of which some have no rows, as Spark, polars and others write them: such a part has no type."""

import gzip
import os

import pytest
from helpers.ingested import rows
from helpers.machine import need_package

import csaw
from csaw.partition import IngestOptions, ingest
from csaw.partition.errors import CsawError
from csaw.partition.ingestion.distributed_ingest import ingest_spread

EDGES = {
    "numbers": [(1, 2), (2, 3), (3, 1), (7, 1)],
    "words": [("a", "b"), ("b", "c"), ("c", "a"), ("g", "a")],
    "weighted": [(1, 2, 0.5), (2, 3, 1.0), (3, 1, 2.0), (7, 1, 4.0)],
    "weighted words": [("a", "b", 0.5), ("b", "c", 1.0), ("c", "a", 2.0), ("g", "a", 4.0)],
    "large numbers": [(1, 2**40), (2, 3), (2**62, 1), (7, 1)],
}
HEADERS = ["source,target", "Alpha,Beta", "src,dst", "from,to", "u,v"]
EMPTY = {
    "a header": "{header}\n",
    "a header without an end": "{header}",
    "nothing": "",
    "blank lines": "\n\n",
    "comments": "# nothing\n",
    "a comment and a header": "# written by nobody\n{header}\n",
    "a header of Windows": "{header}\r\n",
}


def folder_of(folder, parts):
    folder.mkdir()
    for number, part in enumerate(parts):
        (folder / f"part-{number:05d}.csv").write_text(part, newline="")
    return folder


def lines(edges, header):
    return f"{header}\n" + "".join(",".join(map(str, edge)) + "\n" for edge in edges)


@pytest.mark.parametrize("place", ["first", "last", "between", "twice"])
@pytest.mark.parametrize("empty", EMPTY.values(), ids=EMPTY)
@pytest.mark.parametrize("kind", EDGES)
@pytest.mark.parametrize("header", HEADERS[:2])
def test_a_part_without_rows_decides_nothing(tmp_path, header, kind, empty, place):
    edges = EDGES[kind]
    if kind in ("words",) and header == "Alpha,Beta":
        header = "source,target"  # words above words name no columns
    header += ",weight" * (len(edges[0]) == 3)
    full = [lines(edges[:2], header), lines(edges[2:], header)]
    none = empty.format(header=header)
    parts = {"first": [none, *full], "last": [*full, none], "between": [full[0], none, full[1]]}
    parts["twice"] = [none, full[0], none, full[1]]
    store = csaw.partition(folder_of(tmp_path / "f", parts[place]), tmp_path / "g.zarr")
    assert sorted(rows(store)) == sorted(edges)
    said = store.report["read_as"]
    assert sum(line.endswith("no rows") for line in said) == (2 if place == "twice" else 1)
    assert store.report["files"] == len(parts[place])


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("kind", ["numbers", "weighted"])
def test_a_cluster_reads_the_same(tmp_path, header, kind):
    header += ",weight" * (kind == "weighted")
    full = [lines(EDGES[kind][:2], header), lines(EDGES[kind][2:], header)]
    folder = folder_of(tmp_path / "f", [f"{header}\n", full[0], "", full[1], f"{header}\n"])
    store = ingest(folder, tmp_path / "g.zarr", IngestOptions())
    spread = ingest_spread(
        folder, tmp_path / "h.zarr", IngestOptions(), lambda task, given: [task(*each) for each in given]
    )
    assert store.fingerprint == spread.fingerprint
    assert rows(store) == EDGES[kind]
    assert spread.report["read_as"] == store.report["read_as"]


@pytest.mark.parametrize(
    "beside", ["_SUCCESS", ".part-00000.csv.crc", "part-00000.csv.crc", "_metadata", "._SUCCESS.crc"]
)
def test_what_stands_beside_parts_is_passed_over(tmp_path, beside):
    folder = folder_of(tmp_path / "f", ["source,target\n", lines(EDGES["numbers"], "source,target")])
    (folder / beside).write_bytes(b"crc\0\0\0")
    store = csaw.partition(folder, tmp_path / "g.zarr")
    assert (rows(store), store.report["files"]) == (EDGES["numbers"], 2)


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("empty", EMPTY.values(), ids=EMPTY)
def test_parts_that_are_all_without_rows_are_no_graph(tmp_path, empty, parts):
    folder = folder_of(tmp_path / "f", [empty.format(header="source,target")] * parts)
    with pytest.raises(CsawError, match="no edges found"):
        csaw.partition(folder, tmp_path / "g.zarr")
    with pytest.raises(CsawError, match="no edges found"):
        csaw.partition.preview(folder)


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("tables", ["first", "last", "only"])
def test_tables_without_rows_decide_nothing(tmp_path, tables, packed):
    pyarrow, parquet = need_package("pyarrow"), need_package("pyarrow.parquet")
    feather = need_package("pyarrow.feather")
    folder = tmp_path / "f"
    folder.mkdir()
    types = pyarrow.schema([("source", "int64"), ("target", "int64")])
    whole = pyarrow.table({"source": [1, 2, 3], "target": [2, 3, 1]}, schema=types)
    names = {"first": ["a", "c"], "last": ["c", "a"], "only": ["a", "c"]}[tables]
    nulls = pyarrow.schema([("source", pyarrow.null()), ("target", pyarrow.null())])  # as pandas has no type for it
    for schema, suffix in ((types, "1"), (nulls, "2")):
        parquet.write_table(schema.empty_table(), folder / f"{names[0]}{suffix}.parquet")
        feather.write_feather(types.empty_table(), folder / f"{names[0]}{suffix}.arrow")
    if tables == "only":
        with pytest.raises(CsawError, match="no edges found"):
            csaw.partition(folder, tmp_path / "g.zarr")
        return
    parquet.write_table(whole, folder / f"{names[1]}.parquet", compression="gzip" if packed else "none")
    store = csaw.partition(folder, tmp_path / "g.zarr")
    assert rows(store) == [(1, 2), (2, 3), (3, 1)]
    assert store.report["files"] == len(os.listdir(folder))


@pytest.mark.parametrize("writer", ["polars", "pandas", "csv", "gzip", "tab"])
def test_parts_as_programs_write_them(tmp_path, writer):
    """The first part of a frame, of which a filter has left nothing, beside one with rows."""
    folder = tmp_path / "f"
    folder.mkdir()
    edges = EDGES["numbers"]
    for number, part in enumerate(([], edges[:2], [], edges[2:])):
        place = folder / f"part-{number}.csv"
        if writer in ("polars", "pandas"):
            library = need_package(writer)
            frame = library.DataFrame({"id_a": [u for u, _ in part], "id_b": [v for _, v in part]})
            frame.write_csv(place) if writer == "polars" else frame.to_csv(place, index=False)
            continue
        text = lines(part, "id_a,id_b")
        place.write_bytes(
            gzip.compress(text.encode())
            if writer == "gzip"
            else text.replace(",", "\t" if writer == "tab" else ",").encode()
        )
    assert rows(csaw.partition(folder, tmp_path / "g.zarr")) == edges


@pytest.mark.parametrize("header", ["source,target,weight\n", "source,target,time\n", "from,to\n"])
def test_columns_of_a_part_without_rows_that_others_lack_are_said(tmp_path, header):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "part-00000.csv").write_text("source,target\n0,1\n")
    (tmp_path / "parts" / "part-00001.csv").write_text(header)
    store = csaw.partition(tmp_path / "parts", tmp_path / "g.zarr")
    [said] = store.report["warnings"]
    assert f"part-00001.csv: there are no rows below its header, {header.strip()!r}" in said
