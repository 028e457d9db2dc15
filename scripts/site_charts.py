"""Bar charts of docs/pictures, from the JSON of the runs that the pages name; ``python scripts/site_pictures.py`` draws
them.
"""

from html import escape
from pathlib import Path

from csaw.engine.bench import figures
from csaw.engine.bench.bench_row import Row, measured
from csaw.partition.base.quoting import short

RUNS = Path(__file__).parents[1] / "docs" / "contributing" / "benchmarks"
STYLE = """
text { font: 14px system-ui, sans-serif; fill: #222; }
text.work { font-weight: bold; }
text.name, text.rate { font-size: 13px; }
text.name { text-anchor: end; }
.mine { fill: #0072b2; }
.other { fill: #8a8a8a; }
@media (prefers-color-scheme: dark) { text { fill: #ddd; } .mine { fill: #56b4e9; } }
"""
LEFT, LENGTH, WIDTH, BAR = 104, 280, 480, 22
Bars = list[tuple[str, float]]


def rates(run: str, work: str) -> Bars:
    """The rate of each program in a work of a run, csaw's first, then the fastest."""
    rows = [row for row in measured(figures.read(RUNS, run), suite="peers") if row["work"].startswith(f"{work}, ")]
    if not rows:
        raise ValueError(f"{run}.json: no work {work!r}")
    programs: dict[str, Row] = {row["work"].rpartition(", ")[2]: row for row in rows}
    others = sorted(programs.keys() - {figures.CSAW}, key=lambda name: -programs[name]["rate"])
    return [(figures.NAMES.get(name, name), programs[name]["rate"]) for name in (figures.CSAW, *others)]


def chart(said: str, works: dict[str, Bars]) -> str:
    """A group of bars for each work, each as long as its rate is beside the largest of the group."""
    parts, y = [], 0
    for work, bars in works.items():
        y += 26
        parts.append(f'<text class="work" x="4" y="{y}">{escape(work)}</text>')
        y += 8
        for name, rate in bars:
            length = max(2, round(LENGTH * rate / max(one for _, one in bars)))
            kind = "mine" if name == figures.CSAW else "other"
            parts.append(f'<text class="name" x="{LEFT - 8}" y="{y + 14}">{escape(name)}</text>')
            parts.append(f'<rect class="{kind}" x="{LEFT}" y="{y + 2}" width="{length}" height="{BAR - 6}"/>')
            parts.append(f'<text class="rate" x="{LEFT + length + 6}" y="{y + 14}">{short(rate)}/s</text>')
            y += BAR
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 8}" width="{WIDTH}" role="img" '
        f'aria-label="{escape(said)}">'
    )
    return "\n".join([head, f"<title>{escape(said)}</title><style>{STYLE}</style>", *parts, "</svg>\n"])


def charts() -> dict[str, str]:
    """All charts by name."""
    more, loaders, programs, gpu, small = (
        "cpu-peers-more",
        "cpu-peers-loaders",
        "cpu-peers-programs",
        "h200-peers",
        "h200-peers-small",
    )
    node2vec, uniform, batches = "node2vec p=2 q=.5", "uniform walk", "mini-batches 25 x 10"
    return {
        "speed": chart(
            "Rates on two cores: csaw is ahead of the other programs in node2vec and uniform walks, neighbors and "
            "mini-batches",
            {
                "node2vec walks, p = 2, q = .5": rates(more, node2vec),
                "uniform walks": rates(more, uniform),
                "25 x 10 neighbors": rates(more, "neighbors 25 x 10"),
                "25 x 10 mini-batches": rates(loaders, batches),
            },
        ),
        "speed-programs": chart(
            "Rates on two cores of csaw, ThunderRW, KnightKing and GraphBolt",
            {work: rates(programs, work) for work in (uniform, "weighted walk", node2vec, batches)},
        ),
        "speed-gpu": chart(
            "Rates on one H200: csaw is ahead on the larger graph; NextDoor and Skywalker are ahead on the smaller one",
            {
                "uniform walk, larger graph": rates(gpu, uniform),
                "weighted walk, larger graph": rates(gpu, "weighted walk"),
                "uniform walk, graph in the cache": rates(small, uniform),
                "weighted walk, graph in the cache": rates(small, "weighted walk"),
            },
        ),
    }
