"""A sample that is brought up to date has the bytes of a full draw on the changed graph, whatever was drawn and however
the graph has changed.
"""

import errno
import pickle
import random
import shutil
import signal

import numpy as np
import pytest
from fuzz import child
from fuzz.kills import Steps, kill_at
from helpers import refreshed_typed as typed
from helpers.forged import forged
from helpers.machine import need_package
from helpers.refreshed import SEED, compared, edges_of, grown, stored, text

import csaw
from csaw.engine.plan import planning
from csaw.engine.runs.comparison import compare
from csaw.engine.runs.refresh import refresh
from csaw.engine.samples import group_writer
from csaw.partition.errors import OptionError, StoreError

DRAWN = [  # algorithm, options, whether instances are kept when a few rows change
    ("deepwalk", {"walk_length": 6}, True),
    ("deepwalk", {"walk_length": 6, "weighted": False}, True),
    ("deepwalk", {"walk_length": 4, "num_walks": 3}, True),
    ("deepwalk", {"walk_length": 5, "sources": [5, 6, 7, 8, 9, 60], "num_walks": 3}, True),
    ("deepwalk", {"walk_length": 5, "sources": [20, 30, 20, 40, 50], "instances": 13}, True),
    ("deepwalk", {"walk_length": 4, "induced": True}, True),
    ("deepwalk", {"walk_length": 0}, True),
    ("deepwalk", {"walk_length": 5, "edge_bias": "e.weight * (1 + e.src_degree % 3)"}, None),
    ("deepwalk", {"walk_length": 3, "edge_bias": "e.dst_degree ** 0.5"}, True),
    ("deepwalk", {"walk_length": 5, "edge_bias": "e.vertices + e.dst % 3"}, None),
    ("node2vec", {"walk_length": 6, "p": 0.5, "q": 2.0}, True),
    ("node2vec", {"walk_length": 6, "p": 4.0, "q": 0.25, "ids": "dense"}, True),
    ("node2vec", {"walk_length": 5, "p": 0.25, "q": 4.0, "select": "its"}, True),
    ("restart", {"walk_length": 6}, True),
    ("jump", {"walk_length": 6}, None),
    ("ppr", {}, True),
    ("ppr", {"walk_length": 7}, True),
    ("metropolis-hastings", {"walk_length": 4}, True),
    ("neighbor", {"fanout": (3, 2)}, True),
    ("neighbor", {"fanout": (3,), "replace": True, "sources": [2, 3, 5, 7, 11, 13]}, True),
    ("minibatch", {"fanout": (3, 2), "seeds_per_batch": 4}, True),
    ("minibatch", {"fanout": (2, 2), "seeds_per_batch": 4, "epochs": 2, "sources": list(range(20, 50))}, True),
    (
        "minibatch",
        {"fanout": (-1,), "seeds_per_batch": 3, "sources": {"ids": [4, 5, 6, 7, 9], "y": [1, 0, 2, 1, 1]}},
        True,
    ),
    (
        "minibatch",
        {
            "fanout": (2,),
            "seeds_per_batch": 1,
            "sources": {"ids": [*range(20, 50)], "y": [one % 7 for one in range(30)]},
        },
        True,
    ),
    ("hgt", {"num_samples": (2,), "seeds_per_batch": 2}, True),
    ("mvs", {"seeds_per_batch": 4}, None),
    ("snowball", {"depth": 2}, True),
    ("snowball", {"depth": None, "sources": [1, 2, 3]}, None),
    ("forest-fire", {"burn_prob": 0.4}, True),
    ("labor", {"frontier_size": 2, "fanout": (2, 2)}, True),
    ("layer", {"depth": 2, "neighbor_size": 3}, True),
    ("ladies", {"frontier_size": 1}, None),
    ("ladies", {"frontier_size": 1, "normalize": "none", "replace": False}, None),
    ("fastgcn", {"frontier_size": 3}, False),
    ("multidimensional", {"instances": 20, "walk_length": 5, "frontier_size": 3}, None),
    ("random-node", {"instances": 20, "frontier_size": 5}, None),
    ("random-edge", {"instances": 5, "neighbor_size": 5}, False),
    ("saint-node", {"instances": 5, "subgraph_nodes": 5}, False),
    ("saint-edge", {"instances": 20, "frontier_size": 3}, None),
    ("saint-walk", {"instances": 20, "frontier_size": 3}, None),
    ("saint-multidimensional", {"instances": 10, "frontier_size": 3, "walk_length": 4}, None),
    ("links", {"num_negatives": 2}, False),
    ("snowball", {"target": 12, "instances": 10}, False),
    ("deepwalk", {"target": 12, "instances": 10, "walk_length": 3}, False),
]
TIMED = [
    ("temporal", {"walk_length": 5}),
    ("temporal", {"walk_length": 4, "time_bias": "linear"}),
    ("temporal", {"walk_length": 4, "start": "edge", "instances": 30}),
    (
        "neighbor",
        {"fanout": (2, 2), "time_strategy": "uniform", "sources": {"ids": [1, 2, 3, 4], "time": [30, 50, 70, 90]}},
    ),
    (
        "minibatch",
        {
            "fanout": (2, 2),
            "time_strategy": "last",
            "disjoint": True,
            "sources": {"ids": [1, 2, 3, 4], "time": [30, 50, 70, 90]},
        },
    ),
    ("deepwalk", {"walk_length": 4, "edge_bias": "e.time"}),
]


