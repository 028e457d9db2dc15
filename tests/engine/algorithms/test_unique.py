"""Depths that select different vertices: draws follow their law edge by edge, are topped up, are the same however they
are made, and are verified.
"""

from collections import Counter, defaultdict

import numpy as np
import pytest
from helpers.graphs import arrays_of, random_store, rows_of, store_of
from helpers.invariance import assert_request_decides, assert_same
from helpers.stats import assert_drawn_from

from csaw.engine.batches import collective
from csaw.engine.batches.collective import Unique
from csaw.engine.stores.verify import verify
from csaw.partition.errors import OptionError

# (source, target, weight): two sources with common neighbors, an edge that is there twice, a weight of zero
SHARED = [(0, 2, 1), (0, 3, 2), (0, 3, 1), (0, 4, 2), (0, 5, 0), (1, 2, 3), (1, 3, 1), (1, 4, 1), (2, 0, 1)]
BURNING = "from csaw.engine.algorithms.forest_fire import ForestFire\n\nclass Burning(ForestFire):\n    unique = True\n"


LIKE_OTHERS = pytest.mark.slow(reason="another size of the same law")


def sequences(rows, frontier, size, together):
    """Chance of each sequence of edges: an edge by weight, drawn again while its end is there
    or its vertex has enough.
    """
    law = defaultdict(float)

    def draw(done, chance):
        there, possible = {u for _, u in done}, defaultdict(float)
        for v in frontier:
            enough = size <= (len(done) if together else sum(src == v for src, _ in done))
            for u, weight in () if enough else rows[v]:
                possible[v, u] += weight if u not in there else 0.0
        total = sum(possible.values())
        for edge, weight in possible.items():
            draw((*done, edge), chance * weight / total) if weight else None
        if not total:
            law[done] += chance

    draw((), 1.0)
    return law


@pytest.mark.parametrize(
    ("algo", "size", "together"),
    [
        ("layer", 2, True),
        pytest.param("layer", 3, True, marks=LIKE_OTHERS),
        pytest.param("snowball", 1, False, marks=LIKE_OTHERS),
        ("snowball", 2, False),
    ],
)
def test_edges_are_drawn_one_after_the_other(tmp_path, algo, size, together):
    store = store_of(tmp_path / "g.zarr", SHARED, directed=True)
    options = {"depth": 1, "neighbor_size": size, "unique": True, "seed": 4, "instances": 12_000}
    own = two_sources(tmp_path) if algo != "layer" else None
    options |= {} if own else {"frontier_size": 2}
    drawn = arrays_of(store, tmp_path / "s.zarr", own or algo, sources=[0, 1], **options)
    edges = list(zip(drawn["src"].tolist(), drawn["dst"].tolist(), strict=True))
    found = Counter(tuple(edges[a:b]) for a, b in zip(drawn["instance_ptr"], drawn["instance_ptr"][1:], strict=False))
    law = sequences(rows_of(store, True), (0, 1), size, together)
    assert found.keys() <= law.keys()
    assert_drawn_from([found[one] for one in law], list(law.values()))
    assert verify(tmp_path / "s.zarr", algo=own).ok


def test_hops_of_different_vertices_have_the_law_of_their_frontiers(tmp_path):
    store = store_of(tmp_path / "g.zarr", SHARED + [(3, 4, 1), (3, 5, 2), (4, 5, 1), (4, 2, 1)], directed=True)
    options = {"fanout": (2, 1), "unique": True, "seed": 4, "sources": [0], "instances": 12_000}
    drawn = arrays_of(store, tmp_path / "s.zarr", "neighbor", **options)
    edges = list(zip(drawn["src"].tolist(), drawn["dst"].tolist(), strict=True))
    found = Counter(tuple(edges[a:b]) for a, b in zip(drawn["instance_ptr"], drawn["instance_ptr"][1:], strict=False))
    rows, law = rows_of(store, True), defaultdict(float)
    for first, chance in sequences(rows, (0,), 2, False).items():
        for second, then in sequences(rows, tuple(u for _, u in first), 1, False).items():
            law[first + second] += chance * then
    assert found.keys() <= law.keys()
    assert_drawn_from([found[one] for one in law], list(law.values()))
    assert verify(tmp_path / "s.zarr").ok


