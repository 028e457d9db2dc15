"""What a user gave, as a message shows it."""

MOST = 120  # characters


def shown(text: str) -> str:
    """``text`` itself, or quoted where it is long or has characters that a terminal would not print."""
    if text.isprintable() and len(text) <= MOST:
        return text
    return repr(text) if len(text) <= MOST else f"{text[:MOST]!r}... ({len(text):,} characters)"
