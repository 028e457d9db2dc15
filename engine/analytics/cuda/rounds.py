"""Rounds of a measure of the user's own on GPUs, in memory or streamed: twin of engine/analytics/cpu/rounds.py."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from csaw.engine.analytics.cuda import directions, rounds_shares
from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.round_state import Best, Combined
from csaw.engine.analytics.cuda.several_gpus import reach_all, told_how
from csaw.engine.analytics.rounds import Asked, Hooked, Rounds
from csaw.partition.errors import BudgetError

# Entries of rows of a graph from where on several GPUs are taken to be quicker, as for core numbers: of 1.05 G, two go
# through in .6 to .7 of the time of one (docs/contributing/tuning.md).
LARGE = 500_000_000
WEIGHED_BYTES = 64  # for each edge while rows with weights are made by sorting


def pays(network: DeviceNetwork, measure: Hooked) -> bool:
    """Whether several GPUs share rounds: they are quicker than one, or the graph is spread, or the user says how.

    Rounds whose rows are left early take no longer than what GPUs would tell each other.
    """
    if network.pooled or told_how(network):
        return True
    if measure.keeps_best and measure.sends_by_value:
        return False
    return bool(network.others) and network.resident and network.edges >= LARGE and reach_all(network)


def compute(network: DeviceNetwork, *, asked: Asked, backward: Callable[[], DeviceNetwork]) -> Rounds:
    """Run the rounds of a measure over a network; ``backward()`` is the one with the rows of the other direction.

    State: 16 bytes a vertex for values, 8 for what each passes along, and some flags. A graph that does not fit is
    streamed: a round reads the blocks that it needs. Several GPUs share the rounds of a large graph in memory, and of
    one that is pooled.
    """
    measure, shared = asked.measure, pays(network, asked.measure)
    if measure.keeps_best:
        if shared:
            return rounds_shares.best(network, asked, backward)
        return _run(Best(network, asked, backward))
    with _rows_backward(network, measure, backward) as rows:
        if shared and rounds_shares.can_share(network, rows):
            return rounds_shares.combined(network, asked, rows)
        return _run(Combined(network, asked, rows))


def _run(rounds: Best | Combined) -> Rounds:
    rounds.read("start")
    return rounds.run()


@contextmanager
def _rows_backward(
    network: DeviceNetwork, measure: Hooked, backward: Callable[[], DeviceNetwork]
) -> Iterator[DeviceNetwork]:
    """Yield the network whose rows hold the vertices that values come from, with weights if the measure reads them.

    Those of a directed graph are made for it where they have weights, and closed at the end.
    """
    if not (measure.reads_weights and network.directed):
        yield backward()
        return
    back = _with_weights(network)
    try:
        _require_least(network, back)
        yield back
    finally:
        if back.store is not network.store:  # it has memory and kernels of its own
            if back in network.relatives:
                network.relatives.remove(back)
            back.close()


def _with_weights(network: DeviceNetwork) -> DeviceNetwork:
    """The network of a directed graph with its edges reversed, which keep their weights.

    Where the GPU has no memory to make it, the host makes it, and it is streamed from there, or kept in what is left.
    """
    if network.resident and WEIGHED_BYTES * network.edges <= network.spare + network.edges * network.edge_bytes:
        return network.of_rows(directions.incoming_with_weights(network.whole(True)), directed=True)
    from csaw.engine.analytics.cpu.rounds import incoming_with_weights

    return network.of_store(incoming_with_weights(network.host).store, network.memory - _own_bytes(network))


def _own_bytes(network: DeviceNetwork) -> int:
    """Bytes of rows that stay in memory beside others."""
    return network.rows_bytes if network.resident else 0


def _require_least(network: DeviceNetwork, back: DeviceNetwork) -> None:
    """Raise BudgetError unless two rows backward fit beside those of the network that stay."""
    try:
        back.require_least()
    except BudgetError as error:
        if not (own := _own_bytes(network)) or back.store is network.store:
            raise
        raise BudgetError(
            f"{network.store.path}: a measure that reads e.weight and has a hook vertex, or a sum, needs the rows of a "
            f"directed graph with their edges reversed, too, and beside them {back.memory:,} bytes are allowed; pass "
            f"--residency streamed, or {network.advice(own + back.least_bytes)}"
        ) from error
