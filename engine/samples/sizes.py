"""How many edges a sample has, and each of its instances: counted group by group while it is written, and kept with its
results.
"""

from collections.abc import Iterable

from csaw.engine.samples.layouts.layout import LEAST_VERTICES, SampleLayout, Sizes

SIZES = "sizes"  # where they are in the results, signed


def total(groups: Iterable[Sizes | None], layout: SampleLayout) -> Sizes | None:
    """The sizes of all groups together; None where those of one are not known."""
    every = list(groups)
    if any(sizes is None for sizes in every):
        return None
    known = [sizes for sizes in every if sizes is not None]
    return {
        **{name: sum(sizes[name] for sizes in known) for name in layout.summed},
        "least": min((sizes["least"] for sizes in known), default=0),
        "most": max((sizes["most"] for sizes in known), default=0),
        **(
            {LEAST_VERTICES: min(sizes[LEAST_VERTICES] for sizes in known)}
            if known and all(LEAST_VERTICES in sizes for sizes in known)
            else {}
        ),
    }