@pytest.mark.parametrize(("algo", "options", "keeps"), DRAWN, ids=lambda one: str(one)[:60])
def test_it_has_the_bytes_of_a_full_draw(tmp_path, algo, options, keeps):
    graph = grown(tmp_path)
    done = compared(graph, tmp_path, algo, options)
    if keeps is not None:
        assert bool(done["kept"]) == keeps == (not done["why"])
    assert done["drawn"] or keeps


@pytest.mark.parametrize(("algo", "options", "keeps"), DRAWN, ids=lambda one: str(one)[:60])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.one_in(3)
def test_it_has_them_where_vertices_are_new(tmp_path, algo, options, keeps, weighted):
    needs = "weighted" in options or "e.weight" in str(options)
    graph = grown(tmp_path, 2, weighted=weighted or needs, directed=not weighted, far=True)
    assert compared(graph, tmp_path, algo, options)["why"] != "vertices have other numbers in this graph"


@pytest.mark.parametrize(
    ("algo", "options", "keeps"), [one for one in DRAWN if "sources" not in one[1]], ids=lambda one: str(one)[:60]
)
@pytest.mark.parametrize("far", [False, True])
@pytest.mark.one_in(3)
def test_it_has_them_on_a_graph_of_several_types(tmp_path, algo, options, keeps, far):
    graph = typed.grown(tmp_path, 2, far=far, weighted=True)
    assert "types" not in compared(graph, tmp_path, algo, options)["why"]


@pytest.mark.parametrize("algo", ["deepwalk", "node2vec", "neighbor", "minibatch", "layer"])
@pytest.mark.parametrize("duplicates", ["last", "sum", "keep"])
def test_edges_with_other_weights_and_repeated_ones_count_as_changed(tmp_path, algo, duplicates):
    rows = edges_of(random.Random(13), 60, 150, weighted=True)
    made = csaw.partition(text(tmp_path / "a.txt", rows), tmp_path / "g.zarr", directed=False, weight_column=3)
    again = [(a, b, weight + 3) for a, b, weight in rows[:2]]
    csaw.append(made.path, text(tmp_path / "b.txt", again), weight_column=3, duplicates=duplicates)
    done = compared(made.path, tmp_path, algo, {"weighted": True} if algo in ("neighbor", "minibatch") else {})
    assert done["drawn"]
    assert done["why"] or done["rows"] == len({end for row in again for end in row[:2]})


