"""The first comment of a KONECT file: whether edges have a direction, and whether both sides are numbered from 1."""

import re

from csaw.partition.errors import FormatError, OptionError
from csaw.partition.ingestion.ingest_options import IngestOptions
from csaw.partition.ingestion.text.cells import Head
from csaw.partition.ingestion.text.shape import EDGES, Shape

FIRST = re.compile(
    rb"(?i)\s*%\s*(sym|asym|bip)(?:\s+(unweighted|positive|posweighted|weighted|signed|multisigned|multiweighted|"
    rb"multiposweighted|dynamic)\b[^\n]*|[ \t\r]*)\n(?:\s*%\s*(\d{1,18})\s+(\d{1,18})\s+(\d{1,18})\s*\n)?"
)


def see_konect(head: Head, shape: Shape, options: IngestOptions) -> None:
    """Add the direction that KONECT says, and what the ids of targets are raised by.

    FormatError where both sides of a bipartite graph have the same numbers and nothing keeps them apart: the number of
    vertices on the side of the sources is added to each target.
    """
    shape.offset = options.target_offset or 0
    if shape.offset and shape.strings:
        raise OptionError(f"{head.name}: --target-offset: expected ids that are integers, found words")
    found = FIRST.match(head.text) if options.format in ("auto", EDGES) else None
    if found is None:
        return
    shape.says_direction, shape.undirected = True, found[1].lower() != b"asym"
    if found[1].lower() != b"bip" or options.target_offset is not None:
        return
    sides = (shape.read.source, shape.read.target)
    if found[4] is None or shape.strings or sides not in ((0, 1), (1, 0)):
        raise FormatError(
            f"{head.name}:1: '% bip' means that sources and targets are both numbered from 1; to add N to each "
            "target, pass --target-offset N, at least the largest source; if equal numbers are the same vertex, "
            "pass 0"
        )
    shape.offset = shape.most_sources = int(found[4] if sides == (0, 1) else found[5])
    shape.warnings.append(
        f"'% bip' means that sources and targets are both numbered from 1: {shape.offset} is added to each "
        f"target, so that target 1 is vertex {shape.offset + 1}; --target-offset adds another number, or 0"
    )
