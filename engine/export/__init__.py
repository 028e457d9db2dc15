"""Samples to other programs' formats; one file a format, the folder is the registry.

A format has ``SUFFIXES`` and ``write(samples, file, name, update)``, which streams into an open binary file; ``name`` is the file's final name.
"""

import pkgutil
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from csaw.engine.samples import open_samples
from csaw.partition.errors import OptionError, StoreError
from csaw.partition.replace import FILE, cannot_be_written, check, new_file


def formats() -> dict[str, Any]:
    """Every format by name."""
    return {found.name: import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__)}


def format_of(out: Path) -> str:
    """The format whose suffix the file name has."""
    known = {suffix: name for name, module in formats().items() for suffix in module.SUFFIXES}
    for suffix, name in known.items():
        if out.name.endswith(suffix):
            return name
    raise OptionError(f"{out}: expected a name ending in {', '.join(sorted(known))}, or --format {'|'.join(formats())}")


def export(samples_path: str | Path, out: str | Path, format: str | None = None, *, overwrite: bool = False,
           update: Callable[[int], None] = lambda done: None) -> dict[str, Any]:  # fmt: skip
    """Write ``out`` whole or not at all, and say what was written."""
    out = Path(out)
    check(out, FILE, overwrite)
    samples = open_samples(samples_path)
    chosen = format or format_of(out)
    if chosen not in formats():
        raise OptionError(f"--format: expected one of {', '.join(formats())}, found {chosen!r}")
    try:
        with new_file(out, overwrite=overwrite) as file:
            formats()[chosen].write(samples, file, out.name, update)
    except StoreError:
        raise
    except OSError as error:
        raise cannot_be_written(out, error) from error
    size = out.stat().st_size
    return {
        "samples": str(samples_path),
        "out": str(out),
        "format": chosen,
        "instances": samples.instances,
        "bytes": size,
    }
