"""Where an export goes: to a path, which gets its name when all is written, or to an open stream, such as standard
output, to which bytes go as they are made.
"""

import io
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO, cast

import numpy as np

from csaw.engine.export.parts import begins_early, write_parts
from csaw.engine.export.registry import chosen, is_binary, known
from csaw.engine.samples import Samples
from csaw.partition.arrays.replace import cannot_be_written, check_export, new_file
from csaw.partition.errors import OptionError, StoreError

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
                f"--format {name}: its bytes are not for a terminal; redirect standard output, as in "
                f"csaw export ... - --format {name} > FILE, or export to a file"
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

    def write(self, data: Any) -> int:
        size = memoryview(data).nbytes
        rest = np.frombuffer(data, np.uint8) if size else np.zeros(0, np.uint8)
        while rest.size:  # a stream without a buffer may take a part
            rest = rest[self.stream.write(rest.data) :]
        self.count += size
        return size
