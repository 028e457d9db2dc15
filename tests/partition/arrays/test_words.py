"""Claims of Words: strings come back as they went in, whatever their length, and take the room of their bytes."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from csaw.partition import open_graph, write_graph
from csaw.partition.arrays.words import Words
from csaw.partition.errors import OptionError, StoreError

TEXTS = st.lists(st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(["", "\udcff", "ü\udc80x"]))


@settings(max_examples=50)
@given(texts=TEXTS)
def test_words_are_what_they_were_made_of(texts):
    words = Words.of(texts)
    assert list(words) == texts
    assert np.asarray(words).tolist() == texts
    assert words.sizes().tolist() == [len(text.encode("utf-8", "surrogateescape")) for text in texts]
    places = np.arange(len(texts))[::-1].repeat(2).reshape(-1, 2)
    assert words[places].tolist() == [[texts[place]] * 2 for place, _ in places]
    assert [texts[place] for place in words.find(texts)] == texts


def test_words_are_found_among_others_of_their_length_and_strangers_are_not():
    words = Words.of(["b", "a", "", "bb", b"\xff"])
    assert words.find(["", "\udcff", "c", "a", "\ud800", "bb", "b", 7]) == [2, 4, -1, 1, -1, 3, 0, -1]
    assert words[3] == "bb"


def test_half_of_a_surrogate_pair_is_no_vertex_id():
    with pytest.raises(OptionError, match="surrogate"):
        Words.of(["a", "\ud800"])


@pytest.mark.parametrize("offsets", [[0, 2, 1, 3], [1, 2, 2, 3], [0, 1, 2, 4], []])
def test_offsets_that_do_not_fit_the_text_are_refused(offsets):
    with pytest.raises(StoreError, match=r"g\.zarr: expected offsets"):
        Words(np.array(offsets, np.int64), np.zeros(3, np.uint8)).checked(Path("g.zarr"))


@pytest.mark.parametrize("kind", [list, np.array, lambda ids: np.array(ids, object)])
def test_a_store_takes_string_ids_as_lists_and_arrays_and_gives_arrays_of_str(tmp_path, kind):
    ids = ["a", "long" * 20, "ü"]
    write_graph(
        tmp_path / "g", np.array([0, 1, 2, 3]), np.array([1, 2, 0], np.uint32), directed=True, vertex_ids=kind(ids)
    )
    store = open_graph(tmp_path / "g")
    assert store.vertex_ids().tolist() == ids
    assert store.vertex_ids().dtype == object
    assert store.original_ids(np.array([[2, 0]])).tolist() == [["ü", "a"]]
    assert store.dense_ids(["ü", "a"]).tolist() == [2, 0]
    with pytest.raises(OptionError, match="vertex b is not in"):
        store.dense_ids(["a", "b"])
