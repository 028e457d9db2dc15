"""Downloads from a server that cuts, lies and fails: what comes out is the whole right file or a clear error."""

import hashlib
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from csaw.datasets import download as module
from csaw.datasets.catalog import Entry
from csaw.datasets.download import download, fetch
from csaw.partition.errors import StoreError

BODY = bytes(range(256)) * 4096 + b"end"
SHA256 = hashlib.sha256(BODY).hexdigest()


class Server(ThreadingHTTPServer):
    """Serves ``body``; ``cuts`` are the bytes after which the next answers break off, ``failures`` their status codes."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.body, self.tag, self.ranges = BODY, '"one"', True
        self.cuts, self.failures, self.asked = [], [], []
        self.url = f"http://127.0.0.1:{self.server_port}/file.gz"


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
        self.send_response(206 if fits else 200)
        if fits:
            self.send_header("Content-Range", f"bytes {first}-{len(server.body) - 1}/{len(server.body)}")
        if server.tag:
            self.send_header("ETag", server.tag)
        self.send_header("Content-Length", str(len(server.body) - first))
        self.end_headers()
        rest = server.body[first:]
        self.wfile.write(rest[: server.cuts.pop(0)] if server.cuts else rest)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(module, "PAUSE_SECONDS", 0.0)
    with Server() as one:
        thread = threading.Thread(target=one.serve_forever, args=(0.01,))
        thread.start()
        yield one
        one.shutdown()
        thread.join()


def test_the_file_comes_whole_and_alone(server, tmp_path):
    seen = []
    download(server.url, tmp_path / "file.gz", SHA256, lambda done, total: seen.append((done, total)))
    assert (tmp_path / "file.gz").read_bytes() == BODY
    assert [p.name for p in tmp_path.iterdir()] == ["file.gz"]
    assert seen[-1] == (len(BODY), len(BODY))


def test_a_cut_download_goes_on_where_it_stopped(server, tmp_path):
    server.cuts = [100_000, 200_000]
    download(server.url, tmp_path / "file.gz", SHA256)
    assert (tmp_path / "file.gz").read_bytes() == BODY
    assert server.asked == [None, "bytes=100000-", "bytes=300000-"]


def test_the_next_call_goes_on_where_the_last_gave_up(server, tmp_path):
    server.cuts = [1000] * module.ATTEMPTS
    with pytest.raises(StoreError, match="run it again to go on"):
        download(server.url, tmp_path / "file.gz")
    assert not (tmp_path / "file.gz").exists()
    download(server.url, tmp_path / "file.gz", SHA256)
    assert server.asked[-1] == f"bytes={1000 * module.ATTEMPTS}-"


def test_a_part_that_is_whole_already_only_gets_its_name(server, tmp_path):
    (tmp_path / "file.gz.part").write_bytes(BODY)
    (tmp_path / "file.gz.part.tag").write_text(server.tag)
    download(server.url, tmp_path / "file.gz", SHA256)
    assert (tmp_path / "file.gz").read_bytes() == BODY


@pytest.mark.parametrize("change", ["tag", "no ranges", "shorter", "tag lost"])
def test_parts_of_different_files_are_never_joined(server, tmp_path, change):
    (tmp_path / "file.gz.part").write_bytes(b"x" * 5000)
    (tmp_path / "file.gz.part.tag").write_text('"one"')
    if change == "tag":
        server.tag = '"two"'
    elif change == "no ranges":
        server.ranges = False
    elif change == "shorter":
        server.body = BODY[:3000]
    else:
        (tmp_path / "file.gz.part.tag").unlink()
    download(server.url, tmp_path / "file.gz")
    assert (tmp_path / "file.gz").read_bytes() == server.body


def test_without_a_version_from_the_server_a_cut_download_starts_anew(server, tmp_path):
    server.tag, server.cuts = "", [1000]
    download(server.url, tmp_path / "file.gz", SHA256)
    assert server.asked == [None, None]


def test_a_wrong_checksum_is_refused_and_removed(server, tmp_path):
    with pytest.raises(StoreError, match=f"expected sha256 {'0' * 64}, found {SHA256}"):
        download(server.url, tmp_path / "file.gz", "0" * 64)
    assert not (tmp_path / "file.gz").exists()
    assert not (tmp_path / "file.gz.part").exists()


def test_a_missing_file_is_said_at_once_and_a_busy_server_is_asked_again(server, tmp_path):
    server.failures = [404]
    with pytest.raises(StoreError, match="answers 404"):
        download(server.url, tmp_path / "file.gz")
    assert len(server.asked) == 1
    server.failures = [503, 500]
    download(server.url, tmp_path / "file.gz", SHA256)
    assert len(server.asked) == 4


def test_no_network_is_an_error_with_a_way_out(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PAUSE_SECONDS", 0.0)
    with pytest.raises(StoreError, match="cannot be fetched: .*refused.*give csaw its path"):
        download("http://127.0.0.1:9/file.gz", tmp_path / "file.gz")


def test_a_folder_that_cannot_be_written_is_not_the_networks_fault(server, tmp_path):
    with pytest.raises(StoreError, match=r"file.gz.part: No such file"):
        download(server.url, tmp_path / "nowhere" / "file.gz")
    assert len(server.asked) == 1


def test_fetch_uses_the_file_that_is_there(tmp_path):
    (tmp_path / "web-Google.txt.gz").write_bytes(b"mine")
    entry = Entry("web-Google", "bigdata/web-Google.txt.gz", 1, 1, True)
    assert fetch(entry, tmp_path) == tmp_path / "web-Google.txt.gz"
