"""Opening the network of a graph on GPUs, of the kind that its residency asks for."""

from pathlib import Path

from csaw.engine.analytics.cuda.network import MOST_KEPT, DeviceNetwork
from csaw.engine.analytics.cuda.pooled_network import PooledNetwork
from csaw.engine.analytics.exchange import Exchange
from csaw.engine.analytics.kept import Kept
from csaw.engine.cuda.device import Device
from csaw.engine.plan.residency import Residency
from csaw.partition import GraphStore


def network_on(
    gpus: tuple[Device, ...],
    store: GraphStore,
    *,
    gpu_memory: int | None,
    memory: int | None,
    threads: int | None,
    derived: Path | None = None,
    residency: Residency | None = None,
    exchange: Exchange | None = None,
    kept: Kept = MOST_KEPT,
) -> DeviceNetwork:
    """Open the network of a graph on the first of ``gpus``, which shares works with the others.

    Options and errors are those of DeviceNetwork; the network is a PooledNetwork where the residency is pooled.
    """
    kind = PooledNetwork if residency is Residency.POOLED else DeviceNetwork
    return kind(
        store,
        gpus[0],
        others=gpus[1:],
        gpu_memory=gpu_memory,
        memory=memory,
        threads=threads,
        derived=derived,
        residency=residency,
        exchange=exchange,
        kept=kept,
    )
