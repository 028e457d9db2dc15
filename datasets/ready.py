"""The graph ``karate`` as a store that csaw carries: its first command does not wait for the ingest to be compiled."""

import tempfile
import zipfile
from pathlib import Path

FILE = Path(__file__).with_name("karate.zarr.zip")  # scripts/make_karate.py makes it


def unpack(out: Path) -> None:
    """Make the store ``out`` of the one that csaw carries. It appears as a whole."""
    with tempfile.TemporaryDirectory(dir=out.parent) as folder, zipfile.ZipFile(FILE) as packed:
        packed.extractall(Path(folder, "store"))
        Path(folder, "store").rename(out)
