"""Claims about the arrays that loaders are given: nothing of them is lost, masked or overwritten without an error."""

import sys
import threading
import warnings

import numpy as np
import pytest
from helpers.machine import need_package

import csaw
from csaw.partition.errors import BudgetError, CsawError, OptionError

torch = need_package("torch")
pyg = need_package("torch_geometric")

from torch_geometric.data import Data, TemporalData

from csaw.engine.loaders import EventLoader, LayerLoader, NeighborLoader, NeighborSampler
from csaw.engine.loaders.mini_batches import EpochLoader

VERTICES = 7
HERE = {"device": "cpu", "batch_size": 3}
MASKED = "expected a value at each place, found 1 of {} masked; leave these rows out, or fill them"


def ring():
    return csaw.graph([(k, (k + 1) % VERTICES) for k in range(VERTICES)])


def data_with(**attributes):
    ends = torch.tensor([[1, 2, 3], [0, 0, 0]])
    return Data(edge_index=ends, num_nodes=5, **attributes)


def masked(count, dtype=None):
    return np.ma.array(np.arange(count, dtype=dtype), mask=[place == 1 for place in range(count)])


def refusal(call):
    """The error of a call, without what it names first."""
    with pytest.raises(CsawError) as caught:
        call()
    return type(caught.value), str(caught.value).partition(": expected")[2]


@pytest.mark.parametrize(
    "weights",
    [
        torch.tensor([1e-50, 1.0, 1.0], dtype=torch.float64),
        torch.tensor([-1e-50, 1.0, 1.0], dtype=torch.float64),
        torch.tensor([1e39, 1.0, 1.0], dtype=torch.float64),
        torch.tensor([1 + 5j, 1, 1]),
        torch.tensor([-1.0, 1.0, 1.0]),
        torch.ones(4),
    ],
    ids=str,
)
def test_weights_are_refused_as_csaw_graph_refuses_them(weights):
    data = data_with(edge_weight=weights)
    expected = refusal(lambda: csaw.graph(data))
    assert refusal(lambda: NeighborLoader(data, [2], weight_attr="edge_weight", **HERE)) == expected
    assert refusal(lambda: LayerLoader(data, [2], weight_attr="edge_weight", **HERE)) == expected
    assert refusal(lambda: NeighborSampler(data, [2], weight_attr="edge_weight", device="cpu")) == expected


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        (masked(3, float), MASKED.format(3)),
        (np.array(["a", "b", "c"]), "expected a number for each edge, found 'a'"),
        (["a", "b", "c"], "expected a number for each edge, found 'a'"),
        (torch.ones(3).to_sparse(), "expected a dense tensor, found a sparse one"),
        (torch.tensor(1.0), r"expected a number for each of 3 edges, found the shape \(1,\)"),
    ],
)
def test_weights_that_are_no_numbers_are_refused(weights, said):
    with pytest.raises(OptionError, match=f"^weight_attr: {said}"):
        LayerLoader(data_with(w=weights), [2], weight_attr="w", **HERE)


@pytest.mark.parametrize(
    "weights",
    [
        torch.tensor([0, 2, 2]),
        torch.tensor([0, 2, 2]).to(torch.uint64),
        np.array([0, 2, 2], np.longdouble),
        np.array([0, 2, 2], object),
        torch.tensor([[0.0], [2.0], [2.0]]),
    ],
)
def test_weights_of_any_type_are_read(weights):
    both = [data_with(w=weights), data_with(w=torch.tensor([0.0, 2.0, 2.0]))]
    asked = {"weight_attr": "w", "self_loops": False, "normalize": "none"}
    given, plain = (next(iter(LayerLoader(one, [9], [0], **asked, **HERE))) for one in both)
    assert sorted(given.n_ids[0].tolist()) == [2, 3]
    assert given.n_ids[0].tolist() == plain.n_ids[0].tolist()
    assert given.adjs[0].to_dense().tolist() == plain.adjs[0].to_dense().tolist()


