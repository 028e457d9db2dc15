"""The text that identifies the sources of a run in its request."""

import hashlib
import re
from dataclasses import dataclass
from typing import Self

import numpy as np

from csaw.engine.api.starts import SourceKind

HEX = "([0-9a-f]{32})"
FORM = re.compile(
    rf"\w+(?: {HEX})?(?: of (\d{{1,20}}))? x (\d{{1,20}})(?: grown ([\d,]+))?(?: labelled {HEX})?(?: timed {HEX})?"
)


@dataclass(frozen=True)
class SourcesDigest:
    """The sources of a run, as far as a request keeps them; ``str`` of it is the text in manifests.

    kind: None where a text names no kind that csaw knows. width: sources, or clusters, of an instance. digest: of the
    list of sources, or of the clusters. count: the number of clusters, or of the sources of a list from which
    mini-batches take seeds, or which has times. labels: the digest of the labels of seeds. times: that of the times of
    sources. grown: of walks that take all vertices several times, how many of these each version of a graph that has
    grown had.
    """

    kind: SourceKind | None
    width: int = 0
    digest: str = ""
    count: int | None = None
    labels: str = ""
    times: str = ""
    grown: tuple[int, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the text of a manifest, which another program may have written: what it lacks is left out."""
        name, found = text.partition(" ")[0], FORM.fullmatch(text)
        kind = SourceKind[name.upper()] if name in list(SourceKind) else None
        if found is None:
            return cls(kind)
        digest, count, width, grown, labels, times = found.groups()
        vertices = tuple(int(one) for one in (grown or "").split(",") if one)
        number = None if count is None else int(count)
        return cls(kind, int(width), digest or "", number, labels or "", times or "", vertices)

    @property
    def is_whole(self) -> bool:
        """Whether it has what sources of its kind have, and nothing else."""
        if self.kind is None or not self.width:
            return False
        if self.kind is SourceKind.CLUSTERS:
            return bool(self.digest) and not (self.labels or self.times)
        return bool(self.digest) if self.kind is SourceKind.LIST else not self.listed

    @property
    def listed(self) -> str:
        """The number and the digests of a list, in words."""
        digests = {"digest": self.digest, "labels with digest": self.labels, "times with digest": self.times}
        count = [] if self.count is None else [str(self.count)]
        return ", ".join(count + [f"{name} {digest}" for name, digest in digests.items() if digest])

    def __str__(self) -> str:
        words = [str(self.kind), self.digest, "" if self.count is None else f"of {self.count}", f"x {self.width}"]
        said = {"grown": ",".join(map(str, self.grown)), "labelled": self.labels, "timed": self.times}
        return " ".join(filter(None, [*words, *(f"{word} {one}" for word, one in said.items() if one)]))


def digest_of(listed: np.ndarray) -> str:
    """Return the name of a list of sources, or of their labels, in a request."""
    return hashlib.sha256(listed.tobytes()).hexdigest()[:32]
