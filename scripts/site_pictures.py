"""Draws docs/pictures/*.svg: ``python scripts/site_pictures.py`` writes them again.

Colors are Okabe and Ito's, and follow the reader's light or dark setting.
"""

from pathlib import Path

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
STYLE = """
.edge { stroke: #8a8a8a; stroke-width: 1.5; opacity: .55; }
.drawn { stroke: #0072b2; stroke-width: 3.5; }
.second { stroke: #d55e00; stroke-width: 3.5; }
.vertex { fill: #fff; stroke: #8a8a8a; stroke-width: 1.5; }
.source { fill: #0072b2; stroke: #0072b2; }
.first { fill: #56b4e9; stroke: #0072b2; }
.next { fill: #e69f00; stroke: #d55e00; }
.box { fill: none; stroke: #0072b2; stroke-width: 1.5; }
.set { fill: #e69f00; fill-opacity: .15; stroke: #d55e00; stroke-dasharray: 5 4; }
text { font: 14px system-ui, sans-serif; fill: #222; text-anchor: middle; }
text.small { font-size: 12px; }
text.inside { fill: #fff; font-weight: bold; }
text.dark { fill: #111; font-weight: bold; }
text.code { font-family: ui-monospace, monospace; font-size: 13px; }
.tip { fill: #0072b2; }
.othertip { fill: #d55e00; }
@media (prefers-color-scheme: dark) { text { fill: #ddd; } .vertex { fill: #333; } \
.source { fill: #0072b2; } .first { fill: #56b4e9; } .next { fill: #e69f00; } text.dark { fill: #111; } }
"""
PLACES = {
    "s": (70, 110),
    "a": (150, 45),
    "b": (160, 175),
    "c": (245, 100),
    "d": (330, 40),
    "e": (340, 165),
    "f": (425, 95),
    "g": (70, 215),
    "h": (250, 225),
    "i": (425, 215),
}
EDGES = ("sa", "sb", "ab", "ac", "bc", "cd", "ce", "df", "ef", "sg", "gb", "bh", "he", "de", "fi", "ei", "hi")
RADIUS = 15


def line(ends: str, kind: str) -> str:
    """An edge between two vertices; a drawn one has an arrow, and ends at the rim of the second."""
    (x1, y1), (x2, y2) = PLACES[ends[0]], PLACES[ends[1]]
    length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
    back = (RADIUS + 8) / length if kind != "edge" else 0
    x2, y2 = x2 - back * (x2 - x1), y2 - back * (y2 - y1)
    tip = {"edge": "", "drawn": ' marker-end="url(#tip)"', "second": ' marker-end="url(#othertip)"'}[kind]
    return f'<line class="{kind}" x1="{x1}" y1="{y1}" x2="{x2:.0f}" y2="{y2:.0f}"{tip}/>'


def graph(
    said: str,
    *,
    drawn: tuple[str, ...] = (),
    second: tuple[str, ...] = (),
    kinds: dict[str, str],
    labels: dict[str, str],
    notes: dict[tuple[int, int], str] | None = None,
    behind: str = "",
) -> str:
    """The graph with what a sample takes of it.

    ``kinds``: classes of vertices; ``labels``: what stands in them; ``notes``: text beside.
    """
    taken = {frozenset(edge) for edge in (*drawn, *second)}
    parts = [behind] + [line(edge, "edge") for edge in EDGES if frozenset(edge) not in taken]
    parts += [line(edge, "drawn") for edge in drawn] + [line(edge, "second") for edge in second]
    for name, (x, y) in PLACES.items():
        parts.append(f'<circle class="vertex {kinds.get(name, "")}" cx="{x}" cy="{y}" r="{RADIUS}"/>')
        if name in labels:
            color = "inside" if kinds.get(name) == "source" else "dark"
            parts.append(f'<text class="{color}" x="{x}" y="{y + 5}">{labels[name]}</text>')
    parts += [f'<text class="small" x="{x}" y="{y}">{text}</text>' for (x, y), text in (notes or {}).items()]
    return page(500, 275, said, parts)


def page(width: int, height: int, said: str, parts: list[str]) -> str:
    """A whole SVG; ``said``: what the picture shows, for readers who do not see it."""
    tips = "".join(
        f'<marker id="{name}" viewBox="0 0 8 8" refX="4" refY="4" markerWidth="4" markerHeight="4" orient="auto">'
        f'<path class="{name}" d="M0,0 L8,4 L0,8 z"/></marker>'
        for name in ("tip", "othertip")
    )
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img" '
        f'aria-label="{said}">'
    )
    return "\n".join(
        [head, f"<title>{said}</title><style>{STYLE}</style><defs>{tips}</defs>", *filter(None, parts), "</svg>\n"]
    )


def box(x: int, y: int, width: int, title: str, lines: tuple[str, ...]) -> list[str]:
    middle = x + width // 2
    parts = [f'<rect class="box" x="{x}" y="{y}" width="{width}" height="{34 + 20 * len(lines)}" rx="8"/>']
    parts.append(f'<text x="{middle}" y="{y + 24}" font-weight="bold">{title}</text>')
    return parts + [
        f'<text class="small" x="{middle}" y="{y + 46 + 20 * k}">{text}</text>' for k, text in enumerate(lines)
    ]


