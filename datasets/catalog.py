"""Graphs of the SNAP and SuiteSparse collections: their addresses and published counts.

Among them are the graphs of the C-SAW and NextDoor papers that are published as text, some of Gunrock's papers on
several GPUs and on triangle counting, and SNAP's networks whose edges have times. The collections publish no checksums
and no sizes. RECORDED has what at least two projects that fetched a file on their own have recorded alike; of the other
files both are unknown, and check.py compares them with the published counts.
"""

from dataclasses import asdict, dataclass, replace

from csaw.partition.base.plain_data import Record
from csaw.partition.base.quoting import meant, shown
from csaw.partition.errors import UnknownNameError

SNAP = "https://snap.stanford.edu/data/"
SUITESPARSE = "https://sparse.tamu.edu/MM/"  # NAME.tar.gz has NAME/NAME.mtx
ARCHIVE = ".tar.gz"


@dataclass(frozen=True)
class Entry:
    """A dataset: ``vertices`` and ``edges`` as its collection publishes them, an undirected edge once.

    ``sha256`` and ``nbytes``: those of the file, where they are known. A temporal network has the column of its file
    with the times of edges, ``time_column``; its ``edges`` count an edge once for each time, ``static_edges`` once in
    all, and its times span ``days``.
    """

    name: str
    file: str
    vertices: int
    edges: int
    directed: bool
    papers: str = ""  # papers that sample or traverse it
    sha256: str | None = None
    nbytes: int | None = None
    time_column: int | None = None  # from 1; in seconds
    time_format: str = "numbers"  # "unix" where they count from 1970
    static_edges: int | None = None
    days: int | None = None
    isolated: bool = False  # whether vertices may have no edge, which a store leaves out

    @property
    def url(self) -> str:
        return (SUITESPARSE if self.member else SNAP) + self.file

    @property
    def member(self) -> str:
        """The name of the Matrix Market file in an archive; empty for a file that is the graph itself."""
        return f"{self.name}.mtx" if self.file.endswith(ARCHIVE) else ""


def temporal(name: str, vertices: int, edges: int, static_edges: int, days: int, time_format: str = "unix") -> Entry:
    """A temporal network of SNAP: rows of source, target and time, in seconds."""
    found = Entry(name, f"{name}.txt.gz", vertices, edges, True, time_column=3, static_edges=static_edges, days=days)
    return replace(found, time_format=time_format)


@dataclass(frozen=True)
class ByHand:
    """A graph in a form that csaw does not fetch: the page that has it, and the published counts.

    An undirected edge counts once.
    """

    name: str
    page: str
    vertices: int
    edges: int
    directed: bool
    papers: str = ""

    @property
    def advice(self) -> str:
        """The way to get the graph, for errors."""
        return (
            f"csaw does not fetch {self.name}; {self.page} has it in another form, and docs/guides/graphs.md "
            f"explains how to make {self.name}.zarr of it"
        )


