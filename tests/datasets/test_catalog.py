"""The catalog: names that are unique, addresses that are SNAP's, counts that the files have."""

import os
import re
from pathlib import Path

import pytest

from csaw.datasets.catalog import BY_HAND, ENTRIES, RECORDED, find, known
from csaw.datasets.resolve import disagreement, resolve
from csaw.partition import IngestOptions, ingest
from csaw.partition.errors import CsawError

DATA = os.environ.get("CSAW_TEST_DATA")  # a folder of SNAP graphs, where there is one
WHOLE = (
    "wiki-Vote",
    "p2p-Gnutella31",
    "p2p-Gnutella04",
    "email-Enron",
    "ca-GrQc",
    "ca-HepTh",
    "ca-HepPh",
    "ca-CondMat",
    "ca-AstroPh",
)


def test_entries_are_well_formed():
    assert len({e.name.lower() for e in ENTRIES}) == len({e.url for e in ENTRIES}) == len(ENTRIES)
    assert [e.name.lower() for e in ENTRIES] == sorted(e.name.lower() for e in ENTRIES)
    for entry in ENTRIES:
        matrix = rf"https://sparse\.tamu\.edu/MM/DIMACS10/{entry.name}\.tar\.gz"
        assert re.fullmatch(
            matrix if entry.member else r"https://snap\.stanford\.edu/data/[\w./-]+\.txt\.gz", entry.url
        )
        assert 0 < entry.vertices < entry.edges < entry.vertices**2
        assert entry.sha256 is None or re.fullmatch("[0-9a-f]{64}", entry.sha256)


def test_what_was_recorded_of_files_is_in_their_entries():
    assert {entry.name for entry in ENTRIES if entry.sha256} == set(RECORDED)
    assert len({entry.sha256 for entry in ENTRIES if entry.sha256}) == len(RECORDED)
    for entry in ENTRIES:
        assert entry.nbytes is None or entry.edges // 2 < entry.nbytes < 24 * entry.edges


def test_the_graphs_of_each_paper_have_its_name():
    of = {
        paper: {graph.name for graph in (*ENTRIES, *BY_HAND) if paper in graph.papers.split(", ")}
        for paper in ("C-SAW", "NextDoor", "Gunrock", "gSampler")
    }
    assert of == {
        "C-SAW": {
            "amazon0601",
            "as-Skitter",
            "cit-Patents",
            "com-Friendster",
            "com-Orkut",
            "Reddit",
            "soc-LiveJournal1",
            "twitter-2010",
            "web-Google",
            "Yelp",
        },
        "NextDoor": {"cit-Patents", "com-Friendster", "com-Orkut", "PPI", "Reddit", "soc-LiveJournal1"},
        "gSampler": {"ogbn-products"},
        "Gunrock": {
            "cit-Patents",
            "coAuthorsCiteseer",
            "com-Orkut",
            "coPapersDBLP",
            "road_central",
            "soc-LiveJournal1",
        },
    }


def test_a_graph_that_is_made_by_hand_is_named_with_its_source(tmp_path):
    for ask in (known, lambda name: resolve(name, tmp_path)):
        with pytest.raises(
            CsawError,
            match=r"Reddit is not published as a file of edges; https://\S+ has it, and docs/guides/graphs.md says how",
        ):
            ask("reddit")


def test_capitals_do_not_matter_and_unknown_names_list_the_known():
    assert find("WEB-google") is known("web-Google")
    assert find("web-Goggle") is None
    with pytest.raises(CsawError, match="no dataset called 'web-Goggle'; there are amazon0302, .*wiki-Vote"):
        known("web-Goggle")


@pytest.mark.skipif(not DATA, reason="CSAW_TEST_DATA names no folder of graphs, which only a network has")
@pytest.mark.parametrize("name", WHOLE)
def test_files_have_the_published_counts(tmp_path, name):
    entry = known(name)
    store = ingest(str(Path(DATA) / "snap" / entry.file), tmp_path / "g.zarr", IngestOptions(directed=entry.directed))
    assert disagreement(entry, store) == ""
