"""Residencies: the places where a graph can be while it is sampled."""

from enum import StrEnum


class Residency(StrEnum):
    """One of four places, the fastest first. On the CPU a graph is resident or streamed from disk."""

    RESIDENT = "resident"
    """Whole, in the memory of each GPU or of the host."""
    POOLED = "pooled"
    """Spread over several GPUs, which read each other's memory."""
    HOST = "streamed"
    """In host memory; a GPU has room for some of its partitions."""
    DISK = "disk"
    """In the store; memory has room for some of its partitions."""

    @property
    def streams(self) -> bool:
        """Whether partitions are loaded and evicted while instances wait for them."""
        return self in (Residency.HOST, Residency.DISK)

    @property
    def from_store(self) -> bool:
        """Whether partitions are read from the store during the run."""
        return self is Residency.DISK

    @property
    def reads_over_bus(self) -> bool:
        """Whether a GPU can read single rows over the bus where they are, in host memory."""
        return self is Residency.HOST

    @property
    def on_cpu(self) -> bool:
        """Whether a run on the CPU can use it."""
        return self in (Residency.RESIDENT, Residency.DISK)

    @property
    def in_pieces(self) -> bool:
        """Whether each partition has arrays of its own on a GPU."""
        return self is not Residency.RESIDENT
