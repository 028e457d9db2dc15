"""Samples that are brought up to date on a GPU: the bytes of a full draw on a CPU."""

import pytest
from helpers.gpu import device_or_skip
from helpers.refreshed import compared, grown

device_or_skip()

DRAWN = [
    ("deepwalk", {"walk_length": 6}),
    ("node2vec", {"walk_length": 6, "p": 0.5, "q": 2.0}),
    ("ppr", {}),
    ("neighbor", {"fanout": (3, 2)}),
    ("minibatch", {"fanout": (3, 2), "seeds_per_batch": 4}),
    ("labor", {"frontier_size": 2, "fanout": (2, 2)}),
    ("layer", {"depth": 2, "neighbor_size": 3}),
    ("links", {"num_negatives": 2}),
]


@pytest.mark.parametrize(("algo", "options"), DRAWN, ids=lambda one: str(one)[:60])
@pytest.mark.parametrize("far", [False, True])
def test_it_has_the_bytes_of_a_full_draw(tmp_path, algo, options, far):
    compared(grown(tmp_path, far=far), tmp_path, algo, options, device="cuda")
