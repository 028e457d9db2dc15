"""Checks of what all rows of a file must have in common besides their cells: in whole blocks, and in their lines where
a block may have another row.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple, Protocol

from csaw.partition.errors import FormatError
from csaw.partition.ingestion.text.cells import NUMBER, Line, cells, is_blank, row_shown


class RowCheck(Protocol):
    """Rows that are right have the same ``mark``, which is ``blanked`` before they are cut into cells."""

    def suspects(self, block: bytes, lines: int) -> bool:
        """Whether a block of so many lines may have a row that is wrong."""
        ...

    def fault(self, line: bytes) -> str:
        """Say what is wrong with a row; empty where nothing is."""
        ...

    def blanked(self, block: bytes) -> bytes:
        """The block as its rows are cut, with as many bytes."""
        ...


class Arrow(NamedTuple):
    """A mark between the ends of each row, ``times`` in a row, which ``fill`` replaces.

    ``turned``: it points at the first end; ``undirected``: at both or none, as ``--`` of DOT.
    """

    mark: bytes
    times: int = 1
    fill: bytes = b" "
    turned: bool = False
    undirected: bool = False

    def suspects(self, block: bytes, lines: int) -> bool:
        return block.count(self.mark) != self.times * lines

    def fault(self, line: bytes) -> str:
        found = line.count(self.mark)
        return "" if found == self.times else f"{self.times} times {self.mark.decode()!r} as in the first rows"

    def blanked(self, block: bytes) -> bytes:
        return block.replace(self.mark, self.fill * len(self.mark))

    def is_apart(self, line: bytes) -> bool:
        """Whether blanks or digits stand on both sides of the mark, which then is in no vertex."""
        mark = re.escape(self.mark)
        return re.search(rb"(\s" + mark + rb"\s|\d" + mark + rb"\d)", line) is not None


class Type(NamedTuple):
    """A column that says of each edge whether it has a direction, as Gephi's: ``word`` in all rows."""

    place: int
    separator: bytes | None
    word: bytes

    def suspects(self, block: bytes, lines: int) -> bool:
        said = block.lower()
        undirected = lines if self.word == b"undirected" else 0
        return said.count(b"directed") != lines or said.count(b"undirected") != undirected

    def fault(self, line: bytes) -> str:
        try:
            row = cells(line, self.separator)
        except ValueError:
            return ""  # the parser says so
        if len(row) <= self.place or row[self.place].lower() == self.word:
            return ""
        return (
            f"{self.word.decode()} in column {self.place + 1} as in the first row, because a graph is directed or not; "
            "pass --directed or --undirected to read all edges in one way"
        )

    def blanked(self, block: bytes) -> bytes:
        return block


class HeaderAgain(NamedTuple):
    """A header, in small letters, that stands among the rows, too, where files were joined: no row of words may be like
    it.
    """

    header: bytes

    def suspects(self, block: bytes, lines: int) -> bool:
        return self.header in block.lower()

    def fault(self, line: bytes) -> str:
        return "an edge, but the header is repeated here, as in joined files; remove it" * (
            line.strip().lower() == self.header
        )

    def blanked(self, block: bytes) -> bytes:
        return block


MARKS = {
    mark.encode(): (turned, undirected)
    for marks, turned, undirected in (
        ("-> --> => ==> \u2192 \u27f6", False, False),
        ("<- <-- \u2190", True, False),
        ("-- --- <-> <--> \u2194", False, True),
    )
    for mark in marks.split()
}
END = rb'"[^"]*"|[^\s,;|]+'
BETWEEN = re.compile(
    rb"\s*("
    + END
    + rb"?)(\s*)([-=<>~:]{2,5}(?![-=<>~:])|\xe2[\x86\x87\x9f][\x80-\xbf])(\s*)("
    + END
    + rb")(?=\s|[,;]|$)"
)
IN_BRACKETS = re.compile(rb"\s\([-+.\deE]+\)$")  # a weight behind an edge: (0.5)
DATA = re.compile(rb"\s(\[[^\[\]]*\]|\{[^{}]*\})$|" + IN_BRACKETS.pattern)  # [w=1], {2}, (0.5)
BEHIND_COMMA = re.compile(rb"\|[^|,;]*[^|,;\s][^|,;]*[,;]\s*[-+.\deE]+$")  # a weight: a | b,0.5
SIGN_BEHIND = re.compile(rb"\s*[,;]")
LONGEST = 1 << 10  # bytes of a row in which an arrow is looked for