@pytest.mark.parametrize(("algo", "options"), TIMED, ids=lambda one: str(one)[:60])
@pytest.mark.parametrize("far", [False, True])
def test_so_have_samples_in_time(tmp_path, algo, options, far):
    done = compared(grown(tmp_path, 3, weighted=False, directed=True, timed=True, far=far), tmp_path, algo, options)
    assert done["drawn"] or not far


def test_walks_from_new_vertices_come_at_the_end_so_that_others_keep_their_numbers(tmp_path):
    graph = grown(tmp_path, 14, far=True)
    csaw.append(graph, [(2000, 3, 1.0)], weights=[1.0])
    options = {"walk_length": 4, "num_walks": 3}
    old, new = (csaw.open_graph(graph, version=version) for version in (0, 3))
    assert (new.growth, old.growth) == ((80, 82, 83), (80,))
    done = compared(graph, tmp_path, "deepwalk", options)
    assert done["kept"] > 100
    samples = csaw.open_samples(tmp_path / "new.zarr")
    wanted = [*range(80)] * 3 + [80, 81] * 3 + [82] * 3
    assert samples.walks[:, 0].tolist() == new.original_ids(np.array(wanted, new.id_dtype)).tolist()
    assert samples.manifest["request"]["sources"] == "all x 1 grown 80,82,83"
    assert csaw.verify(samples).ok
    csaw.compact(graph)
    assert csaw.open_graph(graph).growth == (80, 82, 83)
    assert csaw.verify(csaw.sample(graph, tmp_path / "one.zarr", walk_length=3)).ok


@pytest.mark.parametrize("algo", ["restart", "ppr", "neighbor"])
@pytest.mark.parametrize("instances", [50, 81, 249])
def test_instances_beyond_the_number_of_vertices_begin_again_at_the_first(tmp_path, algo, instances):
    """Those below it keep their numbers. Others move, because streams and loaders take all vertices in each pass."""
    graph = grown(tmp_path, 14, far=True)
    csaw.append(graph, [(2000, 3, 1.0)], weights=[1.0])
    options = {"instances": instances} | ({"walk_length": 3} if algo == "restart" else {})
    done = compared(graph, tmp_path, algo, options)
    samples, new = csaw.open_samples(tmp_path / "new.zarr"), csaw.open_graph(graph)
    found, _ = samples.layout.sources(samples.group(0, instances))
    assert found.tolist() == new.original_ids(np.arange(instances, dtype=new.id_dtype) % 83).tolist()
    assert csaw.verify(samples).ok
    assert not done["why"]
    changed = csaw.changed(samples, since=0)
    assert set(range(80, instances)) <= set(changed.tolist())
    assert (changed < 80).sum() == min(80, instances) - done["kept"]
    assert done["kept"] > 20


@pytest.mark.parametrize(
    ("algo", "options"),
    [
        (
            "deepwalk",
            {
                "walk_length": 1,
                "num_walks": 30,
                "edge_bias": "(e.dst_degree + 1) ** 6 * (0.1 if e.dst == e.prev else 1)",
            },
        ),
        ("deepwalk", {"walk_length": 4, "edge_bias": "e.weight * e.src_degree * (0.1 if e.dst == e.prev else 1)"}),
        ("node2vec", {"walk_length": 4, "q": 0.5}),
        ("snowball", {"depth": 1}),
        ("forest-fire", {"burn_prob": 0.3}),
        ("minibatch", {"fanout": (2, 2), "seeds_per_batch": 2}),
        ("layer", {"depth": 1, "neighbor_size": 3}),
    ],
    ids=str,
)
@pytest.mark.parametrize("how", [{}, {"residency": "disk"}, {"residency": "disk", "memory": "40KB"}], ids=str)
@pytest.mark.parametrize("directed", [False, True])
def test_a_plan_that_cuts_the_graph_otherwise_finds_the_same_rows(tmp_path, algo, options, how, directed):
    """Or that weighs its edges anew, by the degrees of neighbors whose own partition has not changed."""
    done = compared(grown(tmp_path, 16, directed=directed), tmp_path, algo, options, **how)
    assert done["drawn"]
    assert done["kept"] or done["why"] or "** 6" in str(options)


