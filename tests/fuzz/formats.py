"""Files in the formats of other programs through ``csaw partition``: the edges that an independent reader of the format
finds in them, or a refusal that names the format or the line; never other edges without a word.

What reads with an assumption must print it, and what an error advises must not lead to other edges either.
"""

import codecs
import gzip
import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import networkx

from fuzz import child, markup, meant, networks, parts, readings, solvers, spellings, tables, warm
from fuzz.judge import Failure, refusal_or_failure
from fuzz.readings import File

WRITERS: dict[str, Callable[[Random], File]] = {}
for module in (solvers, networks, spellings, tables, markup, parts):
    WRITERS |= module.WRITERS
SUFFIXES = (
    *(
        ".txt",
        ".txt",
        "",
        ".edges",
        ".el",
        ".wel",
        ".csv",
        ".tsv",
        ".dat",
        ".graph",
        ".metis",
        ".net",
        ".gr",
        ".adjlist",
    ),
    *(".sif", ".tgf", ".lgl", ".ncol", ".graphml", ".gml", ".dot", ".json", ".xml", ".out", ".list", ".html", ".g6"),
)
SAYS = {
    ".graph": "METIS",
    ".metis": "METIS",
    ".net": "Pajek",
    ".gr": "DIMACS",
    ".adjlist": "adjacency|no edges",
    ".sif": "SIF",
    ".tgf": "TGF",
    ".lgl": "LGL",
    ".graphml": "GraphML",
    ".gml": "GML",
    ".dot": "DOT|Graphviz",
    ".json": "JSON",
    ".xml": "XML",
    ".html": "HTML",
    ".g6": "graph6",
}
"""What a name alone says of its format."""
LINE = r"(:|\blines? |\brows? |\bcolumns? )\d+"
ADVICE = re.compile(r"--(on-error skip|ids string|ids int|weight-column none|undirected|directed)\b")
PATIENCE = 3  # pieces of advice that are followed


class Formats:
    """Kernels are compiled once; ``case`` writes a file and makes a store of it."""

    def __init__(self, folder: Path) -> None:
        warm.small_chunks()
        place = folder / "whole" / "formats"
        place.mkdir(parents=True)
        for text in ("0 1\n1 2\n", "1 2 .5\n", "a b\n", "a b 2\n", "source,target\n1,2\n"):
            (place / "graph.txt").write_text(text)
            for options in (
                (),
                ("--undirected", "--duplicates", "keep"),
                ("--on-error", "skip", "--id-type", "string"),
            ):
                warm.csaw("partition", "graph.txt", "graph.zarr", "--overwrite", *options, folder=place)

    def case(self, random: Random, place: Path) -> list[Failure]:
        """One file, and what is advised about it."""
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        case = draw(random, place)
        return [
            replace(
                one,
                where=f"{case.kind}{one.where}",
                detail=f"{case.name}: {case.file.told}. {one.detail}\n{_start(case.file)!r}",
            )
            for one in _judged(case, place, case.options, PATIENCE)
        ]


@dataclass(frozen=True)
class Case:
    """A file as it lies in a folder, under a name, and how csaw is asked to read it."""

    kind: str
    file: File
    name: str
    options: list[str]
    printed: tuple[str, ...]
    piped: bool = False  # read from standard input
    dry: bool = False  # ask first how it would be read

    def run(self, place: Path, options: list[str]) -> child.Ended:
        given = "-" if self.piped else self.name

        def before() -> None:
            if self.piped:
                os.dup2(os.open(self.name, os.O_RDONLY), 0)

        return child.csaw("partition", given, "out.zarr", *options, folder=place, before=before)

    def followed(self, options: list[str]) -> str:
        """Whose options are tried: csaw's own advice, or a user's."""
        if len(options) > len(self.options):
            return " by advice"
        return " with an option" if {"--on-error", "--id-type"} & {*options} else ""


def draw(random: Random, place: Path) -> Case:
    """A case, whose file is written."""
    kind = random.choice(sorted(WRITERS))
    file = WRITERS[kind](random)
    name = _write(random, file, place)
    options = [*file.options, *_options(random, file)]
    if "--id-type" in options and file.as_words:
        file.readings.append(readings.Reading(file.as_words))
    printed = random.choice([(), ("--json",), ("--json",)])
    piped = not file.others and random.random() < 0.07
    return Case(kind, file, name, options, printed, piped=piped, dry=random.random() < 0.2)


def _write(random: Random, file: File, place: Path) -> str:
    """The name under which it is written, in one of three cases one that its program would not give."""
    suffix = random.choice(file.suffixes) if random.random() < 0.65 or file.others else random.choice(SUFFIXES)
    name = f"graph{suffix}"
    if suffix not in file.suffixes and suffix in SAYS:  # a refusal may take the name's word for it
        file.names = "|".join(filter(None, [file.names, SAYS[suffix]]))
    if suffix == ".adjlist" and isinstance(file.text, str):
        file.readings += _as_its_name_says(file.text)
    if isinstance(file.text, str) and not file.others:
        file.text = _encoded(random, file)
    data = file.text.encode() if isinstance(file.text, str) else file.text
    if file.others:
        name = "parts"
        (place / name).mkdir()
        for part, content in file.others.items():
            (place / name / part).write_bytes(content)
    else:
        packed = gzip.compress(data, mtime=0) if random.random() < 0.07 else data
        name += ".gz" if packed is not data and random.random() < 0.5 else ""
        (place / name).write_bytes(packed)
    return name


