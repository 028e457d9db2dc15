"""Opening an input.

A device is an error at once, and a pipe that no program writes to after a while: neither would end.
"""

import os
import stat
import sys
import threading
from contextlib import suppress
from typing import BinaryIO

from csaw.partition.base.quoting import shown
from csaw.partition.errors import StoreError

WAIT_SECONDS = 10.0


def open_input(path: str) -> BinaryIO:
    """Open the file or pipe at ``path`` for reading; ``-`` is standard input. Raises StoreError."""
    if path == "-":
        if sys.stdin is None:
            raise StoreError("-: standard input is closed; expected a file or a pipe there")
        return sys.stdin.buffer
    try:
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            raise StoreError(
                f"{shown(path)} is a directory; expected an edge list (a graph store goes to csaw sample or csaw info)"
            )
        if stat.S_ISFIFO(mode):
            return os.fdopen(_reading_end(path), "rb")
        file = open(path, "rb")  # noqa: SIM115 - lives as long as the stream
    except ValueError as error:
        raise StoreError(f"{shown(path)} is not a path: {error}") from error
    except StoreError:
        raise
    except OSError as error:
        raise StoreError(f"{shown(path) or 'INPUT is empty and'} cannot be read: {error.strerror}") from error
    if not stat.S_ISREG(mode) and not file.isatty():
        file.close()
        raise StoreError(f"{shown(path)} is a device; expected a file of edges or a pipe")
    return file


def _reading_end(path: str) -> int:
    """Open the pipe at ``path`` for reading and wait for a program that opens it for writing. Raises StoreError."""
    opened: list[int] = []
    failed: list[OSError] = []

    def wait() -> None:
        try:
            opened.append(os.open(path, os.O_RDONLY))
        except OSError as error:
            failed.append(error)

    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    waiting.join(WAIT_SECONDS)
    if waiting.is_alive():
        with suppress(OSError):
            os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))  # a writer, so that the waiting ends
            waiting.join()
        for end in opened:
            os.close(end)
        raise StoreError(
            f"{shown(path)} is a pipe that no program writes to; start the program that writes to it first"
        )
    if failed:
        raise failed[0]
    return opened[0]