AWAY = """from csaw.engine.algorithm import Traversal

class Away(Traversal):
    def sizes(self):
        return (2, 2)

    def update(self, e):
        return {returned}
"""


@pytest.mark.parametrize(
    ("returned", "keeps"),
    [
        ("(e.dst + 1) % 40", False),
        ("e.dst if e.random() < 0.5 else e.random_vertex()", False),
        ("e.dst if e.random() < 0.5 else e.source", True),
        ("e.dst if e.dst_degree > 2 else -1", True),
    ],
)
def test_update_may_expand_a_vertex_without_neighbors_which_then_has_some(tmp_path, returned, keeps):
    """It is in no array of the sample, for no edge leads to it."""
    (tmp_path / "away.py").write_text(AWAY.format(returned=returned))
    even = [(a, b) for a, b in edges_of(random.Random(1), 40, 120) if a % 2 == b % 2 == 0]
    csaw.partition([*even, *((v, v) for v in range(40))], tmp_path / "g.zarr", directed=True)
    csaw.append(tmp_path / "g.zarr", [(v, v) for v in range(1, 40, 2)], remove=True)
    csaw.append(tmp_path / "g.zarr", [(9, 1), (11, 3), (13, 5), (21, 2)])
    own = {"algo": f"{tmp_path / 'away.py'}:Away", "seed": SEED, "device": "cpu"}
    csaw.sample(csaw.open_graph(tmp_path / "g.zarr", version=1), tmp_path / "s.zarr", **own)
    done = csaw.refresh(tmp_path / "s.zarr", tmp_path / "new.zarr", algo=own["algo"], device="cpu")
    csaw.sample(tmp_path / "g.zarr", tmp_path / "full.zarr", **own)
    assert stored(tmp_path / "new.zarr") == stored(tmp_path / "full.zarr")
    assert bool(done.results["refreshed"]["kept"]) == keeps


@pytest.mark.parametrize(
    ("algo", "options"), [("ppr", {}), ("temporal", {"walk_length": 4}), ("node2vec", {"walk_length": 3, "q": 2.0})]
)
def test_verify_knows_their_order(tmp_path, algo, options):
    graph = grown(tmp_path, 15, weighted=False, directed=True, timed=True, far=True)
    samples = csaw.sample(graph, tmp_path / "s.zarr", algo, num_walks=3, seed=SEED, **options)
    assert samples.manifest["request"]["sources"] == "all x 1 grown 79,81"  # a vertex has no edge at first
    assert csaw.verify(samples).ok
    forged(samples.path, lambda said: said["manifest"]["request"].update(sources="all x 1"))
    wrong = {check.name for check in csaw.verify(samples.path).checks if not check.ok}
    assert {"request", "sources"} & wrong


# Where and how it is drawn changes no byte.


@pytest.fixture
def small_groups(monkeypatch):
    """Samples have many groups of a few instances."""
    monkeypatch.setattr(planning, "GROUP_BYTES", 1024)


@pytest.mark.usefixtures("small_groups")
@pytest.mark.parametrize(
    ("algo", "options"),
    [("node2vec", {"p": 0.5, "walk_length": 3}), ("ppr", {}), ("minibatch", {"seeds_per_batch": 2}), ("snowball", {})],
    ids=str,
)
@pytest.mark.parametrize("how", [{}, {"threads": 1}, {"threads": 3, "in_flight": 8}], ids=str)
def test_groups_are_written_side_by_side(tmp_path, algo, options, how):
    graph = grown(tmp_path, 4)
    csaw.sample(csaw.open_graph(graph, version=0), tmp_path / "s.zarr", algo, seed=SEED, device="cpu", **options)
    csaw.sample(graph, tmp_path / "full.zarr", algo, seed=SEED, device="cpu", **options)
    done = csaw.refresh(tmp_path / "s.zarr", tmp_path / "new.zarr", device="cpu", **how)
    assert 0 < done.results["refreshed"]["kept"] < done.instances
    assert stored(tmp_path / "new.zarr") == stored(tmp_path / "full.zarr")


