"""Values that a user gave, as messages show them."""

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

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

    Neither case nor the sign between words counts.
    """
    plain = {one.lower().replace("_", "-"): one for one in known}
    found = get_close_matches(name.lower().replace("_", "-"), plain, 1)
    return f"; did you mean {plain[found[0]]}?" if found else ""
