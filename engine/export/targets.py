"""Where an export goes: to a path, which gets its name when all is written, or to an open stream, such as standard
output, to which bytes go as they are made.
"""

import io
import os
import pkgutil
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, BinaryIO, cast

import numpy as np

from csaw.engine.plan.rates import available_bytes
from csaw.engine.samples import Samples
from csaw.engine.samples.ahead import group_bytes, in_order
from csaw.engine.samples.edges import edge_arrays
from csaw.engine.samples.files import begin_writing
from csaw.partition.arrays.files import PART_NAME, PARTS
from csaw.partition.arrays.replace import Draft, cannot_be_written, check_export, new_file
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError, StoreError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

# The formats of exports are the files of the folder `writers`, which is the registry. A format has a function for each
# kind of content that it can hold, samples, graphs and lists:
#
# samples  `write_samples(samples, file, name, update, threads)`; `name` is the file's final name. One with
#          `NUMBERS_EDGES` takes the graph store besides, or None, for the places of edges in it. Instead of it a format
#          may have `parts(samples)`, spans of instances, and `write_part(samples, file, start, stop, update)`: several
#          spans are a folder of files. `LACKS` names what a file has no place for, as
#          :mod:`csaw.engine.export.common` does.
# graphs   `write_graph(edges, file, name, update)`; `edges` is what :mod:`csaw.engine.export.graph_rows` makes of a
#          graph store. `HOLDS` names what a file can say of `ids` (the original ones; `numbers` where it counts
#          vertices from 1), `names` (that ids are words), `edge_ids`, `edge_columns`, `vertices` (those without an
#          edge) and `direction` (that edges have none).
# lists    `write_list(listed, file, name, update)`; `listed` is a :class:`csaw.engine.export.graph_rows.Listed`.
#
# They stream into an open binary file, or a pipe, whose bytes do not depend on `threads`. `SUFFIXES`, of file names,
# choose the format, and `IS_BINARY = True` says that it is no text.
#
# A format's file imports Numba, pyarrow and their like where it writes: asking which formats there are must stay cheap.

SAMPLES, GRAPHS, LISTINGS = "samples", "graphs", "listings"
WRITES = {SAMPLES: ("write_samples", "write_part"), GRAPHS: ("write_graph",), LISTINGS: ("write_list",)}


def formats(of: str = SAMPLES) -> dict[str, ModuleType]:
    """Every format of samples, of graphs or of lists by name."""
    room = import_module("csaw.engine.export.writers")
    found = {one.name: import_module(f"{room.__name__}.{one.name}") for one in pkgutil.iter_modules(room.__path__)}
    return {
        name.replace("_", "-"): module
        for name, module in found.items()
        if any(hasattr(module, function) for function in WRITES[of])
    }


def known(of: str, format: str) -> str:
    """The name of a format; OptionError where there is none called so."""
    if format not in (names := formats(of)):
        raise OptionError(
            f"--format: expected one of {', '.join(names)}, which are the formats of {of}, found {quoted(format)}"
        )
    return format


def is_binary(of: str, format: str) -> bool:
    """Whether files of a format are bytes, and no text that a terminal could show."""
    return bool(getattr(formats(of)[format], "IS_BINARY", False))


def chosen(of: str, out: Path, format: str | None) -> str:
    """The format that is asked for, or else the one whose suffix the file name has; OptionError where there is none."""
    if format is not None:
        return known(of, format)
    suffixes = {suffix: name for name, module in formats(of).items() for suffix in module.SUFFIXES}
    for suffix, name in suffixes.items():
        if out.name.endswith(suffix):
            return name
    raise OptionError(
        f"{out}: expected a name ending in {', '.join(sorted(suffixes))}"
        + ("" if of == LISTINGS else f", or --format {'|'.join(formats(of))}, which are the formats of {of}")
    )


# Where an export goes.

STREAMED = "text"  # the format of a stream, which has no suffix
Update = Callable[[int], None]
Write = Callable[[BinaryIO, Update], None]


class PathTarget:
    """A file, or a folder of them; ``overwrite`` says whether what csaw wrote there before may be replaced."""

    def __init__(self, path: Path, overwrite: bool) -> None:
        self.said, self.name, self.path, self.overwrite = str(path), path.name, path, overwrite
        check_export(path, overwrite)

    def format(self, of: str, format: str | None) -> str:
        """The name of the format, as asked for or as the suffix says."""
        return chosen(of, self.path, format)

    def write(self, write: Write, update: Update) -> dict[str, int]:
        """Write one file; its ``bytes``."""
        try:
            with new_file(self.path, overwrite=self.overwrite) as file:
                write(file, begins_early(file, update))
        except StoreError:
            raise
        except OSError as error:
            raise cannot_be_written(self.path, error) from error
        return {"bytes": self.path.stat().st_size}

    def write_parts(self, samples: Samples, format: ModuleType, threads: int, update: Update) -> dict[str, int]:
        """Write a file, or a folder of them where the sample is large; see :func:`write_parts`."""
        return write_parts(samples, format, self.path, threads, self.overwrite, update)


