"""Sentences of the guides about edges of weight 0, sources, rounds and graphs in memory, each tried."""

import numpy as np
import pytest

import csaw
from csaw.partition.errors import OptionError

ZERO = [(0, 1, 0.0), (1, 0, 0.0), (0, 2, 1.0), (2, 0, 1.0), (1, 2, 1.0), (2, 1, 1.0)]
RUN = {"device": "cpu", "threads": 1, "seed": 3}
BY_WEIGHT = {"deepwalk": {"num_walks": 50, "walk_length": 20}, "neighbor": {"fanout": "2,2", "instances": 60}}
WHATEVER_WEIGHT = {
    "metropolis-hastings": {"num_walks": 50, "walk_length": 20},
    "labor": {"fanout": "2", "instances": 60},
    "random-edge": {"instances": 60},
    "saint-edge": {"instances": 60},
    "biased": {"bias": "degree", "num_walks": 50, "walk_length": 20},
}
MEASURES = '''
from csaw.engine.measure import Measure


class First(Measure):
    """The number of the first round."""

    combine = "max"
    rounds = 1

    def start(self, v):
        return 0

    def edge(self, e):
        return e.nothing

    def vertex(self, v):
        return v.round if v.combined == -(2**63 - 1) else -1


class Every(First):
    """All rounds run."""

    rounds = 7
'''


def takes_zero(algo, options):
    """Whether a sample has the edge of weight 0, between 0 and 1."""
    samples = csaw.sample(csaw.graph(ZERO), algo=algo, **RUN, **options)
    if samples.has_walks:
        walks = samples.walks[:]
        pairs = np.stack([walks[:, :-1].ravel(), walks[:, 1:].ravel()])
    elif samples.layout == "hops":
        made = samples.pyg()
        pairs = made["n_id"][made["edge_index"]]
    else:
        pairs = np.stack([samples.src[:], samples.dst[:]])
    return bool(((pairs[0] + pairs[1] == 1) & (pairs.min(axis=0) == 0)).any())


@pytest.mark.parametrize("algo", BY_WEIGHT)
def test_an_algorithm_that_draws_by_weights_never_takes_a_weight_of_0(algo):
    assert not takes_zero(algo, BY_WEIGHT[algo])
    assert takes_zero(algo, BY_WEIGHT[algo] | {"weighted": False})


@pytest.mark.parametrize("algo", WHATEVER_WEIGHT)
def test_an_algorithm_that_reads_no_weights_takes_it(algo):
    assert takes_zero(algo, WHATEVER_WEIGHT[algo])


@pytest.mark.parametrize(("sources", "edges"), [([0, 3], 4), ([3, 0], 0)])
def test_the_source_of_an_instance_with_several_is_the_first(sources, edges):
    graph = csaw.graph([(0, 1), (0, 2), (3, 4), (3, 5)])
    how = {"frontier_size": 2, "neighbor_size": 4, "depth": 1, "instances": 1, "sources": sources}
    samples = csaw.sample(graph, algo="layer", edge_bias="1.0 if e.source == 0 else 0.0", **how, **RUN)
    assert samples.src.shape == (edges,)


def test_rounds_begin_at_1_and_all_run_where_a_hook_reads_them(tmp_path):
    file = tmp_path / "rounds.py"
    file.write_text(MEASURES)
    for name, value in (("First", 1), ("Every", 7)):
        rows = csaw.evaluate("karate", measures=[f"{file}:{name}"], device="cpu", threads=1).rows()
        profile = csaw.evaluate("karate", measures=[f"{file}:{name}"], device="cpu", threads=1).profile
        assert f"largest {name}" in profile, (rows, profile)
        assert profile[f"largest {name}"].value == value
        assert profile[f"rounds of {name}"].value == value


@pytest.mark.parametrize("how", [{}, {"partitions": 2}, {"compression": "lz4"}])
def test_a_graph_that_csaw_has_made_is_written(tmp_path, how):
    club = csaw.graph([("a", "b", 2.0), ("b", "c", 1.0)], directed=False)
    timed = csaw.graph([(0, 1), (0, 1), (5, 0)], time=[4, 3, 9])
    for number, graph in enumerate((club, timed, csaw.graph("karate"))):
        if number == 2:
            with pytest.raises(OptionError, match=r"inputs: .* is already a graph store"):
                csaw.partition(graph, tmp_path / "k.zarr")
            continue
        made = csaw.partition(graph, tmp_path / f"{number}.zarr", **how)
        assert made.fingerprint == graph.fingerprint
        assert csaw.verify(made).ok
    with pytest.raises(OptionError, match="directed: expected none for a graph from csaw.graph"):
        csaw.partition(club, tmp_path / "d.zarr", directed=True)


@pytest.mark.parametrize(
    ("policy", "said"), [("first", "1 repeated edge is left out"), ("sum", "is added to the first")]
)
def test_repeats_with_times_are_said_as_they_are_treated(tmp_path, caplog, policy, said):
    (tmp_path / "e.txt").write_text("0 1 5\n0 1 7\n1 2 9\n")
    made = csaw.partition(tmp_path / "e.txt", tmp_path / "g.zarr", time_column=3, duplicates=policy)
    assert said in str(made.report["warnings"]) + caplog.text
