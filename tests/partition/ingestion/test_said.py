"""An ingest says how it reads each file, and what it assumes."""

import csv
import gzip
import io
import json

import numpy as np
import pytest
from click.testing import CliRunner
from helpers.ingested import read, rows
from helpers.machine import need_package

import csaw
from csaw.cli.main import cli
from csaw.partition.errors import CsawError

LINES = {
    "1 2\n2 3\n": "2 columns, source target, directed, ids int",
    "1 2 0.5\n2 3 1\n": "3 columns, source target weight, directed, ids int",
    "a\tb\nb\tc\n": "2 columns, source target, directed, ids string",
    "source,target,weight\n1,2,0.5\n": "3 columns, source target weight, directed, ids int, header in line 1",
    "# x\n\nto,from,w,name\n1,2,5,x\n": "4 columns, target source weight (name), directed, ids int, header in line 3",
    "# Undirected graph\n1 2\n2 3\n": "2 columns, source target, undirected, ids int",
    "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n": "Matrix Market, 2 columns, source target, "
    "undirected, ids int",
    "3 2\n2\n1 3\n2\n": "METIS, lines of neighbors, undirected, ids int",
    "1: 2 3\n2: 3\n": "adjacency lists, a vertex and its neighbors in each line, directed, ids int",
    "1 -> 2\n2 -> 3\n": "2 columns with '->' between them, source target, directed, ids int",
}


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize(("text", "line"), LINES.items())
def test_the_report_has_a_line_that_says_how_a_file_is_read(tmp_path, text, line, packed):
    given = gzip.compress(text.encode()) if packed else text
    assert read(tmp_path, given).report["read_as"] == [line]
    assert csaw.partition.preview(tmp_path / "edges.txt")["read_as"] == [line]
    way = line.replace("undirected", "directed") if "undirected" in line else line.replace("directed", "undirected")
    assert read(tmp_path, given, directed="undirected" in line).report["read_as"] == [way]


@pytest.mark.parametrize(("text", "line"), LINES.items())
def test_the_command_prints_it_and_the_first_edges(tmp_path, text, line):
    (tmp_path / "e").write_text(text)
    run = CliRunner().invoke(cli, ["partition", f"{tmp_path}/e", f"{tmp_path}/g.zarr", "--dry-run"])
    assert (run.exit_code, (tmp_path / "g.zarr").exists()) == (0, False)
    assert run.output.startswith(f"Read as: {line}.\nsource")
    made = CliRunner().invoke(cli, ["partition", f"{tmp_path}/e", f"{tmp_path}/g.zarr"])
    assert f"Read as: {line}.\n" in made.output
    told = CliRunner().invoke(cli, ["partition", f"{tmp_path}/e", f"{tmp_path}/g.zarr", "--json", "--overwrite"])
    assert json.loads(told.stdout)["read_as"] == [line]
    assert csaw.info(tmp_path / "g.zarr")["report"]["read_as"] == [line]


OPTIONS = [{}, {"reverse": True}, {"self_loops": "drop"}, {"weight_column": "none"}, {"id_type": "string"}]


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        *((kind, options) for kind in ("text", "csv", "parquet", "folder") for options in OPTIONS),
        *(("metis", options) for options in OPTIONS[:4]),
    ],
)
def test_a_preview_has_the_edges_that_the_store_gets(tmp_path, kind, options):
    edges = [(1, 2, 4.0), (2, 3, 5.0), (3, 3, 6.0), (3, 1, 7.0), (4, 1, 8.0), (9, 4, 9.0), (9, 5, 1.0), (5, 6, 2.0)]
    place = written(tmp_path, kind, edges)
    found = csaw.partition.preview(place, **options)
    store = csaw.partition(place, tmp_path / "g.zarr", **options)
    assert len(found["edges"]) == 5
    assert {tuple(edge) for edge in found["edges"]} <= set(rows(store))
    assert found["columns"] == ["source", "target", *["weight"] * (len(found["edges"][0]) == 3)]
    assert found["read_as"] == store.report["read_as"]


