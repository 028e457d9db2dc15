"""The memory in which triangles are matched on a GPU: that of patterns."""

from csaw.engine.analytics.cuda.memory.patterns import IN_MEMORY, more_bytes, suffices

__all__ = ["IN_MEMORY", "more_bytes", "suffices"]
