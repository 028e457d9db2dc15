"""The rates of machines that were measured: the file ``rates.json`` of the cache folder.

It has an entry for each machine, by its processor, and one for each kind of GPU in it, so that machines may share the
folder. An entry that is missing or damaged is measured again.
"""

import json
import logging
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from csaw.engine.devices.devices import Devices
from csaw.engine.plan.rates import ASSUMED, GPU, HOST, Rates, processor_name
from csaw.partition.arrays.files import read_regular
from csaw.partition.base.cache import cache_dir, drafted
from csaw.partition.base.parallel import processors
from csaw.partition.base.plain_data import Record

log = logging.getLogger(__name__)
Found = dict[str, float]


def kept(devices: Devices = ()) -> Rates:
    """Return the rates as they were measured on this machine and its GPUs, assumed ones where they were not.

    ``devices``: of one kind.
    """
    return rates_of(read_entries(), devices)


def rates_of(found: Record, devices: Devices) -> Rates:
    """The rates of what the file holds; assumed ones where it has no entry."""
    known = {name: value for names, key in entries(devices) for name, value in entry_of(found, key, names).items()}
    return replace(ASSUMED, **known, assumed=tuple(name for name in ASSUMED.assumed if name not in known))


def entries(devices: Devices) -> Iterator[tuple[tuple[str, ...], str]]:
    """The names of the rates that are kept together, and the key under which they are."""
    machine = f"{processor_name()}, {processors()} processors"
    yield HOST, machine
    if devices:
        yield GPU, f"{devices[0].name} in {machine}"


def entry_of(found: Mapping[str, object], key: str, names: tuple[str, ...]) -> Found:
    """The rates of a kept entry; none unless each is there and above zero."""
    entry = found.get(key)
    if not isinstance(entry, dict) or not all(_is_rate(entry.get(name)) for name in names):
        return {}
    return {name: float(entry[name]) for name in names}


def _is_rate(value: object) -> bool:
    return isinstance(value, float | int) and math.isfinite(value) and value > 0


def _path() -> Path:
    return cache_dir() / "rates.json"


def read_entries() -> Record:
    """The object in the file, unchecked; empty where there is no file, or none that JSON can read."""
    try:
        found = json.loads(read_regular(_path()))
    except (OSError, ValueError):  # not measured yet, or cut short
        return {}
    return found if isinstance(found, dict) else {}


def keep_entries(found: Record) -> None:
    """Write the file anew."""
    try:
        _path().parent.mkdir(parents=True, exist_ok=True)
        with drafted(_path()) as draft:
            draft.write_text(json.dumps(found, indent=1))
    except OSError as error:
        log.info("rates of this machine are not kept: %s", error)
