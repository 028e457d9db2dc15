"""Numbers as text, in the digits 0 to 9 alone: Python also reads 1_0 as 10, and digits of other scripts."""

import re

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