def test_masked_arrays_are_refused():
    store, timed = ring(), data_with(time=torch.arange(3))
    times = data_with(time=masked(3))
    said = {
        "features: x": lambda: NeighborLoader(store, [1], features={"x": masked(7, float)}, **HERE),
        "edge_features: x": lambda: NeighborLoader(store, [1], edge_features={"x": masked(7, float)}, **HERE),
        "features": lambda: LayerLoader(store, [1], features=masked(7, float), **HERE),
        "labels": lambda: LayerLoader(store, [1], labels=masked(7), **HERE),
        "data.x": lambda: NeighborLoader(data_with(x=masked(5)), [1], **HERE),
        "time_attr": lambda: NeighborLoader(times, [1], [0], time_attr="time", input_time=[2], **HERE),
        "input_time": lambda: NeighborLoader(timed, [1], [0, 1, 2], time_attr="time", input_time=masked(3), **HERE),
    }
    for name, call in said.items():
        with pytest.raises(OptionError, match=f"^{name}: {MASKED.format('.')}$"):
            call()


@pytest.mark.parametrize("key", [masked(3), (masked(3), 0), (slice(None), masked(3)), np.ma.masked], ids=str)
def test_rows_of_samples_have_no_masked_numbers(key):
    walks = csaw.sample(ring(), algo="deepwalk", walk_length=3).walks
    assert walks[np.ma.array([0, 1])].tolist() == walks[:2].tolist()
    with pytest.raises(OptionError, match="^rows: expected a value at each place, found 1 of . masked"):
        walks[key]


OWN = ("n_id", "e_id", "edge_index", "input_id", "batch_size", "num_nodes", "num_sampled_nodes", "num_sampled_edges")


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("argument", ["features", "edge_features"])
def test_features_do_not_overwrite_what_mini_batches_have(name, argument):
    with pytest.raises(OptionError, match=f"^{argument}: expected a name other than those of .*, found '{name}'"):
        NeighborLoader(ring(), [1], **HERE, **{argument: {name: np.arange(VERTICES)}})


def test_names_are_taken_only_where_mini_batches_have_them():
    both = {"batch": np.arange(VERTICES), "y": np.arange(VERTICES)}
    [batch] = NeighborLoader(ring(), [1], features=both, **HERE | {"batch_size": 7})
    assert batch.y.tolist() == batch["batch"].tolist() == batch.n_id.tolist()
    labelled = {"sources": {"ids": np.array([0, 2]), "y": np.array([1.0, 2.0])}}
    for asked, name in ((labelled, "y"), ({"disjoint": True}, "batch")):
        with pytest.raises(OptionError, match=f"^features: expected a name .*, found '{name}'"):
            NeighborLoader(ring(), [1], features=both, **HERE, **asked)
    with pytest.raises(OptionError, match="^edge_features: expected a name other than those in features, found 'y'"):
        NeighborLoader(ring(), [1], features=both, edge_features={"y": np.arange(VERTICES)}, **HERE)


@pytest.mark.parametrize(("argument", "name", "rows"), [("features", "n_id", 5), ("edge_features", "e_id", 3)])
def test_features_are_not_gathered_by_numbers_of_the_data(argument, name, rows):
    data = data_with(**{name: torch.zeros(rows, dtype=torch.int64)})
    assert len(NeighborLoader(data, [1], **HERE)) == 2
    with pytest.raises(OptionError, match=f"^{argument}: expected data without {name}, by which they are gathered"):
        NeighborLoader(data, [1], **HERE, **{argument: {"x": np.arange(rows)}})


@pytest.mark.parametrize("loader", [NeighborLoader, LayerLoader, NeighborSampler])
def test_induced_subgraphs_are_refused_with_the_argument_for_them(loader):
    with pytest.raises(OptionError, match="^induced: expected False, found True; .*subgraph_type="):
        loader(ring(), [1], device="cpu", induced=True)
    loader(ring(), [1], device="cpu", induced=False).close()


