"""Values as messages show them, what a user gave, byte counts, and numbers as users write them; and the description of
an open store or sample in Python: a line for ``repr``, a small table where a notebook shows HTML, and a table as text.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from fractions import Fraction
from html import escape
from pathlib import Path

from csaw.partition.errors import OptionError

MOST = 120  # characters


def shown(text: str) -> str:
    """``text`` itself, or quoted where it is long or has characters that a terminal would not print."""
    if text.isprintable() and len(text) <= MOST:
        return text
    return repr(text) if len(text) <= MOST else f"{text[:MOST]!r}... ({len(text):,} characters)"


def printable(text: str) -> str:
    """The text with what a terminal would not print as escapes: a store may say anything of itself, and what a terminal
    obeys, too.
    """
    return "".join(one if one.isprintable() or one == "\n" else one.encode("unicode_escape").decode() for one in text)


def near(path: Path) -> Path:
    """A path as people read it: from the folder of this process on, if it lies there."""
    try:
        here = Path.cwd()
    except OSError:  # a folder that was removed
        return path
    return path.relative_to(here) if path.is_relative_to(here) else path


def quoted(value: object, most: int = 60) -> str:
    """A value as a message shows it: the beginning and the end of a long one."""
    try:
        text = repr(value)
    except ValueError:  # an integer of more digits than Python prints
        return "an integer of thousands of digits"
    except Exception:  # noqa: BLE001 - an object of anybody's may not know how to show itself
        return f"a {type(value).__name__}"
    text = " ".join(text.split()) if "\n" in text else text
    length = len(value if isinstance(value, str) else text)  # of text what was typed, without the quotes
    return text if len(text) <= most else f"{text[: most // 2]}...{text[-8:]} ({length} characters)"


def meant(name: str, known: Iterable[str]) -> str:
    """A question that names the ``known`` name that is most like ``name``, to end a message with; empty where none is.

    Neither case nor the sign between words counts. Names that other programs use stand for csaw's.
    """
    plain = {_plain(one): one for one in known}
    elsewhere = [one for one in ELSEWHERE.get(_plain(name), ()) if one in plain]
    found = elsewhere or get_close_matches(_plain(name), plain, 1)
    return f"; did you mean {plain[found[0]]}?" if found else ""


def _plain(name: str) -> str:
    return name.lower().replace("_", "-").lstrip("-")


NAMES_ELSEWHERE = {  # csaw's names, and those of other programs and papers
    "cluster-gcn": "clustergcn cluster-sampler",
    "clustering": "method clustering-method",
    "clustering-seed": "cluster-seed",
    "deepwalk": "random-walk randomwalk uniform-walk metapath2vec",
    "export-json": "json json-file",
    "fanout": "fanouts num-neighbors num-samples neighbors",
    "id-type": "ids id-dtype",
    "max-instances": "instances",
    "metropolis-hastings": "mhrw metropolis",
    "minibatch": "graphsage sage mini-batch",
    "multidimensional": "frontier frontier-sampling",
    "neighbor": "k-hop khop neighbor-sampling uniform-neighbor",
    "num-walks": "walks-per-node walks-per-vertex number-of-walks n-walks",
    "num-clusters": "clusters n-clusters num-parts",
    "per-instance": "instances each",
    "ppr": "pagerank personalized-pagerank",
    "restart": "rwr random-walk-with-restart",
    "restart-prob": "restart-probability",
    "saint-walk": "graphsaint saint",
    "seed": "random-state random-seed rng",
    "seeds-per-batch": "batch-size",
    "snowball": "bfs breadth-first",
    "sources": "start-vertices start-nodes start-list input-nodes seed-nodes nodes",
    "temporal": "ctdne temporal-walk",
    "threads": "n-jobs num-workers workers",
    "walk-length": "walk-len length max-length",
}
ELSEWHERE: dict[str, list[str]] = {}
for _name, _others in NAMES_ELSEWHERE.items():
    for _other in _others.split():
        ELSEWHERE.setdefault(_other, []).append(_name)


# Numbers as text, in the digits 0 to 9 alone: Python also reads 1_0 as 10, and digits of other scripts.

WHOLE = re.compile(r"\s*[+-]?[0-9]+\s*")


def whole_of(text: str) -> int:
    """The integer that a text is; ValueError for any other text."""
    if not WHOLE.fullmatch(text):
        raise ValueError(text)
    return int(text)


def real_of(text: str) -> float:
    """The float that a text is; ValueError for any other text."""
    if "_" in text or not text.isascii():
        raise ValueError(text)
    return float(text)


# Byte counts as people write them.

UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
LONGEST = 64  # characters; more digits say nothing
LARGEST = 2**63 - 1


def parse_size(text: str) -> int:
    """``256MiB``, ``4G``, ``1000000``: bytes, from 1 to 2^63 - 1."""
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kmgt]i?)?b?\s*", text.lower()) if len(text) <= LONGEST else None
    size = int(Fraction(found[1]) * UNITS[found[2] or ""]) if found else 0
    if not 1 <= size <= LARGEST:
        raise OptionError(f"expected a size such as 256MiB or 4G, from 1 byte to {LARGEST}, found {quoted(text)}")
    return size


def format_size(size: float) -> str:
    """``268435456`` as ``256 MiB``: one decimal below 10."""
    for power, unit in ((4, "TiB"), (3, "GiB"), (2, "MiB"), (1, "KiB")):
        if size >= 1024**power:
            value = size / 1024**power
            return f"{value:.1f} {unit}" if value < 10 and value != int(value) else f"{value:.0f} {unit}"
    return f"{size} B"


def short(rate: float, unit: str = "") -> str:
    """``144e6, edges/s`` as ``144 M edges/s``."""
    scale, prefix = next(((scale, p) for scale, p in ((1e9, "G"), (1e6, "M"), (1e3, "k")) if rate >= scale), (1.0, ""))
    number = f"{rate / scale:.3g}" if rate / scale < 999.5 else f"{rate / scale:,.0f}"
    return " ".join(filter(None, (number, prefix, unit)))


def counted(number: int, one: str, several: str = "") -> str:
    """``1 walk``, ``2,000 walks``."""
    return f"{number:,} {one if number == 1 else several or one + 's'}"


def line(what: str, name: object, facts: Iterable[str]) -> str:
    """``<what name: fact, fact>``; facts that are empty are left out."""
    return f"<{what} {name}: {', '.join(filter(None, facts))}>"


def html_facts(heading: str, facts: Iterable[tuple[str, object]]) -> str:
    """A table of two columns, names and values."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th><td style='text-align:left'>{escape(str(value))}</td></tr>"
        for name, value in facts
    )
    return f"<table><caption>{escape(heading)}</caption>{rows}</table>"


def html_rows(heading: str, names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table with a row of names above the others."""
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><caption>{escape(heading)}</caption><tr>{head}</tr>{body}</table>"


def text_rows(names: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[str] = ()) -> list[str]:
    """Lines of text: rows under names, in columns; those named in ``right`` stand flush right.

    Columns but the first that are empty in all rows are left out.
    """
    kept = [k for k in range(len(names)) if k == 0 or any(row[k] for row in rows)]
    table = [*([names] if any(names) else []), *rows]
    widths = [max((len(row[k]) for row in table), default=0) for k in kept]
    return [
        "  "
        + "  ".join(
            f"{row[k]:>{width}}" if names[k] in right else f"{row[k]:<{width}}"
            for k, width in zip(kept, widths, strict=True)
        ).rstrip()
        for row in table
    ]
