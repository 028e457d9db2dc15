"""The memory of a masked product on the CPU: that in which triangles are counted by intersection."""

from csaw.engine.analytics.cpu.memory.triangles import suffices, whole_bytes

__all__ = ["suffices", "whole_bytes"]
