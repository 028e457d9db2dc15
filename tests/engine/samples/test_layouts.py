"""Layouts of samples: each answers for its arrays, and equals the name that manifests have."""

import copy
import json
import pickle

import numpy as np
import pytest
from helpers.graphs import random_store
from helpers.small_samples import HOPS, LINKS, RAGGED, SUBGRAPHS, some_walks

from csaw.engine import draw_batches, open_samples, prepare, sample
from csaw.engine.runs.sample_stream import OnDevice
from csaw.engine.samples.layouts import LAYOUTS
from csaw.engine.samples.opened import KeptSource, joined
from csaw.engine.samples.samples import Samples
from csaw.partition.errors import OptionError

FILL = 2**32 - 1
GROUPS = {"walks": some_walks(5), "ragged-walks": RAGGED, "hops": HOPS, "subgraphs": SUBGRAPHS, "links": LINKS}
EVERY = pytest.mark.parametrize("name", sorted(GROUPS))
DRAWN = {
    "walks": ("node2vec", {"walk_length": 5, "num_walks": 1}),
    "ragged-walks": ("ppr", {"walk_length": "none", "num_walks": 1}),
    "hops": ("neighbor", {"fanout": (3, 2), "instances": 40}),
    "batches": ("minibatch", {"fanout": (3, 2), "seeds_per_batch": 9}),
    "subgraphs": ("forest-fire", {"depth": 2, "instances": 40}),
    "links": ("links", {"num_negatives": 3, "instances": 40}),
}


def same(found, wanted):
    assert found.keys() == wanted.keys()
    for name, array in wanted.items():
        assert np.array_equal(found[name], array), name


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return random_store(tmp_path_factory.mktemp("layouts") / "g.zarr", vertices=60, edges=400)


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=str)
def test_a_layout_is_its_name_wherever_it_goes(layout):
    assert layout == layout.name
    assert {layout: 1}[layout.name] == 1
    assert json.loads(json.dumps({"layout": layout})) == {"layout": layout.name}
    for again in (pickle.loads(pickle.dumps(layout)), copy.deepcopy(layout)):
        assert again == layout
        assert type(again) is type(layout)


@EVERY
def test_what_is_cut_joins_again(name):
    layout, arrays = LAYOUTS[name], GROUPS[name]
    count = layout.edges_of_each(arrays, FILL).size
    same(joined(list(layout.cut(arrays, range(count + 1)))), arrays)
    for start, stop in ((0, count), (1, 3), (2, 2)):
        [part] = layout.cut(arrays, (start, stop))
        same(layout.rows(arrays, slice(start, stop)), part)


@EVERY
def test_edges_are_counted_as_they_are_listed(name):
    layout, arrays = LAYOUTS[name], GROUPS[name]
    counts = layout.edges_of_each(arrays, FILL)
    edges = layout.edges(arrays, FILL)
    assert np.array_equal(np.bincount(edges["instance"], minlength=counts.size), counts)
    sizes = layout.sizes(arrays, FILL)
    assert (sizes["edges"], sizes["instances"]) == (counts.sum(), counts.size)
    assert (sizes["least"], sizes["most"]) == (counts.min(), counts.max())


@EVERY
def test_sources_are_where_edges_begin(name):
    layout, arrays = LAYOUTS[name], GROUPS[name]
    sources, counts = layout.sources(arrays)
    assert counts.sum() == sources.size
    edges = layout.edges(arrays, FILL)
    owner = np.repeat(np.arange(counts.size), counts)
    for instance in np.unique(edges["instance"][edges["depth"] == 0]):
        assert edges["src"][edges["instance"] == instance][0] in sources[owner == instance]


@pytest.mark.parametrize("name", ["ragged-walks", "subgraphs"])
def test_rows_of_instances_that_differ_in_size_are_consecutive(name):
    with pytest.raises(OptionError, match=f"rows of {name}: expected consecutive ones, found a step of 2"):
        LAYOUTS[name].rows(GROUPS[name], slice(0, 3, 2))


@pytest.mark.parametrize("name", sorted(DRAWN))
def test_every_layout_is_the_same_stored_kept_and_in_part(tmp_path, store, name):
    algo, options = DRAWN[name]
    given = {"seed": 4, "device": "cpu", **options}
    stored = sample(store, tmp_path / "s.zarr", algo, **given)
    assert stored.layout == name
    assert type(stored.layout) is type(LAYOUTS[name])
    batches = [batch.arrays() for batch in draw_batches(prepare(store, algo, **given, in_flight=7))]
    kept = Samples(KeptSource(stored.source.attributes, batches, None, {}))
    count = stored.instances
    part = stored.part(0, count)
    for array in stored.arrays:
        assert np.array_equal(kept[array][:], stored[array][:]), array
        assert np.array_equal(part[array][:], stored[array][:]), array
    for start, stop in ((0, count + 1), (5, 2), (-1, 3)):
        for read in (kept.group, part.group, stored.group, stored.pyg, stored.part):
            with pytest.raises(OptionError, match=f"expected instances .* <= {count}, found {start}:{stop}"):
                read(start, stop)
    for start, stop in ((0, count), (1, count // 2), (count, count)):
        same(kept.group(start, stop), stored.group(start, stop))
        same(part.group(start, stop), stored.group(start, stop))
    assert kept.sizes == stored.sizes == open_samples(tmp_path / "s.zarr").sizes


@pytest.mark.parametrize("name", sorted(DRAWN))
def test_rows_of_a_batch_that_stays_on_its_device_are_whole_instances(store, name):
    algo, options = DRAWN[name]
    [batch] = draw_batches(prepare(store, algo, seed=4, device="cpu", **options))
    layout, arrays = LAYOUTS[name], batch.arrays()
    there = OnDevice(arrays, layout)
    same(there.arrays(slice(None)), arrays)
    same(there.arrays(slice(1, 3)), batch.arrays(slice(1, 3)))
