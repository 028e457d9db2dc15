"""``csaw`` and ``python -m csaw.cli``: from the first moment on, Ctrl-C is a line and exit status 130.

So is SIGTERM, which schedulers send before they kill.
"""

import atexit
import gc
import os
import signal
import sys
import threading
from types import FrameType

from csaw.cli.console_streams import CLOSED

AGAIN_SECONDS = 0.02
ALLOCATIONS = 100_000  # between collections of garbage: they take Numba's compiler some percent of its time by default
# A wait for threads fails where one has only half begun; a lock stays taken where ``with`` does not hold it yet, or no
# longer; an exception in what C calls back is dropped.
NOT_NOW = (
    "Thread.start",
    "ThreadPoolExecutor.submit",
    "Condition.__enter__",
    "Condition.__exit__",
    "Condition._acquire_restore",
    "ExecutionEngine._raw_object_cache_notify",
    "ExecutionEngine._raw_object_cache_getbuffer",
)
# Signals that interrupt, unless they are ignored, as nohup asks.
USUAL = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}


def run() -> None:
    """Run the command line.

    An interruption waits for the end of an import, because libraries catch it there and continue, and for the start of
    a thread.
    """
    _open_closed()
    gc.set_threshold(ALLOCATIONS)
    # NumPy's linear algebra, which csaw does without, starts a thread for each processor otherwise.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        _run()
    except SystemExit as end:
        _leave(end)
        raise


def _run() -> None:
    heard = [number for number, usual in USUAL.items() if signal.getsignal(number) is usual]
    for number in (signal.SIGALRM, *heard):
        signal.signal(number, _interrupted)
    try:
        from csaw.cli.main import main

        main()
    except KeyboardInterrupt:
        print("Error: interrupted", file=sys.stderr)
        sys.exit(130)
    finally:
        gc.freeze()  # Python would look through all modules for garbage, twice, before it ends: .05 to .15 s
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        for number in heard:  # from here on, there is nothing left to say about an interruption
            signal.signal(number, signal.SIG_DFL)


def _leave(end: SystemExit) -> None:
    """Leave as Python does, but do not delete what the system frees at once: saves .08 of 1.7 s, and more on a GPU."""
    if end.code is not None and not isinstance(end.code, int):
        return  # a message, which Python prints
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        return  # which Python turns into a status of its own
    os._exit(end.code or 0)


def _open_closed() -> None:
    """Open closed standard streams, as daemons have them, on the null device. Otherwise a file that csaw opens would
    get their numbers, and printed text would go into it.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is not None:
            continue
        nowhere = os.open(os.devnull, os.O_RDWR)
        if nowhere != number:
            os.dup2(nowhere, number)
            os.close(nowhere)
        os.set_inheritable(number, True)
        CLOSED.add(name)
        if number:  # a command that reads standard input says that it is closed
            setattr(sys, name, open(number, "w", closefd=False))  # noqa: SIM115 - for good


def _interrupted(number: int, frame: FrameType | None) -> None:
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith("<frozen importlib") or code.co_qualname in NOT_NOW or _lets_go(frame):
            signal.setitimer(signal.ITIMER_REAL, AGAIN_SECONDS)
            return
        frame = frame.f_back
    sys.unraisablehook = _dropped
    raise KeyboardInterrupt


def _lets_go(frame: FrameType) -> bool:
    """Whether a wait has released its lock and not taken it again: ``with`` would then release it twice."""
    return frame.f_code.co_qualname == "Condition.wait" and "gotit" not in frame.f_locals


def _dropped(unraisable: "sys.UnraisableHookArgs") -> None:
    """Interrupt again where Python has dropped the interruption, as in ``__del__`` and in callbacks of weak references.

    Other dropped exceptions are not printed: objects that an interruption left half made, such as a compiler's, raise
    them when they are deleted.
    """
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        signal.setitimer(signal.ITIMER_REAL, AGAIN_SECONDS)


if __name__ == "__main__":
    run()
