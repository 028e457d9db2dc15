"""Which columns are read: names in a header decide, options overrule them, and what nobody says is asked for."""

import re

import numpy as np
import pytest
from helpers.ingested import read, rows

from csaw.partition import IngestOptions, ingest
from csaw.partition.errors import CsawError, OptionError

EDGES, WEIGHTED = [(5, 9), (7, 3)], [(5, 9, 0.5), (7, 3, 2.0)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (",source,target\n0,5,9\n1,7,3\n", EDGES),
        ("id,source,target\n0,5,9\n1,7,3\n", EDGES),
        ("weight,source,target\n0.5,5,9\n2,7,3\n", WEIGHTED),
        ("target,source\n9,5\n3,7\n", EDGES),
        ("source,target,time\n5,9,100\n7,3,200\n", EDGES),
        ("source,target,weight\n5,9,0.5\n7,3,2\n", WEIGHTED),
        ("u v w\n5 9 0.5\n7 3 2\n", WEIGHTED),
        ("Target\tTime\tSource\n9\t1\t5\n3\t2\t7\n", EDGES),
        ('\ufeff"","From","To"\r\n"1",5,9\r\n"2",7,3\r\n', EDGES),
        ("\ufeffSRC;DST;0_x\n5;9;1,5\n7;3;2,5\n", EDGES),
        ("node_1,node_2\n5,9\n7,3\n", EDGES),
        ("id_2,id_1\n9,5\n3,7\n", EDGES),
        ("city,To Node Id,From-Node-Id\nNew York,9,5\nParis,3,7\n", EDGES),
        ('label,source,target\n"a, b",5,9\n"c ""d""",7,3\n', EDGES),
        ("label,source,target,weight\n,5,9,0.5\nx,7,3,2\n", WEIGHTED),
        ("# FromNodeId\tToNodeId\n5\t9\n7\t3\n", EDGES),
        ("# ToNodeId FromNodeId\n9 5\n3 7\n", EDGES),
        ("# source, target, time\n5,9,100\n7,3,200\n", EDGES),
        ("# from one to another\n5 9 0.5\n7 3 2\n", WEIGHTED),
        ("5 9 0.5\n7 3 2\n", WEIGHTED),
        ("a,b\n5,9\n7,3\n", EDGES),
        ("person,friend,weight\n5,9,0.5\n7,3,2\n", WEIGHTED),
        (",target\n5,9\n7,3\n", EDGES),
        ("source,\n5,9\n7,3\n", EDGES),
        ("x,source\n9,5\n3,7\n", EDGES),
        ("target,source,weight\na,b,0.5\nc,d,2\n", [("b", "a", 0.5), ("d", "c", 2.0)]),
        ("u v\nv w\nw u\n", [("u", "v"), ("v", "w"), ("w", "u")]),
    ],
)
def test_the_names_of_a_header_say_which_columns_are_the_ends_and_the_weight(tmp_path, text, found):
    assert rows(read(tmp_path, text)) == found


