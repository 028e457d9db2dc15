"""``layer --total M``: an instance of at least M vertices draws no further layer; up to there
it is the same instance.
"""

import numpy as np
import pytest
from helpers.graphs import arrays_of, random_store, store_of
from helpers.invariance import assert_same

from csaw.engine import prepare, sample
from csaw.engine.stores.verify import verify
from csaw.partition.errors import OptionError

LAYERS = {"neighbor_size": 6, "frontier_size": 2, "depth": 12, "seed": 3, "device": "cpu"}
TOTAL = 15


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return random_store(tmp_path_factory.mktemp("layer") / "g.zarr", vertices=300, edges=1200, partitions=5)


def instances(samples):
    """Of each instance its sources, and its edges as rows (src, dst, depth)."""
    bounds, sources = samples.instance_ptr[:], samples.sources[:].reshape(samples.instances, -1)
    rows = np.column_stack([samples.src[:], samples.dst[:], samples.depth[:]]).astype(np.int64)
    return [(sources[i].tolist(), rows[bounds[i] : bounds[i + 1]].tolist()) for i in range(samples.instances)]


@pytest.mark.parametrize("weighted", [True, False])
def test_an_instance_is_cut_after_the_layer_that_reaches_the_total(tmp_path, store, weighted):
    whole = sample(store, tmp_path / "w.zarr", "layer", weighted=weighted, **LAYERS)
    cut = sample(store, tmp_path / "c.zarr", "layer", weighted=weighted, total=TOTAL, **LAYERS)
    reached = 0
    for (sources, edges), (_, kept) in zip(instances(whole), instances(cut), strict=True):
        expected, met = [], set()
        for depth in range(LAYERS["depth"]):
            layer = [edge for edge in edges if edge[2] == depth]
            if len(sources) + len(met) >= TOTAL or not layer:
                break
            expected += layer
            met |= {dst for _, dst, _ in layer}
        reached += len(sources) + len(met) >= TOTAL
        assert kept == expected
    assert reached > 0
    assert len(cut.src) < len(whole.src)
    report = verify(cut.path)
    assert report.ok, [check for check in report.checks if not check.ok]


@pytest.mark.parametrize("weighted", [True, False])
def test_neither_threads_nor_partitions_change_a_byte(tmp_path, store, weighted):
    options = LAYERS | {"total": TOTAL, "weighted": weighted}
    reference = arrays_of(store, tmp_path / "s.zarr", "layer", threads=1, **options)
    assert_same(reference, arrays_of(store, tmp_path / "s.zarr", "layer", in_flight=7, residency="disk", **options))


@pytest.mark.parametrize("options", [{}, {"unique": True}, {"bias": "none", "total": TOTAL}])
def test_layers_without_a_limit_are_those_of_a_limit_that_is_never_reached(tmp_path, store, options):
    options = LAYERS | options
    endless = arrays_of(store, tmp_path / "n.zarr", "layer", **options | {"depth": None})
    assert_same(endless, arrays_of(store, tmp_path / "l.zarr", "layer", **options | {"depth": 300}))
    assert_same(
        endless,
        arrays_of(store, tmp_path / "d.zarr", "layer", in_flight=7, residency="disk", **options | {"depth": None}),
    )
    report = verify(tmp_path / "n.zarr")
    assert report.ok, [check for check in report.checks if not check.ok]


def test_verify_finds_layers_beyond_the_total(tmp_path, store):
    job = prepare(store, "layer", total=TOTAL, **LAYERS)
    drawn = sample(store, tmp_path / "s.zarr", "layer", **LAYERS | {"depth": len(job.algorithm.sizes())})
    node = tmp_path / "s.zarr" / "zarr.json"
    text = node.read_text()
    assert text.count('"total": null') == 1
    report = verify(rewritten(tmp_path / "t.zarr", drawn, TOTAL))
    assert [check.name for check in report.checks if not check.ok] == ["sizes", "request"]


def rewritten(path, samples, total):
    """The same arrays in a store whose request has another total."""
    from csaw.engine.samples import SampleWriter

    request = samples.manifest["request"]
    request = request | {"parameters": request["parameters"] | {"total": total}}
    with SampleWriter(
        path,
        samples.manifest | {"request": request},
        layout="subgraphs",
        instances=samples.instances,
        group_size=samples.instances,
        dense_dtype=np.uint32,
        ids="dense",
    ) as writer:
        writer.write(0, samples.group(0, samples.instances))
        writer.finish({})
    return path


def test_layers_of_one_vertex_go_on_as_long_as_the_total_allows(tmp_path):
    path = store_of(tmp_path / "g.zarr", [(v, v + 1, 1.0) for v in range(50)], directed=True)
    options = {"neighbor_size": 1, "depth": 65535, "sources": [0], "device": "cpu"}
    assert len(sample(path, tmp_path / "s.zarr", "layer", total=20, **options).src) == 19
    assert len(prepare(path, "layer", total=20, **options).plan.sizes) == 19


OWN = """
from csaw.engine.algorithm import Traversal


class Many(Traversal):
    total = 5
    collective = {collective}
    visited_once = {once}

    def sizes(self):
        return (3, 2)
"""


def test_a_total_that_cannot_end_anything_is_refused(tmp_path, store):
    with pytest.raises(OptionError, match="--total: expected more than the 2 sources of --frontier-size, found 2"):
        prepare(store, "layer", total=2, frontier_size=2)
    for collective, once in ((False, True), (True, False)):
        (tmp_path / "own.py").write_text(OWN.format(collective=collective, once=once))
        with pytest.raises(OptionError, match="many.(collective|visited_once): expected True with total, found False"):
            prepare(store, f"{tmp_path / 'own.py'}:Many")
