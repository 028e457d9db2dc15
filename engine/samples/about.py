"""The metadata that viewers such as xarray read of the arrays of a sample store.

Dimensions have names, and attributes are called as the CF conventions call them. It is a function of the layout, the
ids and the request, so that every schedule writes the same. No ``_FillValue`` is said: a viewer would turn ids into
floating-point numbers for it, which do not hold all of them.
"""

from csaw.engine.samples.files import plain
from csaw.engine.samples.layouts import VERTEX, SampleLayout, kind_of
from csaw.partition.arrays.nodes import About
from csaw.partition.base.plain_data import Record
from csaw.partition.graph.about import ARRAYS as OF_GRAPHS
from csaw.partition.graph.about import TEXT

Said = tuple[str, str, str]
"""Dimension, units and description of an array."""
NAMES: dict[str, Said] = {"vertex_ids": TEXT, "vertex_id_offsets": OF_GRAPHS["vertex_id_offsets"]}
REQUEST = ("algorithm", "seed", "fingerprint")
"""Entries of the request that every array repeats; ``fingerprint`` is that of the graph."""
SPEECH = {"original": "ids of the input", "dense": "dense ids", "names": "dense ids, whose strings are in vertex_ids"}


def about(name: str, layout: SampleLayout, ids: str, fill: int, request: Record) -> About:
    """Return the metadata of the array ``name``.

    ``ids``: their kind, and ``fill``: the value of an entry without a vertex, as the store says; ``request``: that of
    its manifest.
    """
    if name in NAMES:
        dimension, units, said = NAMES[name]
        dimensions: tuple[str, ...] = (dimension,)
    else:
        declared = layout.declared(name)
        dimensions, units, said = declared.dimensions, declared.units, declared.said
    of_vertices = kind_of(name) == VERTEX and name not in NAMES
    comment = f"vertices are {SPEECH[ids]}" + (f"; {fill} stands for none" if len(dimensions) > 1 else "")
    attributes = {"long_name": said, "units": units, **({"comment": comment} if of_vertices else {})}
    return About(dimensions, attributes | plain({key: request[key] for key in REQUEST if key in request}))
