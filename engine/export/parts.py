"""Samples as a folder of files, which several threads write; a small sample is a single file."""

import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import BinaryIO

from csaw.engine.plan.machine import available_bytes
from csaw.engine.samples import Samples
from csaw.engine.samples.ahead import group_bytes, in_order
from csaw.engine.samples.edges import edge_arrays
from csaw.engine.samples.files import begin_writing
from csaw.partition.arrays.own_files import PART_NAME, PARTS
from csaw.partition.arrays.replace import Draft, cannot_be_written

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
