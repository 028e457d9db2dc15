"""Profiles of graphs: findings of measures, kept in the cache under the identity of the graph's store."""

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from csaw.engine.analytics.measure import Column, Curve, Distribution, Finding, Findings, Measure, Number
from csaw.engine.analytics.unfinished import DAMAGED, Unfinished, write
from csaw.engine.analytics.unfinished import read as read_arrays
from csaw.partition.base.cache import cache_dir
from csaw.partition.base.plain_data import Record

VERSION = 5
"""Raised when findings change, so that those of before are not taken."""

KINDS: dict[str, Callable[..., Finding]] = {kind.__name__: kind for kind in (Number, Distribution, Curve, Column)}


def place_of(identity: str, measure: Measure, *, columns: bool = True) -> Path:
    """The file for the findings of a measure, with its options, of the graph whose store has this identity.

    ``columns``: whether it has the values of columns, or their ends alone.
    """
    asked = json.dumps([VERSION, *measure.kept_by(), *([] if columns else ["ends"])], sort_keys=True, default=str)
    digest = hashlib.sha256(asked.encode()).hexdigest()[:16]
    return cache_dir() / "profiles" / identity[:32] / f"{measure.name()}-{digest}.npz"


def read(identity: str, measure: Measure, *, columns: bool = True) -> Findings | None:
    """The findings that are kept, or None. A damaged file counts as none. ``columns``: as of ``place_of``."""
    try:
        held = read_arrays(place_of(identity, measure, columns=columns))
        return {name: _read(one, held) for name, one in json.loads(str(held["findings"])).items()}
    except DAMAGED:
        return None


def keep(identity: str, measure: Measure, findings: Findings, *, columns: bool = True) -> None:
    """Keep findings; a kill leaves the file of before, or none. ``columns``: as of ``place_of``."""
    arrays: dict[str, np.ndarray] = {}
    described = {name: _described(number, one, arrays) for number, (name, one) in enumerate(findings.items())}
    write(place_of(identity, measure, columns=columns), {"findings": np.array(json.dumps(described)), **arrays})


def _described(number: int, finding: Finding, arrays: dict[str, np.ndarray]) -> dict[str, object]:
    """A finding as plain data, in which the name of an array stands for it; the array goes to ``arrays``."""
    said: Record = {"is": type(finding).__name__}
    for name, value in vars(finding).items():
        if isinstance(value, np.ndarray):
            arrays[f"{number}_{name}"] = value
            said[name] = {"array": f"{number}_{name}"}
        elif name in type(finding).__dataclass_fields__:
            said[name] = value.item() if isinstance(value, np.generic) else value
    return said


def _read(said: Record, held: Mapping[str, np.ndarray]) -> Finding:
    """The finding that ``_described`` has said, with its arrays out of ``held``."""
    values = {
        name: held[value["array"]] if isinstance(value, dict) else value for name, value in said.items() if name != "is"
    }
    for name in ("labels", "ends"):
        if values.get(name) is not None:
            values[name] = tuple(values[name])
    return KINDS[said["is"]](**values)


def unfinished(identity: str, measure: Measure) -> Unfinished:
    """The files of interrupted computations of a measure, of the graph whose store has this identity."""
    return Unfinished(place_of(identity, measure).with_suffix(""))


def findings_of(
    identity: str, wanted: Measure, find: Callable[[Measure], Findings], *, refresh: bool, columns: bool = True
) -> Findings:
    """Return the findings of a measure of the graph whose store has this identity: those kept, or those of ``find``.

    ``refresh``: always take those of ``find``. They are kept then. ``columns``: with the values of columns; otherwise
    they are shortened to their ends, in what is returned and in what is kept.
    """
    found = None if refresh else read(identity, wanted)
    if found is None and not columns and not refresh:
        found = read(identity, wanted, columns=False)
    if found is None:
        if refresh:
            unfinished(identity, wanted).forget()
            place_of(identity, wanted, columns=not columns).unlink(missing_ok=True)
        found = find(wanted)
        keep(identity, wanted, found if columns else shortened(found), columns=columns)
        unfinished(identity, wanted).forget()
    return found if columns else shortened(found)


def shortened(findings: Findings) -> Findings:
    """Findings with the ends of columns in place of their values."""
    return {name: one.shortened() if isinstance(one, Column) else one for name, one in findings.items()}
