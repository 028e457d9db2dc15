"""A file that may not be read is no reason to make a store anew."""

import pytest
from helpers.graphs import random_store

import csaw
from csaw.engine.samples import stored
from csaw.partition.arrays import loader
from csaw.partition.errors import StoreError


def refused(*_, **__):
    raise PermissionError(13, "Permission denied")


def test_what_may_not_be_read_is_asked_for_and_not_made_anew(tmp_path, monkeypatch):
    graph = random_store(tmp_path / "g.zarr", vertices=60, edges=300)
    samples = csaw.sample(graph, tmp_path / "s.zarr", "deepwalk", walk_length=5, device="cpu")
    monkeypatch.setattr(stored, "open_regular", refused)
    with pytest.raises(StoreError, match=r"cannot be read: Permission denied; ask its owner for permission$"):
        samples.walks[:2]
    monkeypatch.setattr(loader, "open_regular", refused)
    with pytest.raises(StoreError, match=r"cannot be opened: Permission denied; ask its owner for permission$"):
        csaw.open_graph(tmp_path / "g.zarr").load()
