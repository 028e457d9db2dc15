"""An end to tests of what once had none."""

import signal
from contextlib import contextmanager


@contextmanager
def within(seconds):
    """TimeoutError in this, the main, thread where the body takes longer; kernels in other threads are left to
    themselves.
    """

    def ring(number, frame):
        raise TimeoutError(f"still at work after {seconds} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
