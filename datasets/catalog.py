"""The SNAP graphs of the C-SAW, NextDoor and Gunrock papers: where they are and what SNAP says is in them."""

from dataclasses import dataclass

SNAP = "https://snap.stanford.edu/data/"


@dataclass(frozen=True)
class Entry:
    """A dataset; ``vertices`` and ``edges`` as SNAP publishes them, sha256 only where known."""

    name: str
    file: str
    vertices: int
    edges: int
    directed: bool
    papers: str
    sha256: str | None = None

    @property
    def url(self) -> str:
        return SNAP + self.file


ENTRIES = (
    Entry("as-Skitter", "as-skitter.txt.gz", 1_696_415, 11_095_298, False, "C-SAW"),
    Entry("cit-Patents", "cit-Patents.txt.gz", 3_774_768, 16_518_948, True, "C-SAW, NextDoor, Gunrock"),
    Entry("soc-LiveJournal1", "soc-LiveJournal1.txt.gz", 4_847_571, 68_993_773, True, "C-SAW, NextDoor, Gunrock"),
    Entry(
        "com-Orkut",
        "bigdata/communities/com-orkut.ungraph.txt.gz",
        3_072_441,
        117_185_083,
        False,
        "C-SAW, NextDoor, Gunrock",
    ),
    Entry(
        "com-Friendster",
        "bigdata/communities/com-friendster.ungraph.txt.gz",
        65_608_366,
        1_806_067_135,
        False,
        "C-SAW, NextDoor",
    ),
    Entry("web-Google", "web-Google.txt.gz", 875_713, 5_105_039, True, "C-SAW"),
    Entry("amazon0601", "amazon0601.txt.gz", 403_394, 3_387_388, True, "C-SAW"),
    Entry("web-Stanford", "web-Stanford.txt.gz", 281_903, 2_312_497, True, "Gunrock"),
    Entry("web-BerkStan", "web-BerkStan.txt.gz", 685_230, 7_600_595, True, "Gunrock"),
    Entry("roadNet-CA", "roadNet-CA.txt.gz", 1_965_206, 2_766_607, False, "Gunrock"),
    Entry("wiki-Vote", "wiki-Vote.txt.gz", 7_115, 103_689, True, "small"),
    Entry("p2p-Gnutella31", "p2p-Gnutella31.txt.gz", 62_586, 147_892, True, "small"),
    Entry("email-Enron", "email-Enron.txt.gz", 36_692, 183_831, False, "small"),
    Entry("ca-AstroPh", "ca-AstroPh.txt.gz", 18_772, 198_110, False, "small"),
)


def find(name: str) -> Entry | None:
    """The dataset called ``name``."""
    return next((e for e in ENTRIES if e.name == name), None)
