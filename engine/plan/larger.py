"""Larger budgets: the seconds and the bytes that a streamed run would be expected to take with more memory."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from math import ceil

from csaw.engine.plan.costs import stored_bytes
from csaw.engine.plan.limits import Limits, MemoryPlan, Shape
from csaw.engine.plan.residency import Residency
from csaw.partition.base.plain_data import Record
from csaw.partition.base.sizes import format_size
from csaw.partition.errors import BudgetError

MOST = 1 << 60  # bytes of a budget that anyone has
TURNS = 6  # in which the least budget is found within a sixtieth
UNITS = (1 << 40, 1 << 30, 1 << 20, 1 << 10)  # in which budgets are said

Planned = Callable[[Limits], MemoryPlan]


def larger_budgets(
    shape: Shape, memory: MemoryPlan, limits: Limits, planned: Planned, device_bytes: int
) -> dict[str, Record]:
    """Estimates of a streamed run with larger budgets, by the options that give them; none if nothing is streamed.

    Twice the budget of ``limits``, and about the least with which the graph need not be streamed so: in memory, or, for
    GPUs that stream from disk, in the host's. ``planned`` plans memory, with what is expected of it; ``device_bytes``
    of a GPU are there at most.
    """
    if not memory.residency.streams:
        return {}
    on_device = memory.residency is Residency.STREAMED
    option, most = ("--gpu-memory", device_bytes) if on_device else ("--memory", MOST)
    now, free = limits.device_bytes if on_device else limits.host_bytes, replace(limits, residency=None)

    def having(budget: int) -> MemoryPlan | None:
        with suppress(BudgetError):  # a layout that was asked for may need still more
            return planned(replace(free, device_bytes=budget) if on_device else replace(free, host_bytes=budget))
        return None

    def enough(budget: int) -> bool:
        found = having(budget)
        return found is not None and found.residency is not memory.residency

    if enough(now):  # the user asked for it, and the memory is there
        named = {f"without --residency {memory.residency}": now}
    else:
        least = _least(enough, now, most)
        budgets = [budget for budget in (2 * now, least) if budget and budget <= min(least or most, most)]
        named = {f"{option} {format_size(size).replace(' ', '')}": size for size in map(_rounded, budgets)}
    plans = {name: (having(budget), budget) for name, budget in named.items()}
    return {name: _estimate(shape, plan, budget) for name, (plan, budget) in plans.items() if plan is not None}


def _estimate(shape: Shape, memory: MemoryPlan, budget: int) -> Record:
    moved = memory.expected.get("bytes", stored_bytes(shape.store, shape.needs))
    return {
        "budget_bytes": budget,
        "residency": memory.residency,
        "bytes": moved,
        "seconds": memory.expected["seconds"],
    }


def _least(enough: Callable[[int], bool], low: int, most: int) -> int | None:
    """About the least budget above ``low`` that is enough; None if not even ``most`` is."""
    high = low
    while not enough(high):
        if high >= most:
            return None
        low, high = high, min(2 * high, most)
    for _ in range(TURNS):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _rounded(budget: int) -> int:
    """A budget that is said in few digits, and is no smaller."""
    unit = next((unit for unit in UNITS if budget >= unit), 1)
    digit = unit / 10 if budget < 10 * unit else unit
    return ceil(ceil(budget / digit) * digit)