def arrow_between(name: str, lines: list[Line]) -> Arrow | None:
    """The arrow between the ends of all ``lines``, or bars between their cells; None where not all have it.

    FormatError for a mark of which nobody knows what it means.
    """
    texts = [line.text.rstrip() for line in lines]
    bars = {text.count(b"|") for text in texts}
    cells = (cell for text in texts for cell in text.split(b"|"))
    if len(bars) == 1 and bars != {0} and b"\t" not in texts[0] and all(map(bytes.strip, cells)):
        _refuse_ends(name, lines, texts)
        if all(map(BEHIND_COMMA.search, texts)):
            raise _two_signs(f"{name}:{lines[0].number}", b"|", texts[0])
        return Arrow(b"|", bars.pop(), b"\t")
    found = [BETWEEN.match(text[:LONGEST]) for text in texts]
    marks = {each[3] for each in found if each}
    if not all(each and _is_between(each) for each in found) or len(marks) != 1:
        return None
    mark = marks.pop()
    glued = any(not each[2] and not each[1].isdigit() and each.end() < len(each.string) for each in found if each)
    if mark not in MARKS or glued:
        raise FormatError(
            f"{name}:{lines[0].number}: {mark.decode()!r} is between the ends, as in {row_shown(texts[0])}, and "
            f"may mean anything; replace it with a space: sed 's/{mark.decode()}/ /' FILE | csaw partition - OUT"
        )
    if any(text.count(mark) != 1 for text in texts):
        return None
    _refuse_ends(name, lines, texts)
    if any(each and not each[5].isdigit() and SIGN_BEHIND.match(each.string, each.end()) for each in found):
        raise _two_signs(f"{name}:{lines[0].number}", mark, texts[0])
    turned, undirected = MARKS[mark]
    return Arrow(mark, 1, b" ", turned, undirected)


def _two_signs(where: str, mark: bytes, text: bytes) -> FormatError:
    """The error for words with a mark between them, and another sign before a weight."""
    return FormatError(
        f"{where}: {mark.decode()!r} and a comma or semicolon both separate the cells of {row_shown(text)}; "
        f"write one separator instead: sed 's/ *{mark.decode()} */,/' FILE | csaw partition - OUT"
    )


def _refuse_ends(name: str, lines: list[Line], texts: list[bytes]) -> None:
    """Raise FormatError for rows with an arrow that end with a separator or brackets, which would stay in words."""
    if found := next(filter(None, (DATA.search(text[-LONGEST:]) for text in texts)), None):
        raise FormatError(
            f"{name}:{lines[0].number}: expected a row that ends with a cell, found brackets after it, "
            f"{row_shown(found[0])}; write a weight without brackets, and remove other data"
        )
    if line := next((line for line, text in zip(lines, texts, strict=True) if text.endswith((b",", b";"))), None):
        raise FormatError(
            f"{name}:{line.number}: expected a row that ends with a cell, found {row_shown(line.text)}; remove the "
            "last sign: sed 's/[,;]$//' FILE | csaw partition - OUT"
        )


def _is_between(found: re.Match[bytes]) -> bool:
    """Whether a mark stands between two ends: of ``a->b c`` without blanks, it may be in a word."""
    behind = found.string[found.end() :].strip(b" \t,;:\r\n")
    return (
        bool(found[2] and found[4])
        or (found[1].isdigit() and found[5].isdigit())
        or not behind
        or bool(DATA.search(found.string))
        or bool(NUMBER.fullmatch(behind))
    )


def faults_of(check: RowCheck, block: bytes, newline: int) -> list[tuple[int, str]]:
    """Lines of a block that are wrong, from 0, and what is expected in them."""
    ending = bytes([newline])
    if not check.suspects(block, block.count(ending) + (block[-1:] not in (b"", ending))):
        return []
    rows = (
        (number, line)
        for number, line in enumerate(block.split(ending))
        if not is_blank(line) and line.lstrip()[:1] not in (b"#", b"%")
    )
    return [
        (number, f"expected {said}, found {row_shown(line)}") for number, line in rows if (said := check.fault(line))
    ]


def sifted(checks: Iterable[RowCheck], block: bytes, newline: int) -> tuple[list[tuple[int, str]], bytes]:
    """The lines of a block that are wrong, from 0, with what is expected in them; and the block as it is cut, in which
    these lines are empty.
    """
    checks, ending = list(checks), bytes([newline])
    faults = sorted(dict(fault for check in checks for fault in faults_of(check, block, newline)).items())
    if faults:
        lines = block.split(ending)
        for number, _ in faults:
            lines[number] = b""
        block = ending.join(lines)
    for check in checks:
        block = check.blanked(block)
    return faults, block
