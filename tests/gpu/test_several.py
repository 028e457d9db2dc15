"""Several GPUs give the sample of one, each with the graph, with a part of it, or with a share of one host copy."""

import pytest
from helpers.gpu import device_or_skip, every_case, need_gpus, on_cpu
from helpers.graphs import arrays_of, random_store
from helpers.invariance import assert_same

from csaw.engine import prepare
from csaw.engine.plan import planning as plans

device_or_skip()


@pytest.fixture
def gpus(monkeypatch):
    """All GPUs, as ``--device`` names them; groups are small, so that there is something to do for each."""
    count = need_gpus()
    monkeypatch.setattr(plans, "GROUP_BYTES", 1 << 13)
    return "cuda:" + ",".join(str(number) for number in range(count))


@pytest.mark.parametrize("algo", ["deepwalk", "node2vec", "neighbor", "forest-fire", "multidimensional"])
def test_several_gpus_draw_what_one_does(tmp_path, gpus, algo):
    store = random_store(tmp_path / "g.zarr")
    options = {"num_walks": 60} if algo in ("deepwalk", "node2vec") else {"instances": 3000}
    expected = arrays_of(store, tmp_path / "s.zarr", algo, seed=5, device="cuda", **options)
    drawn = arrays_of(store, tmp_path / "s.zarr", algo, seed=5, device=gpus, in_flight=1000, **options)
    assert_same(expected, drawn)


@every_case
def test_a_graph_spread_over_gpus_gives_the_sample_of_a_resident_one(tmp_path, gpus, algo, options):
    options = {name: value for name, value in options.items() if name not in ("layout", "transit_parallel")}
    store = random_store(tmp_path / "g.zarr", vertices=400, edges=6000, partitions=7)
    expected = arrays_of(store, tmp_path / "s.zarr", algo, seed=5, **on_cpu(options))
    drawn = arrays_of(store, tmp_path / "s.zarr", algo, seed=5, device=gpus, residency="pooled", **options)
    assert_same(expected, drawn)


@pytest.mark.parametrize("residency", ["streamed", "disk"])
@pytest.mark.parametrize("algo", ["deepwalk", "biased", "node2vec", "neighbor", "forest-fire"])
def test_gpus_that_share_a_host_copy_draw_what_one_does(tmp_path, gpus, algo, residency):
    store = random_store(tmp_path / "g.zarr", vertices=400, edges=6000, partitions=6)
    options = (
        {"num_walks": 30, "walk_length": 20} if algo in ("deepwalk", "biased", "node2vec") else {"instances": 3000}
    )
    expected = arrays_of(store, tmp_path / "s.zarr", algo, seed=5, **options)
    given = {
        "device": gpus,
        "seed": 5,
        "in_flight": 1000,
        "residency": residency,
        **options,
    }
    plan = prepare(store, algo, **given).plan
    memory = plan.fixed_bytes + plan.batch_bytes + plan.graph_bytes // 2
    assert_same(expected, arrays_of(store, tmp_path / "t.zarr", algo, gpu_memory=memory, **given))


def test_what_a_failed_gpu_leaves_is_done_by_another(tmp_path, gpus, monkeypatch, caplog):
    import cupy

    from csaw.engine.cuda.batches.walks import Walks

    store = random_store(tmp_path / "g.zarr")
    options = {"num_walks": 60, "seed": 5}
    expected = arrays_of(store, tmp_path / "s.zarr", "deepwalk", **options)
    advance = Walks.advance

    def advance_or_fail(self):
        if self.backend.device.id == 1:
            raise cupy.cuda.runtime.CUDARuntimeError(700)
        advance(self)

    monkeypatch.setattr(Walks, "advance", advance_or_fail)
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", "deepwalk", device=gpus, in_flight=1000, **options))
    assert "the other GPUs take over its work" in caplog.text
