"""What all tests begin with."""

import gc
import logging
import signal
from collections import Counter

import pytest

# A shell starts what it runs in the background deaf to Ctrl-C, and so would be every process that a test interrupts.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

gc.set_threshold(100_000)  # as the command does: most of the time of these tests is Numba's compiler


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(items):
    """Of the cases of a test that is marked ``one_in(n)``, every n-th is not slow."""
    cases = Counter()
    for item in items:
        mark = item.get_closest_marker("one_in")
        if mark is None or item.get_closest_marker("slow"):
            continue
        name = item.nodeid.partition("[")[0]
        if cases[name] % mark.args[0]:
            item.add_marker(pytest.mark.slow("other cases of the same kind run by default"))
        cases[name] += 1


@pytest.fixture(autouse=True)
def assumed_rates(monkeypatch):
    """Plans count on the same rates on every machine. What an earlier command has measured here is another's."""
    from helpers.rates import pin_rates

    pin_rates(monkeypatch)


@pytest.fixture(autouse=True)
def log_handlers(monkeypatch):
    """A command adds a handler of its own, on a stream that closes."""
    monkeypatch.setattr(logging.root, "handlers", logging.root.handlers[:])
