"""Exports of links have a row for each pair: the link with label 1, its negatives with 0; others say what they lack."""

import csv

import numpy as np
import pytest
from helpers.graphs import store_of
from helpers.machine import need_package

import csaw
from csaw.engine.export.common import lacking
from csaw.engine.export.writers import graphml
from csaw.partition.errors import OptionError

FULL = [(0, 1, 1), (0, 2, 1), (0, 3, 1), (1, 2, 1), (3, 0, 1)]


@pytest.fixture(scope="module", params=["numbers", "words"])
def samples(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("links")
    store = store_of(folder / "g.zarr", FULL, directed=True)
    if request.param == "words":
        text = "".join(f"v{u} v{v}\n" for u, v, _ in FULL)
        (folder / "e.txt").write_text(text)
        store = csaw.partition(folder / "e.txt", folder / "w.zarr", directed=True, progress=False)
    options = {"sources": "all", "num_negatives": 2, "skip_full": True, "seed": 1, "device": "cpu"}
    return csaw.sample(store, folder / "s.zarr", algo="links", **options)


def pairs(samples):
    """The rows of a table, from the arrays. Vertex 0 has an edge to all others, so its links have no negatives."""
    named = (
        (lambda ids: [str(one) for one in samples.names(ids)]) if samples.ids == "names" else (lambda ids: ids.tolist())
    )
    rows = []
    for k, (link, negatives) in enumerate(zip(samples["links"][:], samples["negatives"][:], strict=True)):
        source, target = named(link)
        others = named(negatives[negatives != samples.fill])
        rows += [(k, source, target, 1), *((k, source, other, 0) for other in others)]
    return rows


def test_tables_have_a_row_for_each_pair(samples, tmp_path):
    wanted = pairs(samples)
    assert sum(row[3] == 0 for row in wanted) == 4
    csaw.export(samples, tmp_path / "p.csv")
    head, *rows = csv.reader((tmp_path / "p.csv").read_text().splitlines())
    assert head == ["instance", "src", "dst", "label"]
    assert rows == [[str(cell) for cell in row] for row in wanted]
    csaw.export(samples, tmp_path / "p.txt")
    assert (tmp_path / "p.txt").read_text() == "".join(" ".join(map(str, row)) + "\n" for row in wanted)
    csaw.export(samples, tmp_path / "p.npy")
    assert [tuple(row) for row in np.load(tmp_path / "p.npy").tolist()] == wanted


def test_parquet_and_pandas_have_the_same_rows(samples, tmp_path):
    pq = need_package("pyarrow.parquet")
    csaw.export(samples, tmp_path / "p.parquet")
    assert [tuple(row.values()) for row in pq.read_table(tmp_path / "p.parquet").to_pylist()] == pairs(samples)
    assert [tuple(row) for row in samples.to_pandas().itertuples(index=False)] == pairs(samples)


def test_graphml_says_that_it_lacks_negatives_and_batches_are_refused(samples, tmp_path):
    csaw.export(samples, tmp_path / "p.graphml")
    assert (tmp_path / "p.graphml").read_text().count("<edge ") == len(FULL)
    assert list(lacking(samples, graphml.LACKS, 1)) == ["negatives"]
    for name in ("p.npz", "p.pt"):
        with pytest.raises(OptionError, match="PyTorch Geometric has no batch of them"):
            csaw.export(samples, tmp_path / name)
