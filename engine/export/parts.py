"""Samples as a folder of files, which several threads write; a small sample is a single file."""

import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from csaw.engine.plan.machine import available_bytes
from csaw.engine.samples import Samples
from csaw.engine.samples.ahead import group_bytes, in_order
from csaw.engine.samples.edges import edge_arrays
from csaw.partition.arrays.own_files import PART_NAME, PARTS
from csaw.partition.arrays.replace import Draft, cannot_be_written

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
                format.write_part(samples, file, start, stop)
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