def test_ids_of_other_kinds(tmp_path):
    """Strings, numbers that are negative, and numbers that need a wider type once a vertex is new."""
    for name, first, more in (
        ("words", [(f"v{a}", f"v{b}") for a, b in edges_of(random.Random(1), 60, 120)], [("v3", "new"), ("a", "b")]),
        ("negative", [(a - 9, b - 9) for a, b in edges_of(random.Random(1), 60, 120)], [(3, 100), (-500, 7)]),
        ("wider", edges_of(random.Random(1), 60, 120), [(3, 2**40)]),
        ("widest", edges_of(random.Random(1), 60, 120), [(3, 2**63 + 1)]),
    ):
        folder = tmp_path / name
        folder.mkdir()
        csaw.partition(first, folder / "g.zarr", directed=False)
        csaw.append(folder / "g.zarr", more)
        done = compared(folder / "g.zarr", folder, "deepwalk", {"walk_length": 4})
        assert done["kept"] or done["why"], name


def test_it_replaces_the_sample_and_goes_on_from_version_to_version(tmp_path):
    graph = grown(tmp_path, 5, far=True)
    csaw.sample(csaw.open_graph(graph, version=0), tmp_path / "s.zarr", "node2vec", p=0.5, walk_length=5, seed=SEED)
    for version in (1, 2):
        samples = csaw.refresh(csaw.open_samples(tmp_path / "s.zarr"), version=version)
        assert samples.results["refreshed"]["drawn"] < samples.instances
        assert samples.path == tmp_path / "s.zarr"
    csaw.sample(graph, tmp_path / "full.zarr", "node2vec", p=0.5, walk_length=5, seed=SEED)
    assert stored(tmp_path / "s.zarr") == stored(tmp_path / "full.zarr")
    assert csaw.verify(tmp_path / "s.zarr").ok
    before = stored(tmp_path / "s.zarr")
    found = compare(tmp_path / "s.zarr")
    assert found.is_up_to_date
    nothing = {"drawn": 0, "kept": samples.instances, "rows": 0, "why": ""}
    assert refresh(found)["refreshed"] == csaw.refresh(tmp_path / "s.zarr").results["refreshed"] == nothing
    first = csaw.sample(graph, tmp_path / "first.zarr", walk_length=2)
    assert "refreshed" not in first.results
    assert csaw.refresh(first).results["refreshed"]["kept"] == first.instances
    assert stored(tmp_path / "s.zarr") == before
    assert sorted(one.name for one in tmp_path.iterdir() if "s.zarr" in one.name) == ["s.zarr"]


def test_a_graph_that_is_made_anew_counts_as_changed_where_its_rows_are_others(tmp_path):
    rows = edges_of(random.Random(6), 60, 150)
    csaw.partition(text(tmp_path / "a.txt", rows), tmp_path / "g.zarr", directed=False)
    csaw.partition(text(tmp_path / "b.txt", rows[1:]), tmp_path / "h.zarr", directed=False, partitions=3)
    csaw.sample(tmp_path / "g.zarr", tmp_path / "s.zarr", walk_length=3, seed=SEED)
    done = csaw.refresh(tmp_path / "s.zarr", tmp_path / "new.zarr", graph=tmp_path / "h.zarr")
    assert done.results["refreshed"]["rows"] == 2
    csaw.sample(tmp_path / "h.zarr", tmp_path / "full.zarr", walk_length=3, seed=SEED)
    assert stored(tmp_path / "new.zarr") == stored(tmp_path / "full.zarr")
    csaw.partition([(a + 1, b + 1) for a, b in rows], tmp_path / "i.zarr", directed=False)
    done = csaw.refresh(tmp_path / "s.zarr", graph=tmp_path / "i.zarr")
    assert done.results["refreshed"]["why"] == "vertices have other numbers in this graph"


