"""Samples of graphs of several types are brought up to date: they have the bytes of a full draw, and only instances are
drawn again that read a changed row of a relation that they select from.
"""

import pytest
from helpers.refreshed import compared
from helpers.refreshed_typed import TRIPLES, grown, request

import csaw

WRITES = {"writes": (3, 2), "rev_writes": (2, 2)}
OF_WRITES = [
    ("minibatch", {"fanout": WRITES, "seeds_per_batch": 2}),
    ("minibatch", {"fanout": WRITES, "seeds_per_batch": 2, "disjoint": True}),
    ("neighbor", {"fanout": WRITES}),
    ("labor", {"fanout": WRITES, "frontier_size": 2}),
    ("deepwalk", {"walk_length": 4, "metapath": "writes,rev_writes"}),
    ("ppr", {"metapath": "writes,rev_writes"}),
    ("neighbor", {"fanout": (2, 2), "metapath": "writes,rev_writes"}),
]
OF_ALL = [
    ("hgt", {"num_samples": (1, 1), "seeds_per_batch": 2}),
    ("hgt", {"num_samples": {"author": (2,), "paper": (0,)}, "seeds_per_batch": 1}),
    ("deepwalk", {"walk_length": 3}),
    ("deepwalk", {"walk_length": 3, "edge_bias": "1 + e.relation % 2"}),
    ("deepwalk", {"walk_length": 2, "metapath": "cites", "edge_bias": "e.src_degree + e.dst"}),
    ("deepwalk", {"walk_length": 2, "metapath": "writes,rev_writes", "edge_bias": "1 + e.prev % 2", "num_walks": 2}),
    ("forest-fire", {"burn_prob": 0.2}),
    ("minibatch", {"fanout": (2, 2), "seeds_per_batch": 1}),
]


@pytest.mark.parametrize(("algo", "options"), OF_WRITES + OF_ALL, ids=lambda one: str(one)[:110])
@pytest.mark.parametrize("far", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_only_what_read_a_changed_row_is_drawn(tmp_path, algo, options, far, weighted):
    graph = grown(tmp_path, 3, far=far, weighted=weighted)
    done = compared(graph, tmp_path, algo, options)
    assert (done["why"], done["kept"] > 0, done["drawn"] > 0) == ("", True, True)


@pytest.mark.parametrize(("algo", "options"), OF_WRITES, ids=lambda one: str(one)[:110])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_of_other_relations_do_not_count(tmp_path, algo, options, weighted):
    """Their edges move others of the same vertices in the store, and so their numbers in mini-batches."""
    graph = grown(tmp_path, 4, relations=TRIPLES[1:], weighted=weighted)
    done = compared(graph, tmp_path, algo, options)
    assert (done["why"], done["drawn"], done["rows"]) == ("", 0, 0)


@pytest.mark.parametrize("way", [{"threads": 1}, {"threads": 4}, {"residency": "disk"}, {"partitions": 1}], ids=str)
@pytest.mark.parametrize(("algo", "options"), [*OF_WRITES[:5], OF_ALL[0]], ids=lambda one: str(one)[:110])
def test_how_it_is_drawn_changes_no_byte(tmp_path, algo, options, way):
    graph = grown(tmp_path, 5, far=True, partitions=way.pop("partitions", 4))
    assert compared(graph, tmp_path, algo, options, **way)["kept"]


QUICK, ALL = 40, 300
MORE = pytest.mark.slow(reason="more runs of the same kind as the quick ones")


@pytest.mark.parametrize("number", [pytest.param(n, marks=[] if n < QUICK else [MORE]) for n in range(ALL)])
def test_random_requests(tmp_path, number):
    weighted, timed, far = number % 3 == 1, number % 3 == 2, number % 2 == 0
    some = TRIPLES if number % 5 else TRIPLES[number // 5 % 3 :][:1]
    graph = grown(tmp_path, number, weighted=weighted, timed=timed, far=far, relations=some)
    algo, options = request(number, weighted=weighted, timed=timed)
    way = [{}, {"threads": 1}, {"threads": 4}, {"residency": "disk"}][number % 4]
    assert compared(graph, tmp_path, algo, options, **way)["why"] == ""


def test_relations_that_change_places_count(tmp_path):
    """A vertex has the same neighbors as before, by other relations."""
    one, other = ("a", "likes", "b"), ("a", "knows", "b")
    (tmp_path / "rows.txt").write_text("".join(f"{k} {k}\n" for k in range(30)))
    (tmp_path / "others.txt").write_text("9 1\n9 2\n")
    (tmp_path / "moved.txt").write_text("3 3\n")
    graph = csaw.partition({one: tmp_path / "rows.txt", other: tmp_path / "others.txt"}, tmp_path / "g.zarr").path
    csaw.append(graph, {one: tmp_path / "moved.txt"}, remove=True)
    csaw.append(graph, {other: tmp_path / "moved.txt"})
    requests = {
        "minibatch": {"fanout": {"likes": (2,)}, "seeds_per_batch": 1},
        "labor": {"fanout": {"likes": (2,), "knows": (2,)}, "frontier_size": 1},
        "hgt": {"num_samples": (2,), "seeds_per_batch": 1},
        "deepwalk": {"walk_length": 2},
    }
    for algo, options in requests.items():
        (tmp_path / algo).mkdir()
        done = compared(graph, tmp_path / algo, algo, options)
        assert (done["drawn"], done["rows"]) == ((0, 0) if algo == "deepwalk" else (1, 1)), algo
