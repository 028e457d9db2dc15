"""Random texts through ``csaw partition``: the graph that their author meant, or a refusal that names the file and the
line.
"""

import math
import re
import shutil
from pathlib import Path
from random import Random
from typing import Any

from fuzz import child, grammar, meant, warm
from fuzz.grammar import MUST, NEVER, Text
from fuzz.judge import Failure, refusal_or_failure, wrong_result
from fuzz.troubles import IN_BYTES, IN_ROWS, matrix_market

WARM = ["0 1\n1 2\n", "1 2 .5\n", f"{1 << 63} 1\n", "-1 5\n", "a b\n", "a b 2\n", f"{1 << 40} 1 2\n"]


class Texts:
    """Nothing to prepare but kernels; ``case`` writes a text and makes a store of it."""

    def __init__(self, folder: Path) -> None:
        warm.small_chunks()
        place = folder / "whole" / "texts"
        place.mkdir(parents=True)
        for text in WARM:
            (place / "graph.txt").write_text(text)
            for options in ((), ("--undirected", "--duplicates", "sum")):
                warm.must("partition", "graph.txt", "graph.zarr", "--overwrite", *options, folder=place)

    def case(self, random: Random, place: Path) -> list[Failure]:
        """One text."""
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        text = draw(random)
        (place / text.name).write_bytes(text.data)
        ended = child.csaw("partition", text.name, "out.zarr", "--json", *text.options, folder=place)
        failure = refusal_or_failure(ended, (text.name,)) or judge(text, ended, place / "out.zarr")
        if failure is None and ended.code and leftovers(place, text):
            failure = Failure("leftovers", "partition", " ".join(ended.arguments), f"left {leftovers(place, text)}")
        return (
            [
                Failure(
                    failure.kind, failure.where, failure.command, f"{text.told}. {failure.detail}\n{text.data[:160]!r}"
                )
            ]
            if failure
            else []
        )


def draw(random: Random) -> Text:
    """A text, in two of three cases with one trouble."""
    text = grammar.text_of(random, most=random.choice([20, 60, 120, 120, 30_000]))
    shape = random.random()
    if shape < 0.15:
        grammar.known_header(text)
    elif shape < 0.18:
        grammar.asked_columns(text)
    elif shape < 0.21:
        grammar.vague_header(text)
    elif shape < 0.25:
        grammar.more_columns(text)
    elif shape < 0.3:
        matrix_market(text)
    elif shape < 0.7:
        random.choice(IN_ROWS)(text)
    elif shape < 0.85:
        text.plain = True
    grammar.choose_options(text)
    grammar.write(text)
    if (
        text.plain
        and text.told == "nothing is wrong"
        and not text.name.endswith((".gz", ".bz2", ".zst"))
        and text.data[:1] in b"0123456789-abxne"
    ):
        random.choice(IN_BYTES)(text)
    return text


def judge(text: Text, ended: child.Ended, store: Path) -> Failure | None:
    """What is wrong with the result, or with a refusal of what must be read."""
    if ended.code:
        told = ended.error.strip().split("\n")[-1]
        if text.verdict == MUST and not too_large(text):
            return Failure("refused", text.told.split(",")[0].split("[")[0], " ".join(ended.arguments), told)
        if text.line and not too_large(text) and not re.search(rf"\b{text.line}\b", told.replace(text.name, "")):
            return Failure(
                "names no line", re.sub(r"\d+", "N", told)[:80], " ".join(ended.arguments), f"line {text.line}; {told}"
            )
        return None
    kind = re.sub(r"row \d+, .*: |\d+", "", text.told).split("[")[0]
    if text.verdict == NEVER:
        return wrong_result(ended, f"read although {kind}", f"{ended.error[-200:]}")
    found = meant.read(store)
    wanted = possible(text)
    return (
        None if found in wanted else wrong_result(ended, f"another graph: {kind}", f"found {found}, meant {wanted[0]}")
    )


def possible(text: Text) -> list[meant.Graph]:
    """The graphs that a text may be read as, the meant one first."""
    options: dict[str, Any] = {"directed": text.directed}
    given = dict(zip(text.options, text.options[1:], strict=False))
    for flag, name in (("--duplicates", "duplicates"), ("--self-loops", "self_loops")):
        if flag in given:
            options[name] = given[flag]
    weights = [text.weighted, not text.weighted] if text.other_weighted else [text.weighted]
    return [
        meant.build(edges, weighted=weighted, **options) for edges in (text.edges, *text.others) for weighted in weights
    ]


def too_large(text: Text) -> bool:
    """Whether weights of repeated edges add up beyond float32."""
    return not all(math.isfinite(weight) for row in possible(text)[0].rows for _, weight in row)


def leftovers(place: Path, text: Text) -> list[str]:
    """Files that a refused run has left."""
    return sorted(file.name for file in place.iterdir() if file.name != text.name)
