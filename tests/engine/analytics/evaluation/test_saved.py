"""Saved columns come back with the ids that they were found for, and bias walks."""

import csv
import errno
import os

import numpy as np
import pytest
from helpers.graphs import random_store
from helpers.machine import need_package
from helpers.stats import assert_drawn_from

from csaw.engine import open_samples, sample
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.evaluation.saved import save_columns
from csaw.engine.analytics.measure import find
from csaw.engine.sources.given_columns import read_columns
from csaw.partition import IngestOptions, ingest, open_graph
from csaw.partition.errors import OptionError, StoreError

INTEGERS = "30 10\n10 7\n10 -5\n7 30\n-5 7\n"
WORDS = "zoë,a\na,b c\na,zoë\n"


def stored(tmp_path, text, **options):
    (tmp_path / "edges.txt").write_text(text)
    ingest(tmp_path / "edges.txt", tmp_path / "g.zarr", IngestOptions(**options))
    return open_graph(tmp_path / "g.zarr")


def columns_of(store):
    return {"pagerank": np.linspace(0.1, 1 / 3, store.vertices), "core": np.arange(store.vertices) * 5}


@pytest.fixture(params=["integers", "words", "dense"])
def store(request, tmp_path):
    if request.param == "dense":
        return random_store(tmp_path / "g.zarr")
    return stored(tmp_path, INTEGERS) if request.param == "integers" else stored(tmp_path, WORDS, id_type="string")


def test_npz_is_what_columns_are_read_from(store, tmp_path):
    wanted = columns_of(store)
    save_columns(wanted, store, tmp_path / "c.npz")
    found = read_columns(tmp_path / "c.npz", store)
    assert found.names == ("core", "pagerank")
    assert np.array_equal(found.table, [wanted["core"], wanted["pagerank"]])


def test_csv_and_parquet_have_the_ids_and_numbers(store, tmp_path):
    parquet = need_package("pyarrow.parquet")
    wanted = columns_of(store)
    for suffix in ("csv", "parquet"):
        save_columns(wanted, store, tmp_path / f"c.{suffix}")
    ids = store.original_ids(np.arange(store.vertices)).tolist()
    with (tmp_path / "c.csv").open(newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    assert head == ["ids", "pagerank", "core"]
    assert [row[0] for row in rows] == [str(one) for one in ids]
    assert [float(row[1]) for row in rows] == wanted["pagerank"].tolist()
    table = parquet.read_table(tmp_path / "c.parquet").to_pydict()
    assert table == {"ids": ids, **{name: column.tolist() for name, column in wanted.items()}}


def test_a_saved_pagerank_biases_a_walk(tmp_path):
    store = stored(tmp_path, "5 10\n5 30\n5 20\n10 5\n20 5\n30 20\n20 10\n")
    values = find("pagerank")().findings(HostNetwork(store))["pagerank"].values
    save_columns({"pagerank": values}, store, tmp_path / "c.npz")
    sample(
        store,
        tmp_path / "w.zarr",
        "deepwalk",
        columns=tmp_path / "c.npz",
        edge_bias="e.column('pagerank', e.dst)",
        walk_length=1,
        sources=[5],
        instances=4000,
        weighted=False,
    )
    walks = open_samples(tmp_path / "w.zarr").walks
    drawn = dict(zip(*np.unique(walks[:, 1], return_counts=True), strict=True))
    there = store.dense_ids(np.array([10, 20, 30]))
    assert_drawn_from([drawn.get(one, 0) for one in (10, 20, 30)], values[there])


def test_a_file_that_is_there_stays_unless_it_may_be_replaced(store, tmp_path):
    save_columns(columns_of(store), store, tmp_path / "c.npz")
    before = (tmp_path / "c.npz").read_bytes()
    with pytest.raises(StoreError, match="exists already; pass --overwrite to replace it, or choose another name"):
        save_columns({"core": np.zeros(store.vertices)}, store, tmp_path / "c.npz")
    assert (tmp_path / "c.npz").read_bytes() == before
    save_columns({"core": np.zeros(store.vertices)}, store, tmp_path / "c.npz", overwrite=True)
    assert read_columns(tmp_path / "c.npz", store).names == ("core",)


def test_nothing_is_left_where_the_disk_is_full(store, tmp_path, monkeypatch):
    def fail(file, **arrays):
        file.write(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(np, "savez", fail)
    with pytest.raises(StoreError, match="No space left on device; nothing is left under its name"):
        save_columns(columns_of(store), store, tmp_path / "c.npz")
    assert not (tmp_path / "c.npz").exists()


def test_equal_columns_make_equal_files(store, tmp_path):
    for name in ("one.npz", "two.npz"):
        save_columns(columns_of(store), store, tmp_path / name)
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()


def test_what_a_format_cannot_hold_is_refused(tmp_path):
    with pytest.raises(OptionError, match="1,100 characters, but only 1,024 are allowed"):
        save_columns({}, stored(tmp_path, f"{'x' * 1100},b\n", id_type="string"), tmp_path / "c.npz")
    other = random_store(tmp_path / "r.zarr")
    with pytest.raises(OptionError, match="expected a name ending in .npz, .csv, .parquet"):
        save_columns({}, other, tmp_path / "c.txt")
    with pytest.raises(OptionError, match="core: expected a number for each of 300 vertices"):
        save_columns({"core": np.zeros(1)}, other, tmp_path / "c.csv")
    with pytest.raises(OptionError, match="a column cannot be called ids"):
        save_columns({"ids": np.zeros(300)}, other, tmp_path / "c.npz")
