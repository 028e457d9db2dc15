"""Everything that a sample depends on, as plain data."""

from dataclasses import asdict, dataclass
from typing import Any

from csaw.engine.plan.methods import Collision, Method


@dataclass(frozen=True)
class Request:
    """Everything the sample depends on. Equal requests give equal samples, bit for bit, on any machine."""

    fingerprint: str
    algorithm: str
    parameters: dict[str, Any]
    edge_bias: str | None
    weighted: bool
    seed: int
    instances: int
    sources: str
    select: Method
    collision: Collision
    group_size: int
    ids: str

    def as_dict(self) -> dict[str, Any]:
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}
