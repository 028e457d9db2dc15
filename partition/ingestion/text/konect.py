"""The first comment of a KONECT file: whether edges have a direction, and whether both sides are numbered from 1."""

import re

from csaw.partition.errors import FormatError, OptionError
from csaw.partition.ingestion.ingest_options import IngestOptions
from csaw.partition.ingestion.text.cells import Head
from csaw.partition.ingestion.text.shape import Shape

FIRST = re.compile(
    rb"\s*%\s*(sym|asym|bip)\s+(unweighted|positive|posweighted|weighted|signed|multisigned|multiweighted|"
    rb"multiposweighted|dynamic)\b[^\n]*\n(?:\s*%\s*(\d{1,18})\s+(\d{1,18})\s+(\d{1,18})\s*\n)?"
)


def see_konect(head: Head, shape: Shape, options: IngestOptions) -> None:
    """Add the direction that KONECT says, and what the ids of targets are raised by.

    FormatError where both sides of a bipartite graph have the same numbers and nothing keeps them apart.
    """
    shape.offset = options.target_offset or 0
    if shape.offset and shape.strings:
        raise OptionError(f"{head.name}: --target-offset: expected ids that are integers, found words")
    found = FIRST.match(head.text) if options.format == "auto" else None
    if found is None:
        return
    shape.says_direction, shape.undirected = True, found[1] != b"asym"
    if found[1] != b"bip" or options.target_offset is not None:
        return
    if found[4] is None or shape.strings:
        raise FormatError(
            f"{head.name}:1: '% bip' means that sources and targets are both numbered from 1; to add N to each "
            "target, pass --target-offset N, at least the largest source; if equal numbers are the same vertex, "
            "pass 0"
        )
    shape.offset = int(found[4])
    shape.warnings.append(
        f"'% bip' means that sources and targets are both numbered from 1: {shape.offset} is added to each "
        f"target, so that target 1 is vertex {shape.offset + 1}; --target-offset adds another number, or 0"
    )
