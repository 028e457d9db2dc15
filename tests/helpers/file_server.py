"""A server of one small graph file that cuts, lies and fails as a test wishes."""

import gzip
import hashlib
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

from csaw.datasets import catalog

EDGES = 8000
ENTRY = catalog.Entry("Tiny", "some/file.gz", EDGES, EDGES, True)
HEADER = b"# Directed graph\n# Nodes: %d Edges: %d\n# FromNodeId\tToNodeId\n" % (EDGES, EDGES)
ROWS = b"".join(b"%d\t%d\n" % (i, t) for i, t in enumerate(np.random.default_rng(1).permutation(EDGES).tolist()))
BODY = gzip.compress(HEADER + ROWS, mtime=0)
SHA256 = hashlib.sha256(BODY).hexdigest()
NAME = "file.gz"


class Server(ThreadingHTTPServer):
    """Serves ``body``; ``cuts`` are the bytes after which the next answers break off, ``failures`` their status codes.

    ``headers`` replace those of an answer; one that is None is left out. ``endless`` answers go on while somebody
    listens, ranges have ``most`` bytes.
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


def left(folder):
    return sorted(p.name for p in folder.iterdir())