class StreamTarget:
    """An open binary stream, such as ``sys.stdout.buffer``; it is written from where it stands, and stays open."""

    def __init__(self, stream: BinaryIO) -> None:
        self.said, self.name, self.stream = "-", "", stream

    def format(self, of: str, format: str | None) -> str:
        """The name of the format that is asked for, or else text; OptionError for bytes on a terminal."""
        name = known(of, format or STREAMED)
        if is_binary(of, name) and self.stream.isatty():
            raise OptionError(
                f"--format {name}: binary output cannot go to a terminal; redirect standard output, as in csaw "
                f"export ... - --format {name} > FILE, or export to a file"
            )
        return name

    def write(self, write: Write, update: Update) -> dict[str, int]:
        """Write the bytes of one file; their number.

        BrokenPipeError where a reader has closed its end, StoreError where they cannot be written.
        """
        counted = _Counted(self.stream)
        try:
            write(cast(BinaryIO, counted), update)
            self.stream.flush()
        except (BrokenPipeError, StoreError):
            raise
        except OSError as error:
            raise StoreError(f"the output cannot be written: {error.strerror or error}") from error
        return {"bytes": counted.tell()}

    def write_parts(self, samples: Samples, format: ModuleType, threads: int, update: Update) -> dict[str, int]:
        """Write what would be a folder of files as one file."""

        def write(file: BinaryIO, update: Update) -> None:
            format.write_part(samples, file, 0, samples.instances, update)

        return self.write(write, update)


Target = PathTarget | StreamTarget


class _Counted(io.RawIOBase):
    """A stream that only goes on, and counts its bytes: pipes have no places, of which writers of archives ask."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream, self.count = stream, 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.count

    def write(self, data: "ReadableBuffer") -> int:
        view = memoryview(data)
        size = view.nbytes
        rest = np.frombuffer(view, np.uint8) if size else np.zeros(0, np.uint8)
        while rest.size:  # a stream without a buffer may take a part
            rest = rest[self.stream.write(rest.data) :]
        self.count += size
        return size


# Samples as a folder of files, which several threads write; a small sample is a single file.

EARLY = 1 << 24  # bytes of a file that the disk gets at a time, while the rest is made
WORKING = 8  # bytes that a thread takes for each byte of a group: its ids, those present, its pages and packed pages


def write_parts(
    samples: Samples, format: ModuleType, out: Path, threads: int, overwrite: bool, update: Callable[[int], None]
) -> dict[str, int]:
    """Write ``samples`` to ``out`` as one file for each of the format's ``parts``, in a folder if there are several.

    Neither the names of the files nor their bytes depend on ``threads``. ``out`` gets its name when all of them are on
    the disk. ``update`` is called with the number of instances written so far.

    Returns the ``bytes`` of all files, and of a folder the number of ``parts``.
    """
    spans = format.parts(samples)
    numbers = {start: number for number, (start, _) in enumerate(spans)}
    crew = max(1, min(threads, len(spans), available_bytes() // 2 // (WORKING * group_bytes(samples))))
    with Draft(out, PARTS, overwrite=overwrite) as draft:

        def written(start: int, stop: int) -> int:
            with (draft.folder / PART_NAME.format(numbers[start])).open("xb") as file:
                format.write_part(samples, file, start, stop, begins_early(file))
                file.flush()
                os.fsync(file.fileno())
                return file.tell()

        size = 0
        try:
            for done, part_bytes in in_order(samples, edge_arrays(samples), spans, written, crew):
                size += part_bytes
                update(done)
            draft.publish(only=PART_NAME.format(0) if len(spans) == 1 else "")
        except OSError as error:
            raise cannot_be_written(out, error) from error
    return {"bytes": size} | ({"parts": len(spans)} if len(spans) > 1 else {})


def begins_early(file: BinaryIO, update: Callable[[int], None] = lambda done: None) -> Callable[[int], None]:
    """``update``, which also lets the disk begin with what has been written: else it waits for the end, when the file
    is synced.
    """
    begun = 0

    def updated(done: int) -> None:
        nonlocal begun
        if (end := file.tell()) - begun >= EARLY:
            begin_writing(file.fileno(), begun, end - begun)
            begun = end
        update(done)

    return updated
