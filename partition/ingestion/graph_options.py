"""The options by which the edges of an object become a graph."""

from typing import TYPE_CHECKING, TypedDict

from csaw.partition.errors import OptionError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class GraphOptions(TypedDict, total=False):
    """How the edges of an object become a graph; :func:`csaw.graph` explains each."""

    directed: bool | None
    duplicates: str | None
    self_loops: str
    reverse: bool
    vertex_ids: "ArrayLike | None"
    time: "ArrayLike | str | None"
    source_column: str | int | None
    target_column: str | int | None


def known(how: GraphOptions) -> GraphOptions:
    """OptionError for what is no option of a graph in memory."""
    names = GraphOptions.__annotations__
    if unknown := sorted(how.keys() - names.keys()):
        raise OptionError(f"{unknown[0]}: expected weights, {', '.join(names)}")
    return how
