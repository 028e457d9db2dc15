"""Links with negatives are brought up to date: only those whose source has another row, or that are other edges now."""

import random

import pytest
from helpers.refreshed import compared, edges_of, text
from helpers.refreshed_typed import TRIPLES
from helpers.refreshed_typed import grown as grown_typed

import csaw

VERTICES = 60


def grown(folder, seed, *, added=2, removed=2, directed=False, far=False, duplicates="first", edges=150):
    """A store of three versions, with edges ``added`` to the first, and edges ``removed`` from it."""
    draw = random.Random(seed)
    every = edges_of(draw, VERTICES, edges + added)
    some = draw.sample(every, added)
    rows = [(k, (k + 1) % VERTICES) for k in range(VERTICES)] + [row for row in every if row not in some]
    made = csaw.partition(
        text(folder / "a.txt", rows), folder / "g.zarr", directed=directed, partitions=draw.choice([1, 4])
    )
    if added or far:
        new = some + [(3, 1000)] * far + rows[:1] * (duplicates == "keep")
        csaw.append(made.path, text(folder / "b.txt", new), duplicates=duplicates)
    gone = [row for row in rows[VERTICES:] if row[0] + 1 != row[1]][:removed]
    if gone:
        csaw.append(made.path, text(folder / "c.txt", gone), remove=True)
    return made.path


PAIRS = [(k, (k * 7 + 1) % VERTICES) for k in range(40)]


@pytest.mark.parametrize(
    ("options", "keeps"),
    [
        ({"sources": PAIRS}, True),
        ({"sources": PAIRS, "allow_self": True, "num_negatives": 5, "ids": "dense"}, True),
        ({"sources": PAIRS, "instances": 100}, True),
        ({"sources": "all"}, True),
        ({"instances": 90}, True),
        ({"sources": PAIRS, "negative_bias": "degree"}, False),
    ],
    ids=str,
)
@pytest.mark.parametrize("directed", [False, True])
def test_links_are_kept_whose_source_has_the_same_row(tmp_path, options, keeps, directed):
    graph = grown(tmp_path, 4, directed=directed)
    done = compared(graph, tmp_path, "links", options)
    assert bool(done["kept"]) == keeps == (not done["why"])
    assert done["drawn"]


@pytest.mark.parametrize("options", [{"sources": PAIRS}, {"sources": "all"}, {"instances": 90}], ids=str)
@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"removed": 1}, {"instances": "links are drawn from all edges"}),
        (
            {"far": True, "removed": 3},
            dict.fromkeys(("sources", "instances"), "negatives may be vertices that are new"),
        ),
        (
            {"duplicates": "keep", "removed": 3},
            dict.fromkeys(("sources", "instances"), "edges are repeated in one of both graphs only"),
        ),
    ],
    ids=str,
)
def test_where_negatives_depend_on_more_all_is_drawn(tmp_path, options, how, why):
    done = compared(grown(tmp_path, 5, **how), tmp_path, "links", options)
    assert done["why"] == why.get(next(iter(options)), "")


def test_rows_with_most_vertices_are_searched_by_rank(tmp_path):
    """Where no edge is repeated, which is a law of its own."""
    rows = [(a, b) for a in range(20) for b in range(20) if (a * b) % 5 and a != b]
    csaw.partition(rows, tmp_path / "g.zarr", directed=True)
    csaw.append(tmp_path / "g.zarr", [rows[0]], duplicates="keep")
    compared(tmp_path / "g.zarr", tmp_path, "links", {"sources": "all", "num_negatives": 4, "skip_full": True})


RELATION = [
    ({"relation": "author-writes-paper", "sources": "all"}, False),
    ({"relation": "rev_writes", "sources": "all"}, True),
    ({"relation": "rev_likes", "sources": [(f"paper:{k}", f"author:{k % 9}") for k in range(30)]}, True),
    ({"relation": "rev_cites", "instances": 30}, False),
]


@pytest.mark.parametrize(("options", "keeps"), RELATION, ids=str)
@pytest.mark.parametrize("far", [False, True])
def test_negatives_of_a_relation_ask_its_rows(tmp_path, options, keeps, far):
    graph = grown_typed(tmp_path, 6, far=far, weighted=True)
    done = compared(graph, tmp_path, "links", options)
    assert (done["kept"] > 0) == (keeps or not far)


@pytest.mark.parametrize(("options", "keeps"), RELATION, ids=str)
def test_rows_of_other_relations_do_not_count(tmp_path, options, keeps):
    others = [one for one in TRIPLES if one[1] not in options["relation"]]
    done = compared(grown_typed(tmp_path, 7, relations=others), tmp_path, "links", options)
    assert (done["why"], done["drawn"]) == ("", 0)


QUICK, ALL = 20, 200
MORE = pytest.mark.slow(reason="more runs of the same kind as the quick ones")


@pytest.mark.parametrize("number", [pytest.param(n, marks=[] if n < QUICK else [MORE]) for n in range(ALL)])
def test_random_requests(tmp_path, number):
    draw = random.Random(number)
    more = {"far": draw.random() < 0.2, "duplicates": draw.choice(["first", "first", "keep"])}
    size = {"added": draw.randrange(3), "removed": draw.randrange(3), "edges": draw.choice([60, 150, 1100])}
    graph = grown(tmp_path, number, directed=draw.random() < 0.5, **more, **size)
    options = {"num_negatives": draw.randrange(1, 5), "allow_self": draw.random() < 0.5, "skip_full": True}
    options |= draw.choice(
        [{"sources": draw.sample(PAIRS, 20)}, {"sources": "all"}, {"instances": draw.randrange(1, 200)}]
    )
    options |= {"negative_bias": draw.choice(["none", "none", "none", "degree"])}
    compared(graph, tmp_path, "links", options, **draw.choice([{"threads": 1}, {"threads": 4}, {"residency": "disk"}]))