RECORDED: dict[str, tuple[str, int | None]] = {  # sha256 and bytes, where they were recorded too
    "ca-GrQc": ("a254442cdf5d684712578b630c2e0d7543518ab154ef2341cabb607572ce7230", 109_261),
    "ca-HepPh": ("8d679f64ea507834613f4c09e6f692cc8a2405d5a01bfe1ee3b24fbbea1d807f", None),
    "cit-HepPh": ("917e77b3344aed33fd2d849443c9512b7c528b9dc87251d4245fb3777bbe4128", 1_664_504),
    "com-Orkut": ("f73e33fb685f411a10c952f2ba3ea788380b91a17bc636e38da1a23f6c6b2bc6", 447_251_958),
    "ego-Facebook": ("125e84db872eeba443d270c70315c256b0af43a502fcfe51f50621166ad035d7", 218_576),
    "email-Eu-core": ("4b47acdb80197b085fe63c819c357ae488131ee904ed93d1b219a68b0f9e245f", 79_754),
    "roadNet-CA": ("383f7b14424530a9e25c392969a9c19dace32ebcfd141f0967a1433498c2acdd", None),
    "soc-LiveJournal1": ("d7bcd5a87b88c896c35fdb9611e804c3f4033c39b58c4c9ea3ba53c680d516d8", 259_619_239),
    "web-Google": ("bcac0af0471d749f4a8c010bca92b61cf2868a0570741de06892fc062f265ea6", 21_168_784),
    "wiki-Vote": ("7d3e53626e14b8b09fb3b396bece9d481ad606bd64ceab066349ff57d4ada7fc", None),
}
LISTED = (
    Entry("amazon0302", "amazon0302.txt.gz", 262_111, 1_234_877, True),
    Entry("amazon0312", "amazon0312.txt.gz", 400_727, 3_200_440, True),
    Entry("amazon0505", "amazon0505.txt.gz", 410_236, 3_356_824, True),
    Entry("amazon0601", "amazon0601.txt.gz", 403_394, 3_387_388, True, "C-SAW"),
    Entry("arabic-2005", "LAW/arabic-2005.tar.gz", 22_744_080, 639_999_458, True, "Gunrock", isolated=True),
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
    temporal("CollegeMsg", 1_899, 59_835, 20_296, 193),
    Entry("com-Amazon", "bigdata/communities/com-amazon.ungraph.txt.gz", 334_863, 925_872, False),
    Entry("com-DBLP", "bigdata/communities/com-dblp.ungraph.txt.gz", 317_080, 1_049_866, False),
    Entry(
        "com-Friendster",
        "bigdata/communities/com-friendster.ungraph.txt.gz",
        65_608_366,
        1_806_067_135,
        False,
        "C-SAW, NextDoor",
    ),
    Entry("com-LiveJournal", "bigdata/communities/com-lj.ungraph.txt.gz", 3_997_962, 34_681_189, False),
    Entry(
        "com-Orkut",
        "bigdata/communities/com-orkut.ungraph.txt.gz",
        3_072_441,
        117_185_083,
        False,
        "C-SAW, NextDoor, Gunrock",
    ),
    Entry("com-Youtube", "bigdata/communities/com-youtube.ungraph.txt.gz", 1_134_890, 2_987_624, False),
    Entry("coPapersDBLP", "DIMACS10/coPapersDBLP.tar.gz", 540_486, 15_245_729, False, "Gunrock"),
    Entry("ego-Facebook", "facebook_combined.txt.gz", 4_039, 88_234, False),
    Entry("email-Enron", "email-Enron.txt.gz", 36_692, 183_831, False),
    Entry("email-Eu-core", "email-Eu-core.txt.gz", 1_005, 25_571, True),
    temporal("email-Eu-core-temporal", 986, 332_334, 24_929, 803, "numbers"),
    Entry("email-EuAll", "email-EuAll.txt.gz", 265_214, 420_045, True),
    Entry("hollywood-2009", "LAW/hollywood-2009.tar.gz", 1_139_905, 57_515_616, False, "Gunrock"),
    Entry("indochina-2004", "LAW/indochina-2004.tar.gz", 7_414_866, 194_109_311, True, "Gunrock", isolated=True),
    Entry(
        "kron_g500-logn21", "DIMACS10/kron_g500-logn21.tar.gz", 2_097_152, 91_042_010, False, "Gunrock", isolated=True
    ),
    Entry("p2p-Gnutella04", "p2p-Gnutella04.txt.gz", 10_876, 39_994, True),
    Entry("p2p-Gnutella31", "p2p-Gnutella31.txt.gz", 62_586, 147_892, True),
    Entry("rgg_n_2_24_s0", "DIMACS10/rgg_n_2_24_s0.tar.gz", 16_777_216, 132_557_200, False, "Gunrock", isolated=True),
    Entry("road_central", "DIMACS10/road_central.tar.gz", 14_081_816, 16_933_413, False, "Gunrock"),
    Entry("roadNet-CA", "roadNet-CA.txt.gz", 1_965_206, 2_766_607, False, "Gunrock"),
    Entry("roadNet-PA", "roadNet-PA.txt.gz", 1_088_092, 1_541_898, False),
    Entry("roadNet-TX", "roadNet-TX.txt.gz", 1_379_917, 1_921_660, False),
    Entry("soc-Epinions1", "soc-Epinions1.txt.gz", 75_879, 508_837, True),
    Entry("soc-LiveJournal1", "soc-LiveJournal1.txt.gz", 4_847_571, 68_993_773, True, "C-SAW, NextDoor, Gunrock"),
    Entry("soc-Pokec", "soc-pokec-relationships.txt.gz", 1_632_803, 30_622_564, True),
    Entry("soc-Slashdot0811", "soc-Slashdot0811.txt.gz", 77_360, 905_468, True),
    Entry("soc-Slashdot0902", "soc-Slashdot0902.txt.gz", 82_168, 948_464, True),
    temporal("sx-askubuntu", 159_316, 964_437, 596_933, 2613),
    temporal("sx-mathoverflow", 24_818, 506_550, 239_978, 2350),
    temporal("sx-stackoverflow", 2_601_977, 63_497_050, 36_233_450, 2774),
    temporal("sx-superuser", 194_085, 1_443_339, 924_886, 2773),
    Entry("twitter-2010", "twitter-2010.txt.gz", 41_652_230, 1_468_364_884, True, "C-SAW"),
    Entry("uk-2002", "LAW/uk-2002.tar.gz", 18_520_486, 298_113_762, True, "Gunrock", isolated=True),
    Entry("uk-2005", "LAW/uk-2005.tar.gz", 39_459_925, 936_364_282, True, "Gunrock", isolated=True),
    Entry("web-BerkStan", "web-BerkStan.txt.gz", 685_230, 7_600_595, True),
    Entry("web-Google", "web-Google.txt.gz", 875_713, 5_105_039, True, "C-SAW"),
    Entry("web-NotreDame", "web-NotreDame.txt.gz", 325_729, 1_497_134, True),
    Entry("web-Stanford", "web-Stanford.txt.gz", 281_903, 2_312_497, True),
    Entry("webbase-2001", "LAW/webbase-2001.tar.gz", 118_142_155, 1_019_903_190, True, "Gunrock", isolated=True),
    Entry("wiki-Talk", "wiki-Talk.txt.gz", 2_394_385, 5_021_410, True),
    temporal("wiki-talk-temporal", 1_140_149, 7_833_140, 3_309_592, 2320),
    Entry("wiki-Vote", "wiki-Vote.txt.gz", 7_115, 103_689, True),
)
ENTRIES = tuple(
    replace(entry, sha256=sha256, nbytes=nbytes)
    for entry in LISTED
    for sha256, nbytes in [RECORDED.get(entry.name, (None, None))]
)