def test_where_the_old_graph_is_gone_all_is_drawn(tmp_path):
    graph = grown(tmp_path, 7)
    csaw.sample(csaw.open_graph(graph, version=0), tmp_path / "s.zarr", walk_length=3, seed=SEED)
    csaw.compact(graph)
    done = csaw.refresh(tmp_path / "s.zarr")
    assert done.results["refreshed"]["why"] == "the graph that the sample was drawn from is no longer there"
    csaw.sample(graph, tmp_path / "full.zarr", walk_length=3, seed=SEED)
    assert stored(tmp_path / "s.zarr") == stored(tmp_path / "full.zarr")


@pytest.mark.parametrize(
    ("algo", "options"),
    [
        ("deepwalk", {"walk_length": 3, "num_walks": 2}),
        ("deepwalk", {"walk_length": 3, "select": "its"}),
        ("deepwalk", {"walk_length": 3, "instances": 30}),
        ("deepwalk", {"walk_length": 3, "sources": [5, 6, 7], "num_walks": 2}),
        ("minibatch", {"fanout": (2,), "seeds_per_batch": 7, "epochs": 3, "drop_last": True}),
        ("minibatch", {"fanout": (2,), "epochs": 2, "shuffle": True}),
        ("mvs", {"fanout": (2,), "seeds_per_batch": 5}),
        ("ladies", {"frontier_size": 4}),
        ("links", {"num_negatives": 2}),
        ("links", {"num_negatives": 2, "instances": 10}),
        ("multidimensional", {"frontier_size": 3, "walk_length": 4, "instances": 9}),
    ],
    ids=str,
)
def test_then_it_has_the_options_of_the_sample_too(tmp_path, algo, options):
    graph = grown(tmp_path, 7, far=True)
    own = {"algo": algo, "seed": SEED, "device": "cpu"} | options
    csaw.sample(csaw.open_graph(graph, version=0), tmp_path / "s.zarr", **own)
    csaw.compact(graph)
    csaw.refresh(tmp_path / "s.zarr", device="cpu")
    csaw.sample(graph, tmp_path / "full.zarr", **own)
    assert stored(tmp_path / "s.zarr") == stored(tmp_path / "full.zarr")


def test_no_other_options_are_taken(tmp_path):
    """Not even where there is no graph to hold the request against."""
    graph = grown(tmp_path, 7)
    csaw.sample(csaw.open_graph(graph, version=0), tmp_path / "s.zarr", walk_length=3, seed=SEED)
    before = stored(tmp_path / "s.zarr")
    for compacted in (False, True):
        if compacted:
            csaw.compact(graph)
        for name, value in {"seed": 9, "instances": 5, "walk_length": 9, "induced": True, "path": "x"}.items():
            with pytest.raises(OptionError, match=f"{name}: .*keeps the options that it was drawn with"):
                csaw.refresh(tmp_path / "s.zarr", **{name: value})
        for name in ("version", "graph", "seed", "samples"):
            with pytest.raises(OptionError, match=f"{name}: .*keeps the options that it was drawn with"):
                csaw.changed(tmp_path / "s.zarr", since=0, **{name: 1})
    with pytest.raises(OptionError, match="sources: expected those that .* was drawn from, all, found list"):
        csaw.refresh(tmp_path / "s.zarr", sources=[1, 2])
    assert stored(tmp_path / "s.zarr") == before


def test_a_graph_that_was_moved_still_has_the_version(tmp_path):
    graph = grown(tmp_path, 9)
    csaw.sample(csaw.open_graph(graph, version=0), tmp_path / "s.zarr", walk_length=3, seed=SEED)
    graph.rename(tmp_path / "moved.zarr")
    done = csaw.refresh(tmp_path / "s.zarr", graph=tmp_path / "moved.zarr")
    assert done.results["refreshed"]["kept"]
    csaw.sample(tmp_path / "moved.zarr", tmp_path / "full.zarr", walk_length=3, seed=SEED)
    assert stored(tmp_path / "s.zarr") == stored(tmp_path / "full.zarr")


