"""A column that says of each edge whether it has a direction, as Gephi writes it."""

from csaw.partition.errors import FormatError
from csaw.partition.ingestion.columns import plain
from csaw.partition.ingestion.ingest_options import IngestOptions
from csaw.partition.ingestion.text.row_checks import Type
from csaw.partition.ingestion.text.separators import Layout
from csaw.partition.ingestion.text.shape import Shape

WORDS = {b"directed", b"undirected", b"mixed"}


def see_types(where: str, layout: Layout, rows: list[list[bytes]], shape: Shape, options: IngestOptions) -> None:
    """Read the direction of all edges from their column ``Type``; FormatError where edges have different ones."""
    place = next((k for k, name in enumerate(shape.names or ()) if plain(name) == "type"), None)
    if place is None or options.directed is not None or not rows:
        return
    found = {row[place].lower() for row in rows if len(row) > place}
    if not found <= WORDS:
        return
    if len(found) > 1 or found == {b"mixed"}:
        raise FormatError(
            f"{where}: column {place + 1} says {' and '.join(sorted(word.decode() for word in found))}, and a graph is "
            "directed or not; pass --directed or --undirected to read all edges in one way"
        )
    word = found.pop()
    shape.says_direction, shape.undirected = True, word == b"undirected"
    shape.checks += (Type(place, layout.separator, word),)