def written(folder, kind, edges):
    """Edges in a file or a folder."""
    text = "".join(f"{u} {v} {w:g}\n" for u, v, w in edges)
    if kind == "text":
        (folder / "e.txt").write_text(text)
        return folder / "e.txt"
    if kind == "csv":
        (folder / "e.csv").write_text("source,target,weight\n" + text.replace(" ", ","))
        return folder / "e.csv"
    if kind == "folder":
        (folder / "parts").mkdir()
        for number in range(0, len(edges), 3):
            part = "".join(f"{u} {v} {w:g}\n" for u, v, w in edges[number : number + 3])
            (folder / "parts" / f"part-{number}").write_text(part)
        return folder / "parts"
    if kind == "metis":
        (folder / "e.graph").write_text("6 5 001\n2 4 3 6\n1 4 3 5\n2 5 1 6\n5 2\n4 2 6 8\n5 8\n")
        return folder / "e.graph"
    pyarrow, parquet = need_package("pyarrow"), need_package("pyarrow.parquet")
    table = dict(zip(("source", "target", "weight"), map(list, zip(*edges, strict=True)), strict=True))
    parquet.write_table(pyarrow.table(table), folder / "e.parquet")
    return folder / "e.parquet"


def test_objects_say_how_they_are_read():
    networkx = need_package("networkx")
    graph = networkx.karate_club_graph()
    line = "networkx graph, source target weight, undirected, ids int"
    assert csaw.graph(graph).report["read_as"] == [line]
    found = csaw.partition.preview(graph)
    assert found["read_as"] == [line]
    assert {(u, v) for u, v, _ in found["edges"]} <= set(graph.edges)
    words = csaw.partition.preview([("a", "b"), ("b", "c")], directed=True)
    assert (words["read_as"], words["edges"]) == (
        ["list of edges, source target, directed, ids string"],
        [["a", "b"], ["b", "c"]],
    )
    timed = csaw.partition.preview([(1, 2)], time=np.array([7]))
    assert (timed["columns"], timed["edges"]) == (["source", "target", "time"], [[1, 2, 7]])


FIPS = ["01003", "00501", "007", "-07", "0000000000000000000012"]


@pytest.mark.parametrize("rows_before", [0, 40, 200_000])
@pytest.mark.parametrize("weighted", [False, True], ids=["pairs", "weighted"])
@pytest.mark.parametrize("word", [*FIPS, "+5", '"05"', "1.000", "-12.000", '"7.000"'])
def test_numbers_that_are_written_in_another_way_are_said(tmp_path, word, weighted, rows_before):
    """Wherever they stand: by numbers, two spellings are one vertex."""
    weight = " 0.5" if weighted else ""
    text = f"1 2{weight}\n" * rows_before + f"{word} 9{weight}\n8 10{weight}\n"
    store = read(tmp_path, text)
    (warning,) = (warning for warning in store.report["warnings"] if "leading zeros" in warning)
    plain = word.strip('"')
    assert f"such as {plain} in line {rows_before + 1}; they are read as numbers" in warning
    assert "--id-type string" in warning
    assert (int(float(plain)), 9) in {row[:2] for row in rows(store)}
    assert (plain, "9") in {row[:2] for row in rows(read(tmp_path, text, id_type="string"))}


@pytest.mark.parametrize(
    "text",
    [
        "0 1\n1 0\n",
        "1 2 00.5\n2 3 01\n",
        "10 20\n",
        "1.0 2.0\n",
        "# 01\n1 2\n",
        "-1 2\n",
        "1 2 +5\n",
        "1.00 2.0000\n",
        "1 2 1.000\n",
    ],
)
def test_usual_numbers_are_not_warned_of(tmp_path, text):
    assert not any("leading zeros" in warning for warning in read(tmp_path, text).report["warnings"])


@pytest.mark.parametrize("word", ["1e3", "0x10", "1_000", "2.5E2", "0b11", "0.5", ".5", "1.234"])
def test_words_that_are_numbers_elsewhere_are_said(tmp_path, word):
    store = read(tmp_path, f"a b\n{word} c\nc a\nb c\n", id_type="auto", source_column=1, target_column=2)
    assert any(f"ids such as {word} are read as words" in warning for warning in store.report["warnings"])
    assert (word, "c") in rows(store)
    assert read(tmp_path, f"a b\n{word} c\nc a\n", id_type="string").report["warnings"] == []


@pytest.mark.parametrize("text", ["0.1,0.2\n0.3,0.4\n", "1 2.5\n2 3.5\n", "0.5 1 2\n0.25 2 3\n"])
def test_features_and_weights_before_the_ends_are_no_silent_words(tmp_path, text):
    assert any("are read as words" in warning for warning in read(tmp_path, text).report["warnings"])


