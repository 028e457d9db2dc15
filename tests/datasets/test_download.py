"""Downloads from a server that cuts, lies and fails: what comes out is the whole right file or a clear error, and nothing wrong stays."""

import gzip
import hashlib
import os
import re
import threading
import urllib.request
from dataclasses import replace
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from click.testing import CliRunner

from csaw.cli.datasets import datasets
from csaw.datasets import catalog
from csaw.datasets import download as module
from csaw.datasets.check import check, largest_file
from csaw.datasets.download import download, fetch
from csaw.partition.errors import StoreError

EDGES = 8000
ENTRY = catalog.Entry("Tiny", "some/file.gz", EDGES, EDGES, True)
HEADER = b"# Directed graph\n# Nodes: %d Edges: %d\n# FromNodeId\tToNodeId\n" % (EDGES, EDGES)
ROWS = b"".join(b"%d\t%d\n" % (i, t) for i, t in enumerate(np.random.default_rng(1).permutation(EDGES).tolist()))
BODY = gzip.compress(HEADER + ROWS, mtime=0)
SHA256 = hashlib.sha256(BODY).hexdigest()
NAME = "file.gz"


class Server(ThreadingHTTPServer):
    """Serves ``body``; ``cuts`` are the bytes after which the next answers break off, ``failures`` their status codes.

    ``headers`` replace those of an answer; one that is None is left out. ``endless`` answers go on while somebody listens,
    ranges have ``most`` bytes.
    """

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.body, self.tag, self.ranges, self.endless = BODY, '"one"', True, False
        self.cuts, self.failures, self.asked, self.headers = [], [], [], {}
        self.sent, self.most = 0, len(BODY) ** 2


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server = self.server
        asked = self.headers.get("Range")
        server.asked.append(asked)
        if server.failures and (code := server.failures.pop(0)):
            self.send_error(code)
            return
        fits = server.ranges and asked and self.headers.get("If-Range") in (None, server.tag)
        first = int(re.match(r"bytes=(\d+)-", asked)[1]) if fits else 0
        if fits and first >= len(server.body):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(server.body)}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        rest = server.body[first : first + server.most if fits else None]
        headers = {"ETag": server.tag or None, "Content-Length": len(rest)}
        if fits:
            headers["Content-Range"] = f"bytes {first}-{first + len(rest) - 1}/{len(server.body)}"
        self.send_response(206 if fits else 200)
        for name, value in (headers | server.headers).items():
            if value is not None:
                self.send_header(name, str(value))
        self.end_headers()
        self._send(rest[: server.cuts.pop(0)] if server.cuts else rest)

    def _send(self, rest):
        try:
            self.wfile.write(rest)
            while self.server.endless and self.server.sent < 60_000_000:  # a fault of csaw must not fill the disk
                self.wfile.write(rest)
                self.server.sent += len(rest)
        except OSError:
            self.close_connection = True

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(module, "PAUSE_SECONDS", 0.0)
    with Server() as one:
        monkeypatch.setattr(catalog, "SNAP", f"http://127.0.0.1:{one.server_port}/")
        thread = threading.Thread(target=one.serve_forever, args=(0.01,))
        thread.start()
        yield one
        one.endless = False
        one.shutdown()
        thread.join()


def left(folder):
    return sorted(p.name for p in folder.iterdir())


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


def test_a_cut_download_goes_on_where_it_stopped(server, tmp_path):
    server.cuts = [10_000, 8000]
    download(ENTRY, tmp_path / NAME)
    assert (tmp_path / NAME).read_bytes() == BODY
    assert server.asked == [None, "bytes=10000-", "bytes=18000-"]


def test_the_next_call_goes_on_where_the_last_gave_up(server, tmp_path):
    server.cuts = [1000] * module.ATTEMPTS
    with pytest.raises(StoreError, match="run the command again to go on"):
        download(ENTRY, tmp_path / NAME)
    assert not (tmp_path / NAME).exists()
    download(ENTRY, tmp_path / NAME)
    assert server.asked[-1] == f"bytes={1000 * module.ATTEMPTS}-"


