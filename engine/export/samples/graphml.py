"""GraphML: one graph that has every instance, none joined with another. A node ``INSTANCE:VERTEX`` has both as data; an edge leads from the vertex that it was drawn from, and has its
depth.

Repeated edges are as many edges. Vertices without an edge are nodes as well. (Brandes, Eiglsperger, Herman, Himsolt and Marshall, GraphML progress report, GD 2001.)
"""

from collections.abc import Callable
from typing import IO

import numpy as np

from csaw.engine.export.cells import Rows, kind_of_ids, xml_words
from csaw.engine.export.kinds import NUMBER
from csaw.engine.export.markup import BETWEEN, END, NODE, document
from csaw.engine.export.tables import packed
from csaw.engine.samples import Samples
from csaw.engine.samples.ahead import in_order, pieces
from csaw.engine.samples.check_numbers import check_names
from csaw.engine.samples.edges import FIRST, edge_arrays, edges_between, edges_in
from csaw.engine.samples.layout import RAGGED_WALKS

SUFFIXES = (".graphml", ".graphml.gz")
SAID = ("algorithm", "seed", "fingerprint")  # of the request
OWNERS = {"sources": "source_counts", "vertices": "vertex_counts", "n_id": "node_counts"}
"""Arrays of vertices that instances have beside the ends of edges, and what says how many of each."""


def write(samples: Samples, file: IO[bytes], name: str, update: Callable[[int], None], threads: int) -> None:
    words = xml_words(samples.words)
    ids = kind_of_ids(samples[FIRST[samples.layout]].dtype, samples.words)
    inside = b'"><data key="instance">', b'</data><data key="vertex">', b"</data></node>\n"
    nodes = Rows([NODE[0], b":", *inside], [NUMBER, ids, NUMBER, ids], words)
    around = [BETWEEN[0], b":", BETWEEN[1], b":", b'"><data key="depth">', b"</data></edge>\n"]
    lines = Rows(around, [NUMBER, ids, NUMBER, ids, NUMBER], words)

    def nodes_of(start: int, stop: int) -> memoryview:
        instance, vertex = _nodes(samples, samples.group(start, stop))
        if samples.words is not None:
            check_names(samples.path, vertex, len(samples.words))
        instance = instance + samples.first + start
        return nodes.text([instance, vertex, instance, vertex])

    def edges_of(start: int, stop: int) -> memoryview:
        edges = edges_between(samples, start, stop)
        instance = edges["instance"] + samples.first + start
        return lines.text([instance, edges["src"], instance, edges["dst"], edges["depth"]])

    request = samples.manifest.get("request", {})
    keys = {"instance": ("node", "long"), "vertex": ("node", "long" if words is None else "string"), "depth": ("edge", "int")}  # fmt: skip
    with packed(file, name) as out:
        out.write(document(keys, {key: request[key] for key in SAID if key in request}, directed=True))
        for before, made in ((0, nodes_of), (samples.instances, edges_of)):
            for done, some in in_order(samples, edge_arrays(samples), pieces(samples), made, threads):
                out.write(some)
                update((before + done) // 2)
        out.write(END)


def _nodes(samples: Samples, arrays: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The instance, from 0, and the id of each vertex that an instance has, in order of both."""
    edges = edges_in(samples.layout, arrays, samples.fill)
    met = [(edges["instance"], edges["src"]), (edges["instance"], edges["dst"])]
    met += [
        (np.repeat(np.arange(arrays[counts].size), arrays[counts]), arrays[name])
        for name, counts in OWNERS.items()
        if name in arrays
    ]
    if samples.layout == "hops":
        instance, column = np.nonzero(arrays["hop_0"] != samples.fill)
        met.append((instance, arrays["hop_0"][instance, column]))
    if samples.layout == "walks":
        met.append((np.arange(len(arrays["walks"])), arrays["walks"][:, 0]))
    if samples.layout == RAGGED_WALKS:
        sizes = arrays["lengths"].astype(np.int64) + 1
        met.append((np.arange(sizes.size), arrays["walks"][np.cumsum(sizes) - sizes]))
    instance, vertex = (np.concatenate([one[k] for one in met]) for k in (0, 1))
    order = np.lexsort((vertex, instance))
    instance, vertex = instance[order], vertex[order]
    new = np.ones(order.size, bool)
    new[1:] = (instance[1:] != instance[:-1]) | (vertex[1:] != vertex[:-1])
    return instance[new], vertex[new]
