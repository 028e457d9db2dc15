"""The text by which a request keeps its sources: written and read by one class, whoever wrote it."""

import numpy as np
import pytest

from csaw.cli.reports.run import sources as in_words
from csaw.engine.api.declarations import STARTS
from csaw.engine.api.starts import SourceKind
from csaw.engine.sources.digest import SourcesDigest, digest_of

HELD, LABELS, TIMES = digest_of(np.arange(3)), digest_of(np.arange(4)), digest_of(np.arange(5))
WRITTEN = {
    "all x 1": SourcesDigest(SourceKind.ALL, 1),
    "connected x 2000": SourcesDigest(SourceKind.CONNECTED, 2000),
    f"list {HELD} x 4": SourcesDigest(SourceKind.LIST, 4, HELD),
    f"list {HELD} of 9 x 4": SourcesDigest(SourceKind.LIST, 4, HELD, 9),
    f"list {HELD} of 9 x 4 labelled {LABELS}": SourcesDigest(SourceKind.LIST, 4, HELD, 9, LABELS),
    f"clusters {HELD} of 50 x 20": SourcesDigest(SourceKind.CLUSTERS, 20, HELD, 50),
}


@pytest.mark.parametrize("text", WRITTEN)
def test_texts_are_read_as_they_are_written(text):
    assert SourcesDigest.parse(text) == WRITTEN[text]
    assert str(WRITTEN[text]) == text


@pytest.mark.parametrize(
    "text", ["", "x", "all x", "nothing x 1", "list of x 3", "all x " + "9" * 5000, "all\nx 1", "x 1", "list 0f x 2"]
)
def test_texts_of_another_program_name_a_kind_or_none(text):
    found = SourcesDigest.parse(text)
    assert found.kind == (text.split(" ")[0] if text.split(" ")[0] in list(SourceKind) else None)
    assert in_words(text) or not text


def test_every_kind_that_algorithms_declare_is_one():
    declared = {kind for kinds in STARTS.values() for kind in kinds}
    assert declared | {"list"} == set(SourceKind)
    assert all(kind.said for kind in SourceKind)


def test_reports_say_sources_in_words():
    assert in_words("all x 1") == "all vertices, in order; 1 for each instance"
    assert in_words("connected x 2000") == "random vertices that have neighbors; 2000 for each instance"
    said = f"a list of vertices (9, digest {HELD}, labels with digest {LABELS}{{}}); 4 for each instance"
    assert in_words(f"list {HELD} of 9 x 4 labelled {LABELS}") == said.format("")
    assert in_words(f"list {HELD} of 9 x 4 labelled {LABELS} timed {TIMES}") == said.format(
        f", times with digest {TIMES}"
    )