@pytest.mark.parametrize("width", [16, 32, 64])
def test_unsigned_integers_are_gathered_to_the_last_bit(width):
    most = 2**width - 1
    held = np.full(VERTICES, most, f"u{width // 8}")
    for given in (held, torch.from_numpy(held), np.stack([held, held], 1)):
        [batch] = NeighborLoader(ring(), [1], features={"x": given}, **HERE | {"batch_size": 7})
        [layers] = LayerLoader(ring(), [1], labels=given, **HERE | {"batch_size": 7})
        assert batch.x.dtype == layers.y.dtype == torch.from_numpy(held).dtype
        assert np.unique(batch.x.numpy()).tolist() == np.unique(layers.y.numpy()).tolist() == [most]


def odd_tensors(rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of PyTorch: these are prototypes
        one = torch.ones(rows, 2)
        return {
            "csr": torch.eye(rows).to_sparse_csr(),
            "nested": torch.nested.nested_tensor([torch.zeros(2)] * rows),
            "meta": torch.zeros(rows, 2, device="meta"),
            "masked": torch.masked.masked_tensor(one, one > 0),
        }


@pytest.mark.parametrize("kind", odd_tensors(1))
def test_tensors_without_rows_to_select_are_refused_at_once(kind):
    held = odd_tensors(VERTICES)[kind]
    with pytest.raises(OptionError, match="^features: x: expected "):
        NeighborLoader(ring(), [1], features={"x": held}, **HERE)
    with pytest.raises(OptionError, match="^features: expected "):
        LayerLoader(ring(), [1], features=held, **HERE)


@pytest.mark.parametrize(
    "held", [torch.arange(5).to(torch.uint64), [1, 2, 3, 4, 5], np.ones(5, np.longdouble)], ids=str
)
def test_attributes_without_rows_to_select_are_refused_at_once(held):
    with pytest.raises(
        OptionError, match="^data.x: expected a dense tensor or array whose rows can be selected, found"
    ):
        NeighborLoader(data_with(x=held), [1], **HERE)


@pytest.mark.parametrize(
    "events", [slice(1.5, 2), slice("a"), slice(0, 2, 1.0), slice(0, 2, 0), range(2), None], ids=str
)
def test_events_that_are_no_integers_are_refused(events):
    data = TemporalData(src=torch.arange(3), dst=torch.arange(3), t=torch.arange(3))
    with pytest.raises(OptionError, match="^events: expected a slice of integers without a step"):
        EventLoader(data, [1], events=events, **HERE)


@pytest.mark.parametrize("vertex", [2**40, 2**62])
def test_vertices_whose_rows_no_memory_holds_are_refused(vertex):
    events = TemporalData(src=torch.tensor([vertex]), dst=torch.tensor([1]), t=torch.tensor([1]))
    data = Data(edge_index=torch.tensor([[vertex], [1]]), num_nodes=vertex + 1)
    for call in (
        lambda: EventLoader(events, [1], **HERE),
        lambda: NeighborLoader(data, [1], [0], **HERE),
        lambda: LayerLoader(data, [1], [0], **HERE),
    ):
        with pytest.raises(BudgetError, match="number only the vertices that have edges"):
            call()


class Counted:
    """Epochs of three mini-batches, each its epoch and its number."""

    epochs, first, last = 1 << 20, 0, 3

    def draw(self, epoch):
        for number in range(3):
            threading.Event().wait(0.0005)
            yield [(epoch, number)]

    def close(self):
        pass


class CountedLoader(EpochLoader):
    def __init__(self):
        self.drawn = Counted()

    def _finished(self, drawn):
        return drawn


def test_several_threads_may_loop_over_one_loader(monkeypatch):
    monkeypatch.setattr(threading, "excepthook", lambda _: None)  # what is missing below says enough
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for _ in range(20):
            loader, seen = CountedLoader(), []
            threads = [
                threading.Thread(target=lambda kept, read: kept.extend(x for _ in range(6) for x in read), args=each)
                for each in [(seen, loader)] * 4
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            loader.close()
            assert sorted(seen) == [(epoch, number) for epoch in range(24) for number in range(3)]
    finally:
        sys.setswitchinterval(usual)