def arrow(x1: int, y1: int, x2: int, y2: int, command: str) -> list[str]:
    path = f'<line class="drawn" x1="{x1}" y1="{y1}" x2="{x2 - 10}" y2="{y2}" marker-end="url(#tip)"/>'
    return [path, f'<text class="code" x="{(x1 + x2) // 2 - 4}" y="{min(y1, y2) - 10}">{command}</text>']


def overview() -> str:
    """Draw what csaw does: from a file of edges to samples and their uses."""
    parts = box(10, 85, 150, "a graph", ("text, Matrix Market,", "CSV, Parquet, Arrow"))
    parts += arrow(160, 125, 270, 125, "partition")
    parts += box(270, 75, 150, "graph store", ("any size,", "checked when read,", "with your ids"))
    parts += arrow(420, 125, 510, 125, "sample")
    made = ("walks", "neighbors, mini-batches", "subgraphs, layers", "exact,", "the same on every", "machine, on disk")
    parts += box(510, 45, 190, "sample", made)
    for y, command, title, said in (
        (35, "export", "files", ("text, Parquet, .npz, .pt",)),
        (98, "verify", "the law, tested", ("with its smallest deviation",)),
        (161, "evaluate", "how much it keeps", ("distances, estimates, plots",)),
    ):
        parts += arrow(700, y + 27, 800, y + 27, command) + box(800, y, 190, title, said)
    return page(
        1000,
        250,
        "csaw turns a file of edges into a graph store, draws samples of it, and exports, verifies and evaluates them",
        parts,
    )


def pictures() -> dict[str, str]:
    """All pictures by name."""
    ring = '<ellipse class="set" cx="{}" cy="{}" rx="{}" ry="{}"/>'
    return {
        "overview": overview(),
        "walk": graph(
            "A walk of five steps, which passes one vertex twice",
            drawn=("sa", "ac", "ce", "ed", "dc"),
            kinds={"s": "source", "a": "first", "c": "first", "e": "first", "d": "first"},
            labels={"s": "0", "a": "1", "c": "2", "e": "3", "d": "4"},
            notes={(250, 138): "also 5"},
        ),
        "node2vec": graph(
            "node2vec: from v, having come from t, back to t has the weight 1/p, to a neighbor of t 1, away from t 1/q",
            drawn=("sb",),
            second=("ba", "bg", "bc", "bh"),
            kinds={"s": "source", "b": "first", "a": "next", "g": "next", "c": "next", "h": "next"},
            labels={"s": "t", "b": "v"},
            notes={(105, 128): "1/p", (175, 105): "1", (118, 220): "1", (225, 152): "1/q", (215, 190): "1/q"},
        ),
        "neighbors": graph(
            "Two hops: the source selects two neighbors, and each of these two of its own",
            drawn=("sa", "sb"),
            second=("ac", "ab", "bc", "bh"),
            kinds={"s": "source", "a": "first", "b": "first", "c": "next", "h": "next"},
            labels={"s": "0", "a": "1", "b": "1", "c": "2", "h": "2"},
        ),
        "forest-fire": graph(
            "A forest fire from one source: each burning vertex lights some neighbors that do not burn yet",
            drawn=("sa", "sb"),
            second=("bc", "bh", "ce"),
            kinds={"s": "source", "a": "first", "b": "first", "c": "next", "h": "next", "e": "next"},
            labels={"s": "0", "a": "1", "b": "1", "c": "2", "h": "2", "e": "3"},
        ),
        "frontier": graph(
            "Frontier sampling: of three walkers, one is chosen by the degree of its vertex, and moves",
            drawn=("ce",),
            kinds={"s": "source", "c": "source", "f": "source", "e": "next"},
            labels={"s": "2", "c": "1", "f": "3"},
            notes={(70, 80): "3 of 10", (245, 70): "4 of 10", (462, 75): "3 of 10"},
        ),
        "layer": graph(
            "A layer: of all edges from the frontier to new vertices, two are selected together",
            drawn=("ac", "bh"),
            kinds={"a": "source", "b": "source", "c": "next", "h": "next"},
            labels={},
            behind=ring.format(155, 110, 42, 100),
            notes={(155, 18): "frontier"},
        ),
        "layers": graph(
            "LADIES: vertices of the next layer are drawn, each as likely as the squared entries that lead to it",
            second=("ac", "bc", "bh"),
            kinds={"a": "source", "b": "source", "c": "next", "h": "next"},
            labels={},
            behind=ring.format(155, 110, 42, 100) + ring.format(248, 160, 42, 100),
            notes={(155, 18): "layer 0", (275, 50): "layer 1"},
        ),
        "induced": graph(
            "An induced subgraph: the vertices of a sample, and all edges of the graph among them",
            second=("ab", "ac", "bc", "ce", "bh", "he"),
            kinds={"a": "next", "b": "next", "c": "next", "e": "next", "h": "next"},
            labels={},
        ),
    }


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in pictures().items():
        (FOLDER / f"{name}.svg").write_text(text)
