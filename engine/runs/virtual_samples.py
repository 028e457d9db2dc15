"""The samples of a virtual store, which are drawn when they are read."""

from functools import partial
from operator import attrgetter
from pathlib import Path

from csaw.engine.runs.job import Job
from csaw.engine.runs.sample_stream import Stream
from csaw.engine.samples.format import VIRTUAL
from csaw.engine.samples.kept import joined
from csaw.engine.samples.layouts import Arrays
from csaw.engine.samples.on_demand import OnDemand
from csaw.engine.samples.samples import Samples, open_samples
from csaw.engine.samples.source import Source
from csaw.partition.arrays.opened_again import opened_again
from csaw.partition.base.plain_data import Record


class VirtualSource(OnDemand):
    """A virtual sample: its instances are drawn when they are read, by the device and within the memory of its job."""

    is_virtual = True

    def __init__(
        self, path: Path, attributes: Record, checksums: dict[str, str], job: Job, algo: str | None = None
    ) -> None:
        super().__init__(path, attributes, self._drawn, lambda: job.identifiers.words, checksums)
        self.job, self.algo, self.stream = job, algo, Stream(job)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle its place and that of its graph; where it is opened again, the device and the memory are chosen."""
        opens = partial(drawn_again, graph=str(self.job.store.path.absolute()), algo=self.algo)
        return opened_again, (str(self.path.absolute()), self.identity, opens, attrgetter("identity"))

    def _drawn(self, start: int, stop: int) -> Arrays:
        """The arrays of some instances; of none, those of one without its rows."""
        if start == stop:
            last = min(start + 1, self.instances) if self.instances else 0
            return joined([{n: a[:0] for n, a in self._drawn(last - 1, last).items()}]) if last else {}
        return joined([batch.arrays() for batch in self.stream.draw(start, stop)])

    @property
    def results(self) -> Record:
        return {VIRTUAL: True}

    @property
    def nbytes(self) -> int:
        return size_of(self.path)


class VirtualSamples(Samples):
    """Samples of a virtual store, which have the ``job`` that draws them."""

    source: VirtualSource

    @property
    def job(self) -> Job:
        return self.source.job


def drawn_again(path: Path, graph: str, algo: str | None) -> Source:
    """Open the virtual sample at ``path``, of the graph store at ``graph``."""
    return open_samples(path, graph, algo).source


def size_of(path: Path) -> int:
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
