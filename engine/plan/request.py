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
    induced: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Plain data for a manifest; ``induced`` only where it is on, as in the manifests of versions that did not know it."""
        shown = {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}
        return shown if self.induced else {k: v for k, v in shown.items() if k != "induced"}
