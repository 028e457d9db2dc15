"""Write datasets/karate.zarr.zip, the store of ``karate`` that csaw carries, as its ingest makes it now."""

import tempfile
import zipfile
from pathlib import Path

from csaw.datasets.generate import generate
from csaw.datasets.resolve import FILE

EPOCH = (1980, 1, 1, 0, 0, 0)  # so that the same store makes the same file

with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(FILE, "w", zipfile.ZIP_DEFLATED) as packed:
    store = Path(folder, "karate.zarr")
    generate("karate", store)
    for path in sorted(path for path in store.rglob("*") if path.is_file()):
        entry = zipfile.ZipInfo(str(path.relative_to(store)), EPOCH)
        entry.external_attr, entry.compress_type = 0o644 << 16, zipfile.ZIP_DEFLATED
        packed.writestr(entry, path.read_bytes())
