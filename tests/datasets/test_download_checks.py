"""Downloads of files that are not what they should be: the whole right file comes out or a clear error, and nothing
wrong stays.
"""

import gzip
import os
from dataclasses import replace

import pytest
from click.testing import CliRunner
from helpers.file_server import BODY, EDGES, ENTRY, HEADER, NAME, ROWS, SHA256, left

from csaw.cli.commands.datasets import datasets
from csaw.datasets import catalog
from csaw.datasets.check import check, largest_file
from csaw.datasets.download import download, fetch
from csaw.partition.errors import StoreError


def test_the_file_comes_whole_and_alone_and_what_was_checked_is_said(server, tmp_path):
    seen = []
    said = download(ENTRY, tmp_path / NAME, lambda done, total: seen.append((done, total)))
    assert (tmp_path / NAME).read_bytes() == BODY
    assert left(tmp_path) == [NAME]
    assert seen[-1] == (len(BODY), len(BODY))
    assert said == (
        "Tiny: no checksum is published for it; its size, its gzip checksum, 8,000 rows, the counts in its comments "
        "agree with the published counts"
    )
    assert "its sha256 is the known one" in check(tmp_path / NAME, replace(ENTRY, sha256=SHA256), "here")


WRONG = {  # how a file can be wrong: what is served, what is said
    "half": (BODY[: len(BODY) // 2], "its gzip data is cut off after"),
    "a bit flipped": (BODY[:9000] + bytes([BODY[9000] ^ 4]) + BODY[9001:], "its gzip data is damaged"),
    "another checksum": (BODY[:-8] + b"1234" + BODY[-4:], "its gzip data is damaged .CRC"),
    "something behind it": (BODY + b"more", "its gzip data is damaged"),
    "a web page": (b"<!DOCTYPE html>\n<html>Log in</html>", "expected gzip data for Tiny, found a web page"),
    "plain text": (b"1 2\n", r"expected gzip data for Tiny, found '1 2\\n'"),
    "one byte": (b"\x1f", "expected gzip data for Tiny"),
    "empty": (b"", "found an empty file"),
    "a packed page": (gzip.compress(b"<html>\n" * EDGES), "expected rows of two numbers, found '<html>'"),
    "too few rows": (gzip.compress(ROWS[: len(ROWS) - 40]), "expected 8,000 to 16,000 rows, .* found 7,99"),
    "too many rows": (gzip.compress(ROWS * 2 + b"1\t2\n"), "found 16,001"),
    "another graph": (
        gzip.compress(HEADER.replace(b"Nodes: 8", b"Nodes: 9") + ROWS),
        "its comments say 9,000 and 8,000",
    ),
    "more text than it can have": (gzip.compress(HEADER + b"1 2\n" * 10**6), "bytes of text in it, found more"),
    "more bytes than it can have": (BODY[:3] + bytes(largest_file(ENTRY)), "expected at most 1,240,576 bytes"),
}


@pytest.mark.parametrize("length", [True, False], ids=["with a length", "without a length"])
@pytest.mark.parametrize("how", WRONG)
def test_a_wrong_file_is_refused_and_nothing_of_it_stays(server, tmp_path, how, length):
    server.body, message = WRONG[how]
    if not length:
        server.headers = {"Content-Length": None}
    with pytest.raises(StoreError, match=f"http://127.*{message}.*nothing of it was kept"):
        download(ENTRY, tmp_path / NAME)
    assert left(tmp_path) == []
    assert len(server.asked) == 1


@pytest.mark.parametrize("how", WRONG)
def test_a_wrong_file_that_is_there_is_named_or_fetched_anew(server, tmp_path, how):
    body, message = WRONG[how]
    (tmp_path / NAME).write_bytes(body)
    with pytest.raises(StoreError, match=f"{tmp_path}/{NAME}: .*{message}.*; remove it and fetch Tiny again"):
        fetch(ENTRY, tmp_path)
    assert server.asked == []
    assert fetch(ENTRY, tmp_path, replace=True)[0].read_bytes() == BODY


def test_a_wrong_checksum_is_refused_and_removed(server, tmp_path):
    with pytest.raises(StoreError, match=f"expected sha256 {'0' * 64}, found {SHA256}"):
        download(replace(ENTRY, sha256="0" * 64), tmp_path / NAME)
    assert left(tmp_path) == []


@pytest.mark.parametrize("start", [BODY[:3], b"<html>"])
def test_data_without_end_are_cut_off(server, tmp_path, start):
    server.body, server.endless, server.headers = start + bytes(100_000), True, {"Content-Length": None}
    with pytest.raises(StoreError, match="expected at most 1,240,576 bytes for the 8,000 edges|a web page"):
        download(ENTRY, tmp_path / NAME)
    assert left(tmp_path) == []
    assert server.sent < 20e6  # what lay in the buffers of the connection


@pytest.mark.parametrize("length", ["abc", "-1", "²", "1" * 30, "1, 2", ""])
def test_a_length_that_is_no_number_is_said(server, tmp_path, length):
    server.headers = {"Content-Length": length.encode().decode("latin-1")}
    with pytest.raises(StoreError, match="expected a number as Content-Length"):
        download(ENTRY, tmp_path / NAME)
    assert left(tmp_path) == []


def test_a_length_beyond_what_the_file_can_have_is_refused_before_it_comes(server, tmp_path):
    server.headers = {"Content-Length": 400_000_000}
    with pytest.raises(StoreError, match="expected at most 1,240,576 bytes .* found 400,000,000"):
        download(ENTRY, tmp_path / NAME)


def test_fetch_checks_and_uses_the_file_that_is_there(server, tmp_path):
    (tmp_path / NAME).write_bytes(BODY)
    path, said = fetch(ENTRY, tmp_path)
    assert (path, server.asked) == (tmp_path / NAME, [])
    assert said.startswith("Tiny: no checksum is published")


@pytest.mark.parametrize("kind", ["pipe", "folder", "link to nothing"])
def test_fetch_says_what_is_in_the_way_of_the_file(server, tmp_path, kind):
    target = tmp_path / NAME
    {"pipe": os.mkfifo, "folder": os.mkdir, "link to nothing": lambda path: path.symlink_to("nothing")}[kind](target)
    with pytest.raises(StoreError, match="file.gz: .*remove it and fetch Tiny again"):
        fetch(ENTRY, tmp_path)
    assert left(tmp_path) == [NAME]


def test_the_command_prints_the_path_and_says_what_was_checked(server, tmp_path, monkeypatch):
    monkeypatch.setattr(catalog, "ENTRIES", (ENTRY,))
    done = CliRunner().invoke(datasets, ["fetch", "tiny", str(tmp_path)])
    assert done.exit_code == 0
    assert done.stdout == f"{tmp_path}/{NAME}\n"
    assert "csaw: Tiny: no checksum is published for it; its size" in done.stderr


def test_undirected_graphs_may_list_each_edge_once_or_in_both_directions(tmp_path):
    entry, file = catalog.Entry("Three", NAME, 3, 4, False), tmp_path / NAME
    once, both = b"1 2\n2 3\n3 1\n3 3\n", b"1 2\n2 1\n2 3\n3 2\n3 1\n1 3\n3 3\n"
    for rows in (once, both):
        for head in (b"", b"# Nodes: 3 Edges: %d\n" % rows.count(b"\n")):
            file.write_bytes(gzip.compress(head + rows))
            assert "agree" in check(file, entry, "here")
    file.write_bytes(gzip.compress(b"# Nodes: 3 Edges: 9\n" + both))
    with pytest.raises(StoreError, match="here: expected 3 vertices and 4 edges, .* its comments say 3 and 9"):
        check(file, entry, "here")
