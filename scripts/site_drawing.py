"""What the pictures of docs/pictures are made of: a small graph, boxes, arrows and labels.

Colors are Okabe and Ito's, and follow the reader's light or dark setting.
"""

STYLE = """
.edge { stroke: #8a8a8a; stroke-width: 1.5; opacity: .55; }
.drawn { stroke: #0072b2; stroke-width: 3.5; }
.second { stroke: #d55e00; stroke-width: 3.5; }
.vertex { fill: #fff; stroke: #8a8a8a; stroke-width: 1.5; }
.source { fill: #0072b2; stroke: #0072b2; }
.first { fill: #56b4e9; stroke: #0072b2; }
.next { fill: #e69f00; stroke: #d55e00; }
.box { fill: none; stroke: #0072b2; stroke-width: 1.5; }
.way { fill: none; stroke: #0072b2; stroke-width: 3; }
.set { fill: #e69f00; fill-opacity: .15; stroke: #d55e00; stroke-dasharray: 5 4; }
text { font: 14px system-ui, sans-serif; fill: #222; text-anchor: middle; }
text.small { font-size: 12px; }
text.inside { fill: #fff; font-weight: bold; }
text.dark { fill: #111; font-weight: bold; }
text.code { font-family: ui-monospace, monospace; font-size: 13px; }
text.start { text-anchor: start; }
text.code.head { font-weight: bold; font-size: 12px; }
text.note { fill: #0072b2; }
.back { fill: none; stroke: #d55e00; stroke-width: 3; stroke-dasharray: 7 5; }
.part, .screen { fill: #8a8a8a; fill-opacity: .12; stroke: #8a8a8a; }
.loaded { fill: #56b4e9; fill-opacity: .35; stroke: #0072b2; stroke-width: 2; }
.walker { fill: #d55e00; }
.tip { fill: #0072b2; }
.othertip { fill: #d55e00; }
@media (prefers-color-scheme: dark) { text { fill: #ddd; } .vertex { fill: #333; } \
.source { fill: #0072b2; } .first { fill: #56b4e9; } .next { fill: #e69f00; } text.dark { fill: #111; } \
text.note { fill: #56b4e9; } }
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
