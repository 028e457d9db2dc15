"""Diagrams of what csaw does: walks in time, walks that return or end, LABOR and mini-batches, streaming, a dry run."""

from html import escape

from site_drawing import EDGES, PLACES, graph, page

TIMES = dict(zip(EDGES, (3, 9, 4, 5, 2, 8, 12, 14, 6, 1, 7, 3, 11, 2, 10, 20, 17), strict=True))
DRY_RUN = "csaw sample rmat:scale=12 walks.zarr --algo node2vec --num-walks 10 --memory 200MiB --dry-run"
PLAN = (  # lines that this command prints, with what they say; a test compares them
    ("Where and how it runs (no byte of the sample depends on it)", "", ""),
    ("--residency", "resident", "Where the graph lies: it fits in memory as a whole."),
    ("--layout", "csr", "The form of the graph in memory."),
    ("--in-flight", "33,580 instances", "How many walks are drawn at a time."),
    ("Memory", "", ""),
    ("--memory", "200 MiB", "The limit. The dry run lists all that counts toward it."),
    ("graph", "378 KiB", ""),
    ("instances in flight", "12 MiB", ""),
    ("Output", "", ""),
    ("expected size", "12 MiB", "How large the sample will be on disk."),
    ("Expected time", "", ""),
    ("sampling", "336 ms", "From rates that csaw measures once on each machine."),
    ("whole command, warm", "750 ms", "With the start of Python, if kernels are compiled."),
)


