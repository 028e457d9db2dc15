"""Everything that a sample depends on, as plain data."""

from dataclasses import asdict, dataclass, field

from csaw.engine.plan.methods import Collision, Method
from csaw.partition.base.plain_data import Values


@dataclass(frozen=True)
class Request:
    """Everything the sample depends on. Equal requests give equal samples, bit for bit, on any machine."""

    fingerprint: str
    algorithm: str
    parameters: Values
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
    target: int = 0  # distinct vertices of an instance; 0: as many as the algorithm meets
    columns: dict[str, str] = field(default_factory=dict)  # digests of the columns of data of vertices, by name
    code: str = ""  # SHA-256 of the file of an algorithm that csaw does not ship

    def as_dict(self) -> Values:
        """Return plain data for a manifest.

        ``induced``, ``target``, ``columns`` and ``code`` are in it only where they are there, as in the manifests of
        versions that did not know them.
        """
        shown = {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}
        return {k: v for k, v in shown.items() if v or k not in ("induced", "target", "columns", "code")}
