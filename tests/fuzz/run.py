"""Cases side by side in forks of one warm process, and a summary by classes of failures."""

import gc
import json
import os
import shutil
import sys
import tempfile
import time
import traceback
from collections import defaultdict
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

from fuzz.warm import let_threads_go

KINDS = {
    "faults": ("faults", "Faults"),
    "texts": ("texts", "Texts"),
    "formats": ("formats", "Formats"),
    "options": ("options", "Options"),
    "algorithms": ("options", "Algorithms"),
    "kernels": ("options", "Kernels"),
    "kills": ("kills", "Kills"),
    "expressions": ("expressions", "Expressions"),
    "manifests": ("manifests", "Manifests"),
    "objects": ("objects", "Objects"),
    "roundtrips": ("roundtrips", "Roundtrips"),
    "oddfiles": ("oddfiles", "Oddfiles"),
    "classes": ("classes", "Classes"),
    "calls": ("calls", "Calls"),
    "planted": ("planted", "Planted"),
    "grown": ("planted_graphs", "Grown"),
    "typed": ("planted_graphs", "Typed"),
}
MEMORY = Path("/dev/shm")  # files that need no disk: a store is synced file by file
EXAMPLES = 2  # shown of each class


def run(kind: str, seed: int, numbers: Sequence[int], jobs: int, keep: str | None = None) -> int:
    """Run the cases; the number of failures, after a line for each class of them on standard output."""
    folder = (
        Path(keep) if keep else Path(tempfile.mkdtemp(prefix="csaw-fuzz-", dir=MEMORY if MEMORY.is_dir() else None))
    )
    folder.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(folder / "whole", ignore_errors=True)  # of an earlier run
    began = time.monotonic()
    try:
        module, name = KINDS[kind]
        cases = getattr(import_module(f"fuzz.{module}"), name)(folder)
        let_threads_go()
        gc.collect()
        gc.freeze()  # forks would copy what the collector touches
        ready = time.monotonic()
        workers = [_start(cases, kind, seed, numbers[job::jobs], folder / f"job{job}") for job in range(jobs)]
        broken = [pid for pid in workers if os.waitpid(pid, 0)[1]]
        lines = [line for job in range(jobs) for line in _lines(folder / f"job{job}.jsonl")]
        _tell(lines, len(numbers), kind, seed)
        print(
            f"{len(numbers)} cases of {kind} from seed {seed}: {len(lines)} failures; {ready - began:.0f} "
            f"s to start, {time.monotonic() - ready:.0f} s"
        )
        if broken:
            raise RuntimeError(f"{len(broken)} workers of the fuzzer did not come to their end; see above")
        return len(lines)
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def _start(cases: Any, kind: str, seed: int, numbers: Sequence[int], place: Path) -> int:
    """The process id of a fork that runs these cases."""
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    try:
        with place.with_suffix(".jsonl").open("w") as out:
            for number in numbers:
                for failure in cases.case(Random(f"{kind} {seed} {number}"), place):
                    out.write(failure.as_line(seed=seed, number=number) + "\n")
                    out.flush()
        os._exit(0)
    except BaseException:  # noqa: BLE001 - a fork must never go on as its parent
        traceback.print_exc()
    finally:
        os._exit(1)


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def _tell(lines: list[dict[str, Any]], cases: int, kind: str, seed: int) -> None:
    classes = defaultdict(list)
    for line in lines:
        classes[line["kind"], line["where"]].append(line)
    for (broken, where), members in sorted(classes.items(), key=lambda item: (item[0][0], -len(item[1]))):
        print(f"{broken}: {where}: {len(members)} times")
        for member in members[:EXAMPLES]:
            print(f"    case {member['number']}: csaw {member['command']}")
            print("        " + member["detail"].strip().replace("\n", "\n        "))
