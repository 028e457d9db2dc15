"""GraphML files of samples and of graphs alike."""

from collections.abc import Mapping
from xml.sax.saxutils import escape

from csaw.partition.base.version import VERSION

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
