"""The catalog: names that are unique, addresses that are SNAP's, counts that the files have."""

import re

import pytest
from helpers.machine import need_data

from csaw.datasets.catalog import BY_HAND, ENTRIES, RECORDED, find, known
from csaw.datasets.check import check
from csaw.datasets.resolve import disagreement, resolve
from csaw.partition import IngestOptions, ingest
from csaw.partition.errors import CsawError

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
        matrix = rf"https://sparse\.tamu\.edu/MM/(DIMACS10|LAW)/{entry.name}\.tar\.gz"
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


def test_temporal_networks_have_all_counts_that_their_pages_publish():
    assert [e.name for e in ENTRIES if e.time_column is not None] == [
        "CollegeMsg",
        "email-Eu-core-temporal",
        "sx-askubuntu",
        "sx-mathoverflow",
        "sx-stackoverflow",
        "sx-superuser",
        "wiki-talk-temporal",
    ]
    for entry in ENTRIES:
        if entry.time_column is None:
            assert entry.static_edges is entry.days is None
        else:
            assert entry.file == f"{entry.name}.txt.gz"
            assert entry.vertices < entry.static_edges < entry.edges
            assert entry.directed
            assert 100 < entry.days < 3000


def test_the_messages_of_a_college_have_the_published_counts_and_times(tmp_path):
    entry = known("CollegeMsg")
    file = need_data(f"weighted/{entry.file}")
    assert "59,835 rows agree" in check(file, entry, "here")
    store = ingest(str(file), tmp_path / "g.zarr", IngestOptions(time_column=entry.time_column))
    assert disagreement(entry, store) == ""
    times = store.report["times"]
    assert (times["last"] - times["first"]) // 86400 == entry.days
    once = ingest(str(file), tmp_path / "once.zarr", IngestOptions(weight_column="none"))
    assert once.edges == entry.static_edges


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
            "arabic-2005",
            "cit-Patents",
            "coAuthorsCiteseer",
            "com-Orkut",
            "coPapersDBLP",
            "hollywood-2009",
            "indochina-2004",
            "kron_g500-logn21",
            "rgg_n_2_24_s0",
            "road_central",
            "roadNet-CA",
            "soc-LiveJournal1",
            "soc-orkut",
            "soc-sinaweibo",
            "soc-twitter-2010",
            "uk-2002",
            "uk-2005",
            "webbase-2001",
        },
    }


def test_a_graph_that_is_made_by_hand_is_named_with_its_source(tmp_path):
    for ask in (known, lambda name: resolve(name, tmp_path)):
        with pytest.raises(
            CsawError,
            match=r"csaw does not fetch Reddit; https://\S+ has it in another form, and docs/guides/graphs.md explains "
            "how",
        ):
            ask("reddit")


def test_capitals_do_not_matter_and_unknown_names_list_the_known():
    assert find("WEB-google") is known("web-Google")
    assert find("web-Goggle") is None
    with pytest.raises(CsawError, match="no dataset called 'web-Goggle'; there are amazon0302, .*wiki-Vote"):
        known("web-Goggle")


@pytest.mark.parametrize("name", WHOLE)
def test_files_have_the_published_counts(tmp_path, name):
    entry = known(name)
    file = need_data(f"snap/{entry.file}")
    store = ingest(str(file), tmp_path / "g.zarr", IngestOptions(directed=entry.directed))
    assert disagreement(entry, store) == ""
