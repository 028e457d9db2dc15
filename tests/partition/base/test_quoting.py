"""Claims of words in files of edges: what is in quotes stays as it is, and a vertex may be called as a column is."""

import csv

import numpy as np
import pytest

from csaw.partition import IngestOptions, ingest


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_quoted_cells_are_kept_as_they_are(tmp_path, separator):
    cells = [" a", "a ", "a", "\ta", "a\t ", "a\rb", 'a "b"', "#a", "\va", "\u00a0a"]
    ring = list(zip(cells, [*cells[1:], cells[0]], strict=True))
    with (tmp_path / "edges.csv").open("w", newline="") as file:
        csv.writer(file, delimiter=separator, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(
            [("source", "target"), *ring]
        )
    store = ingest(str(tmp_path / "edges.csv"), tmp_path / "g.zarr", IngestOptions())
    assert sorted(store.vertex_ids()) == sorted(cells)
    assert sorted(zip(*(store.original_ids(ends).tolist() for ends in _ends(store)), strict=True)) == sorted(ring)


def _ends(store):
    graph = store.load()
    return np.repeat(np.arange(store.vertices), np.diff(graph.indptr)), graph.indices


def test_a_header_below_a_comment_that_names_columns_is_one_unless_csaw_wrote_the_file(tmp_path):
    for comment, found in (
        ("# SNAP", ["a", "b"]),
        ("# Directed graph, written by csaw 1", ["a", "b", "source", "target"]),
    ):
        (tmp_path / "e.txt").write_text(f"{comment}\n# FromNodeId\tToNodeId\nsource\ttarget\na\tb\n")
        store = ingest(str(tmp_path / "e.txt"), tmp_path / "e.zarr", IngestOptions(overwrite=True))
        assert sorted(store.vertex_ids()) == found


def test_a_header_above_numbers_is_one_although_a_vertex_has_its_name(tmp_path):
    (tmp_path / "e.csv").write_text("instance,src,dst,depth\n0,src,a,0\n1,a,dst,0\n")
    assert sorted(ingest(str(tmp_path / "e.csv"), tmp_path / "e.zarr", IngestOptions()).vertex_ids()) == [
        "a",
        "dst",
        "src",
    ]
