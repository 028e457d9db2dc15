"""Byte counts as people write them."""

import re

from csaw.partition.errors import OptionError

UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}


def parse_size(text: str) -> int:
    """``256MiB``, ``4G``, ``1000000``: bytes."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]i?)?b?\s*", text.lower())
    if not found or float(found[1]) == 0:
        raise OptionError(f"expected a size such as 256MiB or 4G, found {text!r}")
    return int(float(found[1]) * UNITS[found[2] or ""])
