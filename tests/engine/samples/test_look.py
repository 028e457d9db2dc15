"""A look into a sample counts what the sample holds, and reads some of a large one."""

from collections import Counter

import pytest

from csaw.datasets.resolve import resolve
from csaw.engine import sample
from csaw.engine.samples import describe as module
from csaw.engine.samples.describe import look
from csaw.engine.stores import open_samples

CASES = {
    "deepwalk": {"walk_length": 5},
    "ppr": {"num_walks": 3},
    "neighbor": {"fanout": (3, 2)},
    "forest-fire": {"burn_prob": 0.3},
    "minibatch": {"fanout": (3, 2), "seeds_per_batch": 5},
    "saint-node": {"subgraph_nodes": 4, "instances": 3},
}


def counted(samples):
    """Sizes of instances and times of vertices, by dictionaries."""
    sizes, times, met = [], Counter(), set()
    for number in range(samples.instances):
        if samples.has_walks:
            walk = samples.walk(number).tolist()
            sizes.append(len(walk) - 1)
            times.update(walk)
        elif samples.layout == "hops":
            hops = [[v for v in hop[number].tolist() if v != samples.fill] for hop in samples.hops]
            sizes.append(sum(map(len, hops[1:])))
            times.update(v for hop in hops for v in hop)
        elif samples.layout == "batches":
            batch = samples.minibatch(number)
            sizes.append(len(batch["row"]))
            times.update(batch["n_id"][end] for ends in (batch["row"], batch["col"]) for end in ends)
            met |= set(batch["n_id"].tolist())
        else:
            arrays = samples.group(number, number + 1)
            sizes.append(len(arrays["src"]))
            times.update([*arrays["src"].tolist(), *arrays["dst"].tolist()])
            met |= set(arrays["sources"].tolist()) | set(arrays.get("vertices", arrays["sources"]).tolist())
    return sizes, {int(v): times[v] for v in set(times) | met}


def in_bins(bins, values):
    assert [b["count"] for b in bins] == [sum(b["from"] <= v <= b["to"] for v in values) for b in bins]
    assert sum(b["count"] for b in bins) == len(values)
    assert (bins[0]["from"], bins[-1]["to"]) == (min(values), max(values))


@pytest.mark.parametrize("name", CASES)
def test_a_look_counts_what_a_sample_holds(tmp_path, name):
    samples = sample(resolve("karate"), tmp_path / "s.zarr", name, device="cpu", **CASES[name])
    found, (sizes, times) = look(samples), counted(samples)
    assert found["instances"] == samples.instances
    assert found["vertices"] == len(times)
    in_bins(found["sizes"], sizes)
    (bins,) = found["vertices_by"].values()
    in_bins(bins, list(times.values()))


def test_a_look_reads_some_instances_of_a_large_sample(tmp_path, monkeypatch):
    samples = sample(resolve("karate"), tmp_path / "s.zarr", walk_length=9, num_walks=10, device="cpu")
    monkeypatch.setattr(module, "NUMBERS", 100)
    read = []
    monkeypatch.setattr(
        samples, "group", lambda first, last: read.append((first, last)) or type(samples).group(samples, first, last)
    )
    assert look(samples)["instances"] == 8
    assert read == [(41, 43), (126, 128), (211, 213), (296, 298)]
    del read[:]
    monkeypatch.setattr(module, "HASHED", 340 * (10 + 1) * 4 * 2)  # two runs of files with ids and lengths
    assert look(samples)["instances"] == 10
    assert read == [(83, 88), (253, 258)]
    del read[:]
    monkeypatch.setattr(module, "HASHED", 1)
    assert look(samples)["instances"] == 10
    assert read == [(165, 175)]
    monkeypatch.setattr(module, "LARGEST", 1)
    assert look(samples) is None


def test_nothing_is_drawn_for_a_look_at_a_virtual_sample(tmp_path):
    from csaw.engine import prepare
    from csaw.engine.runs.virtual import commit_virtual

    commit_virtual(prepare(resolve("karate"), device="cpu"), tmp_path / "v.zarr")
    assert look(open_samples(tmp_path / "v.zarr")) is None