def test_sources_that_a_sample_lacks_are_given_again(tmp_path):
    graph = grown(tmp_path, 8)
    sources = [2, 3, 5, 7, 11]
    csaw.sample(csaw.open_graph(graph, version=0), tmp_path / "part.zarr", walk_length=2, sources=sources, instances=3)
    with pytest.raises(OptionError, match="lacks some of its sources; give them with sources"):
        csaw.refresh(tmp_path / "part.zarr")
    with pytest.raises(StoreError, match="its sources cannot be reproduced"):
        csaw.refresh(tmp_path / "part.zarr", sources=[2, 3, 5, 7])
    csaw.refresh(tmp_path / "part.zarr", sources=sources)
    csaw.sample(graph, tmp_path / "full.zarr", walk_length=2, sources=sources, instances=3)
    assert stored(tmp_path / "part.zarr") == stored(tmp_path / "full.zarr")
    with pytest.raises(StoreError, match="exists already"):
        csaw.refresh(tmp_path / "part.zarr", tmp_path / "full.zarr", sources=sources)


def test_changed_files_are_told(tmp_path):
    graph = grown(tmp_path, 9)
    csaw.sample(csaw.open_graph(graph, version=0), tmp_path / "s.zarr", walk_length=3, seed=SEED)
    chunk = tmp_path / "s.zarr" / "walks" / "c.0.0"
    chunk.write_bytes(b"\1\1" + chunk.read_bytes()[2:])
    with pytest.raises(StoreError, match="its bytes have changed"):
        csaw.refresh(tmp_path / "s.zarr")


# Kills: the sample is as before, or as after, and the same command goes on.


def arrays_of(path):
    """The bytes of the arrays, without what names the folder of the graph."""
    return {name: held for name, held in stored(path).items() if "zarr.json" not in name}


def begun(place):
    graph = grown(place, 10)
    csaw.sample(csaw.open_graph(graph, version=0), place / "s.zarr", walk_length=3, seed=SEED, device="cpu")


@pytest.mark.parametrize("round_", range(5))
@pytest.mark.one_in(5)
def test_a_kill_before_any_step_loses_nothing(tmp_path, round_):
    (tmp_path / "whole").mkdir()
    begun(tmp_path / "whole")
    steps, command = Steps(tmp_path / "whole"), ("refresh", "s.zarr", "--device", "cpu")
    before = arrays_of(tmp_path / "whole" / "s.zarr")
    assert child.csaw(*command, folder=tmp_path / "whole", before=steps.count).code == 0
    after, total = arrays_of(tmp_path / "whole" / "s.zarr"), len(steps.file.read_bytes())
    seen = set()
    for step in {*range(round_, total, 5), *range(total - 6, total)}:
        place = tmp_path / str(step)
        place.mkdir()
        begun(place)
        assert child.csaw(*command, folder=place, before=lambda step=step: kill_at(step)).code == -signal.SIGKILL
        if (place / "s.zarr").exists():
            seen.add(csaw.open_samples(place / "s.zarr").manifest["graph"]["edges"])
        assert child.csaw(*command, folder=place).code == 0
        assert arrays_of(place / "s.zarr") == after
        assert [one.name for one in place.iterdir() if "s.zarr" in one.name] == ["s.zarr"]
    assert before != after
    assert len(seen) == 2


def test_a_kill_after_the_exchange_of_names_leaves_the_old_sample_beside_until_the_next_run(tmp_path):
    begun(tmp_path)
    shutil.copytree(tmp_path / "s.zarr", tmp_path / "old.zarr")
    csaw.refresh(tmp_path / "s.zarr")
    (tmp_path / "old.zarr").rename(tmp_path / "s.zarr.partial")
    assert csaw.refresh(tmp_path / "s.zarr").results["refreshed"]["drawn"] == 0
    assert not (tmp_path / "s.zarr.partial").exists()
    csaw.sample(tmp_path / "g.zarr", tmp_path / "other.zarr", walk_length=2)
    (tmp_path / "other.zarr").rename(tmp_path / "s.zarr.partial")
    csaw.refresh(tmp_path / "s.zarr")
    assert (tmp_path / "s.zarr.partial").exists()  # which may be of another run


