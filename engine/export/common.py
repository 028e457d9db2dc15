"""Parts that several formats of exports share."""

from collections.abc import Collection, Mapping
from functools import partial
from xml.sax.saxutils import escape

import numpy as np

from csaw.engine.samples import Samples
from csaw.engine.samples.ahead import in_order, pieces
from csaw.engine.samples.edges import edge_arrays, unlisted_sources
from csaw.partition.arrays.words import Words
from csaw.partition.base.version import VERSION
from csaw.partition.errors import OptionError

# Kinds of cells in rows of text: an unsigned number, an integer with a sign, a string id by its dense id, a weight,
# which is a float32 from 0 on, any float, and times.
#
# DECIMALS + d: an integer that counts 10^-d. DATES + d: one that counts 10^-d of a second since 1970; d is below 16.

NUMBER, SIGNED, WORD, WEIGHT, FLOAT = range(5)
DECIMALS, DATES = 16, 32


# Reasons for what files of samples lack of the arrays of a store: where it is instead.

OF_WALKS, OF_EDGES, OF_DRAWN, OF_SEEDS, OF_DEAD_ENDS = "walks", "edges", "drawn vertices", "seeds", "dead ends"
OF_LINKS = "links"
TABLES_LACK = OF_DRAWN, OF_SEEDS, OF_DEAD_ENDS
"""Tables of edges have no place for these."""
WHERE = {
    OF_WALKS: "csv, parquet and graphml have those of each edge",
    OF_EDGES: "csv, parquet, npy and graphml have that of each edge",
    OF_DRAWN: "of vertices as they were drawn; the arrays of the sample store have it",
    OF_SEEDS: "pyg and torch have it, for each seed",
    OF_LINKS: "text, csv, parquet and npy have a row for each of them",
}


def lacking(samples: Samples, lacks: Collection[str], threads: int) -> dict[str, str]:
    """Return the reason for each array that a file lacks, by name, and for sources that its table of edges lacks.

    ``lacks``: what its format has no place for.
    """
    whose = {
        "times": OF_WALKS,
        "weight": OF_EDGES,
        "batch": OF_EDGES,
        "layer": OF_DRAWN,
        "probability": OF_SEEDS if samples.layout.keeps_seeds else OF_DRAWN,
        "y": OF_SEEDS,
        "seed_time": OF_SEEDS,
        "negatives": OF_LINKS,
    }
    missing = {name: WHERE[of] for name, of in whose.items() if of in lacks and name in samples}
    if OF_DEAD_ENDS in lacks and (alone := _sources_without_edges(samples, threads)):
        has, them = ("source has", "it") if alone == 1 else ("sources have", "them")
        missing["sources"] = f"{alone:,} {has} no edge; pyg, torch and graphml have {them}"
    return missing


def _sources_without_edges(samples: Samples, threads: int) -> int:
    if samples.has_walks or samples.layout.lists_lonely:
        return 0
    counted = partial(unlisted_sources, samples)
    return sum(count for _, count in in_order(samples, edge_arrays(samples), pieces(samples), counted, threads))


# Ids as elements of NumPy arrays, all of one width.

WIDEST = 1024  # characters of a string id


def kind_of(stored: np.dtype, words: Words | None) -> np.dtype:
    """The element type of a vertex: the stored one, or a string as wide as the longest.

    OptionError where that is too wide.
    """
    if words is None:
        return stored
    width = _width(words)
    if width > WIDEST:
        raise OptionError(
            f"in an .npy file, every string id takes as much space as the longest one, which has {width:,} "
            f"characters, but only {WIDEST:,} are allowed; export to .parquet or .txt"
        )
    return np.dtype(f"<U{max(width, 1)}")


def _width(words: Words) -> int:
    """Characters of the longest word."""
    sizes = words.sizes()
    longest = int(sizes.max(initial=0))
    if longest > 4 * WIDEST:  # UTF-8 has at most four bytes a character
        return len(words[int(sizes.argmax())])
    return max(map(len, words), default=0)


# GraphML files of samples and of graphs alike.

NODE = (b'<node id="', b'"/>\n')
BETWEEN = (b'<edge source="', b'" target="')
"""The text before the source of an edge, and that before its target."""
END = b"</graph>\n</graphml>\n"


def document(keys: Mapping[str, tuple[str, str]], said: Mapping[str, object], *, directed: bool) -> bytes:
    """The beginning of a document, up to the nodes.

    ``keys``: what nodes or edges have, and its type, such as ``{"weight": ("edge", "float")}``. ``said``: facts of the
    graph.
    """
    facts = {"csaw_version": VERSION, **said}
    declared = [(name, *key) for name, key in keys.items()] + [(name, "graph", "string") for name in facts]
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
        *(f'<key id="{name}" for="{of}" attr.name="{name}" attr.type="{kind}"/>' for name, of, kind in declared),
        f'<graph edgedefault="{"directed" if directed else "undirected"}">',
        *(f'<data key="{name}">{escape(str(fact))}</data>' for name, fact in facts.items()),
    ]
    return ("\n".join(lines) + "\n").encode()
