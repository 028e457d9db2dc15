"""Completing a store whose groups are all written: metadata of arrays, joined parts of groups, string ids, checksums of
all files.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from csaw.engine.samples import files
from csaw.engine.samples.check import EDGES_A_CHUNK, NAMES, chunk_name, most_bytes, write_checksums
from csaw.engine.samples.files import plain
from csaw.engine.samples.layouts import VERTEX, Ragged, SampleLayout, Sizes, kind_of
from csaw.engine.samples.place import Draft, marker_path, part_path
from csaw.engine.samples.results import SIZES, results_of, total
from csaw.partition.arrays.files import open_regular, sync_folder
from csaw.partition.arrays.nodes import About, write_array
from csaw.partition.base.plain_data import Record
from csaw.partition.base.stages import WRITING, stage
from csaw.partition.errors import StoreError
from csaw.partition.graph.attributes import ARRAYS as OF_GRAPHS
from csaw.partition.graph.attributes import TEXT


@stage(WRITING)
def seal(draft: Draft) -> None:
    """Complete the arrays.

    The checksums are written last and mark the store as complete. It can be repeated after a kill.
    """
    partial = draft.partial
    checksums = _join_groups(draft, draft.layout) if isinstance(draft.layout, Ragged) else _describe_rows(draft)
    checksums |= _names(draft)
    for name in _arrays(draft):  # only these, because the results change after this
        node = partial / name / "zarr.json"
        sync_folder(node)
        sync_folder(node.parent)
        checksums[f"{name}/zarr.json"] = files.sha256(node)
    checksums["zarr.json"] = files.sha256(partial / "zarr.json")
    write_checksums(partial, checksums)


def _arrays(draft: Draft) -> list[str]:
    """The names of all arrays that the store holds."""
    layout = draft.layout
    names = joined_arrays(draft, layout) if isinstance(layout, Ragged) else _widths(draft)
    return [*names, *(NAMES if draft.identifiers.words is not None else ())]


def joined_arrays(draft: Draft, layout: Ragged) -> dict[str, str]:
    """The arrays of a store whose instances differ in size, and what each is made of: all of its layout that its groups
    have.
    """
    wanted = [layout.declared(name).part for name in layout.wanted(())]
    return layout.parts(_marker(draft, 0)["sizes"] if draft.groups else wanted)


def _widths(draft: Draft) -> dict[str, int | None]:
    """Number of columns of each array whose chunks are the groups; None for an array of one dimension."""
    if draft.groups:
        widths: dict[str, int | None] = _marker(draft, draft.groups - 1)["widths"]
        return widths
    layout = draft.layout
    return {name: 1 if len(layout.declared(name).dimensions) > 1 else None for name in layout.wanted(())}


def _describe_rows(draft: Draft) -> dict[str, str]:
    """Write the metadata of the arrays whose chunks are the groups.

    Returns the checksums of the chunks, from the markers.
    """
    checksums: dict[str, str] = {}
    for group in range(draft.groups):
        checksums |= _marker(draft, group)["checksums"]
    rows = max(1, min(draft.group_size, draft.instances))
    for name, width in _widths(draft).items():
        shape = (draft.instances,) if width is None else (draft.instances, width)
        _array_node(draft, name, shape, (rows, *(max(1, side) for side in shape[1:])), *draft.identifiers.type_of(name))
    return checksums


def _array_node(
    draft: Draft, name: str, shape: tuple[int, ...], chunks: tuple[int, ...], dtype: np.dtype, fill: int
) -> None:
    held = draft.identifiers
    said = about(name, draft.layout, held.kind, held.fill, draft.request)
    write_array(draft.partial / name, dtype, shape, chunks, separator=".", fill=fill, about=said)


def _join_groups(draft: Draft, layout: Ragged) -> dict[str, str]:
    """Join the parts of all groups into one array each.

    The files of parts are removed as soon as their array is complete, so that the disk never holds two copies of all of
    them.
    """
    checksums: dict[str, str] = {}
    for name, part in joined_arrays(draft, layout).items():
        marker = _joined_path(draft.partial, name)
        if (done := files.read_marker(marker)) is None:
            files.write_marker(marker, done := _join(draft, layout, name))
        for group in range(draft.groups):
            part_path(draft.partial, group, part).unlink(missing_ok=True)
        checksums |= done
    return checksums


def _joined_path(partial: Path, name: str) -> Path:
    return partial / "groups" / f"{name}.json"


def _marker(draft: Draft, group: int) -> Record:
    if (marker := files.read_marker(marker_path(draft.partial, group))) is None:
        raise StoreError(
            f"{marker_path(draft.partial, group)} has changed during this run; run the same command with --resume"
        )
    return marker


def intact_groups(partial: Path, groups: Iterable[int], layout: SampleLayout) -> frozenset[int]:
    """Return the ``groups`` that have a marker and whose files agree with it.

    Parts that are already joined are not needed. A joined array that has changed is made again.
    """
    joined = set()
    for one in layout.arrays if isinstance(layout, Ragged) else ():
        done = files.read_marker(_joined_path(partial, one.name))
        if done is not None and not files.differing(partial, done, most_bytes(partial, done)):
            joined.add(one.part)
        else:
            _joined_path(partial, one.name).unlink(missing_ok=True)
    found = {group: marker for group in groups if (marker := files.read_marker(marker_path(partial, group)))}
    owners = {
        name: group
        for group, marker in found.items()
        for name in marker.get("checksums", {})
        if not (name.startswith("parts/") and Path(name).name in joined)
    }
    wanted = {name: found[group]["checksums"][name] for name, group in owners.items()}
    most = {
        name: found[group].get("bytes", {}).get(name) for name, group in owners.items()
    }  # early versions noted none
    return frozenset(found) - {owners[name] for name in files.differing(partial, wanted, most)}


def draft_sizes(draft: Draft) -> Sizes | None:
    """Return how many edges there are, by the groups' markers.

    By the results where a kill has come after these; None where neither knows.
    """
    markers = (files.read_marker(marker_path(draft.partial, group)) or {} for group in range(draft.groups))
    found = total((marker.get("edges") for marker in markers), draft.layout)
    return found or files.unchanged(results_of(draft.partial).get(SIZES))


def _join(draft: Draft, layout: Ragged, name: str) -> dict[str, str]:
    declared = layout.declared(name)
    part = declared.part
    dtype, _ = draft.identifiers.type_of(part)
    sizes = [_marker(draft, group)["sizes"][part] for group in range(draft.groups)]
    pieces = (_part(part_path(draft.partial, group, part), dtype) for group in range(draft.groups))
    if declared.is_bounds:
        return write_whole(draft, name, _running_sum(layout.elements(piece) for piece in pieces), sum(sizes) + 1)
    width = sum(sizes) // max(1, draft.instances) if len(declared.dimensions) > 1 else None
    return write_whole(draft, name, pieces, sum(sizes), width)


def _part(path: Path, dtype: np.dtype) -> np.ndarray:
    with os.fdopen(open_regular(path), "rb") as file:
        return np.fromfile(file, dtype)


def write_whole(
    draft: Draft, name: str, pieces: Iterator[np.ndarray], length: int, width: int | None = None
) -> dict[str, str]:
    """Write an array of ``length`` elements from its pieces, and return the checksums of its chunks.

    ``width``: its columns, if it has two dimensions.
    """
    dtype, fill = _type_of(draft, name)
    columns = () if width is None else (width,)
    each = max(1, width or 1)
    rows = max(1, min(length, EDGES_A_CHUNK) // each)
    shape = (length,) if width is None else (draft.instances, width)
    _array_node(draft, name, shape, (rows, *(each for _ in columns)), dtype, fill)
    checksums = {}
    for index, chunk in enumerate(_chunked(pieces, dtype, rows * each)):
        key = f"{name}/{chunk_name(index, len(shape))}"
        checksums[key] = files.write_file(draft.partial / key, chunk)
    sync_folder(draft.partial / name)
    return checksums


def _type_of(draft: Draft, name: str) -> tuple[np.dtype, int]:
    return (np.dtype(NAMES[name]), 0) if name in NAMES else draft.identifiers.type_of(name)


def _names(draft: Draft) -> dict[str, str]:
    """Write the string ids of the stored numbers as UTF-8 text and offsets, as in a graph store.

    Returns the checksums.
    """
    words = draft.identifiers.words
    if words is None:
        return {}
    checksums = write_whole(draft, "vertex_ids", iter([words.text]), words.text.size)
    return checksums | write_whole(draft, "vertex_id_offsets", iter([words.offsets]), words.offsets.size)


def _running_sum(pieces: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
    total = np.zeros(1, np.int64)
    yield total
    for piece in pieces:
        sums = total[-1] + np.cumsum(piece, dtype=np.int64)
        yield sums
        total = sums[-1:] if len(sums) else total


def _chunked(pieces: Iterator[np.ndarray], dtype: np.dtype, size: int) -> Iterator[np.ndarray]:
    """Yield the same elements in chunks of ``size``, the last one padded with zeros."""
    chunk, filled = np.zeros(size, dtype), 0
    for piece in pieces:
        while len(piece):
            taken = min(len(piece), size - filled)
            chunk[filled : filled + taken] = piece[:taken]
            filled, piece = filled + taken, piece[taken:]
            if filled == size:
                yield chunk
                chunk, filled = np.zeros(size, dtype), 0
    if filled:
        yield chunk


# The metadata that viewers such as xarray read of the arrays of a sample store.
#
# Dimensions have names, and attributes are called as the CF conventions call them. It is a function of the layout, the
# ids and the request, so that every schedule writes the same. No ``_FillValue`` is said: a viewer would turn ids into
# floating-point numbers for it, which do not hold all of them.

Said = tuple[str, str, str]
"""Dimension, units and description of an array."""
DIMENSIONS: dict[str, Said] = {"vertex_ids": TEXT, "vertex_id_offsets": OF_GRAPHS["vertex_id_offsets"]}
REQUEST = ("algorithm", "seed", "fingerprint")
"""Entries of the request that every array repeats; ``fingerprint`` is that of the graph."""
SPEECH = {"original": "ids of the input", "dense": "dense ids", "names": "dense ids, whose strings are in vertex_ids"}


def about(name: str, layout: SampleLayout, ids: str, fill: int, request: Record) -> About:
    """Return the metadata of the array ``name``.

    ``ids``: their kind, and ``fill``: the value of an entry without a vertex, as the store says; ``request``: that of
    its manifest.
    """
    if name in DIMENSIONS:
        dimension, units, said = DIMENSIONS[name]
        dimensions: tuple[str, ...] = (dimension,)
    else:
        declared = layout.declared(name)
        dimensions, units, said = declared.dimensions, declared.units, declared.said
    of_vertices = kind_of(name) == VERTEX and name not in DIMENSIONS
    comment = f"vertices are {SPEECH[ids]}" + (f"; {fill} stands for none" if len(dimensions) > 1 else "")
    attributes = {"long_name": said, "units": units, **({"comment": comment} if of_vertices else {})}
    return About(dimensions, attributes | plain({key: request[key] for key in REQUEST if key in request}))
