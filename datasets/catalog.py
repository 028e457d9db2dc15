"""Graphs of the SNAP and SuiteSparse collections, among them those of the C-SAW, NextDoor and Gunrock papers: their addresses and published counts.

Gunrock's are those of its papers on several GPUs and on triangle counting. No collection publishes checksums, so ``sha256`` is None until somebody has
compared files that came from it independently; what is checked instead is in check.py.
"""

from dataclasses import dataclass

from csaw.partition.errors import UnknownNameError
from csaw.partition.shown import shown

SNAP = "https://snap.stanford.edu/data/"
SUITESPARSE = "https://sparse.tamu.edu/MM/"  # NAME.tar.gz has NAME/NAME.mtx
ARCHIVE = ".tar.gz"


@dataclass(frozen=True)
class Entry:
    """A dataset: ``vertices`` and ``edges`` as its collection publishes them, an undirected edge once; ``sha256`` of the file where it is known."""

    name: str
    file: str
    vertices: int
    edges: int
    directed: bool
    papers: str = ""  # papers that sample or traverse it
    sha256: str | None = None

    @property
    def url(self) -> str:
        return (SUITESPARSE if self.member else SNAP) + self.file

    @property
    def member(self) -> str:
        """The name of the Matrix Market file in an archive; empty for a file that is the graph itself."""
        return f"{self.name}.mtx" if self.file.endswith(ARCHIVE) else ""


@dataclass(frozen=True)
class ByHand:
    """A graph of a paper that comes in a form which csaw does not fetch: where it is found, and the counts published with it, an undirected edge once."""

    name: str
    page: str
    vertices: int
    edges: int
    directed: bool
    papers: str

    @property
    def advice(self) -> str:
        """What to do with its name, for errors."""
        return f"{self.name} is not published as a file of edges; {self.page} has it, and docs/guides/graphs.md says how to make {self.name}.zarr of it"


