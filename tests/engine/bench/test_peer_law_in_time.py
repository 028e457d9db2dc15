"""Walks in time of a peer are measured only if they follow the law of their work."""

import numpy as np
import pytest

from csaw.engine.bench.peers.csaw import Tool
from csaw.engine.bench.suites.peers import DRAWS, REJECT, chance_of_law, small_graph
from csaw.partition import write_graph

BIASES = ("uniform", "linear", "exponential-rank")


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """Of a bias, its walks on the graph of five vertices, in the form that peers give."""
    folder, graph = tmp_path_factory.mktemp("peers"), small_graph()
    store = folder / "timed.zarr"
    write_graph(store, graph.indptr, graph.indices, directed=False, edge_columns=graph.columns)

    def walks_by(bias):
        path = folder / f"{bias}.npy"
        if not path.exists():
            how = {"graph": str(store), "threads": 1, "length": 4, "rounds": DRAWS, "time_bias": bias}
            tool = Tool(how, None)
            np.save(path, tool.walks(tool.draw()))
        return path

    return walks_by


LIKE_OTHERS = pytest.mark.slow(reason="each bias compiles a kernel; walks by the others are held against this one, too")


@pytest.mark.parametrize("bias", [BIASES[0], pytest.param(BIASES[1], marks=LIKE_OTHERS), BIASES[2]])
@pytest.mark.parametrize("asked", BIASES)
def test_each_bias_is_told_from_the_others(drawn, bias, asked):
    chance = chance_of_law(drawn(bias), {"time_bias": asked})
    assert (chance >= REJECT) == (bias == asked), chance


def test_steps_back_in_time_are_no_law(drawn, tmp_path):
    walks = np.load(drawn("uniform"))
    long = np.flatnonzero(walks[:, 2] >= 0)[0]
    walks[long, 6], walks[long, 5] = walks[long, 5], walks[long, 6]
    np.save(tmp_path / "walks.npy", walks)
    assert chance_of_law(tmp_path / "walks.npy", {"time_bias": "uniform"}) == 0.0
