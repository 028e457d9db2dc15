"""Graphs that come as a Matrix Market file in an archive: the store has the published counts, and a wrong archive is
refused.
"""

import gzip
import io
import tarfile
from dataclasses import replace

import pytest
from helpers.file_server import left

from csaw.datasets import catalog
from csaw.datasets import resolve as module
from csaw.datasets.catalog import Entry
from csaw.datasets.download import download
from csaw.datasets.resolve import disagreement, on_disk, resolve
from csaw.partition import IngestOptions, ingest, open_graph
from csaw.partition.errors import FormatError, StoreError

RING = 50
ENTRY = Entry("Ring", "DIMACS10/Ring.tar.gz", RING, RING, False)
HEAD = b"%%MatrixMarket matrix coordinate pattern symmetric\n% a comment\n%\n"
ROWS = b"".join(b"%d %d\n" % (max(v, v % RING + 1), min(v, v % RING + 1)) for v in range(1, RING + 1))
SIZE = b"%d %d %d\n" % (RING, RING, RING)


def archive(text, name="Ring/Ring.mtx"):
    """The bytes of an archive as SuiteSparse makes them: a readme beside the matrix."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as out:
        for each, data in (("Ring/readme.txt", b"about it"), (name, text)):
            member = tarfile.TarInfo(each)
            member.size = len(data)
            out.addfile(member, io.BytesIO(data))
    return made.getvalue()


def test_an_archive_becomes_the_store_of_the_matrix_in_it(server, tmp_path, monkeypatch):
    server.body = archive(HEAD + SIZE + ROWS)
    monkeypatch.setattr(catalog, "ENTRIES", (ENTRY,))
    store = open_graph(resolve("ring", tmp_path))
    assert (store.vertices, store.edges, store.directed) == (RING, 2 * RING, False)
    assert sorted(path.name for path in (tmp_path / "graphs").glob("*.tar.gz")) == ["Ring.tar.gz"]
    assert on_disk(ENTRY, tmp_path) == store.path
    assert not list((tmp_path / "graphs").glob("tmp*"))


def test_vertices_without_edges_of_a_matrix_that_has_them_are_no_difference(server, tmp_path, monkeypatch):
    """A store leaves them out; more vertices than published are a difference all the same."""
    server.body = archive(HEAD + b"60 60 50\n" + ROWS)
    ring = replace(ENTRY, vertices=60, isolated=True)
    monkeypatch.setattr(catalog, "ENTRIES", (ring,))
    store = open_graph(resolve("ring", tmp_path))
    assert store.vertices == RING
    assert disagreement(ring, store) == ""
    assert disagreement(replace(ring, isolated=False), store) == "50 vertices where 60 are published"
    assert disagreement(replace(ring, vertices=40), store) == "50 vertices where 40 are published"
    assert disagreement(replace(ring, edges=49), store) == "50 edges where 49 are published"


WRONG = {
    "another file": (
        archive(HEAD + SIZE + ROWS, "Ring/Other.mtx"),
        "expected an archive with Ring.mtx in it; it has no file",
    ),
    "no archive": (gzip.compress(HEAD + SIZE + ROWS), "expected an archive with Ring.mtx in it"),
    "another size": (
        archive(HEAD + b"51 51 50\n" + ROWS),
        "expected a Matrix Market file of 50 vertices and 50 edges, .* found '51 51 50'",
    ),
    "no banner": (archive(SIZE + ROWS), "expected a Matrix Market file of 50 vertices"),
    "a row less": (archive(HEAD + SIZE + ROWS[:-5]), "expected 50 rows under the size line, found 49"),
    "cut off": (archive(HEAD + SIZE + ROWS)[:-6], "its gzip data is cut off"),
    "another checksum": (
        archive(HEAD + SIZE + ROWS)[:-8] + b"1234" + archive(HEAD + SIZE + ROWS)[-4:],
        "its gzip data is damaged",
    ),
}


@pytest.mark.parametrize("how", WRONG)
def test_a_wrong_archive_is_refused_and_nothing_of_it_stays(server, tmp_path, how):
    server.body, message = WRONG[how]
    with pytest.raises(StoreError, match=f"http://127.*{message}.*nothing of it was kept"):
        download(ENTRY, tmp_path / "Ring.tar.gz")
    assert left(tmp_path) == []


def test_an_archive_given_as_a_graph_says_what_to_do(tmp_path):
    (tmp_path / "Ring.tar.gz").write_bytes(archive(HEAD + SIZE + ROWS))
    with pytest.raises(FormatError, match="a tar archive; unpack it with tar -xf, and give the file of edges in it"):
        ingest(str(tmp_path / "Ring.tar.gz"), tmp_path / "g.zarr", IngestOptions())


def test_a_graph_made_by_hand_is_found_where_its_counts_are_right(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    graph = catalog.ByHand("Ring", "https://example.org", RING, RING, False, "C-SAW")
    assert module.on_disk(graph, tmp_path) is None
    (tmp_path / "ring.mtx").write_bytes(HEAD + SIZE + ROWS)
    ingest("ring.mtx", "Ring.zarr", IngestOptions())
    assert str(module.on_disk(graph, tmp_path)) == "Ring.zarr"
    assert module.on_disk(catalog.ByHand("Ring", "", RING, RING + 1, False, "C-SAW"), tmp_path) is None
