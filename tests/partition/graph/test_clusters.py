"""Clusters of vertices: of about equal size, the same for the same request, stored and checked like other arrays."""

import numpy as np
import pytest
from click.testing import CliRunner
from helpers.graphs import random_store
from helpers.machine import need_package

from csaw.cli.commands.partition import partition as command
from csaw.partition import IngestOptions, ingest, open_graph
from csaw.partition.errors import MissingDependencyError, OptionError, StoreError
from csaw.partition.graph.check import check_store
from csaw.partition.graph.clusters import make_clusters


def rings(path, count=12, size=30):
    """Rings of vertices, whose numbers are far apart, with one edge from each to the next."""
    edges = [(c + count * i, c + count * ((i + 1) % size)) for c in range(count) for i in range(size)]
    edges += [(c + count * i, c + count * ((i + 7) % size)) for c in range(count) for i in range(size)]
    edges += [(c, (c + 1) % count) for c in range(count)]
    path.write_text("".join(f"{u} {v}\n" for u, v in edges))
    return path


def cut(store, clusters):
    graph = store.load()
    row = np.repeat(np.arange(store.vertices), np.diff(graph.indptr))
    return float((clusters[row] != clusters[graph.indices]).mean())


def made(tmp_path, **options):
    return ingest(
        rings(tmp_path / "e.txt"), tmp_path / "g.zarr", IngestOptions(directed=False, overwrite=True, **options)
    )


@pytest.mark.parametrize("method", ["lp", "random", "metis"])
def test_clusters_are_of_about_equal_size_and_the_same_again(tmp_path, method):
    if method == "metis":
        need_package("pymetis")
    store = made(tmp_path, num_clusters=12, clustering=method)
    clusters = store.read_clusters()
    sizes = np.bincount(clusters, minlength=12)
    assert sizes.sum() == store.vertices == 360
    assert 1 <= sizes.min() <= sizes.max() <= 33
    assert store.fingerprint == made(tmp_path).fingerprint
    again = made(tmp_path, num_clusters=12, clustering=method)
    assert again.clusters == store.clusters
    assert (cut(again, clusters) < 0.3) == (method != "random")
    assert all(finding.ok for finding in check_store(again))


def test_a_random_order_depends_on_the_seed_alone(tmp_path):
    store = random_store(tmp_path / "g.zarr")
    one, other = (make_clusters(store, 7, "random", seed) for seed in (1, 2))
    assert (one != other).any()
    assert np.array_equal(one, make_clusters(store, 7, "random", 1))
    assert set(np.bincount(one)) == {42, 43}
    assert np.array_equal(make_clusters(store, 300, "lp", 0), make_clusters(store, 300, "lp", 5))


def test_a_changed_byte_is_found(tmp_path):
    store = made(tmp_path, num_clusters=5, clustering="random")
    file = store.path / "clusters" / "c" / "0"
    data = bytearray(file.read_bytes())
    data[8] ^= 1
    file.write_bytes(data)
    with pytest.raises(StoreError):
        open_graph(store.path).read_clusters()
    assert not all(finding.ok for finding in check_store(open_graph(store.path)))


def test_impossible_wishes_are_refused(tmp_path, monkeypatch):
    with pytest.raises(OptionError, match="--num-clusters: expected at most the graph's 360 vertices, found 361"):
        made(tmp_path, num_clusters=361, clustering="random")
    assert not (tmp_path / "g.zarr").exists()
    with pytest.raises(OptionError, match="--num-clusters: expected an integer from 1 on, or None, found 0"):
        made(tmp_path, num_clusters=0)
    with pytest.raises(OptionError, match="--clustering: expected metis, lp, random"):
        made(tmp_path, num_clusters=2, clustering="kmeans")
    monkeypatch.setitem(__import__("sys").modules, "pymetis", None)
    with pytest.raises(MissingDependencyError, match="pip install pymetis, or choose lp or random"):
        made(tmp_path, num_clusters=2)


def test_the_command_makes_them(tmp_path):
    words = [
        str(rings(tmp_path / "e.txt")),
        str(tmp_path / "g.zarr"),
        "--num-clusters",
        "9",
        "--clustering",
        "lp",
        "--clustering-seed",
        "3",
    ]
    assert CliRunner().invoke(command, words, catch_exceptions=False).exit_code == 0
    found = open_graph(tmp_path / "g.zarr").clusters
    assert (found.count, found.method, found.seed) == (9, "lp", 3)
