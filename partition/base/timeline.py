"""A timeline of the process: what each of its threads did from when to when, for ``csaw COMMAND --profile FILE``.

Python tells of each function that begins and ends. Kept are the functions of csaw and the imports that take at least
SHORTEST; what they wait for, such as a kernel, counts as theirs. Other functions cost a look-up, and Numba's compiler
is left alone. Nothing is told before :func:`begin`, so a command without a profile pays nothing.

The file is a Chrome trace, which https://ui.perfetto.dev and chrome://tracing show.
"""

import json
import os
import sys
import threading
import time
from pathlib import Path
from types import CodeType, FrameType
from typing import IO, NamedTuple

SHORTEST = 0.0005  # seconds
ROOT = str(Path(__file__).parents[2])
IMPORTS = "_find_and_load"  # the function of Python that imports a module
STARTING = "starting Python"
Names = dict[CodeType, str | None]


class Span(NamedTuple):
    """A function, an import or a part of the command in one thread; times are those of ``time.perf_counter``."""

    name: str
    thread: int
    begin: float
    end: float


class Timeline:
    """The spans of this process from when Python was started."""

    def __init__(self) -> None:
        self.pid, self.since = os.getpid(), process_start()
        self.spans = [Span(STARTING, threading.get_ident(), self.since, time.perf_counter())]
        self.threads: dict[int, str] = {}
        self._names: Names = {}
        self._own = threading.local()

    def begin(self) -> None:
        """Listen to this thread, and to those that it will start."""
        threading.setprofile(self._told)
        sys.setprofile(self._told)

    def end(self) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def _told(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            code = frame.f_code
            name = self._names[code] if code in self._names else self._names.setdefault(code, _name_of(code))
            if name is not None:
                self._stack().append((frame, time.perf_counter()))
        elif event == "return" and (stack := self._stack()) and stack[-1][0] is frame:
            began, now = stack.pop()[1], time.perf_counter()
            if now - began >= SHORTEST:
                self._keep(frame, began, now)

    def _stack(self) -> list[tuple[FrameType, float]]:
        if not hasattr(self._own, "stack"):
            self._own.stack = []
        stack: list[tuple[FrameType, float]] = self._own.stack
        return stack

    def _keep(self, frame: FrameType, began: float, now: float) -> None:
        name = self._names[frame.f_code] or ""
        if name == IMPORTS:
            name = f"import {frame.f_locals['name']}"
        ident = threading.get_ident()
        if ident not in self.threads:
            self.threads[ident] = threading.current_thread().name
        self.spans.append(Span(name, ident, began, now))

    def write(self, file: IO[str]) -> None:
        """Write the trace, whose times count from the start of Python; the last of its spans ends now."""
        main, now = threading.main_thread().ident or 0, time.perf_counter()
        said = [{"name": "process_name", "ph": "M", "pid": self.pid, "args": {"name": "csaw"}}]
        for ident, name in self.threads.items():
            held = {"name": "MainThread" if ident == main else name}
            said.append({"name": "thread_name", "ph": "M", "pid": self.pid, "tid": ident, "args": held})
        whole = Span("csaw", main, self.since, now)
        events = [self._event(one) for one in (whole, *sorted(self.spans, key=lambda one: (one.begin, -one.end)))]
        json.dump({"displayTimeUnit": "ms", "traceEvents": [*said, *events]}, file, indent=0)
        file.write("\n")

    def _event(self, span: Span) -> dict[str, object]:
        begin, seconds = span.begin - self.since, span.end - span.begin
        times = {"ts": round(begin * 1e6), "dur": round(seconds * 1e6)}
        return {"name": span.name, "ph": "X", "pid": self.pid, "tid": span.thread, **times}


def process_start() -> float:
    """When the process was started, by ``time.perf_counter``, to a hundredth of a second; now where nobody says."""
    now = time.perf_counter()
    try:
        ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        return now - (time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK"))
    except (OSError, AttributeError, ValueError, IndexError):  # not Linux
        return now


def _name_of(code: CodeType) -> str | None:
    """The name of a function of csaw, with its module, or of what imports modules; None for others."""
    if code.co_filename.startswith("<frozen importlib"):
        return IMPORTS if code.co_name == IMPORTS else None
    if not code.co_filename.startswith(ROOT):
        return None
    module = code.co_filename.removeprefix(ROOT).strip("/").removesuffix(".py").removesuffix("/__init__")
    return None if code.co_name.startswith("<") else f"{module.replace('/', '.')}.{code.co_qualname}"