def temporal() -> str:
    """Times on the edges of the graph, and a walk along later and later ones."""
    notes = {}
    for edge, time in TIMES.items():
        (x1, y1), (x2, y2) = PLACES[edge[0]], PLACES[edge[1]]
        steep = abs(y2 - y1) > 2 * abs(x2 - x1)
        notes[((x1 + x2) // 2 + (14 if steep else 0), (y1 + y2) // 2 - (0 if steep else 12))] = str(time)
    return graph(
        "A walk in time along edges of the times 3, 5, 12 and 20: each step is later than the one before",
        drawn=("sa", "ac", "ce", "ei"),
        kinds={"s": "source", "a": "first", "c": "first", "e": "first", "i": "first"},
        labels={"s": "0", "a": "1", "c": "2", "e": "3", "i": "4"},
        notes=notes,
    )


def restart() -> str:
    """A walk that returns to its source, and one that ends."""
    return graph(
        "Restart and PPR: after two steps, restart returns to the source with the chance c; ppr ends there instead",
        drawn=("sa", "ac"),
        second=("sg",),
        kinds={"s": "source", "a": "first", "c": "first", "g": "next"},
        labels={"s": "s", "a": "1", "c": "2", "g": "4"},
        notes={(250, 20): "restart: back to s with the chance c", (298, 104): "ppr: ends"},
        behind='<path class="back" d="M238,82 C200,5 90,15 74,86" marker-end="url(#othertip)"/>',
    )


def dot(x: int, y: int, kind: str = "", label: str = "") -> str:
    color = "inside" if kind == "source" else "dark"
    text = f'<text class="{color}" x="{x}" y="{y + 5}">{label}</text>' if label else ""
    return f'<circle class="vertex {kind}" cx="{x}" cy="{y}" r="14"/>{text}'


def link(x1: int, y1: int, x2: int, y2: int, kind: str) -> str:
    """A line between two dots; one that is drawn ends at the rim of the second."""
    length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
    back = 22 / length if kind != "edge" else 0
    tip = {"edge": "", "drawn": ' marker-end="url(#tip)"', "second": ' marker-end="url(#othertip)"'}[kind]
    x2, y2 = round(x2 - back * (x2 - x1)), round(y2 - back * (y2 - y1))
    return f'<line class="{kind}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"{tip}/>'


def choices(left: int, title: str, drawn: tuple[str, ...], numbers: bool) -> list[str]:
    """Two frontier vertices, four neighbors of both, and the edges that are drawn."""
    up, down = {"v": (left + 70, 60), "w": (left + 160, 60)}, {}
    for k, (name, number) in enumerate((("a", ".9"), ("b", ".2"), ("c", ".3"), ("d", ".7"))):
        down[name] = (left + 25 + 60 * k, 165, number)
    parts = [f'<text x="{left + 115}" y="25" font-weight="bold">{title}</text>']
    for mine, above in up.items():
        for name, (x, y, _) in down.items():
            parts.append(link(*above, x, y, "second" if mine + name in drawn else "edge"))
    parts += [dot(*place, "source", name) for name, place in up.items()]
    for name, (x, y, number) in down.items():
        taken = any(edge[1] == name for edge in drawn)
        parts.append(dot(x, y, "next" if taken else "", ""))
        if numbers:
            parts.append(f'<text class="small" x="{x}" y="{y + 32}">r = {number}</text>')
    return parts


def labor() -> str:
    """Neighbor draws for each vertex apart; LABOR by one number for each neighbor."""
    parts = choices(0, "neighbor", ("va", "vc", "wb", "wd"), False)
    parts += ['<text class="small" x="115" y="225">each draws two for itself:</text>']
    parts += ['<text class="small" x="115" y="242">four new vertices</text>']
    parts += choices(255, "labor", ("vb", "vc", "wb", "wc"), True)
    parts += ['<text class="small" x="370" y="225">both keep those with r below 2 / 4:</text>']
    parts += ['<text class="small" x="370" y="242">two new vertices</text>']
    said = (
        "Two frontier vertices with the same four neighbors. neighbor draws two for each, four vertices in all; "
        "labor compares one number of each neighbor with 2 / 4 for both, and both keep the same two"
    )
    return page(490, 255, said, parts)


def minibatch() -> str:
    """Two seeds, whose neighbors are one graph."""
    seeds, first, second = (
        [(90, 80), (90, 180)],
        [(240, 50), (240, 130), (240, 210)],
        [(390, 50), (390, 130), (390, 210)],
    )
    titles = ((90, "seeds"), (240, "hop 1"), (390, "hop 2"))
    parts = [f'<text x="{x}" y="22" font-weight="bold">{title}</text>' for x, title in titles]
    parts += [link(*seeds[a], *first[b], "drawn") for a, b in ((0, 0), (0, 1), (1, 1), (1, 2))]
    parts += [link(*first[a], *second[b], "second") for a, b in ((0, 0), (1, 0), (1, 1), (2, 1), (2, 2))]
    parts += [dot(x, y, "source", str(k)) for k, (x, y) in enumerate(seeds)]
    parts += [dot(x, y, "first", str(k + 2)) for k, (x, y) in enumerate(first)]
    parts += [dot(x, y, "next", str(k + 5)) for k, (x, y) in enumerate(second)]
    parts.append(
        '<text class="small" x="240" y="252">3 was drawn for both seeds, and is one node of the mini-batch</text>'
    )
    return page(
        480,
        265,
        "A mini-batch: two seeds and two hops of neighbors; a vertex that both seeds draw is there once",
        parts,
    )


def streaming() -> str:
    """Parts of a graph on disk, of which memory holds one, with the walkers that wait for each."""
    parts = [
        '<text x="105" y="22" font-weight="bold">on disk</text>',
        '<text x="360" y="22" font-weight="bold">in memory</text>',
    ]
    for k, waiting in enumerate((2, 7, 3, 1)):
        y = 38 + 52 * k
        kind = "loaded" if waiting == 7 else "part"
        parts.append(f'<rect class="{kind}" x="20" y="{y}" width="170" height="38" rx="6"/>')
        parts.append(f'<text class="small" x="62" y="{y + 24}">part {k}</text>')
        parts += [f'<circle class="walker" cx="{100 + 12 * one}" cy="{y + 19}" r="4.5"/>' for one in range(waiting)]
    parts.append('<line class="drawn" x1="190" y1="109" x2="262" y2="109" marker-end="url(#tip)"/>')
    parts.append('<rect class="loaded" x="275" y="70" width="170" height="78" rx="6"/>')
    parts.append('<text class="small" x="360" y="98">part 1</text>')
    parts += [f'<circle class="walker" cx="{324 + 12 * one}" cy="120" r="4.5"/>' for one in range(7)]
    parts.append('<text class="small" x="360" y="175">Its walkers move until they</text>')
    parts.append('<text class="small" x="360" y="192">leave it, and wait elsewhere.</text>')
    parts.append('<text class="small" x="105" y="262">dots: walkers that wait for a part</text>')
    said = "Streaming: csaw loads the part for which most walkers wait, and moves these until they leave it"
    return page(470, 275, said, parts)


def plan() -> str:
    """Some lines of a dry run, each with what it means."""
    parts, y = ['<rect class="screen" x="1" y="1" width="478" height="HEIGHT" rx="6"/>'], 8
    for label, value, meaning in PLAN:
        y += 26 if not value and y > 8 else 20
        kind = "code" if value else "code head"  # of a group of lines
        parts.append(f'<text class="{kind} start" x="{26 if value else 14}" y="{y}">{escape(label)}</text>')
        parts.append(f'<text class="code start" x="230" y="{y}">{escape(value)}</text>' if value else "")
        if meaning:
            y += 18
            parts.append(f'<text class="small note start" x="26" y="{y}">{escape(meaning)}</text>')
    parts[0] = parts[0].replace("HEIGHT", str(y + 12))
    return page(480, y + 15, "Some lines of a dry run, with what they mean", parts)


def diagrams() -> dict[str, str]:
    """All diagrams by name."""
    made = (temporal, restart, labor, minibatch, streaming)
    return {**{draw.__name__: draw() for draw in made}, "dry-run": plan()}
