"""Comparison of a dataset's store with the published counts."""

from typing import TYPE_CHECKING

from csaw.datasets.catalog import ByHand, Entry

if TYPE_CHECKING:
    from csaw.partition import GraphStore


def difference_of(entry: Entry | ByHand, store: "GraphStore", directed: bool | None = None) -> str:
    """The difference of the open ``store`` from the published dataset; empty when there is none."""
    difference = disagreement(entry, store, directed)
    return f"{store.path}: {entry.name} has {difference}" if difference else ""


def disagreement(entry: Entry | ByHand, store: "GraphStore", directed: bool | None = None) -> str:
    """The difference of the counts of ``store`` from the published ones; empty when there is none.

    ``directed``: where the edges were read in another way than they are published, so that their number is another.
    """
    edges = store.edges if entry.directed else (store.edges + store.report.get("self_loops", 0)) // 2
    leaves_out = isinstance(entry, Entry) and entry.isolated and store.vertices < entry.vertices
    found = {} if leaves_out else {"vertices": (store.vertices, entry.vertices)}
    found |= {"edges": (edges, entry.edges)} if directed is None else {}
    said = [
        f"{n:,} {name} where {published:,} are published" for name, (n, published) in found.items() if n != published
    ]
    return ", ".join(said)
