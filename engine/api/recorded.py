"""The algorithm of a stored sample, built again to draw or to judge it.

A store is data: nothing in it names code that runs.

An algorithm that csaw ships is found by its name. One of the maker's own runs only from a file that the user names,
which must be the file that the sample was drawn by: requests have its SHA-256 as ``code``.
"""

from pathlib import Path
from typing import TypedDict

from csaw.engine.api import registry
from csaw.engine.api.algorithm import NO_COLUMNS, Algorithm, VertexColumns
from csaw.engine.api.option import InUnits
from csaw.engine.api.written_classes import CLASS, recorded_name
from csaw.partition.base.plain_data import Values
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError, StoreError


class Request(TypedDict, total=False):
    """The request of a sample as its manifest has it, which early versions wrote without what they did not know."""

    fingerprint: str
    algorithm: str
    parameters: Values
    edge_bias: str | None
    weighted: bool
    seed: int
    instances: int
    sources: str
    select: str
    collision: str
    group_size: int
    ids: str
    induced: bool
    target: int
    columns: dict[str, str]
    code: str
    metapath: str


class UnnamedCodeError(StoreError):
    """A sample was drawn by code that csaw does not have, and the user has not named its file."""


def is_own(request: Request) -> bool:
    """Return whether a sample was drawn by an algorithm that csaw does not ship."""
    return request.get("algorithm") not in registry.names()


def named(path: Path, request: Request, algo: registry.Algo | None) -> str:
    """Return the name by which the algorithm of the sample at ``path`` is found: csaw's own, or ``algo``, the
    FILE.py:CLASS that the user has named.

    UnnamedCodeError where nobody has named it; StoreError where the file is another than the sample was drawn by;
    OptionError for the name of another class.
    """
    name = _name(path, request, algo)
    if is_own(request):
        _require_code(path, request, name, registry.code_of(name)[1])
    return name


def _name(path: Path, request: Request, algo: registry.Algo | None) -> str:
    """Return the name, without a look at the file."""
    algo = None if algo is None else registry.named(algo, {})[0]
    recorded = str(request.get("algorithm", ""))
    if not is_own(request):
        if algo not in (None, recorded):
            raise OptionError(
                f"--algo {quoted(algo)}: {path} was drawn by {recorded}, which comes with csaw; leave --algo out"
            )
        return recorded
    wanted = recorded.rpartition(":")[2]
    if algo is None:
        there = "that file" if not recorded.startswith(CLASS) else "its source in the manifest, make a file of it"
        raise UnnamedCodeError(
            f"{path} was drawn by custom code, {quoted(recorded)}, which csaw never runs just because a store "
            f"names it; read {there}, then name it with --algo "
            f"FILE.py:{wanted if wanted.isidentifier() else 'CLASS'}"
        )
    if not isinstance(algo, str) or ".py" not in algo or algo.partition(":")[2] != wanted:
        raise OptionError(
            f"--algo: {path} was drawn by {quoted(recorded)}; expected FILE.py:{wanted}, found {quoted(algo)}"
        )
    return algo


def _require_code(path: Path, request: Request, algo: str, found: str) -> None:
    """Raise StoreError unless ``found``, the SHA-256 of the user's file, is that of the request, if it has one."""
    if request.get("code", found) != found:
        given = recorded_name(algo)
        given, kind = (given, "class") if given.startswith(CLASS) else (algo.partition(":")[0], "file")
        raise StoreError(
            f"--algo: {path} was drawn by a file with the SHA-256 {quoted(request['code'], 80)}, but {given} has "
            f"{found}; use the {kind} as it was then"
        )


def parameters(path: Path, request: Request, name: str, kind: type[Algorithm] | None = None) -> Values:
    """Return the options of its algorithm that a request has, times in the units of its graph.

    StoreError where it has others, which would be options of a run.

    ``kind``: the class of that ``name``, where it is loaded already.
    """
    held, known = request.get("parameters", {}), (kind or registry.find(name)).options()
    if not held.keys() <= known.keys():
        raise StoreError(
            f"{path}/zarr.json: parameters: expected options of {quoted(name)}, which are "
            f"{', '.join(known)}, found {quoted(held)}; sample again"
        )
    times = {one for one, declared in known.items() if declared.reads}
    return {one: InUnits(value) if one in times and type(value) is int else value for one, value in held.items()}


def given_again(path: Path, request: Request, name: str) -> Values:
    """Return the options of ``parameters`` with which a run may be asked for again: without ``normalize`` as it is by
    default, if a bias of the user's own replaced what it normalizes.
    """
    held, known = parameters(path, request, name), registry.find(name).options()
    replaced = request.get("edge_bias") is not None and "normalize" in known
    if replaced and held.get("normalize") == known["normalize"].default:
        held.pop("normalize", None)
    return held


def built(path: Path, request: Request, algo: registry.Algo | None, columns: VertexColumns = NO_COLUMNS) -> Algorithm:
    """Build the algorithm of the sample at ``path``.

    It raises the errors of :func:`named`, and StoreError where the store says what csaw would not have written.

    The user's file is read once, so that what is checked is what runs.
    """
    name = _name(path, request, algo)
    kind, digest = registry.load(name, lambda digest: _require_code(path, request, name, digest))
    held, bias = parameters(path, request, name, kind), request.get("edge_bias")
    try:
        return registry.make(kind if bias is None else registry.with_edge_bias(kind, bias), digest, held, columns)
    except OptionError as error:
        raise StoreError(f"{path}/zarr.json: {error}") from error