@pytest.mark.parametrize(
    "text", ["a NA\nb a\n", "a,\\N\nb,a\n", "source,target\nNA,1\n2,3\n", "null\tb\nb\tc\n", "a;None\n"]
)
def test_a_missing_value_that_becomes_a_vertex_is_said(tmp_path, text):
    assert any("is read as a vertex" in warning for warning in read(tmp_path, text).report["warnings"])
    assert not any("vertex" in warning for warning in read(tmp_path, "a nab\nnano b\n").report["warnings"])


@pytest.mark.parametrize("mark", [" ", ",", "\t", ";"])
@pytest.mark.parametrize("time", ["1217567877", "1217567877123", "2013-12-31", "2013-12-31T10:00:00Z"])
def test_times_before_the_ends_are_said(tmp_path, time, mark):
    text = f"{time} 9 8\n{time} 1 3\n".replace(" ", mark)
    (warning,) = (each for each in read(tmp_path, text).report["warnings"] if "--time-column 1" in each)
    way = {"source_column": 2, "target_column": 3, "time_column": 1, "time_format": warning.split()[-1]}
    assert {row[:2] for row in rows(read(tmp_path, text, **way))} == {(9, 8), (1, 3)}


@pytest.mark.parametrize("mark", [",", "\t", ";"])
@pytest.mark.parametrize("names", ["Interaction ID,Gene A,Gene B", "step,caller,callee", "t,a,b"])
def test_names_in_a_comment_that_are_not_known_are_said(tmp_path, names, mark):
    text = f"#{names}\n1,2,3\n2,5,6\n".replace(",", mark)
    assert any("may name their columns" in warning for warning in read(tmp_path, text).report["warnings"])
    assert read(tmp_path, "# a graph made by hand\n1,2,3\n2,5,6\n").report["warnings"] == []


@pytest.mark.parametrize("text", ["a,b # note\nb,c\n", "a;b #x\nb;c\n", "a\tb\nb\tc # y\n", "a #1,b\n"])
def test_a_comment_that_becomes_part_of_an_id_is_said(tmp_path, text):
    assert any("remove what follows #" in warning for warning in read(tmp_path, text).report["warnings"])


@pytest.mark.parametrize(
    "text",
    [
        "a\tb,c\nb\tc,d\n",
        "a\tb,c,d\nb\tc\nc\ta\nd\ta\n",
        "a\tb c\nb\tc a\nc\ta b\n",
        "1\t2|3\n2\t3|4\n",
        "a;b,c\nb;c,d\n",
        "1\t2,3\n2\t3,4\n",
        "1,2 3\n2,3 4\n",
        "1 2;3\n2 3;4\n",
        "1\t2 3\n2\t3 1\n",
    ],
)
def test_neighbors_that_are_joined_by_another_separator_are_said(tmp_path, text):
    assert any("pass --format adjacency" in warning for warning in read(tmp_path, text).report["warnings"])


@pytest.mark.parametrize(
    "text", ["New York\tLos Angeles\nBonn\tNew York\n", "Doe, J\tRoe, R\nX\tDoe, J\n", "a,b c\nb c,a\n"]
)
def test_names_of_several_words_are_names(tmp_path, text):
    assert read(tmp_path, text).report["warnings"] == []


def test_a_small_matrix_is_said(tmp_path):
    assert any("matrix" in warning for warning in read(tmp_path, "0 1 0\n1 0 1\n0 1 0\n").report["warnings"])


@pytest.mark.parametrize(
    "text", ["1)\t2\t3\n2)\t3\t4\n", "[1] 2 3\n[2] 3 4\n", "1. 2 3\n2. 3 4\n", "(1) 5 6\n(2) 6 7\n"]
)
def test_numbers_of_rows_are_no_vertices(tmp_path, text):
    with pytest.raises(CsawError, match="may be a row number"):
        read(tmp_path, text)
    way = {"source_column": 2, "target_column": 3, "weight_column": "none"}
    assert len(rows(read(tmp_path, text, **way))) == 2


@pytest.mark.parametrize("text", ["1: 2 3\n2: 3 4\n", "1 : 2,3\n2 : 3,1\n", "5\t:\t6 7\n"])
def test_a_number_that_may_be_a_weight_or_a_neighbor_is_said(tmp_path, text):
    assert any("if the last number is a weight" in warning for warning in read(tmp_path, text).report["warnings"])
    assert read(tmp_path, f"{text}9: 1\n").report["warnings"] == []


