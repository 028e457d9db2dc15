"""The suite of layers sets a rate beside a published one where both are of one work on graphs of one size."""

import numpy as np
import pytest
from helpers.bench import GRAPH, bench

from csaw.datasets.generate import generate
from csaw.engine.bench.bench_row import figure, measured
from csaw.engine.bench.graphs import in_clusters
from csaw.engine.bench.suites import sampling


def row(work=sampling.GSAMPLER.name, vertices=2_449_029, edges=123_718_280, rate=1000.0):
    return {"work": work, "graph": "g", "vertices": vertices, "stored_edges": edges, **figure([rate], sampling.UNIT)}


def test_the_published_rate_is_that_of_an_epoch():
    assert sampling.EPOCH_BATCHES == 385
    assert pytest.approx(308) == sampling.GSAMPLER_RATE


@pytest.mark.parametrize(("rate", "met"), [(1000.0, True), (900.0, False)])
def test_a_rate_is_judged_by_three_times_the_published_one(rate, met):
    one = row(rate=rate)
    one |= sampling._beside_published(one, "a GPU")
    assert one["times"] == pytest.approx(rate / 308)
    assert one["goal"] == pytest.approx(924)
    assert sampling.layers_verdict([one]) == (met, f"{rate:,.0f} a second on g{'' if met else ', too few'}")


@pytest.mark.parametrize("other", [{"work": sampling.LAYERS[1].name}, {"vertices": 5_000_000}, {"edges": 60_000_000}])
def test_other_works_and_graphs_of_other_sizes_are_not_compared(other):
    assert sampling._beside_published(row(**other), "a GPU") == {}
    assert sampling.layers_verdict([row(**other)]).holds is None


def test_rates_count_samples():
    assert {work.unit for work in sampling.LAYERS} == {"samples/s"}


def test_cluster_gcn_is_measured_where_the_store_has_no_clusters(tmp_path):
    _, _, rows = bench(GRAPH, "--quick", "--suite", "layers", "--only", "ClusterGCN", folder=tmp_path)
    (found,) = measured(rows, work="ClusterGCN, 20 clusters (NextDoor)")
    assert found["instances"] == 200
    made = generate(GRAPH, tmp_path / "made.zarr")
    clusters = in_clusters(made, 20).read_clusters()
    assert np.bincount(clusters).tolist() == pytest.approx([made.vertices / 20] * 20, abs=1)
    assert in_clusters(in_clusters(made, 20), 20).clusters.count == 20
