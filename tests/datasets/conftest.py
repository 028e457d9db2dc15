"""What tests of downloads begin with."""

import threading

import pytest
from helpers.file_server import Server

from csaw.datasets import catalog
from csaw.datasets import download as module


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(module, "PAUSE_SECONDS", 0.0)
    with Server() as one:
        for collection in ("SNAP", "SUITESPARSE"):
            monkeypatch.setattr(catalog, collection, f"http://127.0.0.1:{one.server_port}/")
        thread = threading.Thread(target=one.serve_forever, args=(0.01,))
        thread.start()
        yield one
        one.endless = False
        one.shutdown()
        thread.join()
