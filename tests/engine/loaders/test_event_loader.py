"""EventLoader gives events in their order, each with the neighbors that both ends had before."""

import numpy as np
import pytest
from helpers.machine import need_package
from helpers.neighbors_in_time import assert_neighbors_in_time

from csaw.partition.errors import OptionError

torch = need_package("torch")
pyg = need_package("torch_geometric")

from torch_geometric.data import Data, TemporalData
from torch_geometric.loader import TemporalDataLoader

from csaw.engine.loaders import EventLoader


def random_events(events=500, vertices=30, seed=3):
    rng = np.random.default_rng(seed)
    src, dst = (torch.from_numpy(rng.integers(0, vertices, events)) for _ in range(2))
    return TemporalData(
        src=src, dst=dst, t=torch.from_numpy(np.sort(rng.integers(0, 200, events))), msg=torch.rand(events, 4)
    )


@pytest.fixture(scope="module")
def data():
    return random_events()


def test_events_come_in_their_order_as_pygs_loader_gives_them(data):
    ours, theirs = EventLoader(data, [5], batch_size=64, device="cpu"), TemporalDataLoader(data, batch_size=64)
    assert len(ours) == len(theirs) == 8
    for a, b in zip(ours, theirs, strict=True):
        for name in ("src", "dst", "t", "msg"):
            assert torch.equal(a[name], b[name])
        assert torch.equal(a.n_id[a.src_node], a.src)
        assert torch.equal(a.n_id[a.dst_node], a.dst)
        assert torch.equal(a.seed_time, torch.cat([a.t, a.t]))
        assert torch.equal(a.n_id[: a.batch_size].unique(), b.n_id)


def test_some_events_have_neighbors_along_all_earlier_ones(data):
    whole = list(EventLoader(data, [5, 3], batch_size=50, device="cpu"))
    some = list(EventLoader(data, [5, 3], batch_size=50, events=slice(150, 320), device="cpu"))
    assert [len(batch.t) for batch in some] == [50, 50, 50, 20]
    for a, b in zip(whole[3:6], some, strict=False):  # the last neighbors are sure
        for name in ("src", "dst", "t", "msg", "n_id", "edge_index", "e_id", "edge_time", "batch"):
            assert torch.equal(a[name], b[name])
    assert torch.equal(some[3].t, data.t[300:320])
    assert torch.equal(some[3].edge_time, data.t[some[3].e_id])


@pytest.mark.parametrize("events", [slice(0, 10, 2), slice(20, 10), slice(500, None), 5, (1, 2)], ids=str)
def test_what_is_no_part_of_the_events_is_refused(data, events):
    with pytest.raises(OptionError, match="^events: expected "):
        EventLoader(data, [5], batch_size=10, events=events)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"temporal_strategy": "uniform"},
        {"temporal_strategy": "uniform", "replace": True, "time_window": 40},
        {"time_order": "monotone"},
    ],
)
def test_neighbors_came_along_earlier_events(data, options):
    sizes, events = (4, 2), list(zip(data.src.tolist(), data.dst.tolist(), data.t.tolist(), strict=True))
    both = events + [(v, u, t) for u, v, t in events]
    loader, choices = EventLoader(data, list(sizes), batch_size=50, device="cpu", **options), []
    for _ in range(10):
        for batch in loader:
            depth = torch.repeat_interleave(torch.arange(3), torch.tensor(batch.num_sampled_nodes)).tolist()
            assert torch.equal(batch.edge_time, data.t[batch.e_id])
            ends = torch.stack([data.src[batch.e_id], data.dst[batch.e_id]]).sort(dim=0).values
            assert torch.equal(batch.n_id[batch.edge_index].sort(dim=0).values, ends)
            found = {node: [] for node in range(len(depth))}
            for row, col, time in zip(*batch.edge_index.tolist(), batch.edge_time.tolist(), strict=True):
                found[col].append((int(batch.n_id[row]), time))
            now = batch.seed_time[batch.batch].tolist()
            for node, vertex in enumerate(batch.n_id.tolist()):
                if depth[node] < 2:
                    choices.append((vertex, now[node], sizes[depth[node]], found[node]))
    asked = {"time_strategy": options.get("temporal_strategy", "last"), "time_order": "strict"} | options
    drawn = assert_neighbors_in_time(choices, both, 30, asked)
    assert drawn[4] > 1000


def test_the_latest_are_the_same_in_each_epoch_and_a_transform_is_called(data):
    loader = EventLoader(data, [5], batch_size=64, device="cpu", transform=lambda batch: batch.e_id)
    first, second = list(loader), list(loader)
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))
    assert len(list(EventLoader(data, [5], batch_size=64, device="cpu", drop_last=True))) == 7
    halves = [list(EventLoader(data, [5], batch_size=64, device="cpu", rank=k, world=2)) for k in range(2)]
    together = [batch.e_id for half in halves for batch in half]
    assert all(torch.equal(a, b) for a, b in zip(first, together, strict=True))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"data": Data()}, "data: expected a TemporalData of PyTorch Geometric with src, dst and t, found Data"),
        ({"data": TemporalData()}, "data: expected a TemporalData"),
        ({"data": TemporalData(**{k: torch.zeros(0, dtype=torch.long) for k in ("src", "dst", "t")})}, "one event"),
        (
            {"data": TemporalData(src=torch.tensor([-1]), dst=torch.tensor([0]), t=torch.tensor([3]))},
            "expected vertices of at least 0, found -1",
        ),
        (
            {"data": TemporalData(src=torch.tensor([1]), dst=torch.tensor([0]), t=torch.tensor([0.5]))},
            "data.t: expected an integer for each of 1 events, found float32",
        ),
        ({"temporal_strategy": "first"}, "temporal_strategy: expected uniform or last, found 'first'"),
        ({"batch_size": 0}, "batch_size: expected an integer from 1 to 2147483647, found 0"),
        ({"shuffle": True}, "shuffle: expected none, because events come in their order"),
        ({"disjoint": False}, "disjoint: expected none, because events come in their order"),
        ({"time_strategy": "uniform"}, "time_strategy: expected none, because temporal_strategy determines which"),
        ({"epochs": 2}, "epochs: expected none, because each for loop is another epoch"),
        ({"ids": "original"}, "ids: expected none, because the ids of a loader are dense"),
        ({"seeds_per_batch": 2}, "seeds_per_batch: expected none, because batch_size is the number"),
        ({"fanout": 2}, "fanout: expected none, because num_neighbors is the number"),
        ({"instances": 2}, "instances: expected none, because the seeds and batch_size"),
        ({"share": (0, 2)}, "share is not an option of EventLoader"),
        (
            {"data": TemporalData(**{k: torch.tensor([k == "t"]) * -(2**63) for k in ("src", "dst", "t")})},
            "^data.t: expected times from .* which means no time, at entry 0",
        ),
        (
            {"data": TemporalData(src=torch.tensor([1]), dst=torch.tensor([0]))},
            "with src, dst and t, found TemporalData without t$",
        ),
        (
            {"data": TemporalData(src=torch.tensor([1]), dst=torch.tensor([0]), t=["now"])},
            r"data.t: expected an integer for each of 1 events, found \['now'\]",
        ),
        ({"replace": True}, "replace exclude each other"),
    ],
)
def test_what_cannot_be_is_refused(data, wrong, said):
    with pytest.raises(OptionError, match=said):
        EventLoader(**{"data": data, "num_neighbors": [3], "device": "cpu"} | wrong)