ENTRIES = (
    Entry("amazon0302", "amazon0302.txt.gz", 262_111, 1_234_877, True),
    Entry("amazon0312", "amazon0312.txt.gz", 400_727, 3_200_440, True),
    Entry("amazon0505", "amazon0505.txt.gz", 410_236, 3_356_824, True),
    Entry("amazon0601", "amazon0601.txt.gz", 403_394, 3_387_388, True, "C-SAW"),
    Entry("as-Skitter", "as-skitter.txt.gz", 1_696_415, 11_095_298, False, "C-SAW"),
    Entry("ca-AstroPh", "ca-AstroPh.txt.gz", 18_772, 198_110, False),
    Entry("ca-CondMat", "ca-CondMat.txt.gz", 23_133, 93_497, False),
    Entry("ca-GrQc", "ca-GrQc.txt.gz", 5_242, 14_496, False),
    Entry("ca-HepPh", "ca-HepPh.txt.gz", 12_008, 118_521, False),
    Entry("ca-HepTh", "ca-HepTh.txt.gz", 9_877, 25_998, False),
    Entry("cit-HepPh", "cit-HepPh.txt.gz", 34_546, 421_578, True),
    Entry("cit-HepTh", "cit-HepTh.txt.gz", 27_770, 352_807, True),
    Entry("cit-Patents", "cit-Patents.txt.gz", 3_774_768, 16_518_948, True, "C-SAW, NextDoor, Gunrock"),
    Entry("coAuthorsCiteseer", "DIMACS10/coAuthorsCiteseer.tar.gz", 227_320, 814_134, False, "Gunrock"),
    Entry("com-Amazon", "bigdata/communities/com-amazon.ungraph.txt.gz", 334_863, 925_872, False),
    Entry("com-DBLP", "bigdata/communities/com-dblp.ungraph.txt.gz", 317_080, 1_049_866, False),
    Entry("com-Friendster", "bigdata/communities/com-friendster.ungraph.txt.gz", 65_608_366, 1_806_067_135, False, "C-SAW, NextDoor"),
    Entry("com-LiveJournal", "bigdata/communities/com-lj.ungraph.txt.gz", 3_997_962, 34_681_189, False),
    Entry("com-Orkut", "bigdata/communities/com-orkut.ungraph.txt.gz", 3_072_441, 117_185_083, False, "C-SAW, NextDoor, Gunrock"),
    Entry("com-Youtube", "bigdata/communities/com-youtube.ungraph.txt.gz", 1_134_890, 2_987_624, False),
    Entry("coPapersDBLP", "DIMACS10/coPapersDBLP.tar.gz", 540_486, 15_245_729, False, "Gunrock"),
    Entry("ego-Facebook", "facebook_combined.txt.gz", 4_039, 88_234, False),
    Entry("email-Enron", "email-Enron.txt.gz", 36_692, 183_831, False),
    Entry("email-Eu-core", "email-Eu-core.txt.gz", 1_005, 25_571, True),
    Entry("email-EuAll", "email-EuAll.txt.gz", 265_214, 420_045, True),
    Entry("p2p-Gnutella04", "p2p-Gnutella04.txt.gz", 10_876, 39_994, True),
    Entry("p2p-Gnutella31", "p2p-Gnutella31.txt.gz", 62_586, 147_892, True),
    Entry("road_central", "DIMACS10/road_central.tar.gz", 14_081_816, 16_933_413, False, "Gunrock"),
    Entry("roadNet-CA", "roadNet-CA.txt.gz", 1_965_206, 2_766_607, False),
    Entry("roadNet-PA", "roadNet-PA.txt.gz", 1_088_092, 1_541_898, False),
    Entry("roadNet-TX", "roadNet-TX.txt.gz", 1_379_917, 1_921_660, False),
    Entry("soc-Epinions1", "soc-Epinions1.txt.gz", 75_879, 508_837, True),
    Entry("soc-LiveJournal1", "soc-LiveJournal1.txt.gz", 4_847_571, 68_993_773, True, "C-SAW, NextDoor, Gunrock"),
    Entry("soc-Pokec", "soc-pokec-relationships.txt.gz", 1_632_803, 30_622_564, True),
    Entry("soc-Slashdot0811", "soc-Slashdot0811.txt.gz", 77_360, 905_468, True),
    Entry("soc-Slashdot0902", "soc-Slashdot0902.txt.gz", 82_168, 948_464, True),
    Entry("twitter-2010", "twitter-2010.txt.gz", 41_652_230, 1_468_364_884, True, "C-SAW"),
    Entry("web-BerkStan", "web-BerkStan.txt.gz", 685_230, 7_600_595, True),
    Entry("web-Google", "web-Google.txt.gz", 875_713, 5_105_039, True, "C-SAW"),
    Entry("web-NotreDame", "web-NotreDame.txt.gz", 325_729, 1_497_134, True),
    Entry("web-Stanford", "web-Stanford.txt.gz", 281_903, 2_312_497, True),
    Entry("wiki-Talk", "wiki-Talk.txt.gz", 2_394_385, 5_021_410, True),
    Entry("wiki-Vote", "wiki-Vote.txt.gz", 7_115, 103_689, True),
)  # fmt: skip

SAINT = "https://github.com/GraphSAINT/GraphSAINT"
BY_HAND = (
    ByHand("PPI", "https://snap.stanford.edu/graphsage/", 56_944, 818_716, False, "NextDoor"),
    ByHand("Reddit", SAINT, 232_965, 11_606_919, False, "C-SAW, NextDoor"),
    ByHand("Yelp", SAINT, 716_847, 6_977_410, False, "C-SAW"),
)


def find(name: str) -> Entry | None:
    """The dataset called ``name``, regardless of case; None where there is none."""
    return next((e for e in ENTRIES if e.name.lower() == name.lower()), None)


def by_hand(name: str) -> ByHand | None:
    """The graph of that name, regardless of case, that csaw does not fetch; None where there is none."""
    return next((graph for graph in BY_HAND if graph.name.lower() == name.lower()), None)


def known(name: str) -> Entry:
    """The dataset called ``name``; UnknownNameError lists the known names."""
    entry = find(name)
    if graph := by_hand(name):
        raise UnknownNameError(graph.advice)
    if entry is None:
        raise UnknownNameError(f"no dataset called {shown(repr(name))}; there are {', '.join(e.name for e in ENTRIES)}")
    return entry