def two_sources(folder):
    """Snowball sampling from two sources together."""
    (folder / "two.py").write_text(
        "from csaw.engine.algorithms.snowball import Snowball\n\nclass Two(Snowball):\n    frontier_size = 2\n"
    )
    return f"{folder / 'two.py'}:Two"


CASES = {
    "layer": {"depth": 3, "neighbor_size": 9, "frontier_size": 3},
    "snowball": {"depth": 3, "neighbor_size": 2},
    "neighbor": {"fanout": (4, 3, 2)},
}


@pytest.mark.parametrize(("algo", "weighted"), [("layer", False), ("snowball", True), ("neighbor", True)])
def test_neither_batches_nor_partitions_change_a_byte(tmp_path, algo, weighted):
    store, cut = random_store(tmp_path / "a.zarr"), random_store(tmp_path / "b.zarr", partitions=4)
    options = CASES[algo] | {"unique": True, "weighted": weighted}
    assert_request_decides(store, cut, tmp_path / "s.zarr", algo, **options)
    expected = arrays_of(store, tmp_path / "s.zarr", algo, seed=5, **options)
    key = (
        np.repeat(np.arange(len(expected["instance_ptr"]) - 1), np.diff(expected["instance_ptr"])) * 4
        + expected["depth"]
    )
    assert np.unique(np.column_stack([key, expected["dst"]]), axis=0).shape[0] == key.size
    assert_same(expected, arrays_of(cut, tmp_path / "t.zarr", algo, seed=5, residency="disk", **options))
    assert verify(tmp_path / "s.zarr").ok


def test_fires_may_light_different_vertices(tmp_path):
    (tmp_path / "mine.py").write_text(BURNING)
    store = random_store(tmp_path / "g.zarr")
    mine = f"{tmp_path / 'mine.py'}:Burning"
    arrays_of(store, tmp_path / "s.zarr", mine, seed=5)
    report = verify(tmp_path / "s.zarr", algo=mine)
    assert report.ok, str(report)


FAULTS = {
    "unique": lambda patch: patch.setattr(collective, "rank", lambda xp, values: xp.zeros(values.size, np.int64)),
    "top-up": lambda patch: patch.setattr(Unique, "_possible", once),
    "neighbors": lambda patch: patch.setattr(Unique, "_possible", backwards),
}
possible = Unique._possible


def once(self, local, owner, dst):
    """The first edges of each owner, without those that lead to a vertex again: nothing is drawn in their place."""
    first = np.flatnonzero(collective.rank(np, owner) < self.room[owner])
    return first[collective.rank(np, local[first] * self.backend.store.vertices + dst[first]) == 0]


def backwards(self, local, owner, dst):
    """The possible edges as if the last one came first."""
    return np.sort(dst.size - 1 - possible(self, local[::-1], owner[::-1], dst[::-1]))


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_found_by_name(tmp_path, monkeypatch, name):
    store = random_store(tmp_path / "g.zarr")
    FAULTS[name](monkeypatch)
    arrays_of(store, tmp_path / "s.zarr", "snowball", depth=2, neighbor_size=4, unique=True)
    failed = {check.name for check in verify(tmp_path / "s.zarr").checks if not check.ok}
    assert any(one.startswith(name) for one in failed), failed


@pytest.mark.parametrize(
    ("base", "said"),
    [
        ("ladies:Ladies", "unique = True and (replace = True|draws_from = .neighbors.) cannot be combined"),
        (
            "multidimensional:Multidimensional",
            "clocks = True and unique = True cannot be combined|unique = True and clocks = True cannot be combined",
        ),
        ("random_edge:RandomEdge", "each_edge_once = True and unique = True cannot be combined"),
    ],
)
def test_what_cannot_be_unique_is_refused(tmp_path, base, said):
    module, name = base.split(":")
    (tmp_path / "mine.py").write_text(
        f"from csaw.engine.algorithms.{module} import {name}\n\nclass Mine({name}):\n    unique = True\n"
    )
    with pytest.raises(OptionError, match=said):
        arrays_of(random_store(tmp_path / "g.zarr"), tmp_path / "s.zarr", f"{tmp_path / 'mine.py'}:Mine")


def test_neighbors_are_not_different_and_drawn_with_replacement(tmp_path):
    with pytest.raises(OptionError, match="--unique and --replace exclude each other"):
        arrays_of(random_store(tmp_path / "g.zarr"), tmp_path / "s.zarr", "neighbor", unique=True, replace=True)
