"""Tables of neighbor samples, one for each hop, and whose child each of their columns is."""

from functools import cached_property

import numpy as np

from csaw.engine.samples.array import Array
from csaw.engine.samples.layouts.hops import Hops, hop_names
from csaw.engine.samples.opened import OpenedSamples
from csaw.partition.base import arguments
from csaw.partition.base.python_names import reading
from csaw.partition.errors import OptionError, StoreError


class HopTables(OpenedSamples):
    """Gives samples of layout ``hops`` their tables: hop 0 has the sources, hop k the vertices that were drawn for
    those of hop k - 1.
    """

    @cached_property
    def hops(self) -> list[Array]:
        """The tables of hops, vertices [instances, width] each: hop 0 has the sources."""
        return [self[name] for name in self.hop_names()]

    def hop_names(self) -> list[str]:
        return hop_names(self.arrays)

    @reading({"hop": arguments.integer})
    def parents(self, hop: int) -> np.ndarray:
        """Return the parents of the columns of a hop.

        It is the same for every instance: ``samples.hops[hop - 1][i][samples.parents(hop)]`` are the vertices from
        which those of ``samples.hops[hop][i]`` were drawn, one by one. If a parent has no vertex, its children have
        none either.

        Args:
            hop: from 1 to the number of hops.

        Returns:
            For each column of ``hops[hop]``, that of ``hops[hop - 1]`` whose vertex it was drawn for; int64 [width of
            the hop].

        Raises:
            OptionError: there is no such hop.
            StoreError: the sample has another layout.
        """
        if not isinstance(self.layout, Hops):
            raise StoreError(
                f"{self.path} ({self.layout}) has no tables of hops, so columns have no parents; sample with "
                "--algo neighbor"
            )
        last = len(self.hop_names()) - 1
        if not 1 <= hop <= last:
            raise OptionError(
                f"{self.path}: expected a hop from 1 to {last}, found {hop}; hop 0 has the sources, which "
                "have no parents"
            )
        above, width = (self.hops[k].shape[1] for k in (hop - 1, hop))
        return np.arange(width) // max(width // max(above, 1), 1)
