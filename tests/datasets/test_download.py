"""Downloads from a server that cuts, fails and redirects: parts of one file are joined, and nothing is written over."""

import gzip
import os
import urllib.request
from dataclasses import replace
from email.message import Message

import pytest
from helpers.file_server import BODY, ENTRY, NAME, Handler, left

from csaw.datasets import catalog
from csaw.datasets import download as module
from csaw.datasets.download import download
from csaw.partition.errors import StoreError


def test_a_cut_download_goes_on_where_it_stopped(server, tmp_path):
    server.cuts = [10_000, 8000]
    download(ENTRY, tmp_path / NAME)
    assert (tmp_path / NAME).read_bytes() == BODY
    assert server.asked == [None, "bytes=10000-", "bytes=18000-"]


def test_the_next_call_goes_on_where_the_last_gave_up(server, tmp_path):
    server.cuts = [1000] * module.ATTEMPTS
    with pytest.raises(StoreError, match="run the command again to continue"):
        download(ENTRY, tmp_path / NAME)
    assert not (tmp_path / NAME).exists()
    download(ENTRY, tmp_path / NAME)
    assert server.asked[-1] == f"bytes={1000 * module.ATTEMPTS}-"


def test_ctrl_c_keeps_what_can_be_gone_on_with(server, tmp_path):
    def stop(done, total):
        raise KeyboardInterrupt

    server.cuts = [1000]
    with pytest.raises(KeyboardInterrupt, match="1,000 bytes are kept; the same command continues"):
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
    return module.SafeRedirects().redirect_request(urllib.request.Request(start), None, 302, "Found", Message(), goal)


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