@pytest.mark.parametrize(
    "text",
    [
        "a,b,c\n5,9,1\n7,3,2\n",
        ",0,1\n0,5,9\n1,7,3\n",
        ",a,b\n0,x,y\n1,z,x\n",
        "person,friend,score\nann,bob,3\nbob,cid,4\n",
        "source,source,target\n5,9,1\n7,3,2\n",
        "to,dst\n5,9\n7,3\n",
    ],
)
def test_a_header_that_does_not_say_which_are_the_ends_is_an_error_with_both_readings(tmp_path, text):
    with pytest.raises(
        CsawError, match=r"edges.txt:1: .* does not show .*columns 1 and [23]\), or .* -> .*--source-column"
    ):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "options", "found"),
    [
        ("a,b,c\n5,9,1\n7,3,2\n", {"source_column": "a", "target_column": "b"}, EDGES),
        ("a,b,c\n1,5,9\n2,7,3\n", {"source_column": "2", "target_column": "3"}, EDGES),
        ("1 5 9\n2 7 3\n", {"source_column": "2", "target_column": "3"}, EDGES),
        ("9 5\n3 7\n", {"source_column": "2"}, EDGES),
        ("0 5 9 0.5\n1 7 3 2\n", {"source_column": "2", "target_column": "3", "weight_column": "4"}, WEIGHTED),
        ("0.5 5 9\n2 7 3\n", {"source_column": "2", "target_column": "3", "weight_column": "1"}, WEIGHTED),
        ("source,target,rating\n5,9,0.5\n7,3,2\n", {"weight_column": "rating"}, WEIGHTED),
        ("source,target,rating\n5,9,0.5\n7,3,2\n", {"weight_column": "3"}, WEIGHTED),
        ("source,target,weight\n5,9,0.5\n7,3,2\n", {"weight_column": "none"}, EDGES),
        ("source,target,x,y\n5,1,9,0.5\n7,1,3,2\n", {"target_column": "x", "weight_column": "y"}, WEIGHTED),
        ('"from" "to"\n"1" 5 9\n"2" 7 3\n', {"source_column": "2", "target_column": "3"}, EDGES),
        ("p,q\nx,y\nz,x\n", {"source_column": "q", "target_column": "p"}, [("x", "z"), ("y", "x")]),
    ],
)
def test_options_choose_columns_of_text_by_name_or_number(tmp_path, text, options, found):
    assert rows(read(tmp_path, text, **options)) == found


TWO_PAIRS = "source,x,src,dst,target\n1,0,5,9,2\n3,0,7,3,4\n"


@pytest.mark.parametrize("options", [{}, {"source_column": "x"}, {"target_column": "2"}])
@pytest.mark.parametrize("comment", ["", "# "])
def test_a_header_with_two_pairs_of_ends_is_an_error_that_names_both(tmp_path, comment, options):
    said = (
        "edges.txt:[12]: 'source,x,src,dst,target' does not show which columns are the ends of an edge: 'source' -> "
        r"'target' \(columns 1 and 5\), or 'src' -> 'dst' \(columns 3 and 4\)\? Choose with --source-column"
    )
    if comment:
        options = {name: {"x": "2"}.get(wish, wish) for name, wish in options.items()}
    with pytest.raises(CsawError, match=said):
        read(tmp_path, comment + TWO_PAIRS, **options)


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"source_column": "src"}, EDGES),
        ({"target_column": "dst"}, EDGES),
        ({"target_column": "target"}, [(1, 2), (3, 4)]),
        ({"source_column": "src", "target_column": "target"}, [(5, 2), (7, 4)]),
    ],
)
def test_one_end_is_enough_to_choose_between_two_pairs(tmp_path, options, found):
    assert rows(read(tmp_path, TWO_PAIRS, **options)) == found


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("5 9\n7 3\n", {"source_column": "name"}, "--source-column: no column 'name'; there is no header"),
        ("5 9 1.0\n7 3 2.0\n", {"weight_column": "1_0"}, "--weight-column: no column '1_0'; there is no header"),
        ("source,target\n5,9\n", {"weight_column": "\u00b2"}, "no column '\u00b2'; it has source, target"),
        ("5 9 1\n7 3 1\n", {"weight_column": "2"}, "column 2 cannot have two roles"),
        ("u,v,w,W\n5,9,1,2\n", {}, "columns 3 and 4 are both called w; choose one with --weight-column"),
        ("5 9\n7 3\n", {"source_column": "3"}, "--source-column 3: expected a number from 1 to 2"),
        ("1 5 9\n2 7 3\n", {"source_column": "2"}, "does not show which"),
        (",0,1\n0,5,9\n1,7,3\n", {"source_column": "1", "target_column": "3"}, "column 3 has that name"),
        ('"from" "to"\n"1" 5 9\n"2" 7 3\n', {}, "the header has 2 names, the rows under it have 3 columns"),
    ],
)
def test_a_column_that_is_not_there_is_named(tmp_path, text, options, message):
    with pytest.raises(CsawError, match=message):
        read(tmp_path, text, **options)


@pytest.mark.parametrize("wish", ["0", "-1", "12345678901234567890", "9" * 5000, ""])
def test_numbers_that_no_column_has_are_refused_before_anything_is_read(wish):
    for name in ("weight_column", "source_column", "target_column"):
        with pytest.raises(OptionError, match="--" + name.replace("_", "-")):
            IngestOptions(**{name: wish})


