"""A sample store as a stranger may have made it: what it says of itself is changed, and its checksums are those of what
is there.
"""

import hashlib
import json
from pathlib import Path


def forged(store, change, others=()):
    """Have ``change`` edit the attributes of a sample store, and make its checksums anew, as docs/reference/formats.md
    describes them.

    ``others``: digests of other files that were changed.
    """
    store = Path(store)
    node = json.loads((store / "zarr.json").read_text())
    change(node["attributes"])
    (store / "zarr.json").write_text(json.dumps(node))
    sums = json.loads((store / "checksums" / "zarr.json").read_text())
    held = sums["attributes"]["sha256"]
    held["zarr.json"] = hashlib.sha256((store / "zarr.json").read_bytes()).hexdigest()
    held.update(others)
    text = json.dumps(held, sort_keys=True)
    sums["attributes"]["sha256_of_these"] = hashlib.sha256(text.encode()).hexdigest()
    (store / "checksums" / "zarr.json").write_text(json.dumps(sums))
    return store
