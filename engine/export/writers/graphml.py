"""GraphML (Brandes, Eiglsperger, Herman, Himsolt and Marshall, GraphML progress report, GD 2001).

Of samples one graph that has every instance, none joined with another. A node ``INSTANCE:VERTEX`` has both as data; an
edge leads from the vertex that it was drawn from, and has its depth, in time its time, of layers its weight, and of
disjoint mini-batches the number of its seed. Repeated edges are as many edges. Vertices without an edge are nodes as
well.

Of graphs a node for each vertex, whose id is the original one, and an edge for each edge, with its weight and its
number in the input where the store has them. An undirected edge is written once.
"""

from collections.abc import Callable
from typing import IO

import numpy as np

from csaw.engine.export.common import BETWEEN, END, NODE, NUMBER, OF_DRAWN, OF_LINKS, OF_SEEDS, SIGNED, WEIGHT, document
from csaw.engine.export.graph_rows import Edges
from csaw.engine.export.tables import Rows, columns_of, kind_of_ids, packed, write_edges, xml_words
from csaw.engine.samples import Samples
from csaw.engine.samples.ahead import in_order, pieces
from csaw.engine.samples.array import check_names
from csaw.engine.samples.edges import edge_arrays, edge_columns, edges_between
from csaw.engine.samples.layouts.layout import EDGE, EDGE_WEIGHT

LACKS = OF_DRAWN, OF_SEEDS, OF_LINKS
SUFFIXES = (".graphml", ".graphml.gz")
SAID = ("algorithm", "seed", "fingerprint")  # of the request


def write_samples(samples: Samples, file: IO[bytes], name: str, update: Callable[[int], None], threads: int) -> None:
    words = xml_words(samples.words)
    ids = kind_of_ids(samples.vertex_dtype, samples.words)
    inside = b'"><data key="instance">', b'</data><data key="vertex">', b"</data></node>\n"
    nodes = Rows([NODE[0], b":", *inside], [NUMBER, ids, NUMBER, ids], words)
    more = edge_columns(samples)[len(EDGE) :]
    keyed = [b'</data><data key="%s">' % column.encode() for column in more]
    around = [BETWEEN[0], b":", BETWEEN[1], b":", b'"><data key="depth">', *keyed, b"</data></edge>\n"]
    lines = Rows(
        around,
        [NUMBER, ids, NUMBER, ids, NUMBER, *(WEIGHT if column == EDGE_WEIGHT else SIGNED for column in more)],
        words,
    )

    def nodes_of(start: int, stop: int) -> memoryview:
        instance, vertex = _nodes(samples, samples.group(start, stop))
        if samples.words is not None:
            check_names(samples.path, vertex, len(samples.words))
        instance = samples.numbers(instance + start)
        return nodes.text([instance, vertex, instance, vertex])

    def edges_of(start: int, stop: int) -> memoryview:
        edges = edges_between(samples, start, stop)
        instance = samples.numbers(edges["instance"] + start)
        further = [edges[column] for column in more]
        return lines.text([instance, edges["src"], instance, edges["dst"], edges["depth"], *further])

    request = samples.manifest.get("request", {})
    keys = {
        "instance": ("node", "long"),
        "vertex": ("node", "long" if words is None else "string"),
        "depth": ("edge", "int"),
    } | {column: ("edge", "float" if column == EDGE_WEIGHT else "long") for column in more}
    with packed(file, name) as out:
        out.write(document(keys, {key: request.get(key) for key in SAID if key in request}, directed=True))
        for before, made in ((0, nodes_of), (samples.instances, edges_of)):
            for done, some in in_order(samples, edge_arrays(samples), pieces(samples), made, threads):
                out.write(some)
                update((before + done) // 2)
        out.write(END)


def _nodes(samples: Samples, arrays: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The instance, from 0, and the id of each vertex that an instance has, in order of both."""
    edges = samples.layout.edges(arrays, samples.fill)
    met = [(edges["instance"], edges["src"]), (edges["instance"], edges["dst"])]
    met += samples.layout.members(arrays, samples.fill)
    instance, vertex = (np.concatenate([one[k] for one in met]) for k in (0, 1))
    order = np.lexsort((vertex, instance))
    instance, vertex = instance[order], vertex[order]
    new = np.ones(order.size, bool)
    new[1:] = (instance[1:] != instance[:-1]) | (vertex[1:] != vertex[:-1])
    return instance[new], vertex[new]


HOLDS = ("ids", "names", "edge_ids", "vertices", "direction")
VERTICES = 1 << 18  # written at a time
KEYS = {"weight": ("edge", "float"), "edge_id": ("edge", "long")}


def write_graph(edges: Edges, file: IO[bytes], name: str, update: Callable[[int], None]) -> None:
    store, columns, words = edges.store, columns_of(edges), xml_words(edges.words)
    nodes = Rows(NODE, [kind_of_ids(edges.id_dtype, edges.words)], words)
    data = [f'"><data key="{column}">'.encode() for column in columns[:1]] + [
        f'</data><data key="{column}">'.encode() for column in columns[1:]
    ]
    around = [BETWEEN[0], BETWEEN[1], *data, b"</data></edge>\n" if columns else b'"/>\n']
    with packed(file, name) as out:
        said = {"fingerprint": store.fingerprint}
        out.write(document({column: KEYS[column] for column in columns}, said, directed=store.directed))
        for first in range(0, store.vertices, VERTICES):
            dense = np.arange(first, min(first + VERTICES, store.vertices))
            out.write(nodes.text([edges.original(dense)]))
        write_edges(edges, out, update, around, words)
        out.write(END)