@pytest.mark.parametrize("given", ["Undirected", "undirected", "UNDIRECTED", "Directed", "directed"])
@pytest.mark.parametrize("words", [False, True], ids=["numbers", "words"])
@pytest.mark.parametrize("rows_before", [2, 3000])
def test_a_column_of_types_says_the_direction(tmp_path, given, words, rows_before):
    """As Gephi writes it; a row of another type is refused wherever it stands."""
    name = "v{}".format if words else str
    edges = [(name(k % 37), name((k * 7 + 1) % 41)) for k in range(rows_before)]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows(
        [("Source", "Target", "Type", "Id", "Label", "Weight"), *((u, v, given, 1, "", 2) for u, v in edges)]
    )
    store = read(tmp_path, out.getvalue(), "e.csv")
    assert store.directed == (given.lower() == "directed")
    ends = {(u, v) for u, v in edges} | (set() if store.directed else {(v, u) for u, v in edges})
    assert {tuple(map(str, row[:2])) for row in rows(store)} == ends
    assert not any("Type" in warning for warning in store.report["warnings"])
    other = "Directed" if given.lower() == "undirected" else "Undirected"
    for odd in (other, "Mixed"):
        mixed = out.getvalue() + f"{name(1)},{name(2)},{odd},1,,2\n"
        with pytest.raises(CsawError, match="pass --directed or --undirected"):
            read(tmp_path, mixed, "e.csv")
        assert read(tmp_path, mixed, "e.csv", directed=True).directed


HEADERS = ["source,target", "src,dst,weight", "from\tto", "u;v;w", "Source,Target,kind"]


@pytest.mark.parametrize("far", [False, True], ids=["near", "far"])
@pytest.mark.parametrize("words", [False, True], ids=["numbers", "words"])
@pytest.mark.parametrize("header", HEADERS)
def test_a_second_header_is_no_edge(tmp_path, header, words, far):
    """Where CSV files are joined."""
    mark = next(mark for mark in ",\t;" if mark in header)
    name = (lambda v: f"v{v}") if words else str
    third = {"weight": ["5"], "w": ["5"], "kind": ["6"]}.get(header.split(mark)[-1], [])
    body = "".join(mark.join([name(k % 9), name(k % 11), *third]) + "\n" for k in range(2000 if far else 3))
    text = f"{header}\n{body}{header}\n{body}"
    with pytest.raises(CsawError, match="header"):
        read(tmp_path, text, "e.csv")
    if far:
        store = read(tmp_path, text, "e.csv", on_error="skip")
        assert rows(store) == rows(read(tmp_path, f"{header}\n{body}", "e.csv"))
        assert store.report["skipped"] == 1


@pytest.mark.parametrize("line", ["  # 3 4", "\t#3 4", " % x", "# 3 4", "   #"])
@pytest.mark.parametrize("words", [False, True], ids=["numbers", "words"])
def test_comments_are_counted_wherever_they_begin(tmp_path, line, words):
    text = "a b\nb c\n" if words else "1 2\n2 3\n"
    store = read(tmp_path, f"{text}{line}\n{text}")
    assert (store.report["comments"], store.report["edges"]) == (1, 4)
    made = CliRunner().invoke(cli, ["partition", f"{tmp_path}/edges.txt", f"{tmp_path}/g.zarr", "--overwrite"])
    assert "1 comment" in made.output


@pytest.mark.parametrize("line", ["#x,y", "#a,b", "  #tag,c", "%b,c", "#x,#y"])
@pytest.mark.parametrize("place", [1, 2, 3])
def test_comments_that_look_like_rows_of_words_are_warned_of(tmp_path, line, place):
    """Between a header and the first row, too."""
    lines = ["source,target", "a,b", "b,c"]
    store = read(tmp_path, "\n".join([*lines[:place], line, *lines[place:]]) + "\n", "e.csv")
    assert store.report["comments"] == 1
    assert f"the first is line {place + 1}" in store.report["warnings"][0]


@pytest.mark.parametrize("line", ["#tag b", "#a #b", "  #x y", "%x y", "#1 2"])
def test_words_that_begin_with_a_hash_are_warned_of_between_blanks(tmp_path, line):
    store = read(tmp_path, f"a b\n{line}\nb c\n")
    assert "look like rows, the first is line 2" in store.report["warnings"][0]
    assert read(tmp_path, "a b\n# three words here\n# two words\nb c\n").report["warnings"] == []
