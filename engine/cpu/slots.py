"""Slots: fixed places for the partitions of a streamed graph, so that a partition is read into the memory of one before
it.

To clear new pages takes longer than to read a partition into pages that are there (docs/contributing/tuning.md).
"""

from collections.abc import Sequence

from csaw.engine.cpu.reserved import HUGE, Reserved

ALIGNED = HUGE // 4  # edges, of 4 bytes or a multiple of them: a slot begins where a huge page may begin


class Slots:
    """Slots for partitions of at most ``largest`` edges, behind the first ``edges`` places of each of ``arrays``.

    ``arrays``: each with its number of elements of an edge; they have as many places as ``places`` says, so that each
    partition can have a slot. A slot that is free keeps its memory, and so does one that a smaller partition is in, as
    long as all slots together have memory for at most ``most`` edges.
    """

    def __init__(self, arrays: Sequence[tuple[Reserved, int]], edges: int, largest: int, most: int) -> None:
        self.arrays, self.first, self.room, self.most = arrays, _aligned(edges), _aligned(largest), most
        self.free: list[int] = []  # slots that a partition has left
        self.of: dict[int, int] = {}  # the slot of each partition that has one
        self.used: list[int] = []  # edges of the partition in each slot
        self.filled: list[int] = []  # edges for which each slot has memory
        for array, _ in arrays:
            array.huge_pages(False)

    @staticmethod
    def places(edges: int, largest: int, count: int) -> int:
        """Places that arrays must have."""
        return _aligned(edges) + count * _aligned(largest)

    def take(self, partition: int, edges: int) -> int:
        """The place of the first edge of a slot for a partition of so many edges."""
        if partition not in self.of:
            slot = self._free()
            self.of[partition], self.used[slot] = slot, edges
            if edges > self.filled[slot]:
                self._grow(slot, edges)
            self.trim(self.most)
        return self._begin(self.of[partition])

    def give_back(self, partition: int) -> None:
        """Free the slot of a partition."""
        slot = self.of.pop(partition)
        self.used[slot] = 0
        self.free.append(slot)

    def trim(self, most: int = 0) -> None:
        """Give back memory that no partition uses, where most of it is first.

        It ends when there is memory for at most ``most`` edges, or no more of it.
        """
        while sum(self.filled) > max(most, sum(self.used)):
            slot = max(range(len(self.used)), key=lambda slot: self.filled[slot] - self.used[slot])
            begin = self._begin(slot)
            for array, each in self.arrays:
                array.release(each * (begin + self.used[slot]), each * (begin + self.room))
            self.filled[slot] = self.used[slot]

    def _free(self) -> int:
        """The free slot with most memory, or a new one."""
        if self.free:
            slot = max(self.free, key=self.filled.__getitem__)
            self.free.remove(slot)
            return slot
        self.used.append(0)
        self.filled.append(0)
        return len(self.used) - 1

    def _grow(self, slot: int, edges: int) -> None:
        """Let a slot take memory for so many edges: in huge pages, but for the last one, which is not full."""
        begin = self._begin(slot)
        for array, each in self.arrays:
            array.huge_pages(False, each * begin, each * (begin + self.room))
            array.huge_pages(True, each * begin, each * (begin + edges))
        self.filled[slot] = edges

    def _begin(self, slot: int) -> int:
        return self.first + slot * self.room


def _aligned(edges: int) -> int:
    return -(-edges // ALIGNED) * ALIGNED
