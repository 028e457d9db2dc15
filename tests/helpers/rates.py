"""Rates of a machine that tests choose: plans, and what the scheduler compares, are the same wherever tests run."""

from dataclasses import replace

from csaw.engine.devices import beforehand, choice
from csaw.engine.plan.rates import ASSUMED, Rates


def pin_rates(monkeypatch, found: Rates = ASSUMED) -> None:
    """Let this machine have the rates ``found``; nothing is measured."""
    for name in ("kept", "measured"):
        monkeypatch.setattr(choice, name, lambda devices=(): found)
    monkeypatch.setattr(beforehand, "kept", lambda: found)


def pin_row_bytes(monkeypatch, size: float) -> None:
    """Let a row that is read alone cost as much as ``size`` bytes that are read in order."""
    pin_rates(monkeypatch, replace(ASSUMED, disk_reads=ASSUMED.disk_bytes / size))
