"""Where a run takes place: on the device that the user named, or on the one that is expected to end the whole run
first.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from csaw.engine.devices import rates as machine
from csaw.engine.devices.devices import Devices, first_gpu, is_auto, opened, place
from csaw.engine.plan.choices import Residency
from csaw.engine.plan.costs import GPU_SECONDS, START_SECONDS
from csaw.engine.plan.plan import Plan
from csaw.engine.plan.rates import Rates
from csaw.partition.errors import BudgetError, CsawError, OptionError

CPU = "the CPU"
NOT_OPENED = "not opened, which would take longer than this run"
WHERE = {
    Residency.RESIDENT: "in memory",
    Residency.POOLED: "with a share of the graph on each",
    Residency.HOST: "streamed",
    Residency.DISK: "from disk",
}
Planned = Callable[[Devices, Rates], Plan]


@dataclass(frozen=True)
class Choice:
    """The devices of a run, the rates that its plan counts on, and where it could have taken place: the seconds that a
    plan expects, or why there is none.
    """

    devices: Devices
    rates: Rates
    ways: dict[str, float | str] = field(default_factory=dict)


def choose(device: str | object, planned: Planned, measure: bool) -> Choice:
    """Choose the devices of a run.

    ``device``: what the user named, or auto. ``planned`` makes the plan for GPUs, or for the CPU without any.
    ``measure``: whether to measure rates that are not known and on which the plan depends.
    """
    if not is_auto(device):
        devices = place(device)
        return Choice(devices, _rates(devices, planned, measure))
    if measure and (here := _at_once(planned)):
        return here
    first = first_gpu()
    if not first:
        return Choice((), _rates((), planned, measure))
    return _fastest(planned, first, machine.measured(first) if measure else machine.kept(first))


def _at_once(planned: Planned) -> Choice | None:
    """The CPU, where it ends before a GPU would have begun, which takes some tenths of a second to open."""
    rates = machine.kept()
    try:
        plan = planned((), rates)
    except (BudgetError, OptionError):
        return None
    if plan.residency.streams or plan.expected["seconds"] > START_SECONDS + GPU_SECONDS:
        return None
    return Choice((), rates, {_name((), plan): plan.expected["seconds"], "a GPU": NOT_OPENED})


def _rates(devices: Devices, planned: Planned, measure: bool) -> Rates:
    """The rates for a plan on these devices; it depends on them if the graph is streamed."""
    rates = machine.kept(devices)
    return machine.measured(devices) if measure and planned(devices, rates).residency.streams else rates


def _fastest(planned: Planned, first: Devices, rates: Rates) -> Choice:
    """The way that is expected to take least time: the CPU, the first GPU, and if the graph does not fit there all GPUs
    that it reaches.
    """
    plans: dict[Devices, Plan] = {}
    refused: dict[Devices, CsawError] = {}

    def consider(devices: Devices) -> None:
        try:
            plans[devices] = planned(devices, rates)
        except (BudgetError, OptionError) as error:
            refused[devices] = error

    consider(())
    consider(first)
    if first[0].peers and not (first in plans and plans[first].residency is Residency.RESIDENT):
        consider((*first, *opened(first[0].peers)))
    if not plans:
        raise refused[first] if isinstance(refused[first], OptionError) else refused[()]
    ways: dict[str, float | str] = {_name(devices, plan): plan.expected["seconds"] for devices, plan in plans.items()}
    ways |= {_device(devices): str(error) for devices, error in refused.items()}
    return Choice(min(plans, key=lambda devices: plans[devices].expected["seconds"]), rates, ways)


def _name(devices: Devices, plan: Plan) -> str:
    return f"{_device(devices)} {WHERE[plan.residency]}"


def _device(devices: Devices) -> str:
    return f"GPU {','.join(str(gpu.number) for gpu in devices)} ({devices[0].name})" if devices else CPU
