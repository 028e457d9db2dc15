"""What all tests begin with."""

import faulthandler
import gc
import logging
import os
import signal
import threading
from collections import Counter
from pathlib import Path

import pytest
from helpers.machine import Lack
from hypothesis import HealthCheck, settings
from make_links import make_links

make_links()

# A machine that is slow or busy fails no test, and a checkout that cannot be written keeps no examples.
KEEPS = {} if os.access(".", os.W_OK) else {"database": None}
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow], **KEEPS)
settings.load_profile("any machine")

# A shell starts what it runs in the background deaf to Ctrl-C, and so would be every process that a test interrupts.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Processes side by side share the processors: products of matrices take one each.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

LONG = Path(__file__).with_name("long.txt")  # tests whose first case takes over QUICK_SECONDS with an empty cache
QUICK_SECONDS = 2
LONG_SECONDS = 60  # a test that takes longer is named, with the stacks of its threads
TERMINAL = pytest.StashKey()

gc.set_threshold(100_000)  # as the command does: most of the time of these tests is Numba's compiler


def pytest_addoption(parser):
    parser.addoption("--quick", action="store_true", help=f"run the first case of each test, but none of {LONG.name}")
    parser.addoption("--note-long", action="store_true", help=f"write the tests that took long to {LONG.name}")


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(config, items):
    """Of the cases of a test that is marked ``one_in(n)``, every n-th is not slow; with --quick, the first of any that
    does not take long.
    """
    cases, long = Counter(), set(LONG.read_text().splitlines()) if config.option.quick else set()
    for item in items:
        mark = item.get_closest_marker("one_in")
        if (mark is None and not config.option.quick) or item.get_closest_marker("slow"):
            continue
        name = item.nodeid.partition("[")[0]
        if name in long or cases[name] % (len(items) if config.option.quick else mark.args[0]):
            item.add_marker(pytest.mark.slow("other cases of the same kind run by default"))
        cases[name] += 1


def pytest_collection_finish():
    """Look no more for garbage among what modules and tests hold until the end, each time that a test makes much."""
    gc.collect()
    gc.freeze()


def pytest_configure(config):
    """Have failures printed when they happen: a run that is cut off has no summary."""
    config.stash[TERMINAL] = os.fdopen(os.dup(2), "w", buffering=1)  # before pytest captures what tests write
    if "PYTEST_XDIST_WORKER" not in os.environ:
        config.pluginmanager.register(Failures(config), "failures")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Write into the report of a skipped test what the machine lacks."""
    report = yield
    report.lack = _lack(call)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Write into the report of a skipped file what the machine lacks."""
    report = yield
    report.lack = _lack(report.call)
    return report


def _lack(call):
    """The name of what is lacking, which is sent from process to process; none if another skip was raised."""
    lack = getattr(call.excinfo.value, "lack", None) if call.excinfo else None
    return lack and lack.name


class Failures:
    """Prints the name and the error of each failure at once. Where CSAW_TEST_ALL is set, it allows only skips for what
    a machine may lack.
    """

    def __init__(self, config):
        self.config = config
        self.lacks, self.missing, self.seconds = Counter(), [], Counter()

    def pytest_runtest_logreport(self, report):
        """Write the end of a failed report to the terminal, and note what is skipped and how long it took."""
        self.seconds[report.nodeid] += report.duration
        if report.skipped and not hasattr(report, "wasxfail"):
            self._note(report)
        if report.failed:
            terminal = self.config.pluginmanager.getplugin("terminalreporter")
            terminal.ensure_newline()
            terminal.write_line(f"FAILED {report.nodeid} ({report.when})")
            terminal.write_line("\n".join(report.longreprtext.splitlines()[-12:]))

    def pytest_collectreport(self, report):
        """Note a file that is skipped as a whole."""
        if report.skipped:
            self._note(report)

    def _note(self, report):
        lack = Lack[report.lack] if report.lack else None
        self.lacks[lack.value if lack else "nothing that tests/helpers/machine.py knows"] += 1
        if lack is None or lack.is_installed:
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longreprtext
            self.missing.append(f"{report.nodeid}: {reason}")

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session):
        """Fail where CSAW_TEST_ALL is set and something was skipped that a machine cannot lack."""
        if self.config.option.note_long:
            long = {name.partition("[")[0] for name, seconds in self.seconds.items() if seconds > QUICK_SECONDS}
            LONG.write_text("\n".join(sorted(long)) + "\n")
        if self.missing and "CSAW_TEST_ALL" in os.environ and not session.exitstatus:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        """Print how much was skipped for want of what, and what should not have been."""
        for line in self.missing:
            terminalreporter.write_line(f"SKIPPED, though scripts/test installs all that it needs: {line}")
        wants = ", ".join(f"{count} for want of {what}" for what, count in self.lacks.items())
        terminalreporter.write_line(f"{self.lacks.total()} tests or files skipped{': ' * bool(wants)}{wants}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Name a test that takes long, and say where it is."""
    timer = threading.Timer(LONG_SECONDS, _tell_long, (item.nodeid, item.config.stash[TERMINAL]))
    timer.daemon = True
    timer.start()
    try:
        return (yield)
    finally:
        timer.cancel()


def _tell_long(name, terminal):
    """Write the name of a test, and the stacks of all threads, to the terminal."""
    print(f"{name} takes more than {LONG_SECONDS} s:", file=terminal, flush=True)
    faulthandler.dump_traceback(terminal, all_threads=True)


@pytest.fixture(autouse=True)
def assumed_rates(monkeypatch):
    """Plans count on the same rates on every machine. What an earlier command has measured here is another's."""
    from helpers.rates import pin_rates

    pin_rates(monkeypatch)


@pytest.fixture(autouse=True)
def unsynced(monkeypatch):
    """No test cuts the power, so none waits until a disk keeps a file; commands in processes of their own do."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture(autouse=True)
def log_handlers(monkeypatch):
    """A command adds a handler of its own, on a stream that closes."""
    monkeypatch.setattr(logging.root, "handlers", logging.root.handlers[:])
