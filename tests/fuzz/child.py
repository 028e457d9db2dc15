"""A command of csaw in a fork of this process, which has imported and compiled everything: some milliseconds instead of
seconds.
"""

import json
import os
import resource
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SECONDS = 30.0  # of the wall's clock, after which a command hangs
MEMORY = 4 << 30  # bytes of address space beside those that the fork begins with
FILE = 1 << 30  # bytes of a file that it writes
PATIENCE = 3  # times as long for the second try of what takes too long: kernels may have been compiled
UNCAUGHT = 70  # exit status after an exception that nobody caught


@dataclass(frozen=True)
class Ended:
    """How a command ended: ``code`` is its exit status, negative for a signal, None where it had to be stopped."""

    arguments: tuple[str, ...]
    code: int | None
    out: str
    error: str
    seconds: float


def csaw(*arguments: str, folder: Path, seconds: float = SECONDS, before: Callable[[], None] = lambda: None) -> Ended:
    """Run ``csaw ARGUMENTS`` in ``folder``; ``before`` runs in the fork first."""

    def command() -> None:
        from csaw.cli.main import main

        os.chdir(folder)
        sys.argv = ["csaw", *arguments]
        before()
        main()

    out, error = folder / ".stdout", folder / ".stderr"
    began = time.monotonic()
    code = forked(command, out, error, seconds)
    if code is None:  # what a first run has compiled until then is kept, so that a second one comes further
        code = forked(command, out, error, PATIENCE * seconds)
    texts = [file.read_bytes().decode("utf-8", "replace") for file in (out, error)]
    out.unlink(missing_ok=True)
    error.unlink(missing_ok=True)
    return Ended(arguments, code, *texts, time.monotonic() - began)


def answer(question: Callable[[], Any], folder: Path) -> Any:
    """What ``question`` returns in a fork, as JSON has it; None where it fails, whatever the reason."""

    def ask() -> None:
        print(json.dumps(question()))

    out, error = (folder / f".{os.getpid()}.{what}" for what in ("answer", "reason"))  # whole stores are of all workers
    code = forked(ask, out, error, SECONDS)
    text = out.read_text()
    out.unlink()
    error.unlink()
    return json.loads(text) if code == 0 else None


def forked(work: Callable[[], None], out: Path, error: Path, seconds: float) -> int | None:
    """Exit status of ``work`` in a fork with limits on time and memory, its output in two files; None where time ran
    out.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of a fork beside threads, which sleep here
        pid = os.fork()
    if pid == 0:
        _be_the_child(work, out, error, seconds)
    stopped = False

    def stop(number: int, frame: object) -> None:
        nonlocal stopped
        stopped = True
        os.kill(pid, signal.SIGKILL)

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    _, status = os.waitpid(pid, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)
    return None if stopped else os.waitstatus_to_exitcode(status)


def _be_the_child(work: Callable[[], None], out: Path, error: Path, seconds: float) -> None:
    """Never returns."""
    code = UNCAUGHT
    try:
        for file, number in ((os.devnull, 0), (out, 1), (error, 2)):
            os.dup2(os.open(file, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o666), number)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _limit(seconds)
        try:
            work()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        except BaseException:  # noqa: BLE001 - what nobody caught is what is looked for
            traceback.print_exc()
        threading._shutdown()  # type: ignore[attr-defined]  # an interpreter that ends waits for its threads
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _limit(seconds: float) -> None:
    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + MEMORY, now + MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (int(4 * seconds), int(4 * seconds) + 1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE, FILE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