def test_ctrl_c_keeps_what_can_be_gone_on_with(server, tmp_path):
    def stop(done, total):
        raise KeyboardInterrupt

    server.cuts = [1000]
    with pytest.raises(KeyboardInterrupt, match="1,000 bytes are kept; the same command goes on"):
        download(ENTRY, tmp_path / NAME, stop)
    download(ENTRY, tmp_path / NAME)
    assert server.asked[-1] == "bytes=1000-"
    (tmp_path / NAME).unlink()
    server.tag = ""
    with pytest.raises(KeyboardInterrupt, match="^$"):
        download(ENTRY, tmp_path / NAME, stop)
    assert left(tmp_path) == []


def begun(folder, start=BODY[:5000], tag='"one"'):
    (folder / f"{NAME}.part").write_bytes(start)
    (folder / f"{NAME}.part.tag").write_text(tag)


def test_a_part_that_is_whole_already_only_gets_its_name(server, tmp_path):
    begun(tmp_path, BODY)
    download(ENTRY, tmp_path / NAME)
    assert (tmp_path / NAME).read_bytes() == BODY
    assert server.asked == [f"bytes={len(BODY)}-"]


@pytest.mark.parametrize(
    "change", ["tag", "no ranges", "shorter", "tag lost", "tag is a link", "tag is no header", "206 of another tag"]
)
def test_parts_of_different_files_are_never_joined(server, tmp_path, change):
    begun(tmp_path, b"x" * 5000)
    tag, entry = tmp_path / f"{NAME}.part.tag", ENTRY
    if change == "tag":
        server.tag = '"two"'
    elif change == "no ranges":
        server.ranges = False
    elif change == "shorter":
        server.body, entry = gzip.compress(b"1 2\n", mtime=0), replace(ENTRY, vertices=2, edges=1)
    elif change == "206 of another tag":
        server.headers = {"ETag": '"two"'}
    elif change == "tag is no header":
        tag.write_text('"one"\r\nX: y')
    else:
        tag.unlink()
        if change == "tag is a link":
            (tmp_path / "mine").write_text('"one"')
            tag.symlink_to(tmp_path / "mine")
    download(entry, tmp_path / NAME)
    assert (tmp_path / NAME).read_bytes() == server.body
    assert left(tmp_path) == [NAME] + ["mine"] * (change == "tag is a link")


@pytest.mark.parametrize("span", ["bytes 4999-20/21", "bytes 5000-", "items 5000-5001/5002", "bytes 5000-5001/²", None])
def test_a_range_that_was_not_asked_for_is_not_joined(server, tmp_path, span):
    begun(tmp_path, b"x" * 5000)
    server.headers = {"Content-Range": span}
    download(ENTRY, tmp_path / NAME)
    assert (tmp_path / NAME).read_bytes() == BODY
    assert server.asked == ["bytes=5000-", None]


def test_a_server_that_sends_ranges_piece_by_piece_is_asked_for_the_rest(server, tmp_path):
    begun(tmp_path)
    server.most, totals = len(BODY) // 3, []
    download(ENTRY, tmp_path / NAME, lambda done, total: totals.append(total))
    assert (tmp_path / NAME).read_bytes() == BODY
    assert set(totals) == {len(BODY)}


def test_without_a_version_from_the_server_a_cut_download_starts_anew(server, tmp_path):
    server.tag, server.cuts = "", [1000]
    download(ENTRY, tmp_path / NAME)
    assert server.asked == [None, None]


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
    "another graph": (gzip.compress(HEADER.replace(b"Nodes: 8", b"Nodes: 9") + ROWS), "its comments say 9,000 and 8,000"),
    "more text than it can have": (gzip.compress(HEADER + b"1 2\n" * 10**6), "bytes of text in it, found more"),
    "more bytes than it can have": (BODY[:3] + bytes(largest_file(ENTRY)), "expected at most 1,240,576 bytes"),
}  # fmt: skip


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


@pytest.mark.parametrize("code", [404, 416, 204])
def test_an_answer_without_the_file_is_said_at_once(server, tmp_path, code):
    server.failures = [code]
    with pytest.raises(StoreError, match=f"answers {code}"):
        download(ENTRY, tmp_path / NAME)
    assert len(server.asked) == 1
    assert left(tmp_path) == []


