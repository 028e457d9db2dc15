"""Samples: their layouts and their store, written group by group and read again."""

from csaw.engine.samples.identifiers import NOTHING, UNKNOWN
from csaw.engine.samples.samples import Samples, open_stored
from csaw.engine.samples.stored import Rows
from csaw.engine.samples.writer import SampleWriter

__all__ = ["NOTHING", "UNKNOWN", "Rows", "SampleWriter", "Samples", "open_stored"]