def test_what_a_header_leaves_open_is_said(tmp_path):
    for options in ({}, {"id_type": "int"}):
        said = "the first row 'a,b' is read as a header, not as an edge, and .* column 1 is read as the source"
        assert re.match(said, read(tmp_path, "a,b\n5,9\n7,3\n", **options).report["warnings"][0])
    assert "not read: time" in read(tmp_path, "source,target,time\n5,9,1\n7,3,2\n").report["warnings"][0]
    assert read(tmp_path, "source,target\n5,9\n7,3\n").report["warnings"] == []


@pytest.mark.parametrize("first", ["0x1 0x2", "a 1b", "\u0661 \u0662"])
def test_a_first_row_that_may_be_an_edge_or_a_header_is_an_error_with_both_ways_out(tmp_path, first):
    said = (
        r"edges.txt:1: expected an edge, or a header of words, found .*; if it is an edge, pass --id-type string; "
        r".* --skip-lines 1"
    )
    for below in ("0x2 3\n", "2 3\n3 4\n"):
        with pytest.raises(CsawError, match=said):
            read(tmp_path, f"{first}\n{below}")
    assert rows(read(tmp_path, f"{first}\n2 3\n3 4\n", skip_lines=1)) == [(2, 3), (3, 4)]
    assert tuple(first.split()) in rows(read(tmp_path, f"{first}\n2 3\n3 4\n", id_type="string"))


def test_a_header_with_digits_is_one_where_it_is_known_or_asked_for(tmp_path):
    assert rows(read(tmp_path, "1st,2nd\n5,9\n7,3\n", source_column="1st", target_column="2nd")) == EDGES
    assert rows(read(tmp_path, "v1,v2\n5,9\n7,3\n")) == EDGES


def test_python_may_give_a_path_and_numbers_of_columns(tmp_path):
    (tmp_path / "e.txt").write_text("9 0.5 5\n3 2 7\n")
    given = IngestOptions(source_column=3, target_column=np.int64(1), weight_column=2, partitions=np.int32(1))
    assert rows(ingest(tmp_path / "e.txt", tmp_path / "g.zarr", given)) == WEIGHTED
    assert rows(read(tmp_path, "5 9\n7 3\n", weight_column=None)) == EDGES


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"weight_column": 0}, "--weight-column: expected a name, or a number from 1 for the first column, found 0"),
        ({"source_column": True}, "--source-column: expected a name, or a number from 1, found True"),
        ({"target_column": 1.0}, "--target-column: expected a name, or a number from 1, found 1.0"),
        ({"skip_lines": "a"}, "--skip-lines: expected an integer from 0 on, found 'a'"),
        ({"skip_lines": None}, "--skip-lines: expected an integer from 0 on, found None"),
        ({"partitions": "a"}, "--partitions: expected an integer from 1 on, or None, found 'a'"),
        ({"partition_bytes": 0.5}, "--partition-size: expected an integer from 1 on, or None, found 0.5"),
        ({"memory": "1GiB"}, "--memory: expected an integer from 1 on, or None, found '1GiB'"),
        ({"partitions": 0}, "--partitions: expected an integer from 1 on, or None, found 0"),
    ],
)
def test_python_is_told_what_an_option_takes(option, said):
    with pytest.raises(OptionError, match=said):
        IngestOptions(**option)


def test_python_is_told_that_an_input_is_a_path(tmp_path):
    with pytest.raises(OptionError, match="INPUT: expected the path of an edge list or a table, found 3"):
        ingest(3, tmp_path / "g.zarr", IngestOptions())


def test_the_empty_name_of_an_index_does_not_move_the_ends(tmp_path):
    file = tmp_path / "index.tsv"
    file.write_text("\tdst\tweight\tsrc\n0\tann\t2\tbob\n1\tcy\t3\tdan\n")
    store = ingest(file, tmp_path / "g.zarr", IngestOptions())
    assert (store.vertices, store.edges, store.weighted) == (4, 2, True)
