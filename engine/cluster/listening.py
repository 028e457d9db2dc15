"""Whether a scheduler listens at its address, asked before Dask is, which would try for half a minute in silence."""

import json
import logging
import socket
import time
from pathlib import Path

from csaw.partition.errors import ClusterError

log = logging.getLogger(__name__)
SECONDS_TO_LISTEN = 10.0  # a scheduler that starts at the same time as csaw may need them
SECONDS_TO_ANSWER = 3.0  # one attempt
SECONDS_TO_WRITE = 1.0  # the file of a scheduler, which Dask does not write in one step
PLAIN = ("tcp", "tls")  # other protocols of Dask are left to it
SCHEDULERS_PORT = 8786


def require_listener(address: str) -> None:
    """Wait until something listens at the address of a scheduler, and say so where that takes time.

    Raises:
        ClusterError: nothing listens there after ``SECONDS_TO_LISTEN``, or this is no address.
    """
    until, told = time.monotonic() + SECONDS_TO_LISTEN, False
    while reason := _silent(address):
        if time.monotonic() > until:
            raise ClusterError(
                f"--cluster: no scheduler listens at {address} ({reason}); look whether it runs there, and run the "
                "command again"
            )
        if not told:
            log.warning("nothing listens at %s yet (%s); trying for %g seconds", address, reason, SECONDS_TO_LISTEN)
        told = True
        time.sleep(0.2)


def _silent(address: str) -> str:
    """Why nothing can be reached at an address; nothing where something listens, or where Dask alone could tell."""
    if address.partition("://")[0] not in PLAIN:
        return ""
    from distributed.comm.addressing import parse_address, parse_host_port

    try:
        where = parse_host_port(parse_address(address)[1], SCHEDULERS_PORT)
        socket.create_connection(where, timeout=SECONDS_TO_ANSWER).close()
    except (ValueError, OverflowError) as error:
        raise ClusterError(f"--cluster: expected an address such as tcp://host:8786, found {address}") from error
    except OSError as error:
        return error.strerror or str(error)
    return ""


def address_in(file: str) -> str:
    """The address in the file of a scheduler, which may write it just now; ClusterError where it has none."""
    until = time.monotonic() + SECONDS_TO_WRITE
    while True:
        try:
            return str(json.loads(Path(file).read_text())["address"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            if time.monotonic() > until:
                raise ClusterError(
                    f"--cluster {file}: expected the file that dask scheduler --scheduler-file writes, with an "
                    "address, found none in it"
                ) from error
        time.sleep(0.02)
