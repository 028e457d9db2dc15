"""From finished groups to a finished store: array metadata, subgraphs joined, string ids, checksums of all files."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from csaw.engine.samples import files
from csaw.engine.samples.check import NAMES
from csaw.engine.samples.layout import EDGES_A_CHUNK, WHOLE, chunk_name
from csaw.partition.errors import StoreError
from csaw.partition.nodes import group_node, write_array
from csaw.partition.words import Words

if TYPE_CHECKING:
    from csaw.engine.samples.writer import SampleWriter


def marker_path(partial: Path, group: int) -> Path:
    return partial / "groups" / f"{group:06d}.json"


def part_path(partial: Path, group: int, name: str) -> Path:
    return partial / "parts" / f"{group:06d}" / name


def seal(writer: "SampleWriter") -> None:
    """Complete the arrays; the checksums come last and say that they are. Can be repeated after a kill."""
    partial = writer.partial
    checksums = _join_subgraphs(writer) if writer.layout == "subgraphs" else _describe_rows(writer)
    checksums |= _names(writer)
    for name in _arrays(writer):  # not whatever lies here: results change after this
        node = partial / name / "zarr.json"
        files.sync(node)
        files.sync(node.parent)
        checksums[f"{name}/zarr.json"] = files.sha256(node)
    checksums["zarr.json"] = files.sha256(partial / "zarr.json")
    (partial / "checksums").mkdir(exist_ok=True)
    files.sync(partial)
    files.write_json(partial / "checksums" / "zarr.json", group_node({"sha256": checksums}))


def sealed(partial: Path) -> bool:
    """Whether :func:`seal` has come to its end."""
    return (partial / "checksums" / "zarr.json").exists()


def _arrays(writer: "SampleWriter") -> list[str]:
    """The names of all arrays that the store holds."""
    names = WHOLE if writer.layout == "subgraphs" else _widths(writer)
    return [*names, *(NAMES if isinstance(writer.identifiers.table, Words) else ())]


def _widths(writer: "SampleWriter") -> dict[str, int | None]:
    """Columns of each array whose chunks are the groups; None where it has one dimension."""
    if writer.groups:
        return _marker(writer, writer.groups - 1)["widths"]
    return {"walks": 1, "lengths": None} if writer.layout == "walks" else {"hop_0": 1}


def _describe_rows(writer: "SampleWriter") -> dict[str, str]:
    """Metadata of the arrays whose chunks are the groups; their checksums are in the markers."""
    checksums: dict[str, str] = {}
    for group in range(writer.groups):
        checksums |= _marker(writer, group)["checksums"]
    rows = max(1, min(writer.group_size, writer.instances))
    for name, width in _widths(writer).items():
        shape = (writer.instances,) if width is None else (writer.instances, width)
        _array_node(
            writer, name, shape, (rows, *(max(1, side) for side in shape[1:])), *writer.identifiers.type_of(name)
        )
    return checksums


def _array_node(writer: "SampleWriter", name: str, shape: tuple, chunks: tuple, dtype: np.dtype, fill: int) -> None:
    write_array(writer.partial / name, dtype, shape, chunks, separator=".", fill=fill)


def _join_subgraphs(writer: "SampleWriter") -> dict[str, str]:
    """All groups' parts as one array each; a part's file goes as soon as its array is complete, so the disk never holds both."""
    checksums: dict[str, str] = {}
    for name, part in WHOLE.items():
        marker = _joined_path(writer.partial, name)
        if (done := files.read_marker(marker)) is None:
            files.write_marker(marker, done := _join(writer, name, part))
        for group in range(writer.groups):
            part_path(writer.partial, group, part).unlink(missing_ok=True)
        checksums |= done
    return checksums


def _joined_path(partial: Path, name: str) -> Path:
    return partial / "groups" / f"{name}.json"


def _marker(writer: "SampleWriter", group: int) -> dict[str, Any]:
    if (marker := files.read_marker(marker_path(writer.partial, group))) is None:
        raise StoreError(
            f"{marker_path(writer.partial, group)} has changed while this ran; run the same command with --resume"
        )
    return marker


def intact_groups(partial: Path, groups: int) -> frozenset[int]:
    """The groups whose marker is there and whose files are as it says.

    Parts that are in a joined array of a subgraph store are not needed; a joined array that has changed is made again.
    """
    joined = set()
    for name, part in WHOLE.items():
        done = files.read_marker(_joined_path(partial, name))
        if done is not None and not files.differing(partial, done):
            joined.add(part)
        else:
            _joined_path(partial, name).unlink(missing_ok=True)
    found = {group: marker for group in range(groups) if (marker := files.read_marker(marker_path(partial, group)))}
    owners = {
        name: group
        for group, marker in found.items()
        for name in marker.get("checksums", {})
        if not (name.startswith("parts/") and Path(name).name in joined)
    }
    wanted = {name: found[group]["checksums"][name] for name, group in owners.items()}
    return frozenset(found) - {owners[name] for name in files.differing(partial, wanted)}


def _join(writer: "SampleWriter", name: str, part: str) -> dict[str, str]:
    dtype, _ = writer.identifiers.type_of(name)
    sizes = [_marker(writer, group)["sizes"][part] for group in range(writer.groups)]
    pieces = (np.fromfile(part_path(writer.partial, group, part), dtype) for group in range(writer.groups))
    if name.endswith("_ptr"):
        return write_whole(writer, name, _running_sum(pieces), sum(sizes) + 1)
    return write_whole(writer, name, pieces, sum(sizes))


def write_whole(writer: "SampleWriter", name: str, pieces: Iterator[np.ndarray], length: int) -> dict[str, str]:
    """A one-dimensional array from its pieces, and the checksums of its chunks."""
    dtype, fill = _type_of(writer, name)
    size = max(1, min(length, EDGES_A_CHUNK))
    _array_node(writer, name, (length,), (size,), dtype, fill)
    checksums = {}
    for index, chunk in enumerate(_chunked(pieces, dtype, size)):
        key = f"{name}/{chunk_name(index, 1)}"
        checksums[key] = files.write_file(writer.partial / key, chunk)
    files.sync(writer.partial / name)
    return checksums


def _type_of(writer: "SampleWriter", name: str) -> tuple[np.dtype, int]:
    return (np.dtype(NAMES[name]), 0) if name in NAMES else writer.identifiers.type_of(name)


def _names(writer: "SampleWriter") -> dict[str, str]:
    """The string ids behind the stored numbers, as UTF-8 text and offsets, like a graph store's."""
    words = writer.identifiers.table
    if not isinstance(words, Words):
        return {}
    checksums = write_whole(writer, "vertex_ids", iter([words.text]), words.text.size)
    return checksums | write_whole(writer, "vertex_id_offsets", iter([words.offsets]), words.offsets.size)


def _running_sum(pieces: Iterator[np.ndarray]) -> Iterator[np.ndarray]:
    total = np.zeros(1, np.int64)
    yield total
    for piece in pieces:
        sums = total[-1] + np.cumsum(piece)
        yield sums
        total = sums[-1:] if len(sums) else total


def _chunked(pieces: Iterator[np.ndarray], dtype: np.dtype, size: int) -> Iterator[np.ndarray]:
    """The same elements in chunks of one length, the last padded with zeros."""
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
