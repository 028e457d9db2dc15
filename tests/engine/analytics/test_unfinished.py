"""A measure that was interrupted goes on where it was, with the same findings."""

import logging

import numpy as np
import pytest
from helpers.graphs import random_store

from csaw.engine.analytics import unfinished
from csaw.engine.analytics.evaluation import profiles
from csaw.engine.analytics.evaluation.evaluate import evaluate
from csaw.engine.analytics.measure import find
from csaw.partition.base import stages
from csaw.partition.graph.attributes import identity

ROOM = 2450  # entries of rows beside the least
LONG = {  # options, and how often the computation is noted
    "betweenness": ({"betweenness_sources": 9}, 9),
    "hops": ({"hops": "sources", "hop_sources": 200, "residency": "disk"}, 4),
    "hops, exact": ({"hops": "exact"}, 5),
    "hops, sketches": ({"hops": "sketches", "hop_sketches": 5}, 5),
    "triangles": ({"residency": "disk"}, 3),
    "pagerank": ({}, 10),
    "personalized-pagerank": ({}, 10),
}


@pytest.fixture(autouse=True)
def at_once(monkeypatch, tmp_path):
    """All that is noted is kept, in a cache of this test's own."""
    monkeypatch.setattr(unfinished, "SECONDS", 0.0)
    monkeypatch.setattr(unfinished, "SHARE", 0)
    monkeypatch.setattr("csaw.engine.analytics.measures.hops.AT_ONCE", 64)
    monkeypatch.setenv("CSAW_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def store(tmp_path):
    return random_store(tmp_path / "g.zarr", vertices=300, edges=4000, partitions=5, directed=False)


@pytest.fixture
def notes(monkeypatch):
    """Counts what is noted; the process is interrupted behind the note whose number is set as ``last``."""

    class Notes:
        count, last = 0, None

    held = unfinished.Work.note

    def note(self, **state):
        held(self, **state)
        Notes.count += 1
        if Notes.count == Notes.last:
            raise KeyboardInterrupt

    monkeypatch.setattr(unfinished.Work, "note", note)
    return Notes


def given(case, store):
    options = dict(LONG[case][0])
    if options.get("residency") == "disk":  # room for few rows
        kept = find(case.partition(",")[0])().keeps("cpu", store.directed)
        options["memory"] = kept.bytes(store.vertices, store.edges, 4) + 8 * (store.max_degree + ROOM)
    return {"measures": case.partition(",")[0], **options}


def place_of(store, options):
    kind = find(options["measures"])
    return profiles.unfinished(
        identity(store.attributes), kind(**{name: value for name, value in options.items() if name in kind.options()})
    )


def interrupted(store, notes, options, last, **more):
    notes.count, notes.last = 0, last
    with pytest.raises(KeyboardInterrupt):
        evaluate(store, **options, **more)
    notes.count, notes.last = 0, None
    assert list(place_of(store, options).files())


@pytest.mark.parametrize("case", LONG)
def test_an_interrupted_measure_goes_on_where_it_was(store, notes, case, caplog, monkeypatch, tmp_path):
    options = given(case, store)
    whole = evaluate(store, **options).profile
    parts = notes.count
    assert parts >= LONG[case][1]
    monkeypatch.setenv("CSAW_CACHE_DIR", str(tmp_path / "other"))
    interrupted(store, notes, options, parts - 1)
    with caplog.at_level(logging.INFO):
        again = evaluate(store, **options).profile
    assert "continues where it was interrupted" in caplog.text
    assert notes.count <= 2
    assert not list(place_of(store, options).files())
    assert again.keys() == whole.keys()
    for name, finding in whole.items():
        assert vars(again[name]).keys() == vars(finding).keys()
        assert all(same_value(value, vars(again[name])[key]) for key, value in vars(finding).items())


def same_value(one, other):
    return np.array_equal(one, other, equal_nan=True) if isinstance(one, np.ndarray) else repr(one) == repr(other)


@pytest.mark.parametrize("trouble", ["cut off", "another's", "refreshed", "flipped"])
def test_what_cannot_be_taken_up_is_computed_from_its_beginning(store, notes, trouble, caplog):
    options = given("betweenness", store)
    interrupted(store, notes, options, 7)
    [path] = place_of(store, options).files()
    if trouble == "cut off":
        path.write_bytes(path.read_bytes()[:-100])
    if trouble == "flipped":
        data = bytearray(path.read_bytes())
        data[len(data) // 3] ^= 16
        path.write_bytes(data)
    if trouble == "another's":
        with np.load(path) as held:
            unfinished.write(path, {**held, "given": np.array("0" * 64)})
    with caplog.at_level(logging.INFO):
        evaluate(store, refresh=trouble == "refreshed", **options)
    assert notes.count == 9
    assert "continues" not in caplog.text


def test_a_disk_without_room_stops_nothing(store, notes, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    options = given("betweenness", store)
    monkeypatch.setattr(unfinished, "write", full)
    found = evaluate(store, **options).profile
    assert notes.count == 9
    assert found["betweenness"]


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ("betweenness", [(k, 9, "sources of betweenness") for k in range(1, 10)]),
        ("hops", [(k, 200, "sources of hops") for k in (64, 128, 192, 200)]),
        ("hops, sketches", [(k, 5, "sketches of hops") for k in range(1, 6)]),
    ],
)
def test_how_far_it_is_is_told(store, case, said):
    told = []
    heard = stages.hearing(lambda now: told.append((now.done, now.total, now.unit)))
    with stages.stage("measuring"), heard:
        evaluate(store, **given(case, store))
    assert [one for one in told if one[2].endswith(("betweenness", "hops"))] == said


def test_notes_are_written_now_and_then_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(unfinished, "SECONDS", 1000.0)
    work = unfinished.Unfinished(tmp_path / "x").work("long", 3, np.arange(4))
    work.note(done=1)
    assert not list(tmp_path.iterdir())
    work.next = 0.0
    work.note(done=2)
    work.note(done=3)
    place = unfinished.Unfinished(tmp_path / "x")
    assert place.work("long", 3, np.arange(4)).done == {"done": 2}
    assert place.work("long", 4, np.arange(4)).done == {}
    assert place.work("long", 3, np.arange(5)).done == {}
    assert place.work("other", 3, np.arange(4)).done == {}
    assert unfinished.Unfinished().work("long", 3, np.arange(4)).done == {}
    place.forget()
    assert not list(tmp_path.iterdir())
