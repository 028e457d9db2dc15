"""What viewers such as xarray read of the arrays of a sample store: names of dimensions, and attributes as the CF conventions call them.

It is a function of the layout, the ids and the request, so that every schedule writes the same. No ``_FillValue`` is said: a viewer would turn ids into
floating-point numbers for it, which do not hold all of them.
"""

from typing import Any

from csaw.engine.samples.files import plain
from csaw.engine.samples.layout import RAGGED_WALKS, VERTEX, kind_of
from csaw.partition.arrays.nodes import About
from csaw.partition.graph.about import ARRAYS as OF_GRAPHS
from csaw.partition.graph.about import COUNT, NUMBER, TEXT

BOUND = "instance_bound"
Said = tuple[str, str, str]
"""Dimensions, separated by blanks, units and description of an array."""
ARRAYS: dict[str, dict[str, Said]] = {
    "walks": {
        "walks": ("instance position", NUMBER, "vertices of each walk, from its source on"),
        "lengths": ("instance", COUNT, "steps that each walk took"),
    },
    RAGGED_WALKS: {
        "walk_ptr": (BOUND, COUNT, "where each walk begins in walks, and the end of the last one"),
        "walks": ("entry", NUMBER, "vertices of all walks, one walk after the other"),
    },
    "subgraphs": {
        "instance_ptr": (BOUND, COUNT, "where the edges of each instance begin, and the end of the last one's"),
        "src": ("edge", NUMBER, "vertex that each edge was drawn from"),
        "dst": ("edge", NUMBER, "vertex that each edge leads to"),
        "depth": ("edge", COUNT, "depth at which each edge was drawn, from 0"),
        "weight": ("edge", NUMBER, "weight of each edge in an estimate"),
        "sources_ptr": (BOUND, COUNT, "where the sources of each instance begin, and the end of the last one's"),
        "sources": ("source", NUMBER, "vertices where each instance began"),
        "vertices_ptr": (BOUND, COUNT, "where the vertices of each instance begin, and the end of the last one's"),
        "vertices": ("member", NUMBER, "vertices of each instance, with edges or without"),
        "layer": ("member", COUNT, "layer for which each vertex was drawn, from 1"),
        "probability": ("member", NUMBER, "chance that a draw gives this vertex"),
    },
    "batches": {
        "node_ptr": (BOUND, COUNT, "where the nodes of each mini-batch begin, and the end of the last one's"),
        "n_id": ("node", NUMBER, "vertex of each node, seeds first"),
        "batch": ("node", NUMBER, "number of the seed that each node belongs to"),
        "edge_ptr": (BOUND, COUNT, "where the edges of each mini-batch begin, and the end of the last one's"),
        "row": ("edge", NUMBER, "node of the mini-batch that was drawn: the neighbor"),
        "col": ("edge", NUMBER, "node of the mini-batch that it was drawn for"),
        "e_id": ("edge", NUMBER, "place of each edge in the rows of the graph store"),
        "seed_ptr": (BOUND, COUNT, "where the seeds of each mini-batch begin, and the end of the last one's"),
        "input_id": ("seed", NUMBER, "position of each seed in the list of sources"),
        "y": ("seed", NUMBER, "label of each seed"),
        "probability": ("seed", NUMBER, "chance that a mini-batch has this seed"),
        "hop_nodes": ("instance depth", COUNT, "nodes met at each depth, from the seeds on"),
        "hop_edges": ("instance hop", COUNT, "edges drawn at each hop"),
    },
}  # fmt: skip
NAMES: dict[str, Said] = {"vertex_ids": TEXT, "vertex_id_offsets": OF_GRAPHS["vertex_id_offsets"]}
REQUEST = ("algorithm", "seed", "fingerprint")
"""What every array says of the request; ``fingerprint`` is that of the graph."""
SPEECH = {"original": "ids of the input", "dense": "dense ids", "names": "dense ids, whose strings are in vertex_ids"}


def about(name: str, layout: str, ids: str, fill: int, request: dict[str, Any]) -> About:
    """What is said of the array ``name``. ``ids``: their kind, and ``fill``: the value of an entry without a vertex, as the store says; ``request``: that of its manifest."""
    named, units, said = _said(name, layout)
    dimensions = tuple(named.split())
    of_vertices = kind_of(name) == VERTEX and name not in NAMES
    comment = f"vertices are {SPEECH[ids]}" + (f"; {fill} stands for none" if len(dimensions) > 1 else "")
    attributes = {"long_name": said, "units": units, **({"comment": comment} if of_vertices else {})}
    return About(dimensions, attributes | plain({key: request[key] for key in REQUEST if key in request}))


def _said(name: str, layout: str) -> Said:
    if name in NAMES:
        return NAMES[name]
    if layout == "hops":
        hop = int(name.removeprefix("hop_"))
        parents = f"; Samples.parents({hop}) has the columns of their parents in hop_{hop - 1}"
        said = f"vertices drawn at hop {hop}{parents}" if hop else "sources of each instance"
        return f"instance column_{hop}", NUMBER, said
    return ARRAYS[layout][name]