def test_a_full_disk_is_told_with_the_way_on(tmp_path, monkeypatch):
    begun(tmp_path)
    with monkeypatch.context() as full:
        full.setattr(group_writer, "seal", _no_room)
        with pytest.raises(StoreError, match=r"the disk is full; .* run the same command again$"):
            csaw.refresh(tmp_path / "s.zarr")
    assert csaw.refresh(tmp_path / "s.zarr").results["refreshed"]["drawn"]


def _no_room(*_):
    raise OSError(errno.ENOSPC, "no space")


# What has changed since an earlier version.


@pytest.mark.usefixtures("small_groups")
@pytest.mark.parametrize("algo", ["node2vec", "ppr", "neighbor", "minibatch", "snowball"])
def test_instances_that_have_changed_are_told_from_the_sample_alone(tmp_path, algo):
    graph = grown(tmp_path, 11, far=True)
    own = {"algo": algo, "seed": SEED, "device": "cpu"} | ({"seeds_per_batch": 3} if algo == "minibatch" else {})
    old = csaw.sample(csaw.open_graph(graph, version=0), tmp_path / "old.zarr", **own)
    drawn = csaw.refresh(old, tmp_path / "new.zarr").results["refreshed"]["drawn"]
    new = csaw.open_samples(tmp_path / "new.zarr")
    changed = csaw.changed(new, since=0)
    assert changed.size == drawn < new.instances
    for number in range(new.instances):
        if number in changed:
            continue
        before, now = (one.group(number, number + 1) for one in (old, new))
        assert all(np.array_equal(before[name], now[name]) for name in now if name != "e_id"), number
    assert csaw.changed(new, since=2).size == 0
    assert set(csaw.changed(new, since=1)) <= set(changed)
    with pytest.raises(OptionError, match=r"old.zarr is of version 0 of its graph; expected an earlier one, found 1"):
        csaw.changed(old, since=1)


def test_only_they_are_exported_under_their_numbers(tmp_path):
    graph = grown(tmp_path, 12)
    csaw.sample(csaw.open_graph(graph, version=0), tmp_path / "s.zarr", walk_length=3, seed=SEED)
    walks = csaw.refresh(tmp_path / "s.zarr")
    changed = csaw.changed(walks, since=0)
    for name in ("csv", "parquet", "graphml", "txt", "npy", "npz"):
        csaw.export(walks, tmp_path / f"all.{name}")
        csaw.export(walks, tmp_path / f"new.{name}", changed_since=0)
    whole = (tmp_path / "all.txt").read_text().splitlines()
    assert (tmp_path / "new.txt").read_text().splitlines() == [whole[number] for number in changed]
    whole = (tmp_path / "all.csv").read_text().splitlines()
    assert (tmp_path / "new.csv").read_text().splitlines() == [whole[0], *(whole[1 + number] for number in changed)]
    assert np.array_equal(np.load(tmp_path / "new.npy"), np.load(tmp_path / "all.npy")[changed])
    table = need_package("pyarrow.parquet").read_table(tmp_path / "new.parquet")
    assert table["instance"].to_pylist() == changed.tolist()
    some = walks.chosen(changed)
    assert np.array_equal(some.walks[:], walks.walks[:][changed])
    assert np.array_equal(some.part(1, 3).numbers(np.arange(2)), changed[1:3])
    assert np.array_equal(pickle.loads(pickle.dumps(some)).walks[:], some.walks[:])
    assert np.array_equal(walks.chosen(3).walks[:], walks.walks[3:4])
    for wrong in ([3, 2], [-1], [walks.instances], [1, 1], [[1, 2]], -1):
        with pytest.raises(OptionError, match="numbers: expected numbers from 0 to"):
            walks.chosen(wrong)
    with pytest.raises(OptionError, match="changed_since: only for a sample store"):
        csaw.export(graph, tmp_path / "graph.csv", changed_since=0)