SAINT = "https://github.com/GraphSAINT/GraphSAINT"
TGB = "https://tgb.complexdatalab.com/docs/linkprop/"  # an edge counts once for each of its times
BY_HAND = (
    ByHand("ogbn-products", "https://ogb.stanford.edu/docs/nodeprop/", 2_449_029, 61_859_140, False, "gSampler"),
    ByHand("PPI", "https://snap.stanford.edu/graphsage/", 56_944, 818_716, False, "NextDoor"),
    ByHand("Reddit", SAINT, 232_965, 11_606_919, False, "C-SAW, NextDoor"),
    *(
        ByHand(name, f"https://networkrepository.com/{name}.php", vertices, edges, False, "Gunrock")
        for name, vertices, edges in (
            ("soc-orkut", 2_997_166, 106_349_209),
            ("soc-sinaweibo", 58_655_849, 261_321_071),
            ("soc-twitter-2010", 21_297_772, 265_025_809),
        )
    ),
    *(
        ByHand(name, TGB, vertices, edges, True)
        for name, vertices, edges in (
            ("tgbl-coin", 638_486, 22_809_486),
            ("tgbl-comment", 994_790, 44_314_507),
            ("tgbl-flight", 18_143, 67_169_570),
            ("tgbl-review", 352_637, 4_873_540),
            ("tgbl-wiki", 9_227, 157_474),
        )
    ),
    ByHand("Yelp", SAINT, 716_847, 6_977_410, False, "C-SAW"),
)


def listed() -> list[Record]:
    """All entries as plain data."""
    return [asdict(entry) | {"url": entry.url} for entry in ENTRIES]


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
        known_names = [entry.name for entry in ENTRIES]
        raise UnknownNameError(
            f"no dataset called {shown(repr(name))}; there are {', '.join(known_names)}{meant(name, known_names)}"
        )
    return entry