@pytest.mark.parametrize(
    "line", [b"\x1b[31mno\r\n", b"x" * 60_000 + b"\r\n", b"HTTP/1.1 418 " + b"\x1bt" * 9000 + b"\r\n\r\n", b""]
)
def test_what_a_server_says_is_shown_in_a_short_line(server, tmp_path, line, monkeypatch):
    def answer(handler):
        handler.wfile.write(line)
        handler.close_connection = True

    monkeypatch.setattr(Handler, "do_GET", answer)
    with pytest.raises(StoreError) as error:
        download(ENTRY, tmp_path / NAME)
    assert str(error.value).isprintable()
    assert len(str(error.value)) < 500
    assert left(tmp_path) == []


def test_a_busy_server_is_asked_again(server, tmp_path):
    server.failures = [503, 500]
    download(ENTRY, tmp_path / NAME)
    assert len(server.asked) == 3


def test_no_network_is_an_error_with_a_way_out(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(catalog, "SNAP", "http://127.0.0.1:9/")
    with pytest.raises(StoreError, match="cannot be fetched: .*refused.*give csaw its path"):
        download(ENTRY, tmp_path / NAME)
    assert left(tmp_path) == []


def test_a_folder_that_cannot_be_written_is_not_the_networks_fault(server, tmp_path):
    with pytest.raises(StoreError, match=r"file.gz.part: No such file"):
        download(ENTRY, tmp_path / "nowhere" / NAME)
    assert len(server.asked) == 0


@pytest.mark.parametrize("kind", ["link", "link to nothing", "second name", "pipe", "folder"])
def test_a_part_that_is_not_a_file_of_ones_own_is_not_written(server, tmp_path, kind):
    mine, part = tmp_path / "mine", tmp_path / f"{NAME}.part"
    mine.write_bytes(b"precious")
    if kind == "second name":
        part.hardlink_to(mine)
    elif kind == "pipe":
        os.mkfifo(part)
    elif kind == "folder":
        part.mkdir()
    else:
        part.symlink_to(mine if kind == "link" else tmp_path / "nothing")
    with pytest.raises(
        StoreError, match=r"file.gz.part: (a symbolic link|expected a regular file that belongs to you|Is a directory)"
    ):
        download(ENTRY, tmp_path / NAME)
    assert mine.read_bytes() == b"precious"
    assert left(tmp_path) == [f"{NAME}.part", "mine"]


def test_two_at_once_do_not_write_into_one_file(server, tmp_path):
    def meanwhile(done, total):
        with pytest.raises(StoreError, match="another process is fetching this file"):
            download(ENTRY, tmp_path / NAME)

    download(ENTRY, tmp_path / NAME, meanwhile)
    assert (tmp_path / NAME).read_bytes() == BODY


def redirected(start, goal):
    return module.SafeRedirects().redirect_request(
        urllib.request.Request(start), None, 302, "Found", Message(), goal
    )  # fmt: skip


def test_redirections_lead_from_https_only_to_https():
    assert redirected("https://a/b", "https://c/d").full_url == "https://c/d"
    assert redirected("http://a/b", "https://c/d").full_url == "https://c/d"
    assert redirected("http://a/b", "http://c/d").full_url == "http://c/d"
    for start, goal in (("https://a/b", "http://c/d"), ("https://a/b", "HTTP://c/d"), ("http://a/b", "ftp://c/d")):
        with pytest.raises(StoreError, match=f"{start}: redirects to {goal}; a redirection from .* is not followed"):
            redirected(start, goal)
    assert any(isinstance(handler, module.SafeRedirects) for handler in module.OPENER.handlers)


@pytest.mark.parametrize(
    "goal", ["ftp://127.0.0.1/file", "file:///etc/passwd", "http://[x/", f"http://{'a' * 70}.b/", "/some/file.gz"]
)
def test_a_redirection_that_leads_nowhere_is_said_in_a_line(server, tmp_path, goal, monkeypatch):
    def answer(handler):
        handler.send_response(302)
        handler.send_header("Location", goal)
        handler.end_headers()
        server.endless = True  # the text that comes with it
        handler._send(b"moved" * 1000)

    monkeypatch.setattr(Handler, "do_GET", answer)
    with pytest.raises(StoreError) as error:
        download(ENTRY, tmp_path / NAME)
    assert "\n" not in str(error.value)
    assert left(tmp_path) == []


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