def _as_its_name_says(text: str) -> list[readings.Reading]:
    """What networkx reads from a file that is called an adjacency list, whatever it was meant to be."""
    lines = [line for line in text.split("\n") if not line.startswith("%") and line.partition("#")[0].strip()]
    made = networkx.parse_adjlist(lines, create_using=networkx.MultiDiGraph)
    return [
        readings.Reading([(a, b, 1.0) for a, b, _ in made.edges], directed, "adjacency") for directed in (True, False)
    ]


def _encoded(random: Random, file: File) -> bytes:
    """The text with ends of lines, blanks and marks as some programs write them."""
    assert isinstance(file.text, str)
    text, told = file.text, ""
    if file.newlines and random.random() < 0.3:
        told = random.choice(["CRLF", "CR", "trailing blanks", "no last end of line", "blank lines at the end"])
        text = {
            "CRLF": lambda: text.replace("\n", "\r\n"),
            "CR": lambda: text.replace("\n", "\r"),
            "trailing blanks": lambda: text.replace("\n", random.choice([" ", "  "]) + "\n"),
            "no last end of line": lambda: text.removesuffix("\n"),
            "blank lines at the end": lambda: text + "\n" * random.randrange(1, 4),
        }[told]()
    data = text.encode()
    if file.encodings and random.random() < 0.1:
        coding = random.choice(["BOM", "BOM", "utf-16", "utf-16-le", "utf-32"])
        told += f" {coding}"
        data = codecs.BOM_UTF8 + data if coding == "BOM" else text.encode(coding)
        return _changed(file, data, told, readable=coding == "BOM")
    return _changed(file, data, told, readable=True)


def _changed(file: File, data: bytes, told: str, *, readable: bool) -> bytes:
    file.told += f" ({told.strip()})" if told else ""
    if not readable:  # the edges are still right, and so is a refusal that names the encoding
        file.must, file.names = False, rf"{file.names or 'UTF'}|UTF|encod|zero byte|NUL|binary"
    return data


def _options(random: Random, file: File) -> Iterator[str]:
    """What somebody may add without knowing the format."""
    if random.random() < 0.25:
        yield from ("--duplicates", "keep")
    if random.random() < 0.08 and not file.must:
        yield from ("--on-error", "skip")
    elif random.random() < 0.04 and not file.must:
        yield from ("--id-type", "string")


def _judged(case: Case, place: Path, options: list[str], patience: int) -> list[Failure]:
    """What is wrong with the result of a command, or with that of a command that its error advises."""
    shutil.rmtree(place / "out.zarr", ignore_errors=True)
    ended = case.run(place, [*case.printed, *options])
    names = ("-", "standard input") if case.piped else (case.name, *case.file.others)
    if failure := refusal_or_failure(ended, names):
        return [failure]
    if ended.code:
        return _refusal(case, ended, place, options, patience)
    found = readings.flat(meant.read(place / "out.zarr"))
    if case.dry and (failure := _otherwise_dry(case, place, options, found)):
        return [failure]
    told = said(ended)
    if "skip" in case.options and re.search(r"\bskipped", told):  # as the user wanted it, and it is counted
        return []
    detail = readings.verdict(case.file, found, told, options)
    if not detail:
        return []
    kind = "silent assumption" if detail.startswith("read with") else "wrong edges"
    return [Failure(f"{kind}{case.followed(options)}", "", " ".join(ended.arguments), detail[:900])]


def _otherwise_dry(case: Case, place: Path, options: list[str], found: Counter[readings.Pair]) -> Failure | None:
    """What ``--dry-run`` shows of a file that was read, if it is not the same."""
    shutil.rmtree(place / "out.zarr")
    ended = case.run(place, [*options, "--dry-run", "--json"])
    if ended.code:
        return Failure("dry run refuses", "", " ".join(ended.arguments), ended.error)
    shown = json.loads(ended.out)
    stored = {pair[:2] for pair in found}
    ends = [(str(a), str(b)) for a, b, *_ in shown["edges"]]
    if (place / "out.zarr").exists() or not ends or not {*ends} <= stored:
        return Failure("dry run shows others", "", " ".join(ended.arguments), f"{ends}, stored {sorted(stored)[:8]}")
    return None


def _refusal(case: Case, ended: child.Ended, place: Path, options: list[str], patience: int) -> list[Failure]:
    """What is wrong with an error, or with what follows from its advice."""
    told, command, file = ended.error.strip().split("\n")[-1], " ".join(ended.arguments), case.file
    if file.must:
        return [Failure("refused", "", command, told)]
    text = re.sub(rf"\b{re.escape(case.name)}\b", "FILE", told)
    emptied = "--on-error" in options and "no edges" in text
    if not emptied and not re.search(LINE, text) and not (file.names and re.search(file.names, text, re.IGNORECASE)):
        return [Failure("names neither format nor line", "", command, told)]
    found = []
    for advised in dict.fromkeys(ADVICE.findall(told)) if patience else ():
        flag, *value = f"--{advised}".split()
        if flag not in options:
            found += _judged(case, place, [*options, flag, *value], patience - 1)
    return found


def said(ended: child.Ended) -> str:
    """What a command has printed: on standard error, and as text or as lines of JSON on standard output."""
    try:
        return "\n".join([ended.error, *_lines(json.loads(ended.out))])
    except ValueError:
        return f"{ended.error}\n{ended.out}"


def _lines(value: Any, name: str = "") -> Iterator[str]:
    """What JSON says: names whose value is neither false nor nothing, with the value."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from _lines(one, f"{name} {key}")
    elif isinstance(value, list):
        for one in value:
            yield from _lines(one, name)
    elif value:
        yield f"{name}: {value}"


def _start(file: File) -> bytes | dict[str, bytes]:
    if file.others:
        return {name: data[:60] for name, data in file.others.items()}
    return file.text[:220] if isinstance(file.text, bytes) else file.text[:220].encode()
