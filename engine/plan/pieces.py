"""Cut a streamed graph into pieces, so that memory of any size has room for some.

Pieces are the partitions that are brought into memory.
"""

from dataclasses import dataclass

from csaw.engine.plan.contracts import Store

# Pieces that should fit at once: with fewer, each one that is brought takes the place of one that walkers come back to.
# With MORE_SLOTS, walks move a
# tenth fewer bytes than with SLOTS, but in more loads, which pays for pieces of LARGE_PIECE bytes or more
# (docs/contributing/tuning.md).
SLOTS, MORE_SLOTS, LARGE_PIECE = 4, 6, 16 << 20
MOST_PIECES = 1 << 11  # that a graph is cut into, or so: more would each cost more than their bytes


@dataclass(frozen=True)
class Cut:
    """The numbers that decide the size of pieces.

    edge: bytes of an edge in a piece. scratch: bytes of an edge while the tables of a piece are made, one piece at a
    time.
    together: pieces that a step needs at once. uniform: whether each piece takes the memory of the largest one.
    """

    store: Store
    edge: int
    scratch: int
    together: int
    uniform: bool

    @property
    def least_edges(self) -> int:
        """Edges of the largest piece where pieces are as small as they can be: those of the longest row."""
        return self.largest(self._fewest)

    @property
    def least_bytes(self) -> int:
        """Least memory for pieces."""
        return self._bytes(self.least_edges, self.together)

    @property
    def least(self) -> dict[str, int]:
        """The least memory for pieces, by what it holds in words."""
        row = ", as many as the longest row has" if self.least_edges == self.store.max_degree else ""
        return {f"{self.together} piece(s) of {self.least_edges:,} edges{row}": self.least_bytes}

    def most_edges(self, budget: int) -> int:
        """Most edges of a piece of several rows if pieces have ``budget`` bytes.

        Those of the largest partition where SLOTS such pieces fit, else as many as let SLOTS or MORE_SLOTS fit.
        """
        whole = self.store.largest_partition
        all_of_it = self.store.edges * self.edge + whole * self.scratch
        if min(self._bytes(whole, SLOTS), all_of_it) <= budget:
            return whole
        more, fewer = budget // self._bytes(1, MORE_SLOTS), budget // self._bytes(1, SLOTS)
        wanted = max(more, min(fewer, LARGE_PIECE // self.edge))
        return min(max(wanted, self.least_edges if self.uniform else self._fewest), whole)

    def largest(self, most: int) -> int:
        """Edges of the largest piece if those of several rows have at most ``most``: a row is never cut."""
        return min(max(most, self.store.max_degree), self.store.largest_partition)

    def scratch_bytes(self, largest: int) -> int:
        """Bytes for making the tables of the largest piece."""
        return largest * self.scratch

    @property
    def _fewest(self) -> int:
        return max(1, -(-self.store.edges // MOST_PIECES))

    def _bytes(self, edges: int, pieces: int) -> int:
        """Bytes of so many pieces of this many edges, and for making the tables of one."""
        return edges * (pieces * self.edge + self.scratch)
