"""Byte counts as people write them."""

import re
from fractions import Fraction

from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError

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
