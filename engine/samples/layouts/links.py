"""Links with negatives: a table of sources and destinations, and one of vertices that each source has no edge to."""

from pathlib import Path

import numpy as np

from csaw.engine.samples import files
from csaw.engine.samples.layouts.layout import NUMBERS, TIME, VERTEX, Arrays, Declared, Shapes, Stored, Table, fixed
from csaw.engine.samples.pyg_batches import Batch
from csaw.partition.errors import OptionError
from csaw.partition.graph.attributes import NUMBER


class Links(Table):
    """``links`` [instances, 2]: the source and the destination of each; ``negatives`` [instances, m]: vertices to which
    the source has no edge, or fill in a whole row if there are none; in time also ``time`` [instances], of each link.
    """

    name = "links"
    arrays = (
        fixed("links", VERTEX, "source and destination of each link", NUMBER, "end"),
        fixed("negatives", VERTEX, "vertices that the source of each link has no edge to", NUMBER, "negative"),
        Declared(TIME, NUMBERS, ("instance",), NUMBER, "time of each link, in the units of the graph", optional=True),
    )
    first_version = 4
    words = "link", "links"
    heading = "Links: a sample is a link with destinations that are none"
    counted_from = ()
    first_ids = "links"

    def check_shapes(self, path: Path, shapes: Shapes) -> None:
        if shapes["links"][1] != 2:
            files.refuse(path / "links", "two columns", f"a shape of {shapes['links']}")

    def read(self, path: Path, stored: Stored, start: int, stop: int) -> Arrays:
        return {name: stored[name][start:stop] for name in self.wanted(stored)}

    def edges(self, arrays: Arrays, fill: int) -> Arrays:
        """The links alone: negatives are no edges."""
        links = arrays["links"]
        return {
            "instance": np.arange(len(links)),
            "src": np.ascontiguousarray(links[:, 0]),
            "dst": np.ascontiguousarray(links[:, 1]),
            "depth": np.zeros(len(links), np.int32),
        }

    def pairs(self, arrays: Arrays, fill: int) -> Arrays:
        """Each link, with ``label`` 1, and after it the pairs of its source and its negatives, with 0; all of them with
        the ``time`` of the link, where it has one.
        """
        links, negatives = arrays["links"], arrays["negatives"]
        ends = np.concatenate([links[:, 1:], negatives], axis=1)
        row, column = np.nonzero(ends != ends.dtype.type(fill))
        src, dst = np.ascontiguousarray(links[row, 0]), ends[row, column]
        times = {TIME: arrays[TIME][row]} if TIME in arrays else {}
        return {"instance": row, "src": src, "dst": dst, "label": (column == 0).astype(np.int32)} | times

    def edges_of_each(self, arrays: Arrays, fill: int) -> np.ndarray:
        return np.ones(len(arrays["negatives"]), np.int64)

    def sources(self, arrays: Arrays) -> tuple[np.ndarray, np.ndarray]:
        links = np.ascontiguousarray(arrays["links"])
        return links.reshape(-1), np.full(len(links), 2, np.int64)

    def visits(self, arrays: Arrays, fill: int, skipped: int) -> np.ndarray:
        return self.sources(arrays)[0]

    def look(self, arrays: Arrays, fill: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        negatives = arrays["negatives"].reshape(-1)
        held = negatives[negatives != negatives.dtype.type(fill)]
        return self.edges_of_each(arrays, fill), self.sources(arrays)[0], held

    def rows_read(self, arrays: Arrays, depth: int | None) -> list[tuple[np.ndarray, str]]:
        return [(arrays["links"][:, :1], "")]

    def as_batch(self, arrays: Arrays, fill: int, stored: Stored, start: int) -> Batch:
        raise OptionError(
            "links are no subgraphs, so PyTorch Geometric has no batch of them; read the arrays links and negatives of "
            "the sample, or export it to .npy, .parquet or .csv"
        )
