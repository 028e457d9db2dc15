"""A timeline of the process: what each of its threads did from when to when, for ``csaw COMMAND --profile FILE``.

Python tells of each function that begins and ends. Kept are the functions of csaw and the imports that take at least
SHORTEST; what they wait for, such as a kernel, counts as theirs. Other functions cost a look-up, from Python 3.12 on
the first time alone. Nothing is told before :func:`begin`, so a command without a profile pays nothing.

The file is a Chrome trace, which https://ui.perfetto.dev and chrome://tracing show.
"""

import json
import os
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import CodeType, FrameType
from typing import IO, NamedTuple

SHORTEST = 0.0005  # seconds
LONGEST_START = 1.5  # seconds that Python may wait for a disk before csaw's first line
ROOT = str(Path(__file__).parents[2])
IMPORTS = "_find_and_load"  # the function of Python that imports a module
STARTING = "starting Python"
TOOL = "csaw"  # among those that listen to the events of Python 3.12
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
        """Listen to this thread and to those that it will start; from Python 3.12 on, to all threads."""
        if sys.version_info >= (3, 12) and sys.monitoring.get_tool(sys.monitoring.PROFILER_ID) is None:
            self._monitor()
        else:  # another profiler has the events
            threading.setprofile(self._told)
            sys.setprofile(self._told)

    def end(self) -> None:
        if sys.version_info >= (3, 12) and sys.monitoring.get_tool(sys.monitoring.PROFILER_ID) == TOOL:
            sys.monitoring.set_events(sys.monitoring.PROFILER_ID, 0)
            sys.monitoring.free_tool_id(sys.monitoring.PROFILER_ID)
        sys.setprofile(None)
        threading.setprofile(None)

    if sys.version_info >= (3, 12):

        def _monitor(self) -> None:
            """Listen to events (PEP 669), which a function whose name is not wanted raises once and never again."""
            events, here, off = sys.monitoring.events, sys.monitoring.PROFILER_ID, sys.monitoring.DISABLE
            began, ended = partial(self._hear, self._began), partial(self._hear, self._ended)
            calls = {
                **dict.fromkeys((events.PY_START, events.PY_RESUME), partial(began, off)),
                **dict.fromkeys((events.PY_RETURN, events.PY_YIELD), partial(ended, off)),
                events.PY_THROW: partial(began, None),  # which cannot be turned off
                events.PY_UNWIND: partial(ended, None),
            }
            sys.monitoring.use_tool_id(here, TOOL)
            for event, call in calls.items():
                sys.monitoring.register_callback(here, event, call)
            sys.monitoring.set_events(here, sum(calls))
            sys.monitoring.restart_events()

    def _hear(self, note: Callable[[FrameType], None], otherwise: object, code: CodeType, *_: object) -> object:
        """Note a begin or an end of a function that has a name."""
        if self._name(code) is None:
            return otherwise
        note(sys._getframe(1))
        return None

    def _told(self, frame: FrameType, event: str, _: object) -> None:
        if event in ("call", "return") and self._name(frame.f_code) is not None:
            (self._began if event == "call" else self._ended)(frame)

    def _name(self, code: CodeType) -> str | None:
        return self._names[code] if code in self._names else self._names.setdefault(code, _name_of(code))

    def _began(self, frame: FrameType) -> None:
        self._stack().append((frame.f_code, time.perf_counter()))

    def _ended(self, frame: FrameType) -> None:
        stack = self._stack()
        if stack and stack[-1][0] is frame.f_code:
            began, now = stack.pop()[1], time.perf_counter()
            if now - began >= SHORTEST:
                self._keep(frame, began, now)

    def _stack(self) -> list[tuple[CodeType, float]]:
        if not hasattr(self._own, "stack"):
            self._own.stack = []
        stack: list[tuple[CodeType, float]] = self._own.stack
        return stack

    def _keep(self, frame: FrameType, began: float, now: float) -> None:
        name = self._name(frame.f_code) or ""
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
    """When Python was started in this process, by ``time.perf_counter``, to a hundredth of a second; now where nobody
    says.

    A shell that ends with a command becomes its process, and the system knows the start of the shell alone. So where
    the process is more than LONGEST_START older than the processor time that it has used, it has been another program.
    """
    now = time.perf_counter()
    try:
        ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        seconds = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, AttributeError, ValueError, IndexError):  # not Linux
        return now
    used = time.process_time()
    return now - (seconds if seconds <= used + LONGEST_START else used)


def _name_of(code: CodeType) -> str | None:
    """The name of a function of csaw, with its module, or of what imports modules; None for others."""
    if code.co_filename.startswith("<frozen importlib"):
        return IMPORTS if code.co_name == IMPORTS else None
    if not code.co_filename.startswith(ROOT):
        return None
    module = code.co_filename.removeprefix(ROOT).strip("/").removesuffix(".py").removesuffix("/__init__")
    return None if code.co_name.startswith("<") else f"{module.replace('/', '.')}.{code.co_qualname}"
