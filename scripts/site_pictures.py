"""Draws docs/pictures/*.svg: ``PYTHONPATH=tests/_src python scripts/site_pictures.py`` writes them again.

site_drawing.py has what they are made of, site_diagrams.py and site_charts.py have more of them.
"""

from pathlib import Path

from site_charts import charts
from site_diagrams import diagrams
from site_drawing import arrow, box, graph, page
from site_recording import recordings

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"


def overview() -> str:
    """What csaw does: from a file of edges to samples, and what is made of them; narrow enough for a phone."""
    parts = box(5, 30, 140, "a graph", ("text, CSV, Parquet,", "networkx, pandas"))
    parts += arrow(145, 67, 205, 67, "")
    parts += box(205, 20, 130, "graph store", ("any size,", "checked when read,", "with your ids"))
    parts += arrow(335, 67, 395, 67, "")
    parts += box(
        395, 10, 160, "sample", ("walks, neighbors,", "mini-batches,", "subgraphs, layers;", "the same everywhere")
    )
    parts += [
        f'<text class="code" x="{x}" y="{y}">{word}</text>'
        for x, y, word in ((172, 13, "partition"), (363, 22, "sample"))
    ]
    for x, command, title, said in (
        (5, "export", "files", "text, Parquet, .npz, .pt"),
        (195, "verify", "its law, tested", "at every depth of a sample"),
        (385, "evaluate", "how much it keeps", "distances, estimates, plots"),
    ):
        parts.append(f'<path class="way" d="M475,124 V142 H{x + 85} V172" marker-end="url(#tip)"/>')
        parts.append(f'<text class="code" x="{x + 85 + (40 if x < 385 else -42)}" y="164">{command}</text>')
        parts += box(x, 185, 170, title, (said,))
    return page(
        560,
        250,
        "csaw turns a graph into a graph store, draws samples of it, and exports, verifies and evaluates them",
        parts,
    )


def pictures() -> dict[str, str]:
    """All pictures by name."""
    ring = '<ellipse class="set" cx="{}" cy="{}" rx="{}" ry="{}"/>'
    return {
        **charts(),
        **diagrams(),
        **recordings(),
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
            notes={(96, 165): "1/p", (175, 105): "1", (118, 222): "1", (226, 152): "1/q", (228, 190): "1/q"},
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
            notes={(155, 232): "frontier"},
        ),
        "layers": graph(
            "LADIES: vertices of the next layer are drawn, each as likely as the squared entries that lead to it",
            second=("ac", "bc", "bh"),
            kinds={"a": "source", "b": "source", "c": "next", "h": "next"},
            labels={},
            behind=ring.format(155, 110, 42, 100) + ring.format(248, 160, 42, 100),
            notes={(155, 232): "layer 0", (275, 50): "layer 1"},
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
