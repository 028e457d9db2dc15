"""How the edges are read that ``csaw append`` adds to a store or removes from it: as those of the store were."""

from collections.abc import Mapping, Sequence
from typing import TypedDict

from numpy.typing import ArrayLike

from csaw.partition.base.plain_data import Values
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError, StoreError
from csaw.partition.graph.attributes import EDGE_IDS, STRING
from csaw.partition.graph.edge_columns import TIME, EdgeColumn
from csaw.partition.graph.merging import ERROR, FIRST, KEEP, LAST, REMOVE, SUM
from csaw.partition.graph.store import GraphStore
from csaw.partition.graph.types import RELATION
from csaw.partition.ingestion.ingest_options import texts
from csaw.partition.ingestion.time_column import WHOLE, TimeColumn, decimals_of, decimals_of_numbers

POLICIES = (KEEP, FIRST, SUM, LAST, ERROR)
Size = int | str


class AppendOptions(TypedDict, total=False):
    """The options of ``csaw append``, with the same names, and those of graphs in memory. Sizes are bytes, or text such
    as ``4GiB``.
    """

    remove: bool
    duplicates: str | None
    self_loops: str | None
    again: bool
    directed: bool | None
    format: str
    target_offset: int | None
    source_column: str | int | None
    target_column: str | int | None
    weight_column: str | int
    edge_columns: Sequence[str] | Mapping[str, ArrayLike]
    time_column: str | int | None
    time_format: str | None
    time_decimals: int | None
    on_error: str
    skip_lines: int
    where: str | Sequence[str]
    partition_size: Size | None
    memory: Size | None
    threads: int | None
    weights: ArrayLike | None
    vertex_ids: ArrayLike | None
    time: ArrayLike | str | None


OF_OBJECTS = ("weights", "vertex_ids", "time", "edge_columns", "source_column", "target_column", "directed")
"""The options of a graph in memory that say which numbers it has."""
OF_FILES = (
    "format",
    "target_offset",
    "source_column",
    "target_column",
    "on_error",
    "skip_lines",
    "where",
    "threads",
    "memory",
    "weight_column",
    "edge_columns",
    "time_column",
    "time_format",
    "time_decimals",
    "directed",
)
"""The options of files that do, and how much the reading may use."""


def policy_of(base: GraphStore, given: Values) -> str:
    """Return what becomes of edges that are there already: as the store was made, if nobody says.

    Raises:
        OptionError: ``duplicates`` is none of POLICIES, or impossible for such a store.
    """
    if given.get("remove"):
        if given.get("duplicates") is not None:
            raise OptionError("--duplicates: only for edges that are added; leave it out with --remove")
        return REMOVE
    said = given.get("duplicates")
    if said is None:
        made = base.report.get("duplicates_policy")
        said = made if made in POLICIES else KEEP if base.multigraph else FIRST
    if said not in POLICIES:
        raise OptionError(f"--duplicates: expected {', '.join(POLICIES)}, found {quoted(said)}")
    if said in (SUM, LAST) and base.multigraph and base.types is None:  # else edges of other relations may be meant
        raise OptionError(
            f"--duplicates {said}: {base.base} has repeated edges, and it is open which of them is meant; remove them "
            "first with --remove, or pass --duplicates keep or first"
        )
    if said == SUM and not base.weighted:
        raise OptionError(f"--duplicates sum: {base.base} has no weights; make it again with --duplicates sum")
    return str(said)


def refuse_unfit(base: GraphStore) -> None:
    """Raise StoreError for a store that cannot grow."""
    if not base.checksums:
        raise StoreError(
            f"{base.base} was made by an early csaw and has no checksums; make it again with csaw partition from all "
            "of its files"
        )


def of_edges(base: GraphStore, policy: str, given: Values) -> Values:
    """How edges are read, whatever they come from: the options that files and graphs in memory share."""
    drops = bool(base.report.get("self_loops_dropped"))
    loops = given.get("self_loops") or ("drop" if drops and policy != REMOVE else "keep")
    first = {LAST: KEEP, REMOVE: FIRST}.get(policy, policy)
    return {"duplicates": first, "self_loops": loops, "reverse": bool(base.report.get("reversed"))}


