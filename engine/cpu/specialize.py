"""Kernels compiled for one algorithm: constants and hooks, then the kernel files' own text, written to a cache folder and imported.

Numba caches compiled code by file and cannot cache a function that closes over another; a file per specialisation makes a second
process start at once. Parameters such as p and q stay run-time arguments, so changing them compiles nothing.
"""

import hashlib
import importlib.util
import logging
import os
import re
import sys
import threading
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from csaw.engine.hooks import Hook
from csaw.partition.compile import cache_dir

FOLDER = Path(__file__).with_name("kernels")
ASKED = {"SUMS", "TABLE"}  # what Python asks a module of itself
HEADER = """\
# Written by csaw; delete at will.
from typing import NamedTuple
import math
import numpy as np
from numba import int64, uint64
from csaw.engine.cpu.kernels.access import GraphArrays, borrowed
from csaw.engine.cpu.kernels.memory import borrow, prefetch
from csaw.engine.portable import exponential as csaw_exponential, logarithm as csaw_logarithm, power as csaw_power
from csaw.engine.random import *
from csaw.partition.compile import inner, njit
"""
log = logging.getLogger(__name__)
loading = (
    threading.Lock()
)  # of a module that two threads load, one copy goes, and with it machine code that the other one calls


def specialize(files: tuple[str, ...], constants: dict[str, Any], hooks: list[Hook]) -> ModuleType:
    """The module of ``files`` (of the folder kernels, in order) with these constants and hooks in place of constants.py's.

    Constants that none of them reads are left out, so that plans that differ in nothing else share their machine code.
    """
    kernels = _body("access.py")
    for shared in ("class GraphArrays", "def borrowed"):  # the same whatever the constants: imported
        kernels = kernels.replace(shared, shared.replace(" ", " _"))
    kernels += "\n".join(hook.source for hook in hooks)
    kernels += "".join(_body(file) for file in files)
    read = ASKED.union(re.findall(r"\w+", kernels))
    text = HEADER + _body("constants.py")
    text += "".join(f"{name} = {value!r}\n" for name, value in sorted(constants.items()) if name in read)
    text += kernels
    stamp = hashlib.sha256(
        (
            text
            + "".join((FOLDER.parents[1] / file).read_text() for file in ("random.py", "portable.py"))
            + _body("memory.py")
        ).encode()
    ).hexdigest()[:24]
    name = f"csaw_kernel_{stamp}"
    with loading:
        return sys.modules.get(name) or _load(name, text)


def _load(name: str, text: str) -> ModuleType:
    path = cache_dir() / "kernels" / f"{name}.py"
    if not path.exists():
        _announce()
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(f".{os.getpid()}")
        draft.write_text(text)
        draft.replace(path)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@cache
def _announce() -> None:
    """Said once, however many are compiled."""
    log.info("compiling kernels: once on this machine, some seconds for each algorithm")


def _body(file: str) -> str:
    """A kernel file without its imports from csaw: everything it names is in the same text."""
    lines, skipping = [], False
    for line in (FOLDER / file).read_text().splitlines():
        if line.startswith("from csaw."):
            skipping = line.endswith("(")
        elif skipping:
            skipping = line != ")"
        elif not line.startswith(("import ", "from ")):
            lines.append(line)
    return "\n".join(lines) + "\n"
