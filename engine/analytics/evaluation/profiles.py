"""Profiles of graphs: what measures have found of a graph, kept in the cache under the identity of its store."""

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from csaw.engine.analytics.measure import Column, Curve, Distribution, Finding, Findings, Measure, Number
from csaw.engine.analytics.unfinished import DAMAGED, Unfinished, write
from csaw.partition.arrays.regular import open_regular
from csaw.partition.base.cache import cache_dir

VERSION = 4
"""Raised when findings change, so that those of before are not taken."""

KINDS = {kind.__name__: kind for kind in (Number, Distribution, Curve, Column)}


def place_of(identity: str, measure: Measure) -> Path:
    """The file of what a measure, with its options, found of the graph whose store has this identity."""
    asked = json.dumps([VERSION, measure.name(), measure.parameters()], sort_keys=True, default=str)
    return (
        cache_dir()
        / "profiles"
        / identity[:32]
        / f"{measure.name()}-{hashlib.sha256(asked.encode()).hexdigest()[:16]}.npz"
    )


def read(identity: str, measure: Measure) -> Findings | None:
    """The findings that are kept, or None. A damaged file counts as none."""
    path = place_of(identity, measure)
    try:
        with os.fdopen(open_regular(path), "rb") as file:
            held = np.load(file, allow_pickle=False)
            described = json.loads(str(held["findings"]))
            return {name: _read(one, held) for name, one in described.items()}
    except DAMAGED:
        return None


def keep(identity: str, measure: Measure, findings: Findings) -> None:
    """Keep findings; a kill leaves the file of before, or none."""
    arrays: dict[str, np.ndarray] = {}
    described = {name: _described(number, one, arrays) for number, (name, one) in enumerate(findings.items())}
    write(place_of(identity, measure), {"findings": np.array(json.dumps(described)), **arrays})


def _described(number: int, finding: Finding, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """A finding as plain data, in which the name of an array stands for it; the array goes to ``arrays``."""
    said: dict[str, Any] = {"is": type(finding).__name__}
    for name, value in vars(finding).items():
        if isinstance(value, np.ndarray):
            arrays[f"{number}_{name}"] = value
            said[name] = {"array": f"{number}_{name}"}
        elif name in type(finding).__dataclass_fields__:
            said[name] = value.item() if isinstance(value, np.generic) else value
    return said


def _read(said: dict[str, Any], held: Any) -> Finding:
    values = {
        name: held[value["array"]] if isinstance(value, dict) else value for name, value in said.items() if name != "is"
    }
    if "labels" in values:
        values["labels"] = tuple(values["labels"])
    return KINDS[said["is"]](**values)


def unfinished(identity: str, measure: Measure) -> Unfinished:
    """What a measure has computed of the graph whose store has this identity before it was interrupted."""
    return Unfinished(place_of(identity, measure).with_suffix(""))


def findings_of(identity: str, wanted: Measure, find: Callable[[Measure], Findings], *, refresh: bool) -> Findings:
    """What a measure finds of the graph whose store has this identity: as it is kept, or as ``find`` says now, always so with ``refresh``, and kept then."""
    found = None if refresh else read(identity, wanted)
    if found is None:
        if refresh:
            unfinished(identity, wanted).forget()
        found = find(wanted)
        keep(identity, wanted, found)
        unfinished(identity, wanted).forget()
    return found