def of_files(base: GraphStore, policy: str, given: Values) -> Values:
    """The options of an ingest of new edges, as IngestOptions has them.

    Raises:
        OptionError: an option contradicts the store.
    """
    if wrong := sorted(given.keys() & set(OF_OBJECTS) - set(OF_FILES)):
        raise OptionError(f"{wrong[0]}: it is for graphs in memory; name a column of the file instead")
    read = {name: given[name] for name in OF_FILES if given.get(name) is not None}
    kind = "auto" if base.types else "string" if base.id_kind == STRING else "int"  # each relation has one of its own
    read |= of_edges(base, policy, given) | {"id_type": kind}
    read["directed"] = _directed(base, read.get("directed"))
    if (offset := base.report.get("target_offset")) and read.setdefault("target_offset", offset) != offset:
        raise OptionError(f"--target-offset: {base.base} has targets to which {offset} was added; leave it out")
    if policy == REMOVE:
        gone = {"weight_column": "none", "edge_columns": (), "time_column": None}
        return {name: one for name, one in read.items() if not name.startswith("time")} | gone
    counts = base.report.get("weights") == "repeats"
    if not base.weighted and read.get("weight_column", "auto") not in ("auto", "none"):
        raise OptionError(f"--weight-column: {base.base} has no weights; leave it out")
    if not base.weighted or counts:
        read.setdefault("weight_column", "none")
    if not base.weighted:
        read["weight_column"] = "none"
    others = [column for column in base.further_columns if column.name != TIME.name]
    others = [column for column in others if base.types is None or column != RELATION]
    read["edge_columns"] = tuple(_columns(base, others, texts(read.get("edge_columns", ()))))
    read["edge_ids"] = EDGE_IDS in base.attributes
    return read | _times(base, read)


def of_objects(base: GraphStore, policy: str, given: Values) -> Values:
    """The options of new edges that are a graph in memory.

    Raises:
        OptionError: an option is one of files, or a HeteroData itself says what it is for.
    """
    if base.types is not None:
        if unknown := sorted(given.keys() - set(OF_ANY)):
            raise OptionError(f"{unknown[0]}: a HeteroData object says this itself; leave it out")
        return of_edges(base, policy, given)
    if unknown := sorted(given.keys() - {*OF_OBJECTS, *OF_ANY}):
        known = ", ".join((*OF_OBJECTS, *OF_ANY)).replace("partition_bytes", "partition_size")
        raise OptionError(f"{unknown[0]}: expected an option of graphs in memory, {known}")
    if policy != REMOVE and not base.weighted and not _no_weights(given.get("weights")):
        raise OptionError(f"weights: {base.base} has no weights; leave it out")
    read = {name: given[name] for name in OF_OBJECTS if name in given} | of_edges(base, policy, given)
    read["directed"] = _directed(base, read.get("directed"))
    if base.report.get("weights") == "repeats":
        read.setdefault("weights", None)
    if policy == REMOVE or not base.weighted:
        read["weights"] = None
    if policy == REMOVE:
        return {name: one for name, one in read.items() if name not in ("edge_columns", "time")}
    others = [column for column in base.further_columns if column.name != TIME.name]
    asked = read.get("edge_columns")
    if others and (asked is None or not isinstance(asked, Mapping)):
        read["edge_columns"] = _columns(base, others, texts(asked or ()))
    return read


def _no_weights(said: ArrayLike | None) -> bool:
    return said is None or (isinstance(said, str) and said in ("auto", "none"))


OF_ANY = ("remove", "duplicates", "self_loops", "again", "partition_bytes", "memory", "threads")
"""Options of any append."""


def _directed(base: GraphStore, said: bool | None) -> bool | None:
    """Whether new edges have one direction; None where a directed store leaves it to their header."""
    if said is not None and bool(said) != base.directed:
        own = "directed" if base.directed else "undirected"
        raise OptionError(f"--{'directed' if said else 'undirected'}: {base.base} is {own}; leave it out")
    return said if base.directed else False


def _columns(base: GraphStore, columns: list[EdgeColumn], asked: tuple[str, ...]) -> list[str]:
    """The texts of all ``columns`` of a store, with the columns of the input that were asked for."""
    found = {column.name: column.text for column in columns}
    for text in asked:
        head, is_said, place = text.partition("=")
        name = head.partition(":")[0]
        own = next((column for column in columns if column.name == name), None)
        if own is None or (":" in head and EdgeColumn.parsed(head) != own):
            held = ", ".join(column.text for column in columns) or "none"
            raise OptionError(f"--edge-column {text}: expected a column of {base.base}, found another; it has {held}")
        if is_said:
            found[name] = f"{own.text}={place}"
    return list(found.values())


def _times(base: GraphStore, read: Values) -> Values:
    """How the times of new edges are read: in the units that the store has."""
    time = base.time
    if time is None:
        if read.get("time_column") is not None:
            raise OptionError(f"--time-column: {base.base} has no times; leave it out")
        return {}
    since = decimals_of(time.units)
    form = read.get("time_format") or ("numbers" if since is None else None)
    if form is None:
        raise OptionError(
            f"{base.base} has times in {time.units}; say how the new edges have them: with --time-format iso, unix, "
            "unix-ms, unix-us or unix-ns"
        )
    usual = 0 if form in WHOLE else decimals_of_numbers(time.units) if form == "numbers" else since or 0
    decimals = read.get("time_decimals", usual)
    if (units := TimeColumn.of(form, decimals).units) != time.units:
        raise OptionError(f"--time-format {form}: expected times in {time.units}, which {base.base} has, found {units}")
    return {"time_column": read.get("time_column", TIME.name), "time_format": form, "time_decimals": decimals}
