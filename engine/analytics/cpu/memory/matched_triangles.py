"""The memory in which triangles are matched on the CPU: that of patterns."""

from csaw.engine.analytics.cpu.memory.patterns import IN_MEMORY, suffices

__all__ = ["IN_MEMORY", "suffices"]
